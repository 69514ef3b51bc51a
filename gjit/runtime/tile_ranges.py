"""Which ranges of a region's values make its tiles."""

from __future__ import annotations

from gjit.runtime.arrangement import cut, slack
from gjit.runtime.region_items import Step, Unsupported
from gjit.runtime.tile_work import Work
from gjit.runtime.totals import Leaf, leaves_of
from gjit.scheduler.fusible import Form
from gjit.scheduler.reductions import REDUCTIONS

_LEAF_GRAIN = 1024
"""Tiles under the leaves of a sum begin and end at multiples of this, so that vector registers hold what they hold
in the whole."""


def ranges_of(work: Work, length: int) -> tuple[list[tuple[int, ...]], list[Leaf], int]:
    """The tiles, the leaves of float sums, and how many steps scratch must hold."""
    arrangement = work.arrangement
    totals = [step for step in work.steps if step.operation.form is Form.TOTAL]
    if any(_keeps_order(step) for step in totals):
        return _leaf_ranges(work, length)
    inner = max(map(arrangement.elements, arrangement.varying))
    tiles = cut(arrangement.lead, length, inner)
    capacity = min(length + slack(inner), arrangement.lead)
    if not totals:
        return list(tiles), [], capacity
    return [(start, stop, start, stop, index) for index, (start, stop) in enumerate(tiles)], tiles, capacity


def _keeps_order(step: Step) -> bool:
    return REDUCTIONS[step.node.op] in ("sum", "mean") and step.operands[0].dtype.kind == "f"


def _leaf_ranges(work: Work, length: int) -> tuple[list[tuple[int, ...]], list[Leaf], int]:
    size = work.arrangement.lead
    if not work.arrangement.flat or any(step.out is not None and step.out.root in work.outputs for step in work.steps):
        raise Unsupported
    leaves = leaves_of(size, length)
    ranges = [
        (low - low % _LEAF_GRAIN, min(size, -(-high // _LEAF_GRAIN) * _LEAF_GRAIN), low, high, index)
        for index, (low, high) in enumerate(leaves)
    ]
    return ranges, leaves, max(stop - start for start, stop, *_ in ranges)
