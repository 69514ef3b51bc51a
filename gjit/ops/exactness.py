"""Which operations give the same bits for every memory layout.

NumPy picks vector code by strides: the float32 and float64 transcendental functions take another path for
negative strides, the float16 ones for every stride but one, and complex arithmetic takes other instructions (sums
differ in which of two NaNs they keep). What IEEE 754 rounds correctly (sums, products, quotients, roots, rounding),
selects or compares is the same on every path.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gjit.ops.row import Op

_ON_ALL_DTYPES = """
    negative positive conjugate equal not_equal less less_equal greater greater_equal logical_and
    logical_or logical_xor logical_not isnan isinf isfinite signbit bitwise_and bitwise_or bitwise_xor invert
    left_shift right_shift bitwise_count gcd lcm maximum minimum copysign nextafter spacing ldexp frexp modf
    heaviside fabs rint floor ceil trunc floor_divide remainder divmod fmod degrees radians deg2rad rad2deg
"""
_ON_REAL_DTYPES = "add subtract multiply divide square reciprocal absolute sign sqrt"
LAYOUT_FREE_UFUNCS = frozenset(getattr(np, name) for name in _ON_ALL_DTYPES.split())
"""Ufuncs with the same bits for every layout whatever the dtype."""
_REAL = frozenset(getattr(np, name) for name in _ON_REAL_DTYPES.split())
_PIECEWISE = {np.fmax, np.fmin}


def is_layout_free(op: Op, dtypes: Iterable[np.dtype]) -> bool:
    """Whether `op` on operands of these dtypes gives the same bits for every layout, offset and tiling.

    >>> from gjit.ops import table
    >>> [is_layout_free(table["numpy.multiply"], [np.dtype(name)]) for name in ("float64", "complex64")]
    [True, False]
    """
    if op.layout_free:
        return True
    dtypes = list(dtypes)
    kinds = {dtype.kind for dtype in dtypes}
    ufunc = ufunc_of(op)
    if op.name in ("ndarray.astype", "numpy.astype"):
        return _is_exact_cast(dtypes)
    if ufunc is None:
        return False
    if ufunc in _REAL:
        return "c" not in kinds
    return kinds <= set("biu") and _has_integer_loop(ufunc)


def is_tile_free(op: Op, dtypes: Iterable[np.dtype]) -> bool:
    """Whether pieces of the same operands, cut so that strides stay, give the bits of one whole evaluation.

    Ufuncs do for pieces of whole vectors (multiples of 64 elements), except which of two NaNs `fmax` and `fmin` keep.
    """
    ufunc = ufunc_of(op)
    elementwise = ufunc is not None and ufunc.signature is None and ufunc not in _PIECEWISE
    return elementwise or is_layout_free(op, dtypes)


def _is_exact_cast(dtypes: list[np.dtype]) -> bool:
    """Casts, source and target: a float that no integer of the target holds gives what the instruction gives."""
    source, target = dtypes
    return not (source.kind in "fc" and target.kind in "iu")


def ufunc_of(op: Op) -> np.ufunc | None:
    """The ufunc that a row is, or that its operator is on arrays."""
    found = getattr(np, op.ufunc.removeprefix("numpy."), None) if op.ufunc else op.function
    return found if isinstance(found, np.ufunc) else None


def _has_integer_loop(ufunc: np.ufunc) -> bool:
    return any(loop.split("->")[0].strip("bBhHiIlLqQ") == "" for loop in ufunc.types)
