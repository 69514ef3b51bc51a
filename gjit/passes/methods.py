"""Method calls on proven arrays: `call(getattr(%x, "sum"), ...)` is the row `numpy.sum` or `ndarray.sum`.

The look-up of a method on an exact ndarray has no effect and always finds NumPy's own method, so the order of
evaluation stays what it was.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gjit.ir.graph import Graph, Node
from gjit.ir.types import ArrayType
from gjit.ops import Op, table

_methods: dict[str, str] = {}
_methods_of_rows = 0


def method_row(name: str) -> Op | None:
    """The row that the ndarray method of this name is, or None."""
    global _methods, _methods_of_rows
    if _methods_of_rows != len(table.rows):
        _methods = {row.method: row.name for row in table.rows.values() if row.method}
        _methods_of_rows = len(table.rows)
    found = _methods.get(name, f"ndarray.{name}")
    return table.get(found)


def method_of_call(node: Node) -> tuple[Op, Node] | None:
    """The row and the `getattr` of a method call on a proven array; None for every other node."""
    if node.op != "call":
        return None
    lookup = node.inputs[0].producer
    if not isinstance(lookup, Node) or lookup.op != "getattr" or not isinstance(lookup.inputs[0].type, ArrayType):
        return None
    row = method_row(lookup.attributes["name"])
    return None if row is None else (row, lookup)


@contextmanager
def as_method_call(node: Node) -> Iterator[None]:
    """Inside the `with`, a method call on a proven array stands as the node of its row."""
    found = method_of_call(node)
    if found is None:
        yield
        return
    inputs, op = list(node.inputs), node.op
    _turn(node, *found)
    try:
        yield
    finally:
        node.op = op
        node.set_inputs(inputs)


def resolve_methods(graph: Graph) -> bool:
    """Turn every method call on a proven array into the node of its row.

    Before: `%m = getattr(%x) name="sum"; %r = call(%m, 0)`. After: `%r = numpy.sum(%x, 0) {method=True}`, which tells
    how it was written: the function and the method place a warning on different lines.
    """
    changed = False
    for node in list(graph.all_nodes()):
        found = method_of_call(node)
        if found is None:
            continue
        _turn(node, *found)
        row, lookup = found
        if row.method:
            node.attributes["method"] = True
        if not lookup.result.uses:
            lookup.remove()
        changed = True
    return changed


def _turn(node: Node, row: Op, lookup: Node) -> None:
    # The callee's label and the receiver's are both positional, so the labels stay as they are.
    node.op = row.name
    node.set_inputs([lookup.inputs[0], *node.inputs[1:]])
