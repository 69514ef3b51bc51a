"""The text of single values: numbers, casts, loads, and one line for each op.

// hypotenuse = np.sqrt(x * x + y * y)
const float64 t0 = np_multiply(x, x);
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from gjit.cuda_kernels.program import (
    Access,
    Array,
    KernelProgram,
    Literal,
    Operand,
    Operation,
    Output,
    Step,
)
from gjit.ir.graph import Node
from gjit.ops.kernels import c_type, cast_text

INDENT = "    "


def literal(value: np.generic) -> str:
    """A number as text, exactly.

    >>> literal(np.float32(0.1)), literal(np.int64(-3)), literal(np.float64("-inf"))
    ('(float32)0x1.99999a0000000p-4', '(int64)-3', 'np_from_bits((uint64)0xfff0000000000000ULL)')
    """
    name, kind = c_type(value.dtype), value.dtype.kind
    if kind == "c":
        return f"{name}{{{literal(value.real)}, {literal(value.imag)}}}"
    if value.dtype.char == "e":
        return cast_text(literal(np.float32(value)), np.dtype("f4"), value.dtype)
    if kind == "f" and np.isfinite(value):
        return f"({name}){float(value).hex()}"
    if kind == "f":
        bits, ending = f"uint{8 * value.dtype.itemsize}", "ULL" if value.dtype.itemsize == 8 else "u"
        return f"np_from_bits(({bits}){value.view(bits):#x}{ending})"
    number = int(value)
    if kind == "i" and number == -(1 << 8 * value.dtype.itemsize - 1):
        return f"({name})({number + 1} - 1)"
    return f"({name}){number}{'u' if kind == 'u' else ''}"


class Texts:
    """Values of a program as text."""

    def __init__(self, program: KernelProgram):
        self.dtypes = program.dtypes()

    def operand(self, operand: Operand, dtype: np.dtype) -> str:
        """An operand as `dtype`."""
        if isinstance(operand, Literal):
            return cast_text(literal(operand.value), operand.value.dtype, dtype)
        return cast_text(operand, self.dtypes[operand], dtype)

    def operations(self, steps: Iterable[Operation]) -> Iterator[str]:
        """A line for each op, under the user's line where a new one begins."""
        shown = None
        for step in steps:
            line = source_line(step)
            if line and line != shown:
                yield f"// {line}"
                shown = line
            yield self._operation(step)

    def _operation(self, step: Operation) -> str:
        operands = [self.operand(value, dtype) for value, dtype in zip(step.operands, step.loops, strict=False)]
        text = cast_text(self.expression(step, operands), step.loops[-1], step.dtype)
        return f"const {self.kind(step.dtype)} {step.result} = {text};"

    def expression(self, step: Operation, operands: list[str]) -> str:
        """The op itself, on operands that have the dtypes of its loop."""
        return step.text.format(*operands)

    def kind(self, dtype: np.dtype) -> str:
        """The type of a value."""
        return c_type(dtype)

    def store(self, output: Output, index: str) -> str:
        """The line that writes one element of an output."""
        return f"{place(output.array, index)} = {self.operand(output.value, output.array.dtype)};"


def source_line(step: Step | Node) -> str:
    """The user's line, fit for a comment."""
    text = step.span.text().strip() if step.span is not None else ""
    return text.rstrip("\\").rstrip().replace("??/", "")


def place(array: Array, index: str, ending: str = "data") -> str:
    """The element of an array at `index` of the row, whose pointer is called by the array's name and `ending`.

    >>> place(Array("x", np.dtype("f8"), Access.STRIDED), "i")
    'x_data[i * x_step]'
    >>> from gjit.cuda_kernels.program import Part
    >>> place(Array("x_1", np.dtype("f8"), Access.STRIDED, part=Part("x", 1, 3)), "i")
    'x_data[i * 3 + 1]'
    >>> place(Array("x_1", np.dtype("f8"), Access.CONTIGUOUS, part=Part("x", 1)), "i < n ? i : 0")
    'x_data[(i < n ? i : 0) + 1 * x_apart]'
    """
    source, part = array.source, array.part
    apart = ""
    if part is not None and part.place:
        apart = str(part.place) if part.width else f"{part.place} * {source}_apart"
    if array.access is Access.REPEATED:
        return f"{source}_{ending}[{apart}]" if apart else f"*{source}_{ending}"
    factor = f"({index})" if " " in index else index
    step = f"{factor} * {part.width}" if part is not None and part.width else index
    if array.access is Access.STRIDED and step == index:
        step = f"{factor} * {source}_step"
    elif apart and step == index:
        step = factor
    return f"{source}_{ending}[{step} + {apart}]" if apart else f"{source}_{ending}[{step}]"


def load(array: Array, index: str) -> str:
    """The line that reads one element."""
    return f"const {c_type(array.dtype)} {array.name} = {place(array, index)};"


def indented(lines: Iterable[str], depth: int) -> list[str]:
    """Lines moved to the right."""
    return [INDENT * depth + line if line else line for line in lines]
