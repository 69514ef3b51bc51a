"""Arrays that are only computed with: whether one that is made once can stand for all."""

from __future__ import annotations

from gjit.ir.graph import Node, Value
from gjit.ops import Kind, table

FOLDED_KINDS = frozenset({Kind.OPERATOR, Kind.ELEMENTWISE, Kind.REDUCTION, Kind.LINALG, Kind.VIEW, Kind.SHAPE})
"""Ops that compute new values, or give views."""

_AUGMENTED = frozenset(name for name in table.rows if name.startswith("operator.i")) - frozenset(
    {"operator.is", "operator.is_not", "operator.in", "operator.invert"}
)


def is_only_read(value: Value) -> bool:
    """Whether an array made once can stand for one that is made anew each time: nobody writes it or keeps it."""
    return all(_reads_only(node) for node in value.uses)


def _reads_only(node: Node) -> bool:
    row = table.get(node.op)
    if node.op == "getattr":
        method = table.of_method(str(node.attributes["name"]))
        is_pure = method is not None and method.kind in FOLDED_KINDS and not method.writes and not method.views
        return is_pure and all(user.op == "call" and user.inputs[0] is node.result for user in node.result.uses)
    if node.op == "getitem" or (row is not None and row.kind in (Kind.VIEW, Kind.SHAPE)):
        return all(is_only_read(result) for result in node.results)
    if row is None or node.op in _AUGMENTED or row.writes or any(label in ("out=", "**") for label in node.labels):
        return False
    return row.kind in FOLDED_KINDS
