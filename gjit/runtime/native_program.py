"""From the typed body of a region and its live inputs to a `KernelProgram` and what a launch of it needs."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import numpy as np

from gjit.cuda_kernels.program import (
    Access,
    Array,
    Combine,
    KernelProgram,
    Level,
    Literal,
    Number,
    Operand,
    Operation,
    Output,
    Reduction,
)
from gjit.ir.graph import Constant, Node, Value
from gjit.ops.row import table
from gjit.runtime.layout import Order, Shape, has_distinct_elements, size_of
from gjit.runtime.native_space import Space, Strides
from gjit.runtime.region_values import Item, Step, Typing, Unsupported
from gjit.runtime.scalars import loop_scalar
from gjit.scheduler.fusible import REDUCTIONS, Form

_FLOAT32, _FLOAT64 = np.dtype("f4"), np.dtype("f8")
_BOOL, _UINT8 = np.dtype("?"), np.dtype("u1")
_SUBTRACT, _SQUARE, _SQRT = table["numpy.subtract"], table["numpy.square"], table["numpy.sqrt"]


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


@dataclass(slots=True)
class _Known:
    """A value in the kernel: its name, its level, and whether a row's result has lost the last axis."""

    name: str
    level: Level
    dropped: bool = False


def draft_region(node: Node, inputs: tuple[object, ...]) -> Draft:
    """Read a region for such inputs; Unsupported where its twin has to run."""
    return _Reader(node, Typing(node.blocks[0], inputs)).draft()


