"""One program for each shape of kernel, built by hand."""

from __future__ import annotations

import numpy as np

import gjit.ops  # noqa: F401  (the rows)
from gjit.cuda_kernels.program import (
    Access,
    Array,
    Combine,
    KernelProgram,
    Level,
    Literal,
    Number,
    Operation,
    Output,
    Reduction,
)
from gjit.ops.row import table
from gjit.source import Span

F4, F8, BOOL = np.dtype("f4"), np.dtype("f8"), np.dtype("?")
CONTIGUOUS, STRIDED, REPEATED = Access.CONTIGUOUS, Access.STRIDED, Access.REPEATED


class Line(Span):
    """A span whose line is given, not read."""

    def text(self) -> str:
        return self.file


def op(result, row, *operands, dtype=F8, to=None, level=Level.ELEMENT, line=""):
    loops = (dtype,) * len(operands) + (to or dtype,)
    text = table[f"numpy.{row}"].kernel_text(loops)
    span = Line(line, 1) if line else None
    return Operation(result, loops[-1], f"numpy.{row}", text, operands, loops, level, span)


def over_rows(result, combine, operand, dtype=F8, is_mean=False):
    return Reduction(result, dtype, combine, operand, dtype, Level.ROW, is_mean)


def flat():
    line = "return np.sqrt(x * x + y * y) * a"
    steps = (
        op("t0", "multiply", "x", "x", line=line),
        op("t1", "multiply", "y", "y", line=line),
        op("t2", "add", "t0", "t1", line=line),
        op("t3", "sqrt", "t2", line=line),
        op("t4", "multiply", "t3", "a", line=line),
        op("small", "less", "t4", Literal(np.float64(0.5)), to=BOOL, line="small = t < 0.5"),
    )
    arrays = (Array("x", F8, CONTIGUOUS), Array("y", F4, STRIDED))
    outputs = (Output(Array("t4_out", F8, CONTIGUOUS), "t4"), Output(Array("small_out", BOOL, CONTIGUOUS), "small"))
    return KernelProgram("region", 1, arrays, (Number("a", F4),), steps, outputs)


def strided():
    steps = (
        op("shift", "negative", "weight", level=Level.ROW),
        op("t0", "multiply", "x", "weight"),
        op("t1", "add", "t0", "shift"),
    )
    arrays = (Array("x", F8, STRIDED), Array("weight", F8, REPEATED))
    return KernelProgram("region", 3, arrays, (), steps, (Output(Array("out", F8, CONTIGUOUS), "t1"),))


def softmax():
    steps = (
        over_rows("top", Combine.MAXIMUM, "x", F4),
        op("t0", "subtract", "x", "top", dtype=F4, line="e = np.exp(x - top)"),
        op("e", "exp", "t0", dtype=F4, line="e = np.exp(x - top)"),
        over_rows("total", Combine.SUM, "e", F4),
        op("t1", "divide", "e", "total", dtype=F4, line="return e / total"),
    )
    outputs = (Output(Array("t1_out", F4, CONTIGUOUS), "t1"), Output(Array("top_out", F4, REPEATED), "top"))
    return KernelProgram("region", 2, (Array("x", F4, CONTIGUOUS),), (), steps, outputs)


def variance():
    steps = (
        over_rows("mean", Combine.SUM, "x", is_mean=True),
        op("difference", "subtract", "x", "mean"),
        op("square", "square", "difference"),
        over_rows("variance", Combine.SUM, "square", is_mean=True),
        op("deviation", "sqrt", "variance", level=Level.ROW),
        op("scaled", "divide", "difference", "deviation"),
    )
    outputs = (Output(Array("scaled_out", F8, CONTIGUOUS), "scaled"),)
    return KernelProgram("region", 2, (Array("x", F8, CONTIGUOUS),), (), steps, outputs)


def _totals(rank):
    steps = (
        op("square", "multiply", "x", "x", dtype=F4),
        Reduction("total", F4, Combine.SUM, "square", F4, Level.LAUNCH),
        Reduction("top", F4, Combine.MAXIMUM, "x", F4, Level.LAUNCH),
    )
    outputs = (Output(Array("square_out", F4, CONTIGUOUS), "square"),)
    return KernelProgram("region", rank, (Array("x", F4, CONTIGUOUS),), (), steps, outputs)


PROGRAMS = {
    "flat": flat(),
    "strided": strided(),
    "softmax": softmax(),
    "variance": variance(),
    "totals": _totals(1),
    "totals_of_rows": _totals(2),
}
