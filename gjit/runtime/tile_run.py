"""Running a plan: checks that need the live operands, arguments, tiles on threads, results, warnings."""

from __future__ import annotations

import math

import numpy as np

from gjit import settings
from gjit.ir.graph import Constant, Value
from gjit.runtime.floating_errors import Collector, RegionSource, collecting_modes, issue
from gjit.runtime.layout import is_disturbed_by
from gjit.runtime.pool import ALIGNMENT, scratch
from gjit.runtime.region_values import Item, Step
from gjit.runtime.threads import run_on_threads
from gjit.runtime.tile_plan import Plan
from gjit.runtime.totals import add_along_tree
from gjit.scheduler.fusible import REDUCTIONS

THREADED_WORK = 4 << 20
"""From how many elements times steps on tiles are spread over threads."""


class Fallback(Exception):
    """NumPy's behaviour cannot be kept this time; nothing is written yet, and the twin runs."""


class Overlap(Fallback):
    """The same, where storing through a temporary can."""


class Run:
    """One evaluation of a plan."""

    def __init__(self, plan: Plan, inputs: tuple[object, ...], source: RegionSource):
        self.plan = plan
        self.source = source
        self.arrangement = plan.work.arrangement
        body = plan.node.blocks[0]
        self.values: dict[Value, object] = dict(zip(body.parameters, inputs, strict=True))
        positions = plan.program.lines
        self.collector = Collector(plan.program.codes, positions, len(plan.typing.steps) - 1)

    def result(self) -> object:
        """One value, a tuple of several, or None; raises Fallback or Overlap before anything is written."""
        modes = collecting_modes()
        if modes is None:
            raise Fallback
        target = self._checked_target()
        if modes:
            with np.errstate(**modes, call=self.collector):
                results = self._evaluate(target)
        else:
            results = self._evaluate(target)
        if self.collector.events:
            issue(self.collector.found(), [step.node.span for step in self.plan.typing.steps], self.source)
        return results

    def _checked_target(self) -> np.ndarray | None:
        """The view that the region stores into, once it is sure that no write disturbs what is read."""
        plan = self.plan
        for value in plan.written:
            self._check_write(self.values[value], value)
        if plan.store is None:
            return None
        owner, index, _ = plan.store.operation.operands
        target = self._live(owner)[self._live(index)]
        if not target.flags.writeable:
            raise Fallback
        if not plan.deferred and any(is_disturbed_by(self.values[value], target) for value in plan.read):
            raise Overlap
        return target

    def _check_write(self, array: np.ndarray, written: Value) -> None:
        others = [value for value in self.plan.read + self.plan.written if value is not written]
        if not array.flags.writeable or any(is_disturbed_by(self.values[value], array) for value in others):
            raise Fallback

    def _live(self, value: Value) -> object:
        return value.value if isinstance(value, Constant) else self.values[value]

    def _evaluate(self, target: np.ndarray | None) -> object:
        plan = self.plan
        outputs = [self._empty(item) for item in plan.work.outputs]
        parts = [np.empty(len(plan.leaves), step.result.dtype) for step in plan.program.totals]
        try:
            if plan.program.before is not None:
                plan.program.before(self.values)
            for item, dtype in plan.program.checks:
                loop_scalar(self._live(plan.typing.value_of(item)), dtype)
            arguments = self._arguments(outputs, target, parts)
        except (ArithmeticError, ValueError, TypeError):
            raise Fallback from None  # the twin raises it where it belongs
        self._run_tiles(arguments)
        totals = [self._total(step, part) for step, part in zip(plan.program.totals, parts, strict=True)]
        if any(position in plan.foreign for position, _, _ in self.collector.events):
            raise Fallback
        if plan.deferred:
            np.copyto(target, outputs[-1], "unsafe")
        return self._results(outputs, totals)

    def _empty(self, item: Item) -> np.ndarray:
        return np.empty(item.shape, item.dtype, order="C" if self.arrangement.order.name != "F" else "F")

    # Arguments of the generated function.

    def _arguments(self, outputs: list[np.ndarray], target: np.ndarray | None, parts: list[np.ndarray]) -> list[object]:
        found: list[object] = []
        for _, meaning, dtype in self.plan.program.arguments:
            if isinstance(meaning, Item):
                found.append(self._operand(meaning, dtype))
                continue
            kind, index = meaning
            if kind == "output":
                found.append(self.arrangement.view(outputs[index]))
            elif kind == "target":
                found.append(self.arrangement.view(target))
            else:
                found.append(parts[index] if kind == "parts" else None)
        return found

    def _operand(self, item: Item, dtype: np.dtype | None) -> object:
        value = self._live(self.plan.typing.value_of(item))
        if item.position >= 0 and (value.dtype != item.dtype or value.shape != item.shape):
            raise Fallback
        if dtype is not None:
            return loop_scalar(value, dtype)
        return self.arrangement.view(value) if item.shape else value

    # Tiles.

    def _run_tiles(self, arguments: list[object]) -> None:
        ranges = iter(self.plan.ranges)

        def work() -> None:
            block = scratch.take(self._scratch_bytes())
            try:
                self.plan.program.tiles(ranges, *self._with_scratch(arguments, block))
            finally:
                scratch.give(block)

        count = 1
        if self.plan.elements >= THREADED_WORK:
            count = max(min(settings.threads(), len(self.plan.ranges)), 1)
        if count > 1:
            run_on_threads(work, count)
        else:
            work()

    def _offsets(self) -> list[int]:
        offsets = [0]
        for size in self.plan.program.assignment.sizes:
            offsets.append(offsets[-1] + -(-size * self.plan.capacity // ALIGNMENT) * ALIGNMENT)
        return offsets

    def _scratch_bytes(self) -> int:
        return self._offsets()[-1]

    def _with_scratch(self, arguments: list[object], block: np.ndarray) -> list[object]:
        """The arguments of one thread: its own temporaries, cut from one block."""
        offsets, program = self._offsets(), self.plan.program
        filled = list(arguments)
        for place, (_, meaning, _) in enumerate(program.arguments):
            if isinstance(meaning, tuple) and meaning[0] == "scratch":
                item = program.temporaries[meaning[1]]
                shape = (self.plan.capacity, *self.arrangement.tile_shape(item)[1:])
                offset = offsets[program.assignment.blocks[meaning[1]]]
                size = math.prod(shape) * item.dtype.itemsize
                filled[place] = block[offset : offset + size].view(item.dtype).reshape(shape)
        return filled

    # Results.

    def _total(self, step: Step, parts: np.ndarray) -> object:
        name = REDUCTIONS[step.node.op]
        self.collector.outside = step.position
        if step.operands[0].dtype.kind != "f" or name in ("any", "all"):
            function = np.add.reduce if name == "sum" else step.function
            return function(parts)
        if name in ("sum", "mean"):
            total = add_along_tree(parts, self.plan.leaves)
            return total if name == "sum" else total.dtype.type(total / np.intp(self.arrangement.lead))
        extreme = step.function(parts)
        if extreme == 0 or extreme != extreme:
            raise Fallback  # which zero or which NaN it is depends on the order of evaluation
        return extreme

    def _results(self, outputs: list[np.ndarray], totals: list[object]) -> object:
        results = []
        for kind, key in self.plan.values:
            if kind == "output":
                results.append(outputs[key])
            else:
                results.append(totals[key] if kind == "total" else self.values[key])
        if len(results) == 1:
            return results[0]
        return tuple(results) if results else None


def loop_scalar(value: object, dtype: np.dtype) -> np.ndarray:
    """A scalar operand in the dtype of the loop, as the ufunc itself converts it.

    Raises Fallback (or OverflowError) where NumPy would raise or warn: a Python number that does not fit.
    """
    array = np.asarray(value, dtype)
    kind = type(value)
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