@dataclass(slots=True)
class _Reader:
    node: Node
    typing: Typing
    shape: Shape = ()
    names: set[str] = field(default_factory=set)
    known: dict[Item, _Known] = field(default_factory=dict)
    hosts: set[Item] = field(default_factory=set)
    inputs: dict[tuple, str] = field(default_factory=dict)
    arrays: dict[str, tuple[np.dtype, Strides]] = field(default_factory=dict)
    numbers: list[Number] = field(default_factory=list)
    sources: dict[str, Value] = field(default_factory=dict)
    steps: list[Operation | Reduction] = field(default_factory=list)
    before: list[Step] = field(default_factory=list)
    outputs: dict[str, tuple[np.dtype, Strides, str]] = field(default_factory=dict)
    written: dict[str, Value] = field(default_factory=dict)
    fresh: dict[str, Item] = field(default_factory=dict)
    store: tuple[Step, str] | None = None
    totals: dict[Item, str] = field(default_factory=dict)

    def draft(self) -> Draft:
        self.shape, order = _space_of(self.typing)
        for step in self.typing.steps:
            self._read(step)
        self._write_inputs()
        values = [self._origin(value) for value in self.node.blocks[0].terminator.inputs]
        has_rows = any(step.level is Level.ROW for step in self.steps if isinstance(step, Reduction))
        if has_rows and (Order.C not in order or self.totals or self.shape[-1] == 1):
            raise Unsupported
        strides = {name: found[1] for name, found in {**self.arrays, **self.outputs}.items()}
        space = Space.collapse(self.shape, strides, is_reversed=Order.C not in order, keeps_rows=has_rows)
        totals = {self.totals[item]: (item.dtype, self._is_mean(item)) for item in self.totals}
        program = self._program(space)
        return Draft(
            program, space, self.before, self.sources, self.written, self.fresh, self.store, values, totals
        )

    def _program(self, space: Space) -> KernelProgram:
        arrays = tuple(Array(name, dtype, space.access(name)) for name, (dtype, _) in self.arrays.items())
        outputs = tuple(
            Output(Array(name, dtype, space.access(name)), value) for name, (dtype, _, value) in self.outputs.items()
        )
        if not outputs and not self.totals:
            raise Unsupported
        return KernelProgram("region", space.rank, arrays, tuple(self.numbers), tuple(self.steps), outputs)

    # Steps

    def _read(self, step: Step) -> None:
        form = step.operation.form
        if form is Form.VIEW:
            raise Unsupported
        if form is Form.STORE:
            self._read_store(step)
        elif self._is_host(step):
            self.before.append(step)
            self.hosts.add(step.result)
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
        if step.operation.form in (Form.ROWS, Form.TOTAL):
            small = step.operands[0].shape != self.shape
        else:
            small = step.result.shape != self.shape
        if small and step.out is not None:
            raise Unsupported
        return small

    def _read_operation(self, step: Step) -> None:
        row, loops = _row_of(step)
        text = row.kernel_text(loops)
        if text is None:
            raise Unsupported
        level, dropped = self._level(step)
        operands = tuple(
            self._operand(item, dtype, dropped) for item, dtype in zip(step.operands, loops, strict=False)
        )
        name = self._fresh_name(step.node.result)
        self.steps.append(
            Operation(name, step.result.dtype, row.name, text, operands, loops, level, step.node.span)
        )
        self.known[step.result.root] = _Known(name, level, dropped)
        if step.out is not None and (level is not Level.ELEMENT or step.out.shape != self.shape):
            raise Unsupported

    def _level(self, step: Step) -> tuple[Level, bool]:
        """The level of a step's result, and whether it has lost the last axis."""
        rows = [self.known[item.root] for item in step.operands if item.root in self.known]
        shape = step.result.shape
        if any(known.dropped for known in rows):
            if shape != self.shape[:-1] or not all(known.dropped for known in rows):
                raise Unsupported
            return Level.ROW, True
        has_elements = any(known.level is Level.ELEMENT for known in rows) or any(
            item.root not in self.known and item.shape for item in step.operands
        )
        if shape == self.shape and (has_elements or not rows):
            return Level.ELEMENT, False
        if not rows or shape != (*self.shape[:-1], 1):
            raise Unsupported
        return Level.ROW, False

    def _read_reduction(self, step: Step) -> None:
        (item,) = step.operands
        known = self.known.get(item.root)
        if item.shape != self.shape or (known is not None and known.level is not Level.ELEMENT):
            raise Unsupported
        name = REDUCTIONS[step.node.op]
        is_total = step.operation.form is Form.TOTAL
        level = Level.LAUNCH if is_total else Level.ROW
        operand, source = self._operand(item, item.dtype, False), item.dtype
        if name in ("any", "all"):
            operand, source = self._truth(step, operand, source), _BOOL
        if name in ("var", "std"):
            result = self._variance(step, operand, source, name)
        else:
            result = self._fresh_name(step.node.result)
            self.steps.append(_reduction(step, name, result, operand, source, step.result.dtype, level))
        if is_total:
            self.totals[step.result] = result
        else:
            self.known[step.result] = _Known(result, Level.ROW, not step.operation.keepdims)

    def _truth(self, step: Step, operand: Operand, source: np.dtype) -> str:
        """Which elements are not zero."""
        name, row = self._unique("is_true"), table["numpy.astype"]
        text = row.kernel_text((source, _BOOL))
        self.steps.append(
            Operation(name, _BOOL, row.name, text, (operand,), (source, _BOOL), Level.ELEMENT, step.node.span)
        )
        return name

    def _variance(self, step: Step, operand: Operand, dtype: np.dtype, name: str) -> str:
        """The mean, then the mean of the squares of the differences from it."""
        if step.operation.form is Form.TOTAL or dtype.char == "e" or dtype.kind == "c":
            raise Unsupported
        kind = dtype if dtype.kind == "f" else _FLOAT64
        base = self._fresh_name(step.node.result)
        mean, difference, square = (self._unique(f"{base}_{word}") for word in ("mean", "difference", "square"))
        self.steps.append(_reduction(step, "mean", mean, operand, dtype, kind, Level.ROW))
        self._add(step, _SUBTRACT, difference, (operand, mean), kind, Level.ELEMENT)
        self._add(step, _SQUARE, square, (difference,), kind, Level.ELEMENT)
        variance = self._unique(f"{base}_variance") if name == "std" else base
        self.steps.append(_reduction(step, "mean", variance, square, kind, kind, Level.ROW))
        if name == "std":
            self._add(step, _SQRT, base, (variance,), kind, Level.ROW)
        return base

    def _add(self, step: Step, row, name: str, operands: tuple, dtype: np.dtype, level: Level) -> None:
        loops = (dtype,) * (len(operands) + 1)
        text = row.kernel_text(loops)
        self.steps.append(Operation(name, dtype, row.name, text, operands, loops, level, step.node.span))

    def _read_store(self, step: Step) -> None:
        (item,), target = step.operands, step.out
        if item.shape != self.shape or not has_distinct_elements(target.shape, target.strides, target.dtype.itemsize):
            raise Unsupported
        name = self._unique("target")
        self._add_output(name, target, self._operand(item, item.dtype, False))
        self.store = step, name

    # Operands

    def _operand(self, item: Item, dtype: np.dtype, dropped: bool) -> Operand:
        """An operand by its name in the kernel, or as a number in its text."""
        known = self.known.get(item.root)
        if known is not None:
            return known.name
        value = self.typing.value_of(item.root)
        if item.constant and item.shape == ():
            return Literal(loop_scalar(value.value, dtype if item.weak is not None else item.dtype)[()])
        if item.shape == ():
            key = (item.root, dtype if item.weak is not None else item.dtype)
            if key not in self.inputs:
                self.inputs[key] = self._fresh_name(value)
                self.numbers.append(Number(self.inputs[key], key[1]))
                self.sources[self.inputs[key]] = value
            return self.inputs[key]
        key = (item.root, dropped)
        if key not in self.inputs:
            name = self.inputs[key] = self._fresh_name(value)
            self.arrays[name] = item.dtype, self._strides(item, dropped)
            self.sources[name] = value
        return self.inputs[key]

    def _strides(self, item: Item, dropped: bool) -> Strides:
        """Strides in elements along each axis of the space; 0 where an array repeats."""
        target = self.shape[:-1] if dropped else self.shape
        if len(item.shape) > len(target) or any(stride % item.dtype.itemsize for stride in item.strides):
            raise Unsupported
        missing = len(target) - len(item.shape)
        strides = [0] * missing
        for extent, wanted, stride in zip(item.shape, target[missing:], item.strides, strict=True):
            if extent not in (1, wanted):
                raise Unsupported
            strides.append(stride // item.dtype.itemsize if extent == wanted and extent > 1 else 0)
        return (*strides, 0) if dropped else tuple(strides)

    # Results

    def _write_inputs(self) -> None:
        """In-place operators have made new values; the arrays get them at the end of each element."""
        roots = dict.fromkeys(step.out.root for step in self.typing.steps if step.out is not None and step.result)
        for root in roots:
            if root.position >= 0:
                continue
            if not has_distinct_elements(root.shape, root.strides, root.dtype.itemsize):
                raise Unsupported
            if any(root in (item.root for item in step.operands) for step in self.before):
                raise Unsupported
            value = self.typing.value_of(root)
            name = self._unique(f"{self._fresh_name(value)}_out")
            self._add_output(name, root, self.known[root].name)
            self.written[name] = value

    def _origin(self, value: Value) -> tuple[str, object]:
        item = self.typing.item(value).root
        if item in self.totals:
            return "total", self.totals[item]
        known = self.known.get(item)
        if known is None or item.position < 0:
            return "value", self.typing.value_of(item)
        name = next((name for name, made in self.fresh.items() if made is item), None)
        if name is None:
            name = self._unique(f"{known.name}_out")
            self.fresh[name] = item
            self._add_output(name, item, known.name, known.dropped)
        return "fresh", name

    def _add_output(self, name: str, item: Item, value: Operand, dropped: bool = False) -> None:
        self.outputs[name] = item.dtype, self._strides(item, dropped), value

    def _is_mean(self, total: Item) -> bool:
        step = self.typing.steps[total.position]
        return REDUCTIONS[step.node.op] == "mean"

    # Names

    def _fresh_name(self, value: Value) -> str:
        name = re.sub(r"\W", "_", value.name, flags=re.ASCII)
        return self._unique(name if name and not name[0].isdigit() else "t")

    def _unique(self, name: str) -> str:
        if name == "t" or name in self.names or name in _RESERVED or name.startswith(("np_", "_")):
            number = 0
            while f"{name}{number}" in self.names:
                number += 1
            name = f"{name}{number}"
        self.names.add(name)
        return name


_WORDS = """
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const constexpr
    const_cast continue decltype default delete do double dynamic_cast else enum explicit export extern false float
    for friend goto if inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq private
    protected public register reinterpret_cast return short signed sizeof static static_assert static_cast struct
    switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void
    volatile wchar_t while xor xor_eq requires concept linux unix i row block start stop begin end arguments scratch
    smaller combine reduce_block region Array Arguments Sum Product Maximum Minimum Pairwise INDEPENDENT
    bool_ int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128
"""
_RESERVED = frozenset(_WORDS.split())
"""Words of C++ and of the generated text that no value may be called."""


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


def _row_of(step: Step):
    """The row whose kernel a step is, and the dtypes of its loop."""
    form = step.operation.form
    if form is Form.CAST:
        loops = (step.operands[0].dtype, step.result.dtype)
        return table["numpy.astype"], loops
    if form is Form.SELECT:
        return table["numpy.where"], (np.dtype(bool), *step.loops[1:], step.loops[-1])
    row = table.get(f"numpy.{step.function.__name__}")
    if row is None:
        raise Unsupported
    return row, step.loops


_WAYS = {
    "sum": Combine.SUM,
    "mean": Combine.SUM,
    "prod": Combine.PRODUCT,
    "max": Combine.MAXIMUM,
    "amax": Combine.MAXIMUM,
    "min": Combine.MINIMUM,
    "amin": Combine.MINIMUM,
    "any": Combine.MAXIMUM,
    "all": Combine.MINIMUM,
}


def _reduction(
    step: Step, name: str, result: str, operand: Operand, source: np.dtype, target: np.dtype, level: Level
) -> Reduction:
    if source.kind == "c":
        raise Unsupported
    is_mean = name == "mean" and level is Level.ROW
    accumulator = _accumulator(name, source, target)
    dtype = accumulator if level is Level.LAUNCH else target
    return Reduction(result, dtype, _WAYS[name], operand, accumulator, level, is_mean, step.node.span)


def _accumulator(name: str, source: np.dtype, target: np.dtype) -> np.dtype:
    if name in ("any", "all") or target.kind == "b":
        return _UINT8
    if target.char == "e":
        return _FLOAT32
    if name == "mean":
        return target if target.kind == "f" else _FLOAT64
    return source if name in ("max", "min", "amax", "amin") else target
