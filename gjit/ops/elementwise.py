"""Elementwise functions: every ufunc with a numeric loop, and the functions that are made of them."""

from __future__ import annotations

import numpy as np

from gjit.ir.graph import Node
from gjit.ops.arguments import names_in_call
from gjit.ops.effects import computes, computes_quietly
from gjit.ops.exactness import LAYOUT_FREE_UFUNCS
from gjit.ops.kernels import WHERE_KERNEL
from gjit.ops.probe import probed
from gjit.ops.row import OPAQUE, Effect, ExactRule, Kind, Op, table
from gjit.ops.rules import ufunc_types

UFUNCS: list[np.ufunc] = []
"""Every ufunc of NumPy with a numeric loop and no core dimensions."""


def _ufunc(ufunc: np.ufunc, kinds: str = "", exact: str | ExactRule = "", **rest) -> None:
    """One row. `kinds` are the kinds of operands with a kernel, `exact` those of them that keep NumPy's bits."""
    operands = ", ".join(f"{{{position}}}" for position in range(ufunc.nin))
    kernel = f"np_{ufunc.__name__}({operands})" if kinds else None
    free = ufunc in LAYOUT_FREE_UFUNCS
    rest = {"effects": computes, "layout_free": free, "kernel": kernel, "kinds": kinds, "exact": exact, **rest}
    types = ufunc_types(ufunc)
    table.add(Op(name=f"numpy.{ufunc.__name__}", kind=Kind.ELEMENTWISE, function=ufunc, types=types, **rest))
    UFUNCS.append(ufunc)


_QUIET = {"effects": computes_quietly}

_ufunc(np.add, "biufc", "biufc")
_ufunc(np.subtract, "biufc", "biufc")
_ufunc(np.multiply, "biufc", "biuf")
_ufunc(np.divide, "fc", "f")
_ufunc(np.floor_divide, "iuf", "iuf")
_ufunc(np.remainder, "iuf", "iuf")
_ufunc(np.fmod, "iuf", "iuf")
_ufunc(np.divmod)
_ufunc(np.power, "iuf", "iu")
_ufunc(np.float_power, "f")
_ufunc(np.negative, "iufc", "iufc", **_QUIET)
_ufunc(np.positive, "iufc", "iufc", **_QUIET)
_ufunc(np.absolute, "biufc", "biuf")
_ufunc(np.fabs, "f", "f")
_ufunc(np.sign, "iuf", "iuf")
_ufunc(np.reciprocal, "fc", "f")
_ufunc(np.square, "iufc", "iuf")
_ufunc(np.sqrt, "f", "f")
_ufunc(np.cbrt, "f")
_ufunc(np.exp, "f")
_ufunc(np.exp2, "f")
_ufunc(np.expm1, "f")
_ufunc(np.log, "f")
_ufunc(np.log2, "f")
_ufunc(np.log10, "f")
_ufunc(np.log1p, "f")
_ufunc(np.logaddexp, "f")
_ufunc(np.logaddexp2, "f")
_ufunc(np.sin, "f")
_ufunc(np.cos, "f")
_ufunc(np.tan, "f")
_ufunc(np.arcsin, "f")
_ufunc(np.arccos, "f")
_ufunc(np.arctan, "f")
_ufunc(np.arctan2, "f")
_ufunc(np.hypot, "f")
_ufunc(np.sinh, "f")
_ufunc(np.cosh, "f")
_ufunc(np.tanh, "f")
_ufunc(np.arcsinh, "f")
_ufunc(np.arccosh, "f")
_ufunc(np.arctanh, "f")
_ufunc(np.degrees, "f", "f")
_ufunc(np.radians, "f", "f")
_ufunc(np.deg2rad, "f", "f")
_ufunc(np.rad2deg, "f", "f")
_ufunc(np.rint, "f", "f")
_ufunc(np.floor, "biuf", "biuf")
_ufunc(np.ceil, "biuf", "biuf")
_ufunc(np.trunc, "biuf", "biuf")
_ufunc(np.conjugate, "iufc", "iufc", **_QUIET)
_ufunc(np.copysign, "f", "f")
_ufunc(np.nextafter, "f", lambda dtypes: dtypes[0] != np.float16)  # of two zeros: one or the other, by NumPy's version
_ufunc(np.spacing, "f", "f")
_ufunc(np.ldexp, "fi", "fi")
_ufunc(np.frexp)
_ufunc(np.modf)
_ufunc(np.heaviside, "f", "f")
_ufunc(np.gcd, "iu", "iu")
_ufunc(np.lcm, "iu", "iu")
_ufunc(np.maximum, "biufc", "biufc")
_ufunc(np.minimum, "biufc", "biufc")
_ufunc(np.fmax, "biufc", "biu")
_ufunc(np.fmin, "biufc", "biu")
_ufunc(np.equal, "biufc", "biufc")
_ufunc(np.not_equal, "biufc", "biufc")
_ufunc(np.less, "biufc", "biufc")
_ufunc(np.less_equal, "biufc", "biufc")
_ufunc(np.greater, "biufc", "biufc")
_ufunc(np.greater_equal, "biufc", "biufc")
_ufunc(np.logical_and, "biufc", "biufc")
_ufunc(np.logical_or, "biufc", "biufc")
_ufunc(np.logical_xor, "biufc", "biufc")
_ufunc(np.logical_not, "biufc", "biufc", **_QUIET)
_ufunc(np.isnan, "biufc", "biufc", **_QUIET)
_ufunc(np.isinf, "biufc", "biufc", **_QUIET)
_ufunc(np.isfinite, "biufc", "biufc", **_QUIET)
_ufunc(np.signbit, "f", "f", **_QUIET)
_ufunc(np.bitwise_and, "biu", "biu")
_ufunc(np.bitwise_or, "biu", "biu")
_ufunc(np.bitwise_xor, "biu", "biu")
_ufunc(np.invert, "biu", "biu", **_QUIET)
_ufunc(np.left_shift, "iu", "iu")
_ufunc(np.right_shift, "iu", "iu")
_ufunc(np.bitwise_count, "iu", "iu", **_QUIET)


