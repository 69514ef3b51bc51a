"""A region on NumPy, tile by tile, with the bits of its twin."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gjit.ir.graph import Node
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.region_values import WEAK_TYPES, Unsupported
from gjit.runtime.scalars import Fallback
from gjit.runtime.tile_plan import Plan, plan_region
from gjit.runtime.tile_run import Discarded, Overlap, Run

MINIMUM_ELEMENTS = 1 << 17
"""Below this many elements plain calls are as fast: all operands are in the cache."""
_KEPT_PLANS = 128
_MOST_DISCARDED = 3
_WEAK = frozenset(WEAK_TYPES)


class TiledRegion:
    """One `region` node, callable with its inputs; gives what its twin gives, faster.

    Args:
        node: the region node.
        twin: runs the region op by op; one value, a tuple for several, None for none.
        source: whose warnings a region issues.

    `tiled` and `fallbacks` count how calls have run. Plans are made for each signature (dtypes, shapes, strides) once.
    """

    __slots__ = ("node", "twin", "source", "tiled", "fallbacks", "_plans", "_indices")

    def __init__(self, node: Node, twin: Callable, source: RegionSource):
        self.node = node
        self.twin = twin
        self.source = source
        self.tiled = 0
        self.fallbacks = 0
        self._indices = _index_positions(node)
        self._plans: dict[tuple, Plan | None] = {}

    def __call__(self, *inputs: object) -> object:
        key = signature_of(inputs, self._indices)
        if key is not None:
            try:
                return self._run(key, inputs)
            except Fallback:
                pass
        self.fallbacks += 1
        return self.twin(*inputs)

    def programs(self) -> list[str]:
        """The texts of the generated programs, one for each kind of call so far."""
        return list(dict.fromkeys(plan.program.source for plan in list(self._plans.values()) if plan is not None))

    def _run(self, key: tuple, inputs: tuple[object, ...]) -> object:
        try:
            results = self._run_plan((key, False), inputs)
        except Overlap:
            results = self._run_plan((key, True), inputs)
        self.tiled += 1
        return results

    def _run_plan(self, entry: tuple, inputs: tuple[object, ...]) -> object:
        plan = self._plan(entry, inputs)
        try:
            results = Run(plan, inputs, self.source).result()
        except Discarded:
            plan.discarded += 1
            if plan.discarded >= _MOST_DISCARDED:
                self._plans[entry] = None
            raise
        plan.discarded = 0
        return results

    def _plan(self, entry: tuple, inputs: tuple[object, ...]) -> Plan:
        if entry not in self._plans:
            if len(self._plans) >= _KEPT_PLANS:
                self._plans.clear()
            self._plans[entry] = self._make_plan(inputs, deferred=entry[1])
        plan = self._plans.get(entry)
        if plan is None:
            raise Fallback
        return plan

    def _make_plan(self, inputs: tuple[object, ...], deferred: bool) -> Plan | None:
        if max((value.size for value in inputs if type(value) is np.ndarray), default=0) < MINIMUM_ELEMENTS:
            return None
        try:
            return plan_region(self.node, inputs, deferred)
        except (Unsupported, Fallback, OverflowError):
            return None


def signature_of(inputs: tuple[object, ...], indices: frozenset[int] = frozenset()) -> tuple | None:
    """What a plan depends on: dtypes, shapes and strides of arrays, types of scalars, and the inputs at the positions
    `indices`, which are indices, themselves. None where an input is anything else.
    """
    parts = []
    for position, value in enumerate(inputs):
        part = _index_part(value) if position in indices else _operand_part(value)
        if part is None:
            return None
        parts.append(part)
    return tuple(parts)


def _operand_part(value: object) -> object:
    kind = type(value)
    if kind is np.ndarray:
        return (value.dtype, value.dtype.char, value.shape, value.strides) if value.flags.aligned else None
    if kind in _WEAK:
        return kind
    return (kind, value.dtype) if isinstance(value, np.generic) else None


def _index_part(value: object) -> object:
    kind = type(value)
    if kind is tuple:
        parts = tuple(map(_index_part, value))
        return None if None in parts else parts
    if kind is slice:
        ends = (value.start, value.stop, value.step)
        return ("slice", *ends) if all(type(end) in (int, type(None)) for end in ends) else None
    if kind is int:
        return value
    return (kind,) if value is None or value is Ellipsis else None


def _index_positions(node: Node) -> frozenset[int]:
    """Which inputs of a region are the index of its store."""
    body = node.blocks[0]
    indices = {step.inputs[1] for step in body if step.op == "setitem"}
    return frozenset(position for position, value in enumerate(body.parameters) if value in indices)
