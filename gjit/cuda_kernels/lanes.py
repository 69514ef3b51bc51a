"""Loops on a CPU: several vector registers of elements take each turn together, so that their chains of operations hide
each other's latency.

for (int64 start = begin; start < end; start += LANES * CHAINS) {
    const int64 left = end - start;
    Lanes<float64> x_chains[CHAINS];
    EACH_CHAIN {
        const Lanes<float64> x0 = load_lanes(x0_data + start, 1, chain * LANES, left);
        x_chains[chain] = x0;
    }
    for (int64 turn = 0; turn < turns; ++turn) {
        EACH_CHAIN {
            const Lanes<float64> x = x_chains[chain];
            // x = x + dt * (x - x * x * x)
            const Lanes<float64> t0 = np_multiply(x, x);
            const Lanes<float64> t1 = np_multiply(t0, x);
            const Lanes<float64> t2 = np_subtract(x, t1);
            const Lanes<float64> t3 = np_multiply(all_lanes(dt), t2);
            const Lanes<float64> t4 = np_add(x, t3);
            x_chains[chain] = t4;
        }
    }
    EACH_CHAIN {
        const Lanes<float64> x = x_chains[chain];
        store_lanes(x_out_data + start, 1, chain * LANES, left, x);
    }
}
"""

from __future__ import annotations

import re
from collections.abc import Iterable

import numpy as np

from gjit.cuda_kernels.element import Texts, indented, load
from gjit.cuda_kernels.loops import turns_loop
from gjit.cuda_kernels.program import (
    Access,
    Array,
    KernelProgram,
    Level,
    Literal,
    Operand,
    Operation,
    Output,
    Piece,
)
from gjit.ops.kernels import c_type

_CALL = re.compile(r"(?P<name>np_\w+)\(\{0\}(, \{1\}(, \{2\})?)?\)")
"""Texts that are nothing but the call of a function, which is there for lanes as for single elements."""
Call = tuple[str, tuple[np.dtype, ...]]
"""A function, and the dtypes that it is called with."""


def lanes_text(program: KernelProgram, start: str, stop: str) -> list[str]:
    """The loop along one row, from `start` up to `stop`, of a program with a loop."""
    return _Writer(program).row(start, stop)


def calls_on_lanes(program: KernelProgram) -> list[Call]:
    """The functions that the loop of a program calls on lanes, each once."""
    writer = _Writer(program)
    writer.row("begin", "end")
    return list(writer.texts.calls)


class _LaneTexts(Texts):
    """Values of many elements as text; what is the same for all of them is spread where it is used.

    `calls` are the functions that the texts so far call on lanes.
    """

    def __init__(self, program: KernelProgram):
        super().__init__(program)
        self.calls: dict[Call, None] = {}
        self._levels = program.levels()

    def operand(self, operand: Operand, dtype: np.dtype) -> str:
        text = super().operand(operand, dtype)
        if isinstance(operand, Literal) or self._levels[operand] < Level.ELEMENT:
            return f"all_lanes({text})"
        self._note_cast(self.dtypes[operand], dtype)
        return text

    def expression(self, step: Operation, operands: list[str]) -> str:
        self._note_cast(step.loops[-1], step.dtype)
        found = _CALL.fullmatch(step.text)
        if found is not None and step.text.count("{") == len(operands):
            self.calls[found["name"], step.loops[:-1]] = None
            return super().expression(step, operands)
        names = [f"x{place}" for place in range(len(operands))]
        taken = ", ".join(f"auto {name}" for name in names)
        return f"lifted([&]({taken}) {{ return {step.text.format(*names)}; }}, {', '.join(operands)})"

    def kind(self, dtype: np.dtype) -> str:
        return f"Lanes<{c_type(dtype)}>"

    def _note_cast(self, source: np.dtype, target: np.dtype) -> None:
        if source != target:
            self.calls[f"np_cast_{c_type(target)}", (source,)] = None


