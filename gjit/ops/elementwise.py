"""Elementwise functions: every ufunc with a numeric loop, and the functions that are made of them."""

from __future__ import annotations

import numpy as np

from gjit.ir.graph import Node
from gjit.ops.arguments import bind
from gjit.ops.effects import computes, computes_quietly
from gjit.ops.exactness import LAYOUT_FREE_UFUNCS
from gjit.ops.probe import probed
from gjit.ops.row import OPAQUE, Effect, Kind, Op, table
from gjit.ops.rules import ufunc_types

UFUNCS = [
    np.add, np.subtract, np.multiply, np.divide, np.floor_divide, np.remainder, np.fmod, np.divmod, np.power,
    np.float_power, np.negative, np.positive, np.absolute, np.fabs, np.sign, np.reciprocal, np.square, np.sqrt, np.cbrt,
    np.exp, np.exp2, np.expm1, np.log, np.log2, np.log10, np.log1p, np.logaddexp, np.logaddexp2,
    np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.arctan2, np.hypot,
    np.sinh, np.cosh, np.tanh, np.arcsinh, np.arccosh, np.arctanh, np.degrees, np.radians, np.deg2rad, np.rad2deg,
    np.rint, np.floor, np.ceil, np.trunc, np.conjugate, np.copysign, np.nextafter, np.spacing, np.ldexp,
    np.frexp, np.modf, np.heaviside, np.gcd, np.lcm, np.maximum, np.minimum, np.fmax, np.fmin,
    np.equal, np.not_equal, np.less, np.less_equal, np.greater, np.greater_equal,
    np.logical_and, np.logical_or, np.logical_xor, np.logical_not, np.isnan, np.isinf, np.isfinite, np.signbit,
    np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.invert, np.left_shift, np.right_shift, np.bitwise_count,
]  # fmt: skip
"""Every ufunc of NumPy with a numeric loop and no core dimensions."""

_NEVER_FAIL = {
    np.negative, np.positive, np.conjugate, np.logical_not, np.invert, np.isnan, np.isinf, np.isfinite, np.signbit,
    np.bitwise_count,
}  # fmt: skip

for _ufunc in UFUNCS:
    table.add(
        Op(
            name=f"numpy.{_ufunc.__name__}",
            kind=Kind.ELEMENTWISE,
            function=_ufunc,
            types=ufunc_types(_ufunc),
            effects=computes_quietly if _ufunc in _NEVER_FAIL else computes,
            layout_free=_ufunc in LAYOUT_FREE_UFUNCS,
        )
    )


_LAYOUT_FREE = {"where", "clip", "select", "real", "imag", "nan_to_num", "isposinf", "isneginf", "isreal", "iscomplex"}


def _row(name: str, data: str, *, sizes: str = "", weak: str = "", **rest) -> None:
    function = getattr(np, name)
    free = name in _LAYOUT_FREE
    rest = {"effects": computes, "types": probed(function, data, sizes, weak), "layout_free": free, **rest}
    table.add(Op(name=f"numpy.{name}", kind=Kind.ELEMENTWISE, function=function, **rest))


def copies_first(node: Node) -> Effect:
    """As `computes` where the default `copy=True` stands: otherwise the operand itself is written."""
    return computes(node) if "copy" not in (bind(node, np.nan_to_num) or {"copy": None}) else OPAQUE


_row("where", "condition x y", weak="x y")
_row("clip", "a", weak="a_min a_max min max")
_row("nan_to_num", "x nan posinf neginf", effects=copies_first, views=(0,))
_row("round", "a", sizes="decimals", method="round")
_row("around", "a", sizes="decimals")
_row("fix", "x")
_row("real", "val", views=(0,), effects=computes_quietly)
_row("imag", "val", views=(0,), effects=computes_quietly)
_row("angle", "z")
_row("sinc", "x")
_row("i0", "x")
_row("isclose", "a b rtol atol")
_row("isposinf", "x")
_row("isneginf", "x")
_row("isreal", "x", effects=computes_quietly)
_row("iscomplex", "x", effects=computes_quietly)
_row("select", "condlist choicelist", weak="default")
_row("interp", "x xp fp left right period")
table.add(Op(name="numpy.piecewise", kind=Kind.ELEMENTWISE, function=np.piecewise))
_row("unwrap", "p")
