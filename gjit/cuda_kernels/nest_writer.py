"""Where the text of a nest is collected: lines, variables, and the values that they stand for."""

from __future__ import annotations

import re

import numpy as np

from gjit.cuda_kernels.element import literal
from gjit.cuda_kernels.nest_values import (
    BOOL,
    FLOAT64,
    INT64,
    LEAST,
    MOST,
    Elementwise,
    Enumerate,
    Gathered,
    Known,
    Range,
    Reference,
    Refused,
    Scalar,
    Slice,
    Tuple,
    View,
    Zip,
)
from gjit.ir.graph import Constant, Value
from gjit.ops.kernels import c_type

BAIL = "return -1;"


class Writer:
    """Collects the text of one nest.

    lines      of the version that is being written
    variables  of the whole function: their C types by their names
    written    the inputs that are written
    """

    def __init__(self) -> None:
        self.lines: list[str] = []
        self.variables: dict[str, str] = {}
        self.buffers: list[str] = []
        self.written: set[str] = set()
        self.floats = False
        self.exact = True
        self.depth = 1
        self.values: dict[Value, Reference] = {}
        self._numbers: dict[Value, int] = {}
        self._temporaries = 0

    # Lines

    def line(self, text: str) -> None:
        """Add a line."""
        self.lines.append("    " * self.depth + text)

    def open(self, text: str) -> None:
        """Add a line that opens a block."""
        self.line(text)
        self.depth += 1

    def close(self) -> None:
        """Close a block."""
        self.depth -= 1
        self.line("}")

    def bail(self, condition: str) -> None:
        """Go back to the host where a condition holds."""
        self.line(f"if (RARELY({condition})) {BAIL}")

    def temporary(self, kind: str, text: str) -> str:
        """A variable that only the lines after this one need, in the same block of C++."""
        self._temporaries += 1
        name = f"t{self._temporaries}"
        head = f"{kind}const {name}" if kind.endswith("*") else f"const {kind} {name}"
        self.line(f"{head} = {text};")
        return name

    def fresh(self, hint: str) -> str:
        """A name that nothing has."""
        self._temporaries += 1
        return f"{hint}{self._temporaries}"

    # Values

    def __getitem__(self, value: Value) -> Reference:
        if isinstance(value, Constant):
            return known(value.value)
        return self.values[value]

    def name(self, value: Value, role: str = "") -> str:
        """The name of the variable that holds a part of a value."""
        number = self._numbers.setdefault(value, len(self._numbers))
        hint = re.sub(r"\W", "", value.name) or "v"
        return f"{hint}_{number}{role and '_' + role}"

    def assign(self, name: str, kind: str, text: str) -> str:
        """Set a variable of the function."""
        if self.variables.setdefault(name, kind) != kind:
            raise AssertionError(f"{name} is both {kind} and {self.variables[name]}")
        if text != name:
            self.line(f"{name} = {text};")
        return name

    def settle(self, value: Value, reference: Reference) -> None:
        """Let a value be what `reference` says; its parts go into variables of its own."""
        self.values[value] = self._settled(value, reference, "")

    def _settled(self, value: Value, reference: Reference, role: str) -> Reference:
        match reference:
            case Scalar(text, dtype, python, bounds):
                if text in self.variables:
                    return reference
                name = self.name(value, role + reference.code)
                return Scalar(self.assign(name, c_type(dtype), text), dtype, python, bounds)
            case Tuple(elements):
                settled = [self._settled(value, each, f"{role}{place}_") for place, each in enumerate(elements)]
                return Tuple(tuple(settled))
            case Slice(start, stop, step) | Range(start, stop, step):
                parts = zip("abc", (start, stop, step), strict=True)
                return type(reference)(*(self._settled(value, each, f"{role}{part}_") for part, each in parts))
            case View():
                return self._settled_view(value, reference, role)
            case Gathered(source, index):
                return Gathered(
                    self._settled_view(value, source, role + "s_"), self._settled_view(value, index, role + "i_")
                )
            case Enumerate(iterable):
                return Enumerate(self._settled(value, iterable, role + "e_"))
            case Zip(iterables):
                settled = [self._settled(value, each, f"{role}z{place}_") for place, each in enumerate(iterables)]
                return Zip(tuple(settled))
        return reference

    def _settled_view(self, value: Value, view: View, role: str) -> View:
        def whole(text: str, part: str) -> str:
            if text in self.variables or text.isdigit() or re.fullmatch(r"-?\d+", text):
                return text
            return self.assign(self.name(value, role + part), "int64", text)

        extents = tuple(whole(text, f"extent_{axis}") for axis, text in enumerate(view.extents))
        strides = tuple(whole(text, f"stride_{axis}") for axis, text in enumerate(view.strides))
        data = view.data
        if data not in self.variables:
            data = self.assign(self.name(value, role + "data"), "char *", data)
        return View(view.dtype, data, extents, strides, view.unit, view.base, view.is_own)

    def target(self, parameter: Value, reference: Reference, is_counter: bool) -> tuple[Reference, list[tuple]]:
        """What a parameter is when it gets `reference`, and the moves (name, C type, text) that make it so."""
        moves: list[tuple[str, str, str]] = []
        return self._moved(parameter, reference, "", moves, is_counter), moves

    def _moved(self, value: Value, reference: Reference, role: str, moves: list, is_counter: bool) -> Reference:
        def move(part: str, kind: str, text: str) -> str:
            name = self.name(value, role + part)
            moves.append((name, kind, text))
            return name

        def again(each: Reference, part: str) -> Reference:
            return self._moved(value, each, f"{role}{part}_", moves, False)

        match reference:
            case Known(constant) if isinstance(constant, bool | int | float | np.generic):
                return self._moved(value, number(reference), role, moves, is_counter)
            case Scalar(text, dtype, python, bounds):
                name = move(reference.code, c_type(dtype), text)
                kept = bounds if is_counter or dtype.kind != "i" or python != "int" else (LEAST, MOST)
                return Scalar(name, dtype, python, kept)
            case Tuple(elements):
                return Tuple(tuple(again(each, str(place)) for place, each in enumerate(elements)))
            case Slice(start, stop, step) | Range(start, stop, step):
                return type(reference)(again(start, "a"), again(stop, "b"), again(step, "c"))
            case View():
                extents = tuple(move(f"extent_{axis}", "int64", text) for axis, text in enumerate(reference.extents))
                strides = tuple(move(f"stride_{axis}", "int64", text) for axis, text in enumerate(reference.strides))
                data = move("data", "char *", reference.data)
                return View(reference.dtype, data, extents, strides, reference.unit, reference.base, reference.is_own)
            case Known():
                return reference
        raise Refused("a value that depends on where the program comes from")


