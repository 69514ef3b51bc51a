"""Shapes, strides and memory orders of the operands of a region."""

from __future__ import annotations

import math
from enum import Flag
from itertools import pairwise

import numpy as np

Shape = tuple[int, ...]


class Order(Flag):
    """In which orders NumPy may walk an operand: C (last axis fastest), F (first axis fastest), or either."""

    NONE = 0
    C = 1
    F = 2
    ANY = 3


def broadcast(*shapes: Shape) -> Shape:
    """The shape that operands of these shapes have together; ValueError where they do not fit.

    >>> broadcast((4, 1), (3,))
    (4, 3)
    """
    first = shapes[0]
    if all(shape == first for shape in shapes):
        return first
    return np.broadcast_shapes(*shapes)


def order_of(shape: Shape, strides: tuple[int, ...]) -> Order:
    """The orders that an array allows; NONE with negative strides or axes in any other order.

    Axes of extent 1 or stride 0 do not count, as for NumPy's iterator.

    >>> order_of((3, 4), (32, 8)), order_of((3, 4), (8, 24)), order_of((4,), (16,)), order_of((4,), (-8,))
    (<Order.C: 1>, <Order.F: 2>, <Order.ANY: 3>, <Order.NONE: 0>)
    """
    counting = [stride for extent, stride in zip(shape, strides, strict=True) if extent > 1 and stride != 0]
    if any(stride < 0 for stride in counting):
        return Order.NONE
    order = Order.NONE
    if all(left >= right for left, right in pairwise(counting)):
        order |= Order.C
    if all(left <= right for left, right in pairwise(counting)):
        order |= Order.F
    return order


def contiguous_strides(shape: Shape, itemsize: int, order: Order) -> tuple[int, ...]:
    """The strides of a fresh array; ANY gives C."""
    strides, step = [], itemsize
    for extent in reversed(shape) if Order.C in order else shape:
        strides.append(step)
        step *= extent
    return tuple(reversed(strides)) if Order.C in order else tuple(strides)


def is_contiguous(shape: Shape, strides: tuple[int, ...], itemsize: int, order: Order) -> bool:
    """Whether the elements lie side by side in this order; axes of extent 1 may have any stride."""
    expected = contiguous_strides(shape, itemsize, order)
    return all(a == b or extent == 1 for extent, a, b in zip(shape, strides, expected, strict=True))


def has_distinct_elements(shape: Shape, strides: tuple[int, ...], itemsize: int) -> bool:
    """Whether no two elements of an array in C or F order share memory."""
    axes = sorted((abs(stride), extent) for extent, stride in zip(shape, strides, strict=True) if extent > 1)
    reach = itemsize
    for stride, extent in axes:
        if stride < reach:
            return False
        reach = stride * (extent - 1) + reach
    return True


def size_of(shape: Shape) -> int:
    """How many elements an array of this shape has."""
    return math.prod(shape)


def is_same_memory(left: np.ndarray, right: np.ndarray) -> bool:
    """Whether two arrays are the same elements at the same indices."""
    return (
        left.__array_interface__["data"][0] == right.__array_interface__["data"][0]
        and left.shape == right.shape
        and left.strides == right.strides
        and left.dtype == right.dtype
    )


def is_disturbed_by(read: np.ndarray, written: np.ndarray) -> bool:
    """Whether writing one array may change elements of the other at other indices."""
    return np.may_share_memory(read, written) and not is_same_memory(read, written)
