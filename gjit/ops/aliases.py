"""What the results of a node may share memory with, and which of its inputs it writes."""

from __future__ import annotations

from collections.abc import Iterable

from gjit.ir.graph import Node
from gjit.ir.types import ListType, TupleType
from gjit.ops.effects import is_immutable, output_inputs
from gjit.ops.row import ALL_INPUTS, OPAQUE, Kind, effects_of, table


def viewed_inputs(node: Node) -> list[int]:
    """Indices of the inputs whose memory the node's results may share, or which they may be.

    An opaque node may give back any of its inputs; scalars and numbers share nothing.
    """
    op = table.get(node.op)
    if all(is_immutable(value.type) for value in node.results):
        return []
    if op is None or effects_of(node) == OPAQUE:
        return [index for index, value in enumerate(node.inputs) if not is_immutable(value.type)]
    if op.kind is Kind.OPERATOR and any(isinstance(value.type, TupleType | ListType) for value in node.results):
        return _existing(node, range(len(node.inputs)))  # `(a,) + (b,)` holds both
    shared = [] if op.is_view is not None and not op.is_view(node) else op.views
    if shared is ALL_INPUTS:
        shared = range(len(node.inputs))
    return _existing(node, [*shared, *(output_inputs(node) or ())])


def written_inputs(node: Node) -> list[int]:
    """Indices of the inputs that the node may write: its row's own, `out=`, and all of an opaque node."""
    op = table.get(node.op)
    effects = effects_of(node)
    if op is None or effects == OPAQUE:
        return [index for index, value in enumerate(node.inputs) if not is_immutable(value.type)]
    return _existing(node, [*op.writes, *(output_inputs(node) or ())])


def _existing(node: Node, indices: Iterable[int]) -> list[int]:
    count = len(node.inputs)
    return sorted({index for index in indices if index < count and not is_immutable(node.inputs[index].type)})
