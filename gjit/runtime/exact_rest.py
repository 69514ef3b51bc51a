"""What a checked kernel left, step by step on NumPy, with NumPy's warnings: one for each step and kind."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from gjit.ir.graph import Constant
from gjit.runtime.floating_errors import Collector, RegionSource, collecting, collecting_modes, issue
from gjit.runtime.layout import Shape
from gjit.runtime.native_program import Draft, StageDraft
from gjit.runtime.region_items import Item, Step
from gjit.scheduler.fusible import Form

Slab = tuple[slice, ...]


def compute_rest(
    region: Draft,
    draft: StageDraft,
    left: list[tuple[int, int]],
    operands: dict[str, object],
    source: RegionSource,
) -> None:
    """Run the steps of a region on NumPy for some ranges of units.

    Args:
        region: all that it does.
        draft: its checked kernel.
        left: first and last unit (elements, or rows where there are several axes) of each range.
        operands: what the kernel reads and writes, by name.
        source: whose warnings they are.
    """
    unit = draft.space.extents[-1] if draft.space.rank > 1 else 1
    shape = draft.shape[::-1] if draft.is_reversed else draft.shape
    collector = Collector(frozenset(), {})
    with collecting(collecting_modes() or {}, collector):
        for begin, end in left:
            for slab in slabs(shape, begin * unit, end * unit):
                _Rest(region, draft, slab, operands, collector).run()
    issue(collector.found(), [step.node.span for step in region.steps], source)


def slabs(shape: Shape, begin: int, end: int) -> Iterator[Slab]:
    """Blocks of an array that hold the elements from `begin` up to `end` in C order, in that order.

    >>> [[(part.start, part.stop) for part in slab] for slab in slabs((3, 4), 2, 11)]
    [[(0, 1), (2, 4)], [(1, 2), (0, 4)], [(2, 3), (0, 3)]]
    """
    inner = math.prod(shape[1:])
    first, last = -(-begin // inner), end // inner
    if first > last:  # inside one index of the first axis
        yield from _inside(shape, last, begin - last * inner, end - last * inner)
        return
    if begin < first * inner:
        yield from _inside(shape, first - 1, begin - (first - 1) * inner, inner)
    if first < last:
        yield (slice(first, last), *(slice(0, extent) for extent in shape[1:]))
    if last * inner < end:
        yield from _inside(shape, last, 0, end - last * inner)


def _inside(shape: Shape, index: int, begin: int, end: int) -> Iterator[Slab]:
    for slab in slabs(shape[1:], begin, end):
        yield (slice(index, index + 1), *slab)


class _Rest:
    """The steps on one slab."""

    def __init__(self, region: Draft, draft: StageDraft, slab: Slab, operands: dict[str, Any], collector: Collector):
        self.draft, self.slab, self.operands, self.collector = draft, slab, operands, collector
        done = {step.position for steps in region.host for step in steps}
        self.steps = [step for step in region.steps if step.position not in done]
        self.known: dict[Item, Any] = {}
        for value, item in region.items.items():
            if isinstance(value, Constant):
                self.known[item] = value.value
        for name, value in {**draft.sources, **draft.written}.items():
            item = region.items[value]
            self.known[item.root] = self._part(operands[name]) if item.shape else operands[name]

    def run(self) -> None:
        for step in self.steps:
            self.collector.outside = step.position
            self._run(step)
        for name, (item, _) in self.draft.fresh.items():
            self._part(self.operands[name])[...] = self.known[item.root]

    def _part(self, array: np.ndarray) -> np.ndarray:
        """The slab of an array, which may repeat along axes of the space; that of a written one can be written."""
        if array.shape != self.draft.shape:
            array = np.broadcast_to(array, self.draft.shape)
        return (array.T if self.draft.is_reversed else array)[self.slab]

    def _run(self, step: Step) -> None:
        operands = [self.known[item.root] for item in step.operands]
        match step.operation.form:
            case Form.STORE:
                np.copyto(self._part(self.operands[self.draft.store[1]]), operands[0], "unsafe")
            case Form.CAST:
                self.known[step.result.root] = operands[0].astype(step.result.dtype)
            case _ if step.out is not None:
                step.function(*operands, out=self.known[step.out.root])
            case _:
                self.known[step.result.root] = step.function(*operands)
