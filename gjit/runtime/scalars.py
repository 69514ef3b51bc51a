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
    array = np.asarray(value, dtype)
    kind = type(value)
    if kind is int and abs(value) >= 1 << 64:
        raise Fallback
    if dtype.kind == "b":
        return array
    if kind is int and int(array.item().real) != value:
        raise Fallback
    if kind in (float, complex) and array.dtype.itemsize < (8 if array.dtype.kind == "f" else 16):
        _check_narrowed(value, array)
    return array


def _check_narrowed(value: float | complex, array: np.ndarray) -> None:
    """A finite number must stay finite and normal."""
    tiny = float(np.finfo(array.dtype).tiny)
    pairs = ((value.real, array.real.item()), (value.imag, array.imag.item()))
    for before, after in pairs:
        if math.isfinite(before) and before != 0 and not (math.isfinite(after) and abs(after) >= tiny):
            raise Fallback
