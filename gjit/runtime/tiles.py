"""A region on NumPy, tile by tile, with the bits of its twin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gjit.ir.graph import Node, Value
from gjit.runtime import gain, tile_loop, tile_plan
from gjit.runtime.elision import nameless_values
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.region_inputs import RegionInputs
from gjit.runtime.region_items import Unsupported
from gjit.runtime.scalars import Fallback
from gjit.runtime.tile_loop import TiledLoopRegion
from gjit.runtime.tile_plan import Plan, plan_region
from gjit.runtime.tile_run import Discarded, Overlap, Run
from gjit.scheduler.turn_reader import turns_of

MINIMUM_ELEMENTS = 1 << 17
"""Below this many elements plain calls are as fast: all operands are in the cache."""
_KEPT_PLANS = 128
_CREDIT = 2048
"""What a region may spend on plans: it pays `_COST` for each, gets `_GAIN` back for each run of one, and 1 for each
call that it leaves to the twin for want of credit. Where shapes change with every call it soon stops planning."""
_COST = 128
_GAIN = 16
_MOST_DISCARDED = 3
_Key = tuple


def least_elements(region: Node) -> int | None:
    """With fewer elements than this a region runs as fast op by op, as far as its types tell; None: with any number."""
    if turns_of(region) is not None:
        return tile_loop.MINIMUM_ELEMENTS
    found = gain.least_elements(region, tile_plan.MINIMUM_BYTES)
    return None if found is None else max(found, MINIMUM_ELEMENTS)


def make_region(node: Node, twin: Callable, source: RegionSource) -> TiledRegion | TiledLoopRegion:
    """The region for the numpy engine."""
    turns = turns_of(node)
    return TiledRegion(node, twin, source) if turns is None else TiledLoopRegion(node, turns, twin, source)


class TiledRegion:
    """One `region` node, callable with its inputs; gives what its twin gives, faster.

    Args:
        node: the region node.
        twin: runs the region op by op; one value, a tuple for several, None for none.
        source: whose warnings a region issues.

    `tiled` and `fallbacks` count how calls have run. Plans are made for each signature (dtypes, shapes, strides) once.
    """

    __slots__ = ("node", "twin", "source", "tiled", "fallbacks", "_inputs", "_plans", "_credit", "_nameless", "_least")

    native = compilations = cache_hits = swaps = 0

    def __init__(self, node: Node, twin: Callable, source: RegionSource):
        self.node = node
        self.twin = twin
        self.source = source
        self.tiled = 0
        self.fallbacks = 0
        self._inputs = RegionInputs(node)
        self._plans: dict[_Key, Plan | None] = {}
        self._credit = _CREDIT
        self._nameless: frozenset[Value] | None = None
        self._least = least_elements(node)

    def __call__(self, *inputs: object) -> object:
        if self._least is not None and self._inputs.elements(inputs) >= self._least:
            try:
                return self._run(inputs)
            except Fallback:
                pass
        self.fallbacks += 1
        return self.twin(*inputs)

    def compile(self, inputs: tuple[object, ...]) -> None:
        """NumPy is compiled already."""

    def programs(self) -> list[str]:
        """The texts of the generated programs, one for each kind of call so far."""
        return list(dict.fromkeys(plan.program.source for plan in list(self._plans.values()) if plan is not None))

    def _run(self, inputs: tuple[object, ...]) -> object:
        target = self._inputs.target(inputs)
        key = self._inputs.signature(inputs, target)
        try:
            results = self._run_plan((*key, False), inputs, target)
        except Overlap:
            results = self._run_plan((*key, True), inputs, target)
        self.tiled += 1
        return results

    def _run_plan(self, key: _Key, inputs: tuple[object, ...], target: np.ndarray | None) -> object:
        try:
            plan = self._plans[key]
        except KeyError:
            plan = self._new_plan(key, inputs, target)
        if plan is None:
            raise Fallback
        try:
            results = Run(plan, inputs, target, self.source).result()
        except Discarded:
            plan.discarded += 1
            if plan.discarded >= _MOST_DISCARDED:
                self._plans[key] = None
            raise
        plan.discarded = 0
        self._credit = min(self._credit + _GAIN, _CREDIT)
        return results

    def _new_plan(self, key: _Key, inputs: tuple[object, ...], target: np.ndarray | None) -> Plan | None:
        if self._credit < _COST:
            self._credit += 1
            return None
        self._credit -= _COST
        while len(self._plans) >= _KEPT_PLANS:
            self._plans.pop(next(iter(self._plans)), None)
        if self._nameless is None:
            self._nameless = nameless_values(self.node.blocks[0])
        try:
            plan = plan_region(self.node, inputs, target, self._nameless, deferred=key[-1])
        except (Unsupported, Fallback, OverflowError):
            plan = None
        self._plans[key] = plan
        return plan
