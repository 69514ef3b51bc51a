"""A loop over arrays on NumPy: all turns of one tile while it is in the cache, with the bits of its twin."""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from gjit import settings
from gjit.ir.graph import Node, Value
from gjit.runtime.arrangement import BLOCK, TILE_BYTES, cut, slack
from gjit.runtime.course import Course, Courses, first_turn, loop_results, run_before, written_arrays
from gjit.runtime.elision import is_swapped, nameless_values
from gjit.runtime.floating_errors import Collector, RegionSource, collecting, collecting_modes, issue
from gjit.runtime.host_calls import live
from gjit.runtime.layout import Order, Shape, has_distinct_elements, is_contiguous, size_of
from gjit.runtime.loop_program import LoopProgram, result_variables
from gjit.runtime.loop_typing import LoopTyping, Sources
from gjit.runtime.pool import ALIGNMENT, scratch
from gjit.runtime.region_items import Item, Step, Unsupported
from gjit.runtime.region_parts import signature_of
from gjit.runtime.scalars import Fallback, loop_scalar
from gjit.runtime.threads import run_on_threads
from gjit.runtime.tile_loop_program import write_loop
from gjit.runtime.tile_run import THREADED_WORK
from gjit.scheduler.fusible import Form
from gjit.scheduler.turns import Turns
from gjit.source import Span

MINIMUM_ELEMENTS = 1 << 16
"""Below this many elements all operands of plain calls are in the cache."""
_KEPT_PLANS = 128


@dataclass(slots=True)
class TurnCollector(Collector):
    """Floating-point errors of a loop: of each turn those that the ops report, one by one."""

    def _position(self) -> tuple[int, int]:
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code in self.codes:
                return frame.f_locals.get("turn", -1), self.positions[frame.f_lineno]
            frame = frame.f_back
        return -1, self.outside

    def found(self) -> list[tuple[int, str]]:
        """Position and text of each error, in the order in which the ops run one by one report them."""
        return [(position[1], text) for position, _, text in sorted(self.events)]


@dataclass(slots=True)
class LoopPlan:
    """A loop ready for inputs of one signature.

    typing   what is known of its values
    before   steps of the first turn without axes, which run on whole operands
    program  the generated function
    shape    of all arrays; `order` is that in which they lie in memory
    ranges   of the tiles, and how many elements scratch must hold
    """

    typing: LoopTyping
    before: list[Step]
    program: LoopProgram
    shape: Shape
    order: Order
    ranges: list[tuple[int, int]]
    capacity: int

    @property
    def spans(self) -> list[Span | None]:
        """Where the user wrote each step."""
        return [step.node.span for step in self.typing.steps]

    def view(self, array: np.ndarray) -> np.ndarray:
        """An array as tiles see it, without a copy."""
        return (array if self.order is Order.C else array.T).reshape(-1)


