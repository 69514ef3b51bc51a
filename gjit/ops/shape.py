"""Functions that move elements about: views that cost no copy, and copies."""

from __future__ import annotations

import numpy as np

from gjit.ir.types import UNKNOWN, ListType
from gjit.ops.effects import computes, viewing
from gjit.ops.probe import probed
from gjit.ops.row import ALL_INPUTS, Kind, Op, TypeRule, table
from gjit.ops.rules import fixed
from gjit.ops.rules_shape import same_array, same_dtype, same_type, shaped_by, squeezed


def _view(name: str, types: TypeRule, method: str = "", views: tuple[int, ...] = (0,)) -> None:
    rest = {"types": types, "effects": viewing, "views": views, "method": method}
    table.add(Op(name=f"numpy.{name}", kind=Kind.VIEW, function=getattr(np, name), **rest))


def _copy(name: str, types: TypeRule, **rest) -> None:
    function = getattr(np, name)
    table.add(Op(name=f"numpy.{name}", kind=Kind.SHAPE, function=function, types=types, effects=computes, **rest))


_view("transpose", same_array)
_view("permute_dims", same_array)
_view("matrix_transpose", same_array)
_view("swapaxes", same_array, "swapaxes")
_view("moveaxis", same_array)
_view("rollaxis", same_array)
_view("squeeze", squeezed(np.squeeze), "squeeze")
_view("expand_dims", probed(np.expand_dims, "a"))
_view("broadcast_to", shaped_by(np.broadcast_to, "shape"))
_view("flip", same_type)
_view("fliplr", same_type)
_view("flipud", same_type)
_view("rot90", same_type)
_view("diagonal", probed(np.diagonal, "a", "offset"), "diagonal")
_view("atleast_1d", probed(np.atleast_1d, "arys"), views=ALL_INPUTS)
_view("atleast_2d", probed(np.atleast_2d, "arys"), views=ALL_INPUTS)
_view("atleast_3d", probed(np.atleast_3d, "arys"), views=ALL_INPUTS)

# These give a view where the memory allows it, else a copy.
_copy("reshape", shaped_by(np.reshape, "shape"), views=(0,))
_copy("ravel", same_dtype(1), views=(0,), method="ravel")
_copy("broadcast_arrays", probed(np.broadcast_arrays, "args"), views=ALL_INPUTS)

_copy("concatenate", probed(np.concatenate, "arrays"))
_copy("stack", probed(np.stack, "arrays"))
_copy("hstack", probed(np.hstack, "tup"))
_copy("vstack", probed(np.vstack, "tup"))
_copy("dstack", probed(np.dstack, "tup"))
_copy("column_stack", probed(np.column_stack, "tup"))
_copy("append", probed(np.append, "arr values"))
_copy("pad", same_type)
_copy("roll", same_type)
_copy("tile", probed(np.tile, "A", "reps"))
_copy("repeat", probed(np.repeat, "a", weak="repeats"), method="repeat")
_copy("delete", probed(np.delete, "arr", "obj"))
_copy("insert", probed(np.insert, "arr", "obj", weak="values"))
_copy("resize", shaped_by(np.resize, "new_shape"))
for _name in ("split", "array_split", "hsplit", "vsplit", "dsplit"):
    _copy(_name, fixed(ListType(UNKNOWN)), views=(0,))
