"""Which functions of NumPy are printed as methods of their array: that saves a call and moves warnings elsewhere."""

from __future__ import annotations

from gjit.ir.graph import Node, Value
from gjit.ir.types import ArrayType
from gjit.ops.row import Kind, Op

_POSITIONS_ONLY = frozenset({"numpy.argmin", "numpy.argmax"})
_MAY_WARN = frozenset({"numpy.round", "numpy.trace"})
_EXACT_ON_INTEGERS = frozenset(
    {"numpy.sum", "numpy.prod", "numpy.min", "numpy.max", "numpy.cumsum", "numpy.cumprod", *_MAY_WARN}
)


def method_name(node: Node, row: Op | None, receiver: Value | None) -> str:
    """The method that a node of the table is printed as, or an empty string for a call of the function.

    `receiver` is the first operand, where it is passed by position. A function may be printed as a method if the user
    wrote the method, or if it cannot warn: a warning from inside the function names a line of NumPy, and one from the
    method the line of the user.
    """
    if receiver is None:
        return ""
    module, _, plain = node.op.rpartition(".")
    if module == "ndarray":
        return plain
    if row is None or not row.method or not isinstance(receiver.type, ArrayType):
        return ""
    is_method = node.attributes.get("method", False) or not _may_warn(node, row, receiver.type)
    return row.method if is_method else ""


def _may_warn(node: Node, row: Op, type_: ArrayType) -> bool:
    if row.name in _POSITIONS_ONLY or (row.kind is not Kind.REDUCTION and row.name not in _MAY_WARN):
        return False
    is_integer = type_.dtype is not None and type_.dtype.kind in "biu"
    is_plain = len(node.positional()) <= 2 and not set(node.labels) - {"", "axis=", "keepdims="}
    return not (is_integer and is_plain and row.name in _EXACT_ON_INTEGERS)
