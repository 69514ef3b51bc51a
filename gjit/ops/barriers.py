"""Nodes that nothing may be moved across, told by their names alone: for graphs without types."""

from __future__ import annotations

from gjit.ir.graph import Node

_BARRIERS = frozenset(
    [
        "setitem",
        "setattr",
        "delitem",
        "delattr",
        "store",
        "delete",
        "capture.store",
        "call",
        "invoke",
        "import",
        "library",
        "builtin.print",
        "builtin.next",
        "builtin.setattr",
        "builtin.delattr",
        "builtin.input",
        "numpy.copyto",
        "numpy.put",
        "numpy.place",
        "numpy.putmask",
        "numpy.put_along_axis",
        "numpy.fill_diagonal",
        "ndarray.fill",
        "ndarray.sort",
        "ndarray.put",
        "ndarray.partition",
        "ndarray.resize",
        "ndarray.setfield",
        "ndarray.byteswap",
        "ndarray.setflags",
    ]
)


def writes_by_nature(node: Node) -> bool:
    """The barriers that an op's name, its labels or its blocks tell, without types.

    >>> from gjit.ir.graph import Constant
    >>> writes_by_nature(Node("operator.iadd", [Constant(1), Constant(2)]))
    True
    """
    if node.blocks or node.op in _BARRIERS or "out=" in node.labels:
        return True
    if node.op.startswith("operator.i"):
        return node.op not in ("operator.is", "operator.is_not", "operator.in", "operator.invert")
    return node.op.endswith(".at") or ".random." in node.op
