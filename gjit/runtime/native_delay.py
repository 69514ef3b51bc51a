"""How late rows have to be written that a store and what it reads share.

Where an array has the strides of the target and lies some rows before it, what it reads of a row is overwritten rows
earlier: `u[:-2]` of a store into `u[1:-1]` reads in row r what the store writes in row r - 1, which therefore waits
until row r has been computed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from gjit.cuda_kernels.delayed import PIECE
from gjit.runtime.native_space import Space

MOST_BYTES = 256 << 10
"""How much memory the rows that wait may take: they have to stay in the cache."""


def delay_of(space: Space, name: str, target: np.ndarray, arrays: Iterable[tuple[str, np.ndarray]]) -> int | None:
    """By how many rows to write late; None where that is not known, or too many.

    Args:
        space: of the kernel.
        name: of the output that is the target.
        target: the view that is stored into.
        arrays: those that are read and may share memory with it, by their names in the kernel.
    """
    delay = 0
    for other, array in arrays:
        if array.dtype != target.dtype or space.strides[other] != space.strides[name]:
            return None
        distance = _address(array) - _address(target)
        if distance % target.itemsize:
            return None
        rows = _rows_before(space, space.strides[name], distance // target.itemsize)
        if rows is None:
            return None
        delay = max(delay, rows)
    length = space.extents[-1] if space.rank > 1 else PIECE
    return delay if (delay + 1) * length * target.itemsize <= MOST_BYTES else None


def _address(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]


def _rows_before(space: Space, strides: tuple[int, ...], distance: int) -> int | None:
    """How many rows before the target the same place of an array may lie that is so many elements further on."""
    if any(stride <= 0 for stride in strides):
        return None
    found = list(_shifts(space.extents, strides, distance))
    if space.rank == 1:
        return max((-(shift // PIECE) for (shift,) in found), default=0)
    weights = [math.prod(space.extents[axis + 1 : -1]) for axis in range(space.rank - 1)]
    rows = [sum(map(int.__mul__, shift[:-1], weights)) for shift in found]
    return max((-row for row in rows), default=0)


def _shifts(extents: tuple[int, ...], strides: tuple[int, ...], distance: int) -> Iterable[tuple[int, ...]]:
    """The index distances, within the space, that make up a distance in elements."""
    if len(extents) == 1:
        whole, rest = divmod(distance, strides[0])
        if not rest and abs(whole) < extents[0]:
            yield (whole,)
        return
    nearest = distance // strides[0]
    reach = (
        sum((extent - 1) * stride for extent, stride in zip(extents[1:], strides[1:], strict=True)) // strides[0] + 1
    )
    for first in range(nearest - reach, nearest + reach + 2):
        if abs(first) < extents[0]:
            rest = distance - first * strides[0]
            yield from ((first, *others) for others in _shifts(extents[1:], strides[1:], rest))
