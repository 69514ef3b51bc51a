"""What NumPy's functions give for operands of some dtypes, shapes and memory orders: they are asked with samples."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable

import numpy as np

from gjit.runtime.layout import Order, Shape, contiguous_strides, order_of
from gjit.runtime.region_items import Item, Unsupported, is_supported
from gjit.scheduler.reductions import Reduction

_LARGEST_SAMPLE = 2


def reduced(reduction: Reduction, function: Callable, operand: Item, where: Item | None) -> Item:
    """The result of a reduction: an array in the order that NumPy gives it, or a scalar."""
    axes = reduction.axes_of(len(operand.shape))
    if axes is None or not axes or operand.dtype is None or 0 in operand.shape or operand.order is Order.NONE:
        raise Unsupported
    if where is not None and (where.dtype != np.bool_ or len(where.shape) > len(operand.shape)):
        raise Unsupported
    dtype, is_scalar, is_reversed = _reduced_sample(
        function,
        operand.dtype.char,
        tuple(min(extent, _LARGEST_SAMPLE) for extent in operand.shape),
        Order.C not in operand.order,
        tuple(reduction.keywords().items()),
        None if where is None else tuple(min(extent, _LARGEST_SAMPLE) for extent in where.shape),
    )
    if is_scalar:
        return Item(dtype)
    shape = tuple(
        1 if axis in axes else extent
        for axis, extent in enumerate(operand.shape)
        if reduction.keepdims or axis not in axes
    )
    strides = contiguous_strides(shape, dtype.itemsize, Order.F if is_reversed else Order.C)
    return Item(dtype, shape, order_of(shape, strides), strides, is_array=True)


@functools.lru_cache(maxsize=1024)
def _reduced_sample(
    function: Callable,
    character: str,
    shape: Shape,
    is_reversed: bool,
    keywords: tuple[tuple[str, object], ...],
    where: Shape | None,
) -> tuple[np.dtype, bool, bool]:
    """The dtype of the result, whether it is a scalar, and whether its first axis is the fastest."""
    given = dict(keywords)
    if where is not None:
        given["where"] = np.ones(where, bool)
    sample = np.ones(shape, character, order="F" if is_reversed else "C")
    result = _quietly(function, sample, **given)
    if not is_supported(result.dtype):
        raise Unsupported
    if not isinstance(result, np.ndarray):
        return result.dtype, True, False
    orders = (Order.C, Order.F)
    strides = [contiguous_strides(result.shape, result.itemsize, order) for order in orders]
    if result.strides not in strides:
        raise Unsupported
    return result.dtype, False, result.strides != strides[0]


@functools.lru_cache(maxsize=1024)
def called_dtype(function: Callable, character: str) -> np.dtype:
    """The dtype that a function of one array gives."""
    result = _quietly(function, np.ones(2, character))
    if type(result) is not np.ndarray or result.shape != (2,) or not is_supported(result.dtype):
        raise Unsupported
    return result.dtype


def _quietly(function: Callable, *values: object, **given: object) -> np.ndarray | np.generic:
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return function(*values, **given)
    except Exception:  # the call raises, which is for the twin to do
        raise Unsupported from None
