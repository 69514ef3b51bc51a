"""Reductions, cumulative functions and order statistics."""

from __future__ import annotations

import numpy as np

from gjit.ops.effects import computes
from gjit.ops.probe import probed
from gjit.ops.row import Kind, Op, table


def _row(name: str, data: str = "a", method: bool = False, **roles: str) -> None:
    function = getattr(np, name)
    rule = probed(function, data, **roles)
    rest = {"types": rule, "effects": computes, "method": name if method else "", "layout_free": False}
    table.add(Op(name=f"numpy.{name}", kind=Kind.REDUCTION, function=function, **rest))


_row("sum", "a where", method=True, weak="initial")
_row("prod", "a where", method=True, weak="initial")
_row("min", "a where", method=True, weak="initial")
_row("max", "a where", method=True, weak="initial")
_row("amin", "a where", weak="initial")
_row("amax", "a where", weak="initial")
_row("mean", "a where", method=True)
_row("var", "a where mean", method=True, weak="ddof")
_row("std", "a where mean", method=True, weak="ddof")
_row("any", "a where")
_row("all", "a where")
_row("argmin", method=True)
_row("argmax", method=True)
_row("ptp")
_row("count_nonzero")
_row("average", "a weights")
_row("median")
_row("percentile", "a q", weak="q")
_row("quantile", "a q", weak="q")
_row("cumsum", method=True)
_row("cumprod", method=True)
_row("cumulative_sum", "x")
_row("cumulative_prod", "x")
_row("nansum", "a where", weak="initial")
_row("nanprod", "a where", weak="initial")
_row("nanmin", "a where", weak="initial")
_row("nanmax", "a where", weak="initial")
_row("nanmean", "a where")
_row("nanvar", "a where mean", weak="ddof")
_row("nanstd", "a where mean", weak="ddof")
_row("nanargmin")
_row("nanargmax")
_row("nanmedian")
_row("nancumsum")
_row("nancumprod")
_row("trapezoid", "y x dx")
_row("array_equal", "a1 a2")
_row("allclose", "a b rtol atol")
