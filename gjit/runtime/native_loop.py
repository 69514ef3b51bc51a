"""From the typed pieces of a loop and its live inputs to a `KernelProgram` and what a launch of it needs."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gjit.cuda_kernels.program import (
    Array,
    KernelProgram,
    Level,
    Literal,
    Loop,
    Number,
    Operand,
    Operation,
    Output,
    Piece,
    Variable,
)
from gjit.ir.graph import Node, Value
from gjit.runtime.layout import Order, Shape, has_distinct_elements, size_of
from gjit.runtime.loop_typing import LoopTyping, TypedPiece
from gjit.runtime.native_loop_operands import LoopOperands
from gjit.runtime.native_names import Names
from gjit.runtime.native_program import row_of
from gjit.runtime.native_space import Space, Strides, collapse
from gjit.runtime.region_items import Item, Step, Unsupported
from gjit.scheduler.turns import Turns, is_scalar

_MOST_KERNEL_PIECES = 256


@dataclass(slots=True)
class LoopDraft:
    """A loop for one signature.

    program    what the kernel does
    space      extents and strides after collapsing
    before     the steps of a first turn that run on NumPy: they have results without axes
    sources    where an array or a number of the program comes from: a value of the graph
    turned     of a number that differs from turn to turn: its dtype, and its index in each piece that has it
    written    variables that are written in place, by the name of the output
    fresh      the results that are made: item and name of the output, by variable
    places     of the pieces that the kernel has, in its order
    is_peeled  whether the first turn comes before the loop
    """

    program: KernelProgram
    space: Space
    before: list[Step]
    sources: dict[str, Value]
    turned: dict[str, tuple[np.dtype, dict[int, int]]]
    written: dict[str, Value]
    fresh: dict[Value, tuple[str, Item]]
    places: list[int]
    is_peeled: bool


def draft_loop(region: Node, turns: Turns, typing: LoopTyping) -> LoopDraft:
    """Read the loop of a region for such inputs; Unsupported where its twin has to run."""
    shape, order = _space_of(typing)
    names = Names()
    return _Reader(region, turns, typing, shape, order, names, LoopOperands(typing, shape, names)).draft()


@dataclass(slots=True)
class _Reader:
    region: Node
    turns: Turns
    typing: LoopTyping
    shape: Shape
    order: Order
    names: Names
    outside: LoopOperands
    known: dict[Item, str] = field(default_factory=dict)
    steps: list[Operation] = field(default_factory=list)
    before: list[Step] = field(default_factory=list)
    initial: dict[Value, Operand] = field(default_factory=dict)
    variables: dict[Value, str] = field(default_factory=dict)
    numbers: dict[tuple[Item, np.dtype], Number] = field(default_factory=dict)
    turned: dict[str, tuple[np.dtype, dict[int, int]]] = field(default_factory=dict)
    outputs: dict[str, tuple[np.dtype, Strides, Operand]] = field(default_factory=dict)
    written: dict[str, Value] = field(default_factory=dict)
    fresh: dict[Value, tuple[str, Item]] = field(default_factory=dict)
    is_turning: bool = False

    def draft(self) -> LoopDraft:
        self._check_variables()
        if self.typing.first is not None:
            self._read_first(self.typing.first)
        loop = self._loop()
        self._write_inputs()
        self._make_results()
        strides = {name: found[1] for name, found in {**self.outside.arrays, **self.outputs}.items()}
        space = collapse(self.shape, strides, is_reversed=Order.C not in self.order)
        return LoopDraft(
            self._program(space, loop),
            space,
            self.before,
            self.outside.sources,
            self.turned,
            self.written,
            self.fresh,
            [piece.place for piece in self.typing.pieces],
            self.typing.first is not None,
        )

    def _program(self, space: Space, loop: Loop) -> KernelProgram:
        arrays = [Array(name, dtype, space.access(name)) for name, (dtype, _) in self.outside.arrays.items()]
        outputs = [
            Output(Array(name, dtype, space.access(name)), value) for name, (dtype, _, value) in self.outputs.items()
        ]
        numbers, steps = tuple(self.outside.numbers), tuple(self.steps)
        return KernelProgram("region", space.rank, tuple(arrays), numbers, steps, tuple(outputs), loop=loop)

    def _check_variables(self) -> None:
        for item in self.typing.variables.values():
            if item.shape != self.shape:
                raise Unsupported
        for target in self.turns.written:
            item = self.typing.variables[target].root
            if not has_distinct_elements(item.shape, item.strides, item.dtype.itemsize):
                raise Unsupported

    # The first turn

    def _read_first(self, piece: TypedPiece) -> None:
        """Its steps come before the loop; the variables begin with what it makes."""
        for step in piece.steps:
            if step.result.shape == () and step.out is None:
                self.before.append(step)
            else:
                self._read_operation(step, self.steps)
        for target, item in piece.moves:
            self.initial[target] = self._operand(item, item.dtype)

    # The loop

    def _loop(self) -> Loop:
        for target, item in self.typing.variables.items():
            self._begin(target, item)
        self.is_turning = True
        pieces = tuple(map(self._piece, self.typing.pieces))
        variables = tuple(
            Variable(self.variables[target], item.dtype, self.initial[target])
            for target, item in self.typing.variables.items()
        )
        if sum(len(piece.steps) for piece in pieces) > _MOST_KERNEL_PIECES:
            raise Unsupported
        numbers = tuple(self.numbers[key] for key in self.numbers)
        return Loop(variables, numbers, pieces, self.turns.loop.span)

    def _begin(self, target: Value, item: Item) -> None:
        """What a variable is before the loop, and its name in it."""
        initial = self.turns.initial.get(target)
        if target in self.turns.written:
            value = self.known.get(item.root)
            self.initial[target] = self.outside.operand(item.root, item.dtype) if value is None else value
        elif target not in self.initial:
            if initial is None:
                self.initial[target] = Literal(item.dtype.type(0))
            else:
                source = self.typing.outside(initial)
                self.initial[target] = self._operand(source, item.dtype)
        self.variables[target] = self.known[item.root] = self.names.of(target)

    def _piece(self, piece: TypedPiece) -> Piece:
        before = dict(self.known)
        steps: list[Operation] = []
        for step in piece.steps:
            self._read_operation(step, steps)
        assigned = {self.variables[target]: self._operand(item, item.dtype) for target, item in piece.moves}
        for target in self.turns.written:
            name = self.known[self.typing.variables[target].root]
            if name != self.variables[target]:
                assigned[self.variables[target]] = name
        self.known = before
        return Piece(tuple(steps), tuple(assigned.items()))

    def _read_operation(self, step: Step, steps: list[Operation]) -> None:
        if step.result.dtype is None:
            raise Unsupported
        row, loops = row_of(step)
        text = row.kernel_text(loops)
        if text is None or (step.out is not None and step.out.shape != self.shape):
            raise Unsupported
        operands = tuple(self._operand(item, dtype) for item, dtype in zip(step.operands, loops, strict=False))
        name = self.names.of(step.node.result)
        level, span = Level.ELEMENT, step.node.span
        steps.append(Operation(name, step.result.dtype, row.name, text, operands, loops, level, span))
        self.known[step.result.root] = name

    def _operand(self, item: Item, dtype: np.dtype) -> Operand:
        name = self.known.get(item.root)
        if name is not None:
            return name
        if self.is_turning and self.typing.is_number(item):
            return self._number(item, dtype if item.weak is not None else item.dtype)
        return self.outside.operand(item, dtype)

    def _number(self, item: Item, dtype: np.dtype) -> Operand:
        number = self.numbers.get((item, dtype))
        if number is None:
            value = next(value for value, known in self.typing.items.items() if known is item)
            number = self.numbers[item, dtype] = Number(self.names.of(value), dtype)
            pieces = enumerate(self.turns.pieces)
            found = {place: piece.numbers.index(value) for place, piece in pieces if value in piece.numbers}
            self.turned[number.name] = dtype, found
        return number.name

    # Results

    def _write_inputs(self) -> None:
        for target in self.turns.written:
            item, name = self.typing.variables[target].root, self.variables[target]
            output = self.names.unique(f"{name}_out")
            self.outputs[output] = item.dtype, self.outside.strides(item), name
            self.written[output] = target

    def _make_results(self) -> None:
        for value in self.region.blocks[0].terminator.inputs:
            target = self.turns.variable(value)
            if is_scalar(value) or target in self.turns.written or target in self.fresh:
                continue
            item, name = self.typing.variables[target], self.variables[target]
            output = self.names.unique(f"{name}_out")
            self.fresh[target] = output, item
            self.outputs[output] = item.dtype, self.outside.strides(item), name


def _space_of(typing: LoopTyping) -> tuple[Shape, Order]:
    """The shape of the variables, and the orders in which arrays of that shape can be walked."""
    items = [item for step in typing.steps for item in (*step.operands, step.out, step.result) if item is not None]
    items += typing.variables.values()
    arrays = [item for item in dict.fromkeys(items) if item.shape]
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