class _Writer:
    """The three sections of a block of elements: before the loop, each turn, after the loop."""

    def __init__(self, program: KernelProgram):
        assert program.loop is not None
        self.program, self.loop = program, program.loop
        self.texts = _LaneTexts(program)
        self.before = [step for step in program.steps if isinstance(step, Operation)]
        self.variables = [variable.name for variable in self.loop.variables]
        self.kept = [name for name in self._early() if name in self._read_later()]

    def row(self, start: str, stop: str) -> list[str]:
        program = self.program
        repeated = [array for array in program.arrays if array.level is not Level.ELEMENT]
        lines = [f"const int64 left = {stop} - start;"]
        lines += [f"{self._kind(name)} {name}_chains[CHAINS];" for name in [*self.kept, *self.variables]]
        lines += _each_chain(self._first())
        lines += turns_loop(self.loop, [_each_chain(self._piece(piece)) for piece in self.loop.pieces])
        lines += _each_chain(self._last())
        head = f"for (int64 start = {start}; start < {stop}; start += LANES * CHAINS) {{"
        return [*(load(array, "0") for array in repeated), head, *indented(lines, 1), "}"]

    def _first(self) -> list[str]:
        """Loads, the steps before the loop, and what the variables are at first."""
        arrays = [array for array in self.program.arrays if array.level is Level.ELEMENT]
        lines = [self._load(array) for array in arrays]
        lines += self.texts.operations(self.before)
        lines += [f"{name}_chains[chain] = {name};" for name in self.kept]
        return lines + [
            f"{each.name}_chains[chain] = {self.texts.operand(each.initial, each.dtype)};"
            for each in self.loop.variables
        ]

    def _piece(self, piece: Piece) -> list[str]:
        lines = self._taken(_operands(piece.steps) + [value for _, value in piece.assignments], piece.steps)
        lines += self.texts.operations(piece.steps)
        return lines + [
            f"{name}_chains[chain] = {self.texts.operand(value, self.texts.dtypes[name])};"
            for name, value in piece.assignments
        ]

    def _last(self) -> list[str]:
        outputs = self.program.outputs
        lines = self._taken(_operands(self.program.after) + [output.value for output in outputs], self.program.after)
        return [*lines, *self.texts.operations(self.program.after), *map(self._store, outputs)]

    def _taken(self, read: list[Operand], steps: Iterable[Operation]) -> list[str]:
        """The values of this chain that come from another section."""
        own = {step.result for step in steps}
        names = [name for name in (*self.kept, *self.variables) if name in read and name not in own]
        return [f"const {self._kind(name)} {name} = {name}_chains[chain];" for name in names]

    def _early(self) -> list[str]:
        """The values of elements that are there before the loop."""
        arrays = [array.name for array in self.program.arrays if array.level is Level.ELEMENT]
        return arrays + [step.result for step in self.before]

    def _read_later(self) -> set[Operand]:
        parts: list[Operand] = [*_operands(self.loop.steps), *_operands(self.program.after)]
        parts += [value for piece in self.loop.pieces for _, value in piece.assignments]
        return {*parts, *(output.value for output in self.program.outputs)}

    def _kind(self, name: str) -> str:
        return self.texts.kind(self.texts.dtypes[name])

    def _load(self, array: Array) -> str:
        kind = self.texts.kind(array.dtype)
        return f"const {kind} {array.name} = load_lanes({_place(array)}, chain * LANES, left);"

    def _store(self, output: Output) -> str:
        value = self.texts.operand(output.value, output.array.dtype)
        return f"store_lanes({_place(output.array)}, chain * LANES, left, {value});"


def _each_chain(lines: list[str]) -> list[str]:
    return ["EACH_CHAIN {", *indented(lines, 1), "}"] if lines else []


def _operands(steps: Iterable[Operation]) -> list[Operand]:
    return [operand for step in steps for operand in step.operands]


def _place(array: Array) -> str:
    """Where the block begins in an array, and how far its elements are apart."""
    if array.access is Access.STRIDED:
        return f"{array.name}_data + start * {array.name}_step, {array.name}_step"
    return f"{array.name}_data + start, {1 if array.access is Access.CONTIGUOUS else 0}"
