"""How the values of a region are cut into tiles: one memory order, one leading axis, and who varies along it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gjit.runtime.layout import Order, Shape, is_contiguous, size_of
from gjit.runtime.region_items import Item, Step, Unsupported
from gjit.runtime.region_values import Typing
from gjit.scheduler.fusible import Form

BLOCK = 8192
"""Flat tiles start at multiples of this: NumPy's buffers hold as many elements, and every vector length divides it."""
_LANES = 64
_MAXIMUM_OVERSIZE = 4


def _cache_size() -> int:
    """The size of one core's second level cache, or 1 MB where the system does not tell."""
    for folder in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*"):
        try:
            if (folder / "level").read_text().strip() == "2":
                return int((folder / "size").read_text().strip().removesuffix("K")) << 10
        except (OSError, ValueError):
            continue
    return 1 << 20


TILE_BYTES = _cache_size() // 2
"""How much memory the steps on one tile touch."""


@dataclass(slots=True)
class Arrangement:
    """Flat tiles are ranges of elements of contiguous arrays; other tiles are ranges along the leading axis.

    space       the shape of the largest values
    order       C or F: with F, arrays are walked as their transposes
    flat        whether tiles are one-dimensional
    varying     the items that have a part in each tile; the others are whole
    """

    space: Shape
    order: Order
    flat: bool
    varying: set[Item]

    @property
    def lead(self) -> int:
        """How many elements (or rows) there are to cut."""
        if self.flat:
            return size_of(self.space)
        return self.space[0] if self.order is Order.C else self.space[-1]

    def tile_shape(self, item: Item) -> Shape:
        """The shape of a varying item as tiles see it; the first extent is cut."""
        if self.flat:
            return (size_of(item.shape),)
        return item.shape if self.order is Order.C else _aligned(item.shape, len(self.space))[::-1]

    def elements(self, item: Item) -> int:
        """How many elements of a varying item one step along the leading axis takes."""
        return size_of(self.tile_shape(item)[1:])

    def view(self, array: np.ndarray) -> np.ndarray:
        """An array as tiles see it, without a copy."""
        if self.order is Order.C:
            return array.reshape(-1) if self.flat and len(self.space) > 1 else array
        array = array.reshape(_aligned(array.shape, len(self.space))).T
        return array.reshape(-1) if self.flat else array


def arrange(typing: Typing) -> Arrangement:
    """The arrangement for the values of a region; Unsupported where their layouts do not go together."""
    arrays = [item for item in _items(typing) if item.shape]
    if not arrays or any(0 in item.shape for item in arrays):
        raise Unsupported
    space = max((item.shape for item in arrays), key=lambda shape: (size_of(shape), len(shape)))
    order = Order.ANY
    for item in arrays:
        if item.shape == space:
            order &= item.order
    order = Order.C if Order.C in order else order
    has_rows = any(step.operation.form is Form.ROWS for step in typing.steps)
    if order is Order.NONE or (has_rows and order is not Order.C):
        raise Unsupported
    flat = not has_rows and all(
        item.shape == space and is_contiguous(space, item.strides, item.dtype.itemsize, order) for item in arrays
    )
    arrangement = Arrangement(space, order, flat, set())
    _mark_varying(arrangement, typing)
    return arrangement


def _items(typing: Typing) -> dict[Item, None]:
    """What the steps read, write and make; an array whose view is stored into is not among them, the view is."""
    items = ((*step.operands, step.out, step.result) for step in typing.steps)
    return dict.fromkeys(item for row in items for item in row if item is not None)


def _mark_varying(arrangement: Arrangement, typing: Typing) -> None:
    for item in _items(typing):
        if item.position < 0 and item.shape and _leads(arrangement, item):
            arrangement.varying.add(item)
    for step in typing.steps:
        if step.result is None or not any(item in arrangement.varying for item in step.operands):
            continue
        if step.operation.form is not Form.TOTAL:
            _check_alignment(arrangement, step)
            arrangement.varying.add(step.result)
    if any(arrangement.order not in item.order for item in arrangement.varying):
        raise Unsupported


def _leads(arrangement: Arrangement, item: Item) -> bool:
    if arrangement.flat:
        return True
    aligned = _aligned(item.shape, len(arrangement.space))
    return arrangement.lead > 1 and arrangement.lead == (aligned[0] if arrangement.order is Order.C else aligned[-1])


def _check_alignment(arrangement: Arrangement, step: Step) -> None:
    """The leading axis of a varying result is that of its varying operands, and no other operand reaches it."""
    shape = step.result.shape
    if step.operation.form is Form.VIEW and arrangement.order is not Order.C:
        raise Unsupported
    if arrangement.flat or arrangement.order is Order.F:
        return
    if not shape or shape[0] != arrangement.lead:
        raise Unsupported
    if step.operation.form in (Form.ROWS, Form.VIEW):
        return
    for item in step.operands:
        reaches = len(item.shape) == len(shape) and item.shape[0] != 1
        if reaches != (item in arrangement.varying):
            raise Unsupported


def _aligned(shape: Shape, rank: int) -> Shape:
    return (1,) * (rank - len(shape)) + shape


def tile_length(arrangement: Arrangement, bytes_per_step: int) -> int:
    """How many steps along the leading axis make a tile that fits the cache.

    A multiple that keeps the elements of a tile at the places in vector registers that they have in the whole: even
    sums depend on that, in which of two NaNs they keep.
    """
    inner = 1 if arrangement.flat else max(map(arrangement.elements, arrangement.varying))
    grain = BLOCK if arrangement.flat else _LANES // math.gcd(inner, _LANES)
    length = max(TILE_BYTES // bytes_per_step // grain, 1) * grain
    if not arrangement.flat and min(length, arrangement.lead) * bytes_per_step > _MAXIMUM_OVERSIZE * TILE_BYTES:
        raise Unsupported
    return length


def cut(lead: int, length: int, inner: int) -> list[tuple[int, int]]:
    """The ranges of the tiles. A last tile of a few elements joins the one before it: NumPy treats arrays of one
    element apart.

    >>> cut(20, 8, 64), cut(17, 8, 1)
    ([(0, 8), (8, 16), (16, 20)], [(0, 8), (8, 17)])
    """
    starts = list(range(0, lead, length))
    if len(starts) > 1 and (lead - starts[-1]) * inner < _LANES:
        starts.pop()
    return list(zip(starts, [*starts[1:], lead], strict=True))


def slack(inner: int) -> int:
    """How many steps longer than the others the last tile may be."""
    return -(-_LANES // inner)
