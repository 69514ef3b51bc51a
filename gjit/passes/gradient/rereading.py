"""Read-only views of memory that may be written: they are made again wherever their data is read.

Such a view has no shadow that could be written through: several of its elements may be one, as with `broadcast_to`. A
view that is made just before it is read shows the same data as one that was made earlier, and hands its cotangent to
the owner at once, as a copy does.
"""

from __future__ import annotations

from gjit.errors import UnsupportedError
from gjit.ir.clone import clone_node
from gjit.ir.graph import Constant, Graph, Node, Value
from gjit.ir.types import ArrayType
from gjit.ops.rules_index import item_is_view
from gjit.passes.gradient.analysis import Analysis, is_silent, viewed, written
from gjit.passes.gradient.augment import READ_ONLY
from gjit.passes.gradient.kinds import is_inert, is_memory, is_numeric
from gjit.passes.gradient.own_ops import OWN_OPS


def reread(graph: Graph, analysis: Analysis) -> bool:
    """Move the read-only views of written memory to where they are read; whether there are any.

    Raises:
        UnsupportedError: such a view is kept in a container, returned or passed to a function.
    """
    found = [node for node in graph.all_nodes() if node.op in READ_ONLY and _is_live(node, analysis)]
    for node in found:
        _move([node])
    return bool(found)


def _is_live(node: Node, analysis: Analysis) -> bool:
    result = node.results[0]
    views_memory = any(map(is_memory, viewed(node)))
    return views_memory and analysis.is_active(result) and analysis.written_by(result) is not None


def _move(chain: list[Node]) -> None:
    """Give each reader of the last of a chain of views a chain of its own."""
    value = chain[-1].results[0]
    for user in dict.fromkeys(value.uses):
        if is_silent(user) or user.op in ("if", "while", "condition"):
            continue
        if not _reads(user, value) or any(map(_may_change, chain)):
            raise UnsupportedError(
                f"a read-only view of an array that may be written is kept: `{chain[0].op}`",
                chain[0].span,
                hint="copy it, or make it where it is read",
            )
        if _is_view(user, value):
            _move([*chain, user])
        else:
            _remake(chain, user)


def _remake(chain: list[Node], user: Node) -> None:
    values: dict[Value, Value] = {}
    for node in chain:
        copy = clone_node(node, values)
        copy.results[0].type = node.results[0].type
        user.block.insert(copy, user)
    last = chain[-1].results[0]
    user.set_inputs([values[last] if value is last else value for value in user.inputs])


def _may_change(node: Node) -> bool:
    """Whether an operand besides the owner, as a shape or an index, may be another when the view is made again."""
    owners = [node.inputs[0]] if node.op == "getitem" else list(viewed(node)) if is_numeric(node) else node.inputs
    others = [value for value in node.inputs if value not in owners and not isinstance(value, Constant)]
    return any(isinstance(value.type, ArrayType) or not is_inert(value.type) for value in others)


def _reads(user: Node, value: Value) -> bool:
    """Whether a node takes only the data of the value, or a view of it."""
    if user.op == "getitem":
        return user.inputs[1] is not value
    if user.op == "setitem":
        return isinstance(user.inputs[0].type, ArrayType) and user.inputs[0] is not value
    if user.op in OWN_OPS:
        return len(user.results) == 1 or OWN_OPS[user.op].written is not None
    return is_numeric(user) and value not in written(user)


def _is_view(user: Node, value: Value) -> bool:
    if user.op == "getitem":
        return item_is_view(user)
    if user.op in OWN_OPS:
        return any(user.inputs[index] is value for index in OWN_OPS[user.op].links)
    return is_numeric(user) and value in viewed(user)
