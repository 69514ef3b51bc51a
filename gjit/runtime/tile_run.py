"""Running a plan: checks that need the live operands, arguments, tiles on threads, results, warnings."""

from __future__ import annotations

import numpy as np

from gjit import settings
from gjit.ir.graph import Value
from gjit.runtime.floating_errors import Collector, RegionSource, collecting, collecting_modes, issue
from gjit.runtime.layout import is_disturbed_by
from gjit.runtime.pool import scratch
from gjit.runtime.region_items import Step
from gjit.runtime.scalars import Fallback, loop_scalar
from gjit.runtime.threads import run_on_threads
from gjit.runtime.tile_plan import Plan
from gjit.runtime.totals import add_along_tree
from gjit.scheduler.reductions import REDUCTIONS

THREADED_WORK = 4 << 20
"""From how many elements times steps on tiles are spread over threads."""


class Overlap(Fallback):
    """As Fallback, where storing through a temporary can."""


class Discarded(Fallback):
    """The tiles have run, and what they gave cannot be used: data of this kind are better left to the twin."""


class Run:
    """One evaluation of a plan."""

    __slots__ = ("plan", "source", "values", "target", "collector")

    def __init__(self, plan: Plan, inputs: tuple[object, ...], target: np.ndarray | None, source: RegionSource):
        self.plan = plan
        self.target = target
        self.source = source
        self.values: dict[Value, object] = dict(zip(plan.parameters, inputs, strict=True))
        self.collector = Collector(plan.codes, plan.program.lines, len(plan.spans) - 1)

    def result(self) -> object:
        """One value, a tuple of several, or None; raises Fallback or Overlap before anything is written."""
        modes = collecting_modes()
        if modes is None:
            raise Fallback
        target = self._checked_target()
        with collecting(modes, self.collector):
            results = self._evaluate(target)
        if self.collector.events:
            issue(self.collector.found(), self.plan.spans, self.source)
        return results

    def _checked_target(self) -> np.ndarray | None:
        """The view that the region stores into, once it is sure that no write disturbs what is read."""
        plan = self.plan
        for value in plan.written:
            self._check_write(self.values[value], value)
        if plan.store is None:
            return None
        target = self.target
        if not target.flags.writeable:
            raise Fallback
        if not plan.deferred and any(is_disturbed_by(self.values[value], target) for value in plan.read):
            raise Overlap
        return target

    def _check_write(self, array: np.ndarray, written: Value) -> None:
        others = [self.values[value] for value in self.plan.read + self.plan.written if value is not written]
        if not array.flags.writeable or any(is_disturbed_by(other, array) for other in others):
            raise Fallback

    def _evaluate(self, target: np.ndarray | None) -> object:
        plan = self.plan
        outputs = [np.empty(item.shape, item.dtype, order) for item, order in plan.outputs]
        parts = [np.empty(len(plan.leaves), step.result.dtype) for step in plan.program.totals]
        try:
            if plan.program.before is not None:
                plan.program.before(self.values)
            arguments = self._arguments(outputs, target, parts)
        except (ArithmeticError, ValueError, TypeError):
            raise Fallback from None  # the twin raises it where it belongs
        try:
            self._run_tiles(arguments)
        except Exception:
            if plan.written or (target is not None and not plan.deferred):
                raise
            raise Discarded from None
        totals = [self._total(step, part) for step, part in zip(plan.program.totals, parts, strict=True)]
        if any(position in plan.foreign for position, _, _ in self.collector.events):
            raise Discarded
        if plan.deferred:
            np.copyto(target, outputs[-1], "unsafe")
        return self._results(outputs, totals)

    def _arguments(self, outputs: list[np.ndarray], target: np.ndarray | None, parts: list[np.ndarray]) -> list[object]:
        """The arguments of the generated function, but for scratch."""
        plan = self.plan
        view = plan.work.arrangement.view
        arguments = list(plan.template)
        for value, dtype in plan.checks:
            loop_scalar(self.values[value], dtype)
        for place, value, dtype in plan.scalars:
            arguments[place] = loop_scalar(self.values[value], dtype)
        for place, value, item in plan.operands:
            found = self.values[value]
            if item.position >= 0 and (found.dtype != item.dtype or found.shape != item.shape):
                raise Fallback
            arguments[place] = view(found) if item.shape else found
        for place, kind, index in plan.places:
            arguments[place] = parts[index] if kind == "parts" else view(target if kind == "target" else outputs[index])
        return arguments

    def _run_tiles(self, arguments: list[object]) -> None:
        plan = self.plan
        ranges = iter(plan.ranges)

        def work() -> None:
            block = scratch.take(plan.scratch_bytes)
            own = list(arguments)
            for place, start, stop, dtype, shape in plan.cuts:
                own[place] = block[start:stop].view(dtype).reshape(shape)
            try:
                plan.program.tiles(ranges, *own)
            finally:
                scratch.give(block)

        count = 1
        if plan.elements >= THREADED_WORK:
            count = max(min(settings.threads(), len(plan.ranges)), 1)
        if count > 1:
            run_on_threads(work, count)
        else:
            work()

    def _total(self, step: Step, parts: np.ndarray) -> object:
        name = REDUCTIONS[step.node.op]
        self.collector.outside = step.position
        if step.operands[0].dtype.kind != "f" or name in ("any", "all"):
            function = np.add.reduce if name == "sum" else step.function
            return function(parts)
        if name in ("sum", "mean"):
            total = add_along_tree(parts, self.plan.leaves)
            if total != total:
                raise Discarded  # which NaN it is depends on the order of evaluation
            return total if name == "sum" else total.dtype.type(total / np.intp(self.plan.work.arrangement.lead))
        extreme = step.function(parts)
        if extreme == 0 or extreme != extreme:
            raise Discarded  # the same, and which zero
        return extreme

    def _results(self, outputs: list[np.ndarray], totals: list[object]) -> object:
        results = []
        for kind, key in self.plan.values:
            if kind == "output":
                results.append(outputs[key])
            elif kind == "view":
                results.append(_selected(outputs[key[0]], key[1]))
            else:
                results.append(totals[key] if kind == "total" else self.values[key])
        if len(results) == 1:
            return results[0]
        return tuple(results) if results else None


def _selected(array: np.ndarray, indices: tuple[tuple, ...]) -> np.ndarray:
    for index in indices:
        array = array[index]
    return array