def plan_loop(turns: Turns, results: list[Value], typing: LoopTyping, nameless: frozenset[Value]) -> LoopPlan:
    """Decide how to run a loop; Unsupported where its twin has to."""
    first = [] if typing.first is None else typing.first.steps
    before = [step for step in first if step.result.shape == () and step.out is None]
    steps = [step for step in typing.steps if step not in before]
    shape, order = _arrange(turns, typing, steps)
    for step in steps:
        _swap(step, nameless)
    program = write_loop(turns, typing, result_variables(turns, results), before)
    arrays = [item.dtype.itemsize for item, _ in program.operands if item.shape]
    width = sum(arrays) + sum(dtype.itemsize for dtype in program.scratch)
    width += 2 * max((step.result.dtype.itemsize for step in steps if step.operation.form is Form.SELECT), default=0)
    length = max(TILE_BYTES // width // BLOCK, 1) * BLOCK
    size = size_of(shape)
    capacity = min(length + slack(1), size)
    return LoopPlan(typing, before, program, shape, order, list(cut(size, length, 1)), capacity)


def _arrange(turns: Turns, typing: LoopTyping, steps: list[Step]) -> tuple[Shape, Order]:
    """The one shape of all arrays, and the order in which all are contiguous."""
    shape = next(iter(typing.variables.values())).shape
    items = [item for step in steps for item in (*step.operands, step.out, step.result) if item is not None]
    items += [*typing.variables.values(), *(typing.outside(value) for value in turns.initial.values())]
    arrays = [item for item in dict.fromkeys(items) if item.shape]
    if any(item.shape != shape for item in typing.variables.values()) or not shape or size_of(shape) == 0:
        raise Unsupported
    if any(step.result.dtype is None or not step.result.shape for step in steps):
        raise Unsupported
    for order in (Order.C, Order.F):
        if all(item.shape == shape and _lies(item, order) for item in arrays):
            break
    else:
        raise Unsupported
    for target in turns.written:
        item = typing.variables[target].root
        if not has_distinct_elements(item.shape, item.strides, item.dtype.itemsize):
            raise Unsupported
    return shape, order


def _lies(item: Item, order: Order) -> bool:
    return order in item.order and is_contiguous(item.shape, item.strides, item.dtype.itemsize, order)


def _swap(step: Step, nameless: frozenset[Value]) -> None:
    """Turn the operands round where NumPy does."""
    if len(step.operands) == 2 and is_swapped(step.node, *step.operands, nameless):
        step.operands = step.operands[::-1]
        step.loops = (*step.loops[1::-1], step.loops[2])


class _Run:
    """One evaluation of a plan."""

    def __init__(self, plan: LoopPlan, turns: Turns, values: dict[Value, object], course: Course):
        self.plan, self.turns, self.course = plan, turns, course
        self.written = written_arrays(turns, values)
        self.values = values
        if plan.typing.first is not None:
            self.values = {**values, **first_turn(turns, values, course)}
            run_before(plan.before, self.values)

    def run(self) -> dict[Value, np.ndarray]:
        """What the variables are after the loop; raises Fallback before anything is written."""
        plan, program = self.plan, self.plan.program
        found = dict(self.written)
        order = "C" if plan.order is Order.C else "F"
        for variable in program.outputs:
            found[variable] = np.empty(plan.shape, plan.typing.variables[variable].dtype, order)
        arguments = [self._operand(item, dtype) for item, dtype in program.operands]
        arguments += [plan.view(found[variable]) for variable in program.outputs]
        self._run_tiles(self._rows(), arguments)
        return found

    def _operand(self, item: Item, dtype: np.dtype | None) -> object:
        value = live(self.values, self.plan.typing.value_of(item))
        if item.shape:
            return self.plan.view(value)
        return value if dtype is None else loop_scalar(value, dtype)

    def _rows(self) -> Sequence[object]:
        """What differs from turn to turn."""
        first = int(self.plan.typing.first is not None)
        numbers = self.plan.program.numbers
        if self.course.rows is None or (len(self.turns.pieces) == 1 and not numbers[0]):
            return range(self.course.count - first)
        indices = {
            place: [(self.turns.pieces[place].numbers.index(value) + 1, dtype) for value, dtype in found]
            for place, found in numbers.items()
        }
        return [
            (row[0], *(_number(row[index], dtype) for index, dtype in indices[row[0]]))
            for row in self.course.rows[first:]
        ]

    def _run_tiles(self, rows: Sequence[object], arguments: list[object]) -> None:
        plan, program = self.plan, self.plan.program
        ranges = iter(plan.ranges)
        widths = [-(-plan.capacity * dtype.itemsize // ALIGNMENT) * ALIGNMENT for dtype in program.scratch]

        def work() -> None:
            block = scratch.take(sum(widths))
            starts = itertools.accumulate(widths, initial=0)
            cuts = zip(starts, program.scratch, strict=False)
            own = [block[start : start + plan.capacity * dtype.itemsize].view(dtype) for start, dtype in cuts]
            try:
                program.tiles(ranges, rows, *arguments, *own)
            finally:
                scratch.give(block)

        elements = size_of(plan.shape) * self.course.count * len(plan.typing.steps)
        count = max(min(settings.threads(), len(plan.ranges)), 1) if elements >= THREADED_WORK else 1
        if count > 1:
            run_on_threads(work, count)
        else:
            work()


def _number(value: object, dtype: np.dtype | None) -> object:
    return value if dtype is None else loop_scalar(value, dtype)


class TiledLoopRegion:
    """One `region` node that holds a loop, callable with its inputs; gives what its twin gives, faster.

    Args:
        node: the region node.
        turns: its loop, read.
        twin: runs the region op by op; one value, a tuple for several, None for none.
        source: whose warnings a region issues.

    `tiled` and `fallbacks` count how calls have run.
    """

    __slots__ = (
        "node",
        "turns",
        "twin",
        "source",
        "tiled",
        "fallbacks",
        "_courses",
        "_plans",
        "_parameters",
        "_used",
        "_nameless",
    )

    native = compilations = cache_hits = swaps = 0

    def __init__(self, node: Node, turns: Turns, twin: Callable, source: RegionSource):
        self.node = node
        self.turns = turns
        self.twin = twin
        self.source = source
        self.tiled = 0
        self.fallbacks = 0
        self._courses = Courses(node, turns, keeps_silent=False)
        self._plans: dict[tuple, LoopPlan | None] = {}
        self._parameters = list(node.blocks[0].parameters)
        used = turns.read()
        self._used = [place for place, value in enumerate(self._parameters) if value in used]
        self._nameless: frozenset[Value] | None = None

    def __call__(self, *inputs: object) -> object:
        try:
            results = self._run(inputs)
        except (Fallback, OverflowError):  # a Python number that does not fit
            pass
        else:
            self.tiled += 1
            return results
        self.fallbacks += 1
        return self.twin(*inputs)

    def compile(self, inputs: tuple[object, ...]) -> None:
        """NumPy is compiled already."""

    def programs(self) -> list[str]:
        """The texts of the generated programs, one for each kind of call so far."""
        return list(dict.fromkeys(plan.program.source for plan in list(self._plans.values()) if plan is not None))

    def _run(self, inputs: tuple[object, ...]) -> object:
        key = signature_of([inputs[place] for place in self._used])
        sizes = [inputs[place].size for place in self._used if type(inputs[place]) is np.ndarray]
        modes = collecting_modes()
        if modes is None or max(sizes, default=0) < MINIMUM_ELEMENTS:
            raise Fallback
        course = self._courses(inputs)
        if course.count == 0:
            raise Fallback
        key = (key, course.kinds())
        plan = self._plans[key] if key in self._plans else self._prepare(key, inputs, course)
        if plan is None:
            raise Fallback
        values: dict[Value, object] = dict(zip(self._parameters, inputs, strict=True))
        collector = TurnCollector(plan.program.codes, plan.program.lines)
        with collecting(modes, collector):
            found = _Run(plan, self.turns, values, course).run()
        if collector.events:
            issue(collector.found(), plan.spans, self.source)
        return loop_results(self.node, self.turns, found, values, course)

    def _prepare(self, key: tuple, inputs: tuple[object, ...], course: Course) -> LoopPlan | None:
        while len(self._plans) >= _KEPT_PLANS:
            self._plans.pop(next(iter(self._plans)), None)
        if self._nameless is None:
            self._nameless = nameless_values(self.node.blocks[0])
        sources = Sources(dict(zip(self._parameters, inputs, strict=True)), course.samples(self.turns.pieces))
        try:
            typing = LoopTyping(self.turns, sources, course.places())
            plan = plan_loop(self.turns, self.node.blocks[0].terminator.inputs, typing, self._nameless)
        except (Unsupported, Fallback, OverflowError):
            plan = None
        self._plans[key] = plan
        return plan
