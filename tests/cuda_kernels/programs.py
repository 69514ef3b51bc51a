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
    Loop,
    Number,
    Operation,
    Output,
    Part,
    Piece,
    Reduction,
    Variable,
)
from gjit.ops.row import table
from gjit.source import Span

F4, F8, C16, BOOL = np.dtype("f4"), np.dtype("f8"), np.dtype("c16"), np.dtype("?")
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


def columns():
    """Softmax along the first axis, and where the largest elements are."""
    steps = (
        over_rows("top", Combine.MAXIMUM, "x"),
        Reduction("place", np.dtype("i8"), Combine.FIRST_MAXIMUM, "x", F8, Level.ROW),
        op("t0", "subtract", "x", "top"),
        op("e", "exp", "t0"),
        over_rows("total", Combine.SUM, "e"),
        op("t1", "divide", "e", "total"),
    )
    outputs = (
        Output(Array("t1_out", F8, CONTIGUOUS), "t1"),
        Output(Array("place_out", np.dtype("i8"), CONTIGUOUS, Level.ROW), "place"),
    )
    return KernelProgram("region", 2, (Array("x", F8, CONTIGUOUS),), (), steps, outputs, is_columns=True)


def planes():
    """The reduced axes of each of several rows are two, which do not join."""
    steps = (
        over_rows("mean", Combine.SUM, "x", is_mean=True),
        op("difference", "subtract", "x", "mean"),
        op("root", "sqrt", "difference"),
        over_rows("total", Combine.SUM, "root"),
        op("scaled", "divide", "root", "total"),
    )
    outputs = (Output(Array("scaled_out", F8, CONTIGUOUS), "scaled"), Output(Array("mean_out", F8, REPEATED), "mean"))
    return KernelProgram("region", 3, (Array("x", F8, STRIDED),), (), steps, outputs, reduced=2)


def deviation():
    steps = (
        Reduction("squares", F8, Combine.DEVIATION, "x", F8, Level.LAUNCH),
        Reduction("place", np.dtype("i8"), Combine.FIRST_MINIMUM, "x", F8, Level.LAUNCH),
    )
    return KernelProgram("region", 2, (Array("x", F8, CONTIGUOUS),), (), steps, ())


def pairs():
    """Squared distances of points with three coordinates, and the nearest for each."""
    places = range(3)
    ours = [Array(f"p_{place}", F8, REPEATED, part=Part("p", place, 3)) for place in places]
    theirs = [Array(f"q_{place}", F8, STRIDED, part=Part("q", place)) for place in places]
    steps = [op(f"d_{place}", "subtract", f"p_{place}", f"q_{place}") for place in places]
    steps += [op(f"s_{place}", "square", f"d_{place}") for place in places]
    steps += [op("t0", "add", "s_0", "s_1"), op("t1", "add", "t0", "s_2")]
    steps += [over_rows("nearest", Combine.MINIMUM, "t1")]
    outputs = (Output(Array("nearest_out", F8, REPEATED), "nearest"),)
    return KernelProgram("region", 2, (*ours, *theirs), (), tuple(steps), outputs)


def loop():
    line = "x = x + dt * (x - x * x)"
    first = (
        op("t0", "multiply", "x", "x", line=line),
        op("t1", "subtract", "x", "t0", line=line),
        op("t2", "multiply", "dt", "t1", line=line),
        op("t3", "add", "x", "t2", line=line),
    )
    piece = Piece(first, (("x", "t3"),))
    turns = Loop((Variable("x", F8, "x0"),), (Number("dt", F8),), (piece,))
    outputs = (Output(Array("x_out", F8, CONTIGUOUS), "x"),)
    return KernelProgram("region", 1, (Array("x0", F8, CONTIGUOUS),), (), (), outputs, loop=turns)


def loop_of_pieces():
    """Fibonacci, and in some turns a rotation of complex numbers by the sine of a row's number."""
    line = "z = z * turn"
    less = op("is_less", "less", "a", Literal(np.float32(100)), dtype=F4, to=BOOL, line="a < 100")
    added = (less, op("next", "add", "a", "b", dtype=F4, line="a, b = b, a + b"))
    angle = (op("angle", "sin", "weight", line=line), op("z1", "multiply", "z", "angle", dtype=C16, line=line))
    pieces = (Piece(added, (("a", "b"), ("b", "next"), ("small", "is_less"))), Piece(angle, (("z", "z1"),)))
    variables = (Variable("a", F4, "x"), Variable("b", F4, Literal(np.float32(1))), Variable("z", C16, "x"))
    turns = Loop((*variables, Variable("small", BOOL, Literal(np.False_))), (), pieces)
    after = (op("size", "absolute", "z", dtype=C16, to=F8),)
    outputs = (
        Output(Array("a_out", F4, CONTIGUOUS), "a"),
        Output(Array("size_out", F8, STRIDED), "size"),
        Output(Array("small_out", BOOL, CONTIGUOUS), "small"),
    )
    arrays = (Array("x", F4, STRIDED), Array("weight", F8, REPEATED))
    return KernelProgram("region", 2, arrays, (), (), outputs, loop=turns, after=after)


PROGRAMS = {
    "loop": loop(),
    "loop_of_pieces": loop_of_pieces(),
    "flat": flat(),
    "strided": strided(),
    "softmax": softmax(),
    "variance": variance(),
    "totals": _totals(1),
    "totals_of_rows": _totals(2),
    "columns": columns(),
    "planes": planes(),
    "deviation": deviation(),
    "pairs": pairs(),
}
