"""Scalar operands of tiles, converted once for all tiles as a ufunc converts them."""

from __future__ import annotations

import math

import numpy as np


class Fallback(Exception):
    """NumPy's behaviour cannot be kept this time; nothing is written yet, and the twin runs."""


def loop_scalar(value: object, dtype: np.dtype) -> np.ndarray:
    """A scalar operand in the dtype of the loop.

    Raises Fallback (or OverflowError) where NumPy would raise or warn: a Python number that does not fit.

    >>> loop_scalar(2, np.dtype("f4"))
    array(2., dtype=float32)
    """
    kind = type(value)
    if kind is int and abs(value) >= 1 << 64:
        raise Fallback
    if kind in (int, float, complex) and dtype.kind in "fc" and dtype.char not in "dD":
        _check_narrowed(value, np.finfo(dtype))
    array = np.asarray(value, dtype)
    if kind is int and dtype.kind != "b" and int(array.item().real) != value:
        raise Fallback
    return array


def _check_narrowed(value: float | complex, limits: np.finfo) -> None:
    """A finite number must stay finite and normal."""
    tiny, most = float(limits.tiny), float(limits.max)
    for part in (value.real, value.imag):
        if math.isfinite(part) and part != 0 and not tiny <= abs(part) <= most:
            raise Fallback
