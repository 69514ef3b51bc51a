"""A loop nest as C++: each piece of its control flow is written once for each combination of what its values are."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from gjit.cuda_kernels.dialect import Dialect
from gjit.cuda_kernels.nest_flow import Branch, Finish, Jump, Leave, Piece, Turn, lower
from gjit.cuda_kernels.nest_live import find_live
from gjit.cuda_kernels.nest_steps import Steps, branch_truth
from gjit.cuda_kernels.nest_support import SUPPORT, library_text
from gjit.cuda_kernels.nest_values import (
    BOOL,
    Known,
    NestKernel,
    Range,
    Reference,
    Refused,
    Result,
    Scalar,
    Tuple,
    View,
)
from gjit.cuda_kernels.nest_writer import BAIL, Writer, holds_own, number
from gjit.cuda_kernels.prelude import prelude
from gjit.ir.graph import Graph, Node, Value
from gjit.ops.kernels import c_type

_MOST_VERSIONS = 400
_MOST_LINES = 2000
"""Compilers take minutes for more."""


@dataclass(frozen=True, slots=True)
class Input:
    """What an input of a nest is, as far as its text depends on it.

    kind     "array", "number", "range", "tuple" or "known"
    dtype    of an array or number; `python` as of a `Scalar`
    rank, unit   of an array: its axes, and the one along which elements lie side by side
    parts    of a tuple, or the start and stop of a range
    value    that is part of the text: the step of a range
    """

    kind: str
    dtype: np.dtype = BOOL
    python: str = ""
    rank: int = 0
    unit: int = -1
    parts: tuple[Input, ...] = ()
    value: object = None


def emit_nest(nest: Node, graph: Graph, inputs: list[Input]) -> NestKernel:
    """The text of a nest for inputs of these kinds; Refused where native code cannot do what Python does."""
    return _Emitter(nest, graph).emit(inputs)


def nest_unit(kernel: NestKernel, dialect: Dialect) -> str:
    """The whole unit that the compiler reads."""
    return prelude("float64 float32 " + kernel.text, dialect) + SUPPORT + kernel.text


class _Emitter:
    def __init__(self, nest: Node, graph: Graph):
        self.nest = nest
        self.pieces = lower(nest, graph)
        find_live(self.pieces)
        self.writer = Writer()
        self.steps = Steps(self.writer)
        self.labels: dict[tuple[Piece, tuple[Reference, ...]], int] = {}
        self.waiting: list[tuple[Piece, dict[Value, Reference], int]] = []
        self.texts: dict[int, list[str]] = {}
        self.exits: list[list[Result]] = []
        self.words = 0
        self.lines = 0

    def emit(self, inputs: list[Input]) -> NestKernel:
        entry = self.pieces[0]
        writer = self.writer
        values = {
            parameter: self._input(parameter, each, parameter.name)
            for parameter, each in zip(entry.parameters, inputs, strict=True)
        }
        prologue, writer.lines = writer.lines, []
        bases = {view.base: place for place, view in enumerate(values.values()) if isinstance(view, View)}
        self._label(entry, values)
        while self.waiting:
            piece, values, label = self.waiting.pop()
            self._write(piece, values, label)
        text = self._function(prologue)
        written = frozenset(bases[name] for name in writer.written)
        return NestKernel(text, self.exits, written, writer.floats, writer.exact)

    # Inputs

    def _input(self, parameter: Value, each: Input, role: str) -> Reference:
        writer = self.writer
        name = writer.name(parameter, role)
        match each.kind:
            case "known":
                return Known(each.value)
            case "number":
                member = "natural" if each.dtype == np.uint64 else "real" if each.dtype.kind == "f" else "whole"
                kind = c_type(each.dtype)
                writer.assign(name, kind, f"({kind})words[{self._word()}].{member}")
                bounds = (0, 1) if each.dtype.kind == "b" else Scalar("", each.dtype).bounds
                return Scalar(name, each.dtype, each.python, bounds)
            case "array":
                return self._array(name, each)
        parts = [self._input(parameter, part, f"{role}_{place}") for place, part in enumerate(each.parts)]
        return Range(parts[0], parts[1], Known(each.value)) if each.kind == "range" else Tuple(tuple(parts))

    def _word(self) -> int:
        self.words += 1
        return self.words - 1

    def _array(self, name: str, each: Input) -> View:
        writer = self.writer
        array = f"words[{self._word()}].array"
        data = writer.assign(f"{name}_data", "char *", f"{array}->data")
        extents, strides = [], []
        for axis in range(each.rank):
            extents.append(writer.assign(f"{name}_extent_{axis}", "int64", f"{array}->extents[{axis}]"))
            strides.append(writer.assign(f"{name}_stride_{axis}", "int64", f"{array}->strides[{axis}]"))
        return View(each.dtype, data, tuple(extents), tuple(strides), each.unit, name)

    # Versions

    def _label(self, piece: Piece, values: dict[Value, Reference]) -> int:
        kept = {value: values[value] for value in piece.live}
        key = (piece, tuple(kept.values()))
        label = self.labels.get(key)
        if label is None:
            label = self.labels[key] = len(self.labels)
            if label >= _MOST_VERSIONS:
                raise Refused("too many combinations of types")
            self.waiting.append((piece, kept, label))
        return label

    def _write(self, piece: Piece, values: dict[Value, Reference], label: int) -> None:
        writer = self.writer
        writer.lines, writer.values, writer.depth = [], dict(values), 2
        self.steps.begin(piece)
        for step in piece.steps:
            self.steps.write(step)
        self._end(piece)
        self.texts[label] = [f"    L{label}: {{", *writer.lines, "    }"]
        self.lines += len(writer.lines)
        if self.lines > _MOST_LINES:
            raise Refused("its length, with all combinations of types")

    def _end(self, piece: Piece) -> None:
        writer = self.writer
        match piece.end:
            case Jump():
                self._jump(piece.end)
            case Branch(condition, then, otherwise):
                truth = branch_truth(writer[condition])
                if isinstance(truth, bool):
                    self._jump(then if truth else otherwise)
                else:
                    self._fork(truth, then, otherwise)
            case Turn(counter, count, body, after):
                self._fork(f"{number(writer[counter]).text} < {number(writer[count]).text}", body, after)
            case Finish(results):
                self._finish(results)
            case Leave():
                writer.line(BAIL)

    def _fork(self, truth: str, then: Jump, otherwise: Jump) -> None:
        writer = self.writer
        writer.open(f"if ({truth}) {{")
        self._jump(then)
        writer.close()
        self._jump(otherwise)

    def _jump(self, jump: Jump) -> None:
        """Move the arguments into the parameters, all at once, and go there."""
        writer, target = self.writer, jump.target
        own = dict(zip(target.parameters, jump.arguments, strict=True))
        values: dict[Value, Reference] = {}
        moves: list[tuple[str, str, str]] = []
        for value in target.live:
            if value in own:
                reference = writer[own[value]]
                if target.is_head and holds_own(reference):
                    raise Refused("an array that is made in the loop and kept for a later turn")
                values[value], found = writer.target(value, reference, value in target.counters)
                moves += [move for move in found if move[0] != move[2]]
            else:
                values[value] = writer[value]
        self._move(moves)
        writer.line(f"goto L{self._label(target, values)};")

    def _move(self, moves: list[tuple[str, str, str]]) -> None:
        writer = self.writer
        for name, kind, _ in moves:
            writer.assign(name, kind, name)
        texts = [text for _, _, text in moves]
        if len(moves) > 1:
            writer.open("{")
            texts = [writer.temporary(kind, text) for _, kind, text in moves]
        for (name, _, _), text in zip(moves, texts, strict=True):
            writer.line(f"{name} = {text};")
        if len(moves) > 1:
            writer.close()

    def _finish(self, results: tuple[Value, ...]) -> None:
        words = itertools.count()
        kinds = [self._result(self.writer[value], words) for value in results]
        if kinds not in self.exits:
            self.exits.append(kinds)
        self.writer.line(f"return {self.exits.index(kinds)};")

    def _result(self, reference: Reference, words: Iterator[int]) -> Result:
        if isinstance(reference, Tuple):
            return Result(parts=[self._result(each, words) for each in reference.elements])
        if isinstance(reference, Known) and not (
            isinstance(reference.value, np.generic) or type(reference.value) is int
        ):
            return Result(known=reference.value)
        scalar = number(reference)
        member, kind = "whole", "int64"
        if scalar.dtype.kind == "f":
            member, kind = "real", "float64"
        elif scalar.dtype.kind == "u":
            member, kind = "natural", "uint64"
        self.writer.line(f"words[{next(words)}].{member} = ({kind}){scalar.text};")
        return Result(scalar.python, scalar.dtype)

    # The function

    def _function(self, prologue: list[str]) -> str:
        writer = self.writer
        lines = ["static __attribute__((noinline)) int64 nest_body(Word *words) {"]
        lines += [f"    Buffer {name};" for name in writer.buffers]
        lines += [f"    {kind} {name};" for name, kind in writer.variables.items()]
        lines += [*prologue, "    goto L0;"]
        lines += [line for label in sorted(self.texts) for line in self.texts[label]]
        lines += ["}", 'extern "C" int64 nest(Word *words, int64 wanted) {']
        lines += ["    feclearexcept(INVALID | DIVISION | OVERFLOWN | UNDERFLOWN);"] if writer.floats else []
        lines += ["    const int64 exit = nest_body(words);"]
        lines += ["    if (exit >= 0 && flags_up(wanted) != 0) return -2;"] if writer.floats else []
        lines += ["    return exit;", "}", ""]
        return library_text(self.steps.library | self._powers(lines)) + "\n".join(lines)

    def _powers(self, lines: list[str]) -> dict[str, int]:
        text = "\n".join(lines)
        return {name: 2 for name in ("pow", "powf") if f"library_{name}(" in text}