def holds_own(reference: Reference) -> bool:
    """Whether a value is, or holds, memory of the nest's own, which the next turn uses again."""
    if isinstance(reference, Tuple):
        return any(map(holds_own, reference.elements))
    return isinstance(reference, View) and reference.is_own


def known(value: object) -> Reference:
    """A constant of the program; slices and tuples by their parts."""
    if isinstance(value, slice):
        return Slice(known(value.start), known(value.stop), known(value.step))
    if type(value) is tuple:
        return Tuple(tuple(known(element) for element in value))
    return Known(value)


def number(reference: Reference) -> Scalar:
    """A reference as a number; Refused where it is none, or does not fit 64 bits."""
    if isinstance(reference, Scalar):
        return reference
    value = reference.value if isinstance(reference, Known) else None
    if isinstance(value, bool):
        return Scalar("true" if value else "false", BOOL, "bool", (int(value), int(value)))
    if type(value) is int:
        if not LEAST < value <= MOST:
            raise Refused(f"the integer {value}")
        return Scalar(literal(np.int64(value)), INT64, "int", (value, value))
    if type(value) is float:
        return Scalar(literal(np.float64(value)), FLOAT64, "float")
    if isinstance(value, np.generic) and is_usual(value.dtype):
        bounds = (int(value), int(value)) if value.dtype.kind in "biu" else (LEAST, MOST)
        return Scalar(f"({literal(value)})", value.dtype, "", bounds)
    raise Refused("a value that is no number")


def is_usual(dtype: np.dtype) -> bool:
    """Whether a dtype is one that nests compute with."""
    return dtype.isnative and dtype.char in "?bBhHiIlLfd"


def is_lazy(reference: Reference) -> bool:
    """Whether a reference is an array that has not been computed."""
    return isinstance(reference, Elementwise)
