"""Methods of arrays whose arguments are not those of a function: each has a row of its own."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gjit.ir.graph import Node
from gjit.ir.types import BOOL, BYTES, COMPLEX, FLOAT, INT, NONE, UNKNOWN, ArrayType, ListType, Type
from gjit.ops.arguments import NOT_CONSTANT, bind, constant, is_array, is_numeric
from gjit.ops.effects import computes, viewing, writing
from gjit.ops.elementwise import CLIP_KERNEL
from gjit.ops.kernels import CAST_KERNEL
from gjit.ops.probe import dtype_of_array, probed
from gjit.ops.row import OPAQUE, Kind, Op, TypeRule, table
from gjit.ops.rules import fixed
from gjit.ops.rules_shape import reshape_method, same_array, same_dtype

_ITEM = {"b": BOOL, "i": INT, "u": INT, "f": FLOAT, "c": COMPLEX}


def item_types(node: Node) -> list[Type]:
    """`a.item()`: Python's number for the dtype."""
    type_ = node.inputs[0].type
    return [_ITEM.get(type_.dtype.kind, UNKNOWN) if isinstance(type_, ArrayType) and is_numeric(type_) else UNKNOWN]


def list_types(node: Node) -> list[Type]:
    """`a.tolist()` is a list where the array has a dimension."""
    return [ListType(UNKNOWN) if node.inputs and is_array(node.inputs[0].type) else UNKNOWN]


def cast_types(function: Callable) -> TypeRule:
    """`a.astype(dtype)` with a dtype that is known: an exact array again, 0-d ones included."""

    def rule(node: Node) -> list[Type]:
        arguments = bind(node, function)
        type_ = node.inputs[0].type
        if arguments is None or not isinstance(type_, ArrayType) or "dtype" not in arguments:
            return [UNKNOWN]
        known = dtype_of_array(arguments["dtype"])
        given = constant(arguments["dtype"]) if known is None else known
        if given is NOT_CONSTANT or given is None:
            return [ArrayType(None, type_.rank)]
        return [_cast(type_, given)]

    return rule


def _cast(type_: ArrayType, given: object) -> Type:
    try:
        dtype = np.dtype(given)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        return UNKNOWN
    return ArrayType(dtype, type_.rank) if dtype.kind in "biufc" else UNKNOWN


def cast_is_view(node: Node) -> bool:
    """`astype` gives the array itself only where `copy` is passed and may be false."""
    return constant(node.keyword("copy"), True) is not True or len(node.positional()) > 5


def conjugate_is_view(node: Node) -> bool:
    """The conjugate of real numbers is the array itself."""
    type_ = node.inputs[0].type
    return not (isinstance(type_, ArrayType) and type_.dtype is not None and type_.dtype.kind == "c")


def _row(name: str, kind: Kind, types: TypeRule | None, **rest) -> None:
    rest = {"effects": computes, **rest}
    table.add(Op(name=f"ndarray.{name}", kind=kind, function=getattr(np.ndarray, name), types=types, **rest))


_row("reshape", Kind.SHAPE, reshape_method, views=(0,))
_row("transpose", Kind.VIEW, same_array, effects=viewing, views=(0,))
_row("view", Kind.VIEW, probed(np.ndarray.view, "self"), effects=viewing, views=(0,))
_casts = {"views": (0,), "is_view": cast_is_view, "layout_free": False, **CAST_KERNEL}
_row("astype", Kind.ELEMENTWISE, cast_types(np.ndarray.astype), **_casts)
_astype = {"types": cast_types(np.astype), "effects": computes, **_casts}
table.add(Op(name="numpy.astype", kind=Kind.ELEMENTWISE, function=np.astype, **_astype))
_CONJUGATE = {"views": (0,), "is_view": conjugate_is_view, "ufunc": "numpy.conjugate"}
_row("conj", Kind.ELEMENTWISE, probed(np.ndarray.conj, "self"), **_CONJUGATE)
_row("conjugate", Kind.ELEMENTWISE, probed(np.ndarray.conjugate, "self"), **_CONJUGATE)
_row("clip", Kind.ELEMENTWISE, probed(np.ndarray.clip, "self", weak="min max"), **CLIP_KERNEL)
for _name in ("any", "all"):  # the functions take `out` by position, the methods do not
    _row(_name, Kind.REDUCTION, probed(getattr(np.ndarray, _name), "self where"), layout_free=False)
_row("copy", Kind.CREATE, same_array)
_row("flatten", Kind.SHAPE, same_dtype(1))
_row("byteswap", Kind.SHAPE, None, effects=OPAQUE)
_row("compress", Kind.INDEX, probed(np.ndarray.compress, "self condition"))
_row("dot", Kind.LINALG, probed(np.ndarray.dot, "self other"), layout_free=False)
_row("item", Kind.INDEX, item_types)
_row("tolist", Kind.HOST, list_types)
_row("tobytes", Kind.HOST, fixed(BYTES))
for _name in ("fill", "put", "sort", "partition"):
    _row(_name, Kind.INDEX, fixed(NONE), effects=writing, writes=(0,))
_row("resize", Kind.SHAPE, fixed(NONE), effects=writing, writes=(0,))
