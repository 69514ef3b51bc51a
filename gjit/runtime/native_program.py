"""From the typed body of a region and its live inputs to a `KernelProgram` and what a launch of it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gjit.cuda_kernels.program import Array, KernelProgram, Level, Operand, Operation, Output, Reduction
from gjit.ir.graph import Node, Value
from gjit.ops.row import Op, table
from gjit.runtime.layout import Order, Shape, has_distinct_elements, size_of
from gjit.runtime.native_names import Names
from gjit.runtime.native_operands import Operands
from gjit.runtime.native_reductions import Request, reduction_steps
from gjit.runtime.native_space import Space, Strides
from gjit.runtime.region_values import Item, Step, Typing, Unsupported
from gjit.scheduler.fusible import REDUCTIONS, Form


@dataclass(slots=True)
class Draft:
    """A region for one signature.

    program   what the kernel does
    space     extents and strides after collapsing
    before    the steps that run on NumPy first: on scalars and on arrays smaller than the space
    sources   where an array or a number of the program comes from: a value of the graph
    written   inputs that are written in place, by the name of the output
    fresh     the results that are made: item and name of the output
    store     the step that stores into a view, and the name of its output
    values    where each result of the region comes from
    totals    the dtype of each total's result and whether it is a mean
    """

    program: KernelProgram
    space: Space
    before: list[Step]
    sources: dict[str, Value]
    written: dict[str, Value]
    fresh: dict[str, Item]
    store: tuple[Step, str] | None
    values: list[tuple[str, object]]
    totals: dict[str, tuple[np.dtype, bool]]


@dataclass(frozen=True, slots=True)
class _Known:
    """A value in the kernel: its name, its level, and whether a row's result has lost the last axis."""

    name: str
    level: Level
    dropped: bool = False


def draft_region(node: Node, inputs: tuple[object, ...]) -> Draft:
    """Read a region for such inputs; Unsupported where its twin has to run."""
    typing = Typing(node.blocks[0], inputs)
    shape, order = _space_of(typing)
    names = Names()
    return _Reader(node, typing, shape, order, names, Operands(typing, shape, names)).draft()


