"""From the typed body of a region and its live inputs to a `KernelProgram` for each stage, and what launches need."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gjit.cuda_kernels.program import KernelProgram, Level, Operand, Output
from gjit.cuda_kernels.sweeps import CHEAP_ROWS
from gjit.ir.graph import Node, Value
from gjit.ops.row import Op, table
from gjit.runtime.layout import Order, Shape, contiguous_strides, has_distinct_elements
from gjit.runtime.native_definitions import Definition, Definitions, read_definitions
from gjit.runtime.native_names import Names
from gjit.runtime.native_operands import Operands, Taken, arrays_of
from gjit.runtime.native_reductions import Request, Steps, Total, lower
from gjit.runtime.native_space import Space, Strides, collapse
from gjit.runtime.native_stages import Axes, Stage, Stages, plan_stages
from gjit.runtime.region_items import Item, Step, Unsupported
from gjit.runtime.region_values import Typing
from gjit.scheduler.fusible import Form

_MOST_RECOMPUTED = 8
"""A value that takes more ops than this is kept for a later stage rather than computed again."""


@dataclass(slots=True)
class StageDraft:
    """One kernel of a region.

    program   what it does
    space     extents and strides after collapsing
    sources   where an array or a number of the program comes from: a value of the graph
    written   inputs that are written in place, by the name of the output
    fresh     the arrays that are made: item and value of the graph, by the name of the output
    store     the step that stores into a view, and the name of its output
    totals    of each total, by the value of the graph
    shape     of the space before collapsing, and whether its first axis is the fastest (`is_reversed`)
    stores_apart  whether the store goes through a temporary even where it disturbs nothing
    """

    program: KernelProgram
    space: Space
    sources: dict[str, Value]
    written: dict[str, Value]
    fresh: dict[str, tuple[Item, Value]]
    store: tuple[Step, str] | None
    totals: dict[Value, Total]
    shape: Shape
    is_reversed: bool
    stores_apart: bool = False


@dataclass(slots=True)
class Draft:
    """A region for one signature.

    stages    its kernels, in order; None where a later one does all of it
    host      the steps that NumPy runs before each of them, and after the last
    results   the value of the graph that each result of the region is
    steps     the whole body, with what is known of each value in `items`
    """

    stages: list[StageDraft | None]
    host: list[list[Step]]
    results: list[Value]
    steps: list[Step]
    items: dict[Value, Item]

    @property
    def is_single(self) -> bool:
        """Whether there is one kernel and nothing else to do."""
        return len(self.stages) == 1 and not any(self.host)


def draft_region(node: Node, inputs: tuple[object, ...]) -> Draft:
    """Read a region for such inputs; Unsupported where its twin has to run."""
    body = node.blocks[0]
    typing = Typing(body, inputs, is_wide=True)
    if any(0 in item.shape for item in _items(typing)):
        raise Unsupported
    values = read_definitions(body, typing)
    stages = plan_stages(values)
    if not stages.stages:
        raise Unsupported
    return _Drafter(typing, values, stages).draft()


def _items(typing: Typing) -> Iterator[Item]:
    for step in typing.steps:
        yield from (item for item in (*step.operands, step.out, step.result) if item is not None)


class _Drafter:
    """Writes the stages from the last to the first: a later one tells what an earlier one has to leave behind."""

    def __init__(self, typing: Typing, values: Definitions, stages: Stages):
        self.typing, self.values, self.stages = typing, values, stages
        self.kept: dict[int, dict[Definition, None]] = {index: {} for index in range(len(stages.stages))}

    def draft(self) -> Draft:
        results = [self._result(made) for made in self.values.results]
        for made in (each for steps in self.stages.host.values() for each in steps):
            for operand in made.operands:
                self.keep(operand)
        drafts = [_Writer(self, index).draft() for index in reversed(range(len(self.stages.stages)))]
        times = range(len(drafts) + 1)
        host = [[made.step for made in self.stages.host.get(time, ())] for time in times]
        return Draft(drafts[::-1], host, results, self.typing.steps, self.typing.items)

    def _result(self, made: Definition) -> Value:
        """What a result of the region is: an input, or what was made under this value."""
        if made.item.root.position < 0:
            return self.typing.value_of(made.item.root)
        if made.item.viewed is not None and made in self.stages.home:
            raise Unsupported
        self.keep(made)
        return made.value

    def keep(self, made: Definition) -> None:
        """Have the stage that computes a value leave it behind."""
        if made.is_total or made not in self.stages.home:
            return
        item = made.item
        is_fit = item.root.position >= 0 or item.strides == contiguous_strides(item.shape, item.dtype.itemsize, Order.C)
        if made.is_view or not is_fit:
            raise Unsupported
        self.kept[self.stages.home[made]][made] = None

    def is_cheap(self, made: Definition, shape: Shape) -> bool:
        """Whether a later stage computes a value again, from what is there anyway, rather than reads it."""
        return made.item.shape == shape and self._cost(made, shape) <= _MOST_RECOMPUTED

    def _cost(self, made: Definition, shape: Shape) -> int:
        if made not in self.stages.home or made.is_total:
            return 0
        if made.is_reduction or made.is_view or made.item.shape != shape:
            return _MOST_RECOMPUTED + 1
        row, _ = row_of(made.step)
        own = 1 if row.name in CHEAP_ROWS else _MOST_RECOMPUTED + 1
        return own + sum(self._cost(value, shape) for value in made.operands)


@dataclass(frozen=True, slots=True)
class _Known:
    """A value in a kernel: its name, or that of each part, and its axes."""

    names: tuple[Operand, ...]
    axes: Axes
    level: Level


@dataclass(slots=True)
class _Written:
    """An output: the array, and the value of each of its parts."""

    taken: Taken
    values: tuple[Operand, ...]


class _Writer:
    """One stage as a program, pulled from what it is for."""

    def __init__(self, drafter: _Drafter, index: int):
        self.drafter, self.index = drafter, index
        self.stage: Stage = drafter.stages.stages[index]
        self.is_last = index == len(drafter.stages.stages) - 1
        self.names = Names()
        self.outside = Operands(self.stage, self.names)
        self.steps = Steps(self.names.unique)
        self.known: dict[Definition, _Known] = {}
        self.outputs: dict[str, _Written] = {}
        self.written: dict[str, Value] = {}
        self.fresh: dict[str, tuple[Item, Value]] = {}
        self.store: tuple[Step, str] | None = None
        self.totals: dict[Value, Total] = {}

    def draft(self) -> StageDraft | None:
        for made in self.stage.axes:
            if made.is_total:
                self._emit(made, ())
        for made in list(self.drafter.kept[self.index]):
            self._keep(made)
        if self.is_last:
            self._write_inputs()
            self._write_store()
        if not self.outputs and not self.totals:
            return None
        space = self._space()
        program, sources = self._program(space), self.outside.sources
        pieces = self.written, self.fresh, self.store, self.totals
        return StageDraft(program, space, sources, *pieces, self.stage.shape, Order.C not in self._order())

    # Outputs

    def _keep(self, made: Definition) -> None:
        known = self._emit(made, self.stage.axes[made])
        name = self.names.unique(f"{_stem(known)}_out")
        self.fresh[name] = made.item, made.value
        self._add_output(name, made.item, known)

    def _write_inputs(self) -> None:
        """In-place operators have made new values; the arrays get them at the end of each element."""
        for target, made in self.drafter.values.written.items():
            root = target.item
            if not has_distinct_elements(root.shape, root.strides, root.dtype.itemsize):
                raise Unsupported
            known = self._emit(made, self._own_axes(made))
            name = self.names.unique(f"{_stem(known)}_out")
            self._add_output(name, root, known)
            self.written[name] = target.value
            taken = [self.outside.arrays[key] for key, value in self.outside.sources.items() if value is target.value]
            if any(each.strides != self.outputs[name].taken.strides for each in taken):
                raise Unsupported

    def _write_store(self) -> None:
        if self.drafter.values.store is None:
            return
        made, step = self.drafter.values.store
        target = step.out
        if made.item.shape != target.shape:
            raise Unsupported
        if not has_distinct_elements(target.shape, target.strides, target.dtype.itemsize):
            raise Unsupported
        known = self._emit(made, self._own_axes(made))
        name = self.names.unique("target")
        self._add_output(name, target, known)
        self.store = step, name

    def _own_axes(self, made: Definition) -> Axes:
        return self.stage.axes.get(made, self.stage.identity)

    def _add_output(self, name: str, item: Item, known: _Known) -> None:
        strides = self.outside.strides(item, known.axes)
        taken = self.outside.taken(name, item.dtype, strides)
        values = known.names
        if taken.parts and len(values) == 1:
            values *= len(taken.parts)
        if len(values) != max(len(taken.parts), 1):
            raise Unsupported
        self.outputs[name] = _Written(taken, values)

    # Values

    def _emit(self, made: Definition, axes: Axes) -> _Known:
        """A value that this stage computes, or computes again; `axes` are those of the value."""
        known = self.known.get(made)
        if known is None:
            known = self.known[made] = self._emitted(made, self.stage.axes.get(made, axes))
        return known

    def _emitted(self, made: Definition, axes: Axes) -> _Known:
        if made.step is None or (made not in self.stage.axes and not self._is_again(made)):
            return _Known(self._outside(made, made.item.dtype, axes), axes, self._level(axes))
        if made.is_view:
            operand = self._emit(made.operands[0], ())
            return _Known(operand.names, axes, operand.level)
        return self._reduction(made, axes) if made.is_reduction else self._operation(made, axes)

    def _is_again(self, made: Definition) -> bool:
        return made in self.drafter.stages.home and self.drafter.is_cheap(made, self.stage.shape)

    def _outside(self, made: Definition, dtype: np.dtype, axes: Axes) -> tuple[Operand, ...]:
        if made in self.drafter.stages.home:
            self.drafter.keep(made)
        return self.outside.operand(made, dtype, axes)

    def _level(self, axes: Axes) -> Level:
        """For what a value with these axes is computed once."""
        if not self.stage.reduced:
            return Level.ELEMENT if any(axis is not None for axis in axes) else Level.LAUNCH
        if not self.stage.reduced.isdisjoint(axes):
            return Level.ELEMENT
        return Level.ROW

    def _operand(self, made: Definition, dtype: np.dtype, axes: Axes) -> tuple[Operand, ...]:
        """An operand of an op whose result has these axes."""
        is_inside = made.step is not None and not made.is_total and (made in self.stage.axes or self._is_again(made))
        if is_inside:
            return self._emit(made, axes[len(axes) - len(made.item.shape) :]).names
        return self._outside(made, dtype, axes)

    def _operation(self, made: Definition, axes: Axes) -> _Known:
        step = made.step
        row, loops = row_of(step)
        text = row.kernel_text(loops)
        if text is None:
            raise Unsupported
        pairs = zip(made.operands, loops, strict=False)
        operands = [self._operand(value, dtype, axes) for value, dtype in pairs]
        count = max(map(len, operands), default=1)
        level = self._level(axes)
        names = [self.names.of(made.value) for _ in range(count)]
        self.steps.span = step.node.span
        for place, name in enumerate(names):
            chosen = tuple(each[place] if len(each) > 1 else each[0] for each in operands)
            self.steps.add(name, made.item.dtype, row.name, text, chosen, loops, level)
        return _Known(tuple(names), axes, level)

    def _reduction(self, made: Definition, axes: Axes) -> _Known:
        operand, *masks = made.operands
        call = made.step.operation.reduction
        own = self.stage.axes.get(operand, self.stage.identity)
        names = self._operand(operand, operand.item.dtype, own)
        mask = self._operand(masks[0], masks[0].item.dtype, own) if masks else ()
        along = {own[axis] for axis in call.axes_of(len(own)) if operand.item.shape[axis] > 1}
        looped = 1
        for axis in along - {self.stage.short}:
            looped *= self.stage.shape[axis]
        level = Level.LAUNCH if made.is_total else self._level(axes)
        if call.name.startswith("arg") and not made.is_total and len(along) > 1:
            raise Unsupported  # the place counts along all of them
        joins = self.stage.short in along
        if joins and len(names) == 1:
            names *= self.stage.width
        self.steps.span = made.step.node.span
        request = Request(
            call,
            self.names.of(made.value),
            made.item.dtype,
            names,
            mask,
            operand.item.dtype,
            joins,
            looped,
            level,
            self._level(own),
        )
        found, total = lower(request, self.steps)
        if total is not None:
            self.totals[made.value] = total
        return _Known(found, axes, level)

    # The program

    def _space(self) -> Space:
        strides: dict[str, Strides] = {name: taken.strides for name, taken in self.outside.arrays.items()}
        strides.update((name, written.taken.strides) for name, written in self.outputs.items())
        order = self._order()
        if self.stage.width and Order.C not in order:
            raise Unsupported
        has_places = any(step.combine.is_place and step.level is Level.LAUNCH for step in self.steps.reductions)
        return collapse(
            self.stage.shape,
            strides,
            is_reversed=Order.C not in order and not has_places,  # the place of an element counts in C order
            reduced=self.stage.reduced,
            short=self.stage.short,
        )

    def _order(self) -> Order:
        """The orders in which the arrays of the whole space can be walked; C where they have several."""
        items = [item for item in _items(self.drafter.typing) if item.shape == self.stage.shape]
        if any(item.order is Order.NONE for item in items):
            raise Unsupported
        order = Order.ANY
        for item in items:
            order &= item.order
        return order or Order.C

    def _program(self, space: Space) -> KernelProgram:
        arrays = [
            array for name, taken in self.outside.arrays.items() for array in arrays_of(name, taken, space, self.stage)
        ]
        outputs = [
            Output(array, value)
            for name, written in self.outputs.items()
            for array, value in zip(arrays_of(name, written.taken, space, self.stage), written.values, strict=True)
        ]
        parts = tuple(arrays), tuple(self.outside.numbers), tuple(self.steps.steps), tuple(outputs)
        return KernelProgram("region", space.rank, *parts, space.reduced, space.is_columns)


def _stem(known: _Known) -> str:
    name = known.names[0]
    return name if isinstance(name, str) else "value"


def row_of(step: Step) -> tuple[Op, tuple[np.dtype, ...]]:
    """The row whose kernel a step is, and the dtypes of its loop."""
    form = step.operation.form
    if form is Form.CAST:
        loops = (step.operands[0].dtype, step.result.dtype)
        return table["numpy.astype"], loops
    if form is Form.APPLY:
        return table[step.node.op], step.loops
    if form is Form.SELECT:
        return table["numpy.where"], (np.dtype(bool), *step.loops[1:], step.loops[-1])
    own = table.get(step.node.op)
    is_method = form is Form.CALL and own is not None and own.ufunc
    row = table.get(own.ufunc if is_method else f"numpy.{step.function.__name__}")
    if row is None:
        raise Unsupported
    return row, step.loops