def _kernel(text: str, kinds: str, exact: str | None = None) -> dict[str, str]:
    """The kernel of a call with nothing but operands; exact on all its kinds unless said otherwise."""
    return {"kernel": text, "kinds": kinds, "exact": kinds if exact is None else exact}


CLIP_KERNEL = _kernel("np_clip({0}, {1}, {2})", "biuf")
"""Of `clip` with both bounds."""
_LAYOUT_FREE = {"where", "clip", "select", "real", "imag", "nan_to_num", "isposinf", "isneginf", "isreal", "iscomplex"}


def _row(name: str, data: str, *, sizes: str = "", weak: str = "", **rest) -> None:
    function = getattr(np, name)
    free = name in _LAYOUT_FREE
    rest = {"effects": computes, "types": probed(function, data, sizes, weak), "layout_free": free, **rest}
    table.add(Op(name=f"numpy.{name}", kind=Kind.ELEMENTWISE, function=function, **rest))


def copies_first(node: Node) -> Effect:
    """As `computes` where the default `copy=True` stands: otherwise the operand itself is written."""
    names = names_in_call(node, np.nan_to_num)
    return OPAQUE if names is None or "copy" in names else computes(node)


_row("where", "condition x y", weak="x y", **WHERE_KERNEL)
_row("clip", "a", weak="a_min a_max min max", **CLIP_KERNEL)
_row("nan_to_num", "x nan posinf neginf", effects=copies_first, views=(0,), **_kernel("np_nan_to_num({0})", "biufc"))
_row("round", "a", sizes="decimals", method="round", **_kernel("np_round({0})", "iuf"))
_row("around", "a", sizes="decimals", **_kernel("np_round({0})", "iuf"))
_row("fix", "x", **_kernel("np_trunc({0})", "biuf"))
_row("real", "val", views=(0,), effects=computes_quietly, **_kernel("np_real({0})", "biufc"))
_row("imag", "val", views=(0,), effects=computes_quietly, **_kernel("np_imag({0})", "biufc"))
_row("angle", "z", **_kernel("np_angle({0})", "fc", ""))
_row("sinc", "x", **_kernel("np_sinc({0})", "f", ""))
_row("i0", "x")
_row("isclose", "a b rtol atol")
_row("isposinf", "x", **_kernel("np_isposinf({0})", "f"))
_row("isneginf", "x", **_kernel("np_isneginf({0})", "f"))
_row("isreal", "x", effects=computes_quietly, **_kernel("np_isreal({0})", "biufc"))
_row("iscomplex", "x", effects=computes_quietly, **_kernel("!np_isreal({0})", "biufc"))
_row("select", "condlist choicelist", weak="default")
_row("interp", "x xp fp left right period")
table.add(Op(name="numpy.piecewise", kind=Kind.ELEMENTWISE, function=np.piecewise))
_row("unwrap", "p")