@dataclass(slots=True)
class _Reader:
    node: Node
    typing: Typing
    shape: Shape
    order: Order
    names: Names
    outside: Operands
    known: dict[Item, _Known] = field(default_factory=dict)
    steps: list[Operation | Reduction] = field(default_factory=list)
    before: list[Step] = field(default_factory=list)
    outputs: dict[str, tuple[np.dtype, Strides, Operand]] = field(default_factory=dict)
    written: dict[str, Value] = field(default_factory=dict)
    fresh: dict[str, Item] = field(default_factory=dict)
    store: tuple[Step, str] | None = None
    totals: dict[Item, str] = field(default_factory=dict)

    def draft(self) -> Draft:
        for step in self.typing.steps:
            self._read(step)
        self._write_inputs()
        values = [self._origin(value) for value in self.node.blocks[0].terminator.inputs]
        space = self._space()
        totals = {name: (item.dtype, self._is_mean(item)) for item, name in self.totals.items()}
        program, sources = self._program(space), self.outside.sources
        return Draft(program, space, self.before, sources, self.written, self.fresh, self.store, values, totals)

    def _space(self) -> Space:
        has_rows = any(step.level is Level.ROW for step in self.steps if isinstance(step, Reduction))
        if has_rows and (Order.C not in self.order or self.totals or self.shape[-1] == 1):
            raise Unsupported
        strides = {name: found[1] for name, found in {**self.outside.arrays, **self.outputs}.items()}
        return Space.collapse(self.shape, strides, is_reversed=Order.C not in self.order, keeps_rows=has_rows)

    def _program(self, space: Space) -> KernelProgram:
        if not self.outputs and not self.totals:
            raise Unsupported
        arrays = [Array(name, dtype, space.access(name)) for name, (dtype, _) in self.outside.arrays.items()]
        outputs = [
            Output(Array(name, dtype, space.access(name)), value) for name, (dtype, _, value) in self.outputs.items()
        ]
        numbers, steps = tuple(self.outside.numbers), tuple(self.steps)
        return KernelProgram("region", space.rank, tuple(arrays), numbers, steps, tuple(outputs))

    # Steps

    def _read(self, step: Step) -> None:
        form = step.operation.form
        if form is Form.STORE:
            self._read_store(step)
        elif form is Form.VIEW:
            self._read_view(step)
        elif self._is_host(step):
            self.before.append(step)
        elif form in (Form.ROWS, Form.TOTAL):
            self._read_reduction(step)
        else:
            self._read_operation(step)

    def _is_host(self, step: Step) -> bool:
        """Whether a step is left to NumPy: it works on less than the whole space."""
        if any(item.root in self.totals for item in step.operands):
            raise Unsupported
        if any(item.root in self.known for item in step.operands):
            return False
        is_reduction = step.operation.form in (Form.ROWS, Form.TOTAL)
        is_small = (step.operands[0] if is_reduction else step.result).shape != self.shape
        if is_small and step.out is not None:
            raise Unsupported
        return is_small

    def _read_view(self, step: Step) -> None:
        """New axes at the end of the results of rows make them go with the elements again."""
        known = self.known.get(step.operands[0].root)
        if known is None or not known.dropped or step.result.shape != (*self.shape[:-1], 1):
            raise Unsupported
        self.known[step.result] = _Known(known.name, known.level)

    def _read_operation(self, step: Step) -> None:
        row, loops = _row_of(step)
        text = row.kernel_text(loops)
        if text is None:
            raise Unsupported
        level, dropped = self._level(step)
        out = step.out
        if out is not None and (level is not Level.ELEMENT or out.shape != self.shape or out.root.viewed is not None):
            raise Unsupported
        pairs = zip(step.operands, loops, strict=False)
        operands = tuple(self._operand(item, dtype, dropped) for item, dtype in pairs)
        name, span = self.names.of(step.node.result), step.node.span
        self.steps.append(Operation(name, step.result.dtype, row.name, text, operands, loops, level, span))
        self.known[step.result.root] = _Known(name, level, dropped)

    def _level(self, step: Step) -> tuple[Level, bool]:
        """The level of a step's result, and whether it has lost the last axis."""
        inside = [self.known[item.root] for item in step.operands if item.root in self.known]
        shape = step.result.shape
        if any(known.dropped for known in inside):
            if shape != self.shape[:-1] or not all(known.dropped for known in inside):
                raise Unsupported
            return Level.ROW, True
        has_elements = any(known.level is Level.ELEMENT for known in inside)
        has_elements |= any(item.root not in self.known and bool(item.shape) for item in step.operands)
        if shape == self.shape and (has_elements or not inside):
            return Level.ELEMENT, False
        if not inside or shape != (*self.shape[:-1], 1):
            raise Unsupported
        return Level.ROW, False

    def _read_reduction(self, step: Step) -> None:
        (item,) = step.operands
        known = self.known.get(item.root)
        if item.shape != self.shape or (known is not None and known.level is not Level.ELEMENT):
            raise Unsupported
        is_total = step.operation.form is Form.TOTAL
        result = self.names.of(step.node.result)
        request = Request(
            REDUCTIONS[step.node.op],
            result,
            step.result.dtype,
            self._operand(item, item.dtype, False),
            item.dtype,
            Level.LAUNCH if is_total else Level.ROW,
            step.node.span,
        )
        self.steps += reduction_steps(request, self.names.unique)
        if is_total:
            self.totals[step.result] = result
        else:
            self.known[step.result] = _Known(result, Level.ROW, not step.operation.keepdims)

    def _read_store(self, step: Step) -> None:
        (item,), target = step.operands, step.out
        if item.shape != self.shape or not has_distinct_elements(target.shape, target.strides, target.dtype.itemsize):
            raise Unsupported
        name = self.names.unique("target")
        self._add_output(name, target, self._operand(item, item.dtype, False))
        self.store = step, name

    def _operand(self, item: Item, dtype: np.dtype, is_row: bool) -> Operand:
        known = self.known.get(item.root)
        return self.outside.operand(item, dtype, is_row) if known is None else known.name

    # Results

    def _write_inputs(self) -> None:
        """In-place operators have made new values; the arrays get them at the end of each element."""
        roots = dict.fromkeys(step.out.root for step in self.typing.steps if step.out is not None and step.result)
        for root in roots:
            if root.position >= 0:
                continue
            if not has_distinct_elements(root.shape, root.strides, root.dtype.itemsize):
                raise Unsupported
            if any(root is item.root for step in self.before for item in step.operands):
                raise Unsupported
            value = self.typing.value_of(root)
            name = self.names.unique(f"{self.known[root].name}_out")
            self._add_output(name, root, self.known[root].name)
            self.written[name] = value

    def _origin(self, value: Value) -> tuple[str, object]:
        item = self.typing.item(value).root
        if item in self.totals:
            return "total", self.totals[item]
        known = self.known.get(item)
        if known is None or item.position < 0:
            return "value", self.typing.value_of(item)
        if item.viewed is not None:
            raise Unsupported
        name = next((name for name, made in self.fresh.items() if made is item), None)
        if name is None:
            name = self.names.unique(f"{known.name}_out")
            self.fresh[name] = item
            self._add_output(name, item, known.name, known.dropped)
        return "fresh", name

    def _add_output(self, name: str, item: Item, value: Operand, is_row: bool = False) -> None:
        self.outputs[name] = item.dtype, self.outside.strides(item, is_row), value

    def _is_mean(self, total: Item) -> bool:
        return REDUCTIONS[self.typing.steps[total.position].node.op] == "mean"


def _space_of(typing: Typing) -> tuple[Shape, Order]:
    """The shape of the largest values, and the orders in which arrays of that shape can be walked."""
    items = dict.fromkeys(
        item for step in typing.steps for item in (*step.operands, step.out, step.result) if item is not None
    )
    arrays = [item for item in items if item.shape]
    if not arrays or any(0 in item.shape for item in arrays):
        raise Unsupported
    shape = max((item.shape for item in arrays), key=lambda shape: (size_of(shape), len(shape)))
    order = Order.ANY
    for item in arrays:
        if item.shape == shape:
            order &= item.order
    if order is Order.NONE:
        raise Unsupported
    return shape, order


def _row_of(step: Step) -> tuple[Op, tuple[np.dtype, ...]]:
    """The row whose kernel a step is, and the dtypes of its loop."""
    form = step.operation.form
    if form is Form.CAST:
        loops = (step.operands[0].dtype, step.result.dtype)
        return table["numpy.astype"], loops
    if form is Form.APPLY:
        return table[step.node.op], step.loops
    if form is Form.SELECT:
        return table["numpy.where"], (np.dtype(bool), *step.loops[1:], step.loops[-1])
    row = table.get(f"numpy.{step.function.__name__}")
    if row is None:
        raise Unsupported
    return row, step.loops
