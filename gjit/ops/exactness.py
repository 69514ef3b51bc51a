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
MISWRITTEN = frozenset({np.isnan, np.isinf, np.isfinite, np.signbit})
"""Ufuncs whose vector code in NumPy 2.4 writes wrong values into an `out` with gaps between its elements."""

_CHECKED_FLOATS = """
    add subtract multiply divide sqrt square reciprocal negative positive absolute fabs sign maximum minimum copysign
    rint equal not_equal less less_equal greater greater_equal logical_and logical_or logical_xor logical_not isnan
    isinf isfinite signbit degrees radians deg2rad rad2deg conjugate where clip
"""
_CHECKED_INTEGERS = """
    bitwise_and bitwise_or bitwise_xor invert left_shift right_shift bitwise_count floor ceil trunc power
"""
_DIVISIONS = frozenset({"numpy.floor_divide", "numpy.remainder", "numpy.fmod"})
_ON_CHECKED_FLOATS = frozenset(f"numpy.{name}" for name in _CHECKED_FLOATS.split())
_ON_CHECKED_INTEGERS = _ON_CHECKED_FLOATS | {f"numpy.{name}" for name in _CHECKED_INTEGERS.split()}
CHECKED_DTYPES = frozenset("?bBhHiIlLqQfd")
"""The dtypes of checked kernels: complex products and float16 functions have no bits of their own in NumPy."""


def may_be_checked(row: str) -> bool:
    """Whether a checked kernel may have NumPy's bits on the row `row`, for some dtypes."""
    return row in _ON_CHECKED_INTEGERS or row in _DIVISIONS or row == "numpy.astype"


def is_checked_exact(op: Op, dtypes: tuple[np.dtype, ...], divisor: int | None = None) -> bool:
    """Whether the kernel of `op` has NumPy's bits on operands without NaN while no floating-point flag is up.

    Where NumPy would warn a flag is up too, or else the answer is no: of integer division only what cannot warn.

    Args:
        op: the row.
        dtypes: of the loop, operands first and the result last.
        divisor: the second operand, where it is a number of the program.

    >>> from gjit.ops import table
    >>> double, integer = np.dtype("f8"), np.dtype("i8")
    >>> is_checked_exact(table["numpy.divide"], (double,) * 3), is_checked_exact(table["numpy.exp"], (double,) * 2)
    (True, False)
    >>> [is_checked_exact(table["numpy.remainder"], (integer,) * 3, divisor) for divisor in (2, None)]
    [True, False]
    """
    if any(dtype.char not in CHECKED_DTYPES for dtype in dtypes) or not op.kernel_exact(dtypes):
        return False
    if op.name in ("ndarray.astype", "numpy.astype"):
        return is_checked_cast(*dtypes)
    if any(dtype.kind == "f" for dtype in dtypes[:-1]):
        return op.name in _ON_CHECKED_FLOATS
    return op.name in _ON_CHECKED_INTEGERS or (op.name in _DIVISIONS and divisor not in (None, 0, -1))


def is_checked_cast(source: np.dtype, target: np.dtype) -> bool:
    """Whether a cast raises a flag wherever its result is anyone's guess: those of floats to int32 and int64 do."""
    if source.char not in CHECKED_DTYPES or target.char not in CHECKED_DTYPES:
        return False
    return source.kind != "f" or target.kind in "fb" or (target.kind == "i" and target.itemsize >= 4)


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
