"""Functions that are composed, since runtimes have none for doubles, or none that keeps digits."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gjit.interchange.onnx.builder import Builder


def number(builder: Builder, dtype: np.dtype, value: float) -> str:
    return builder.constant(np.asarray(value, dtype))


def larger(comparison: str) -> Callable[..., str]:
    """`maximum` and `minimum` as NumPy has them: a NaN of either side comes through."""

    def write(builder: Builder, dtype: np.dtype, a: str, b: str) -> str:
        if dtype.char == "?":
            return builder.emit("Or" if comparison == "GreaterOrEqual" else "And", a, b)
        chosen = builder.emit(comparison, a, b)
        if dtype.kind == "f":
            chosen = builder.emit("Or", chosen, builder.emit("IsNaN", a))
        return builder.emit("Where", chosen, a, b)

    return write


def scaled_log(base: float) -> Callable[..., str]:
    def write(builder: Builder, dtype: np.dtype, a: str) -> str:
        return builder.emit("Div", builder.emit("Log", a), number(builder, dtype, base))

    return write


def log1p(builder: Builder, dtype: np.dtype, a: str) -> str:
    """log(1 + x) that loses nothing where x is small: the rounding of 1 + x is divided out again."""
    one = number(builder, dtype, 1)
    more = builder.emit("Add", a, one)
    moved = builder.emit("Sub", more, one)
    is_lost = builder.emit("Equal", moved, number(builder, dtype, 0))
    is_far = builder.emit("Equal", more, builder.emit("Add", more, one))  # also where it is infinite
    safe = builder.emit("Where", builder.emit("Or", is_lost, is_far), one, moved)
    exact = builder.emit("Mul", builder.emit("Log", more), builder.emit("Div", a, safe))
    return builder.emit("Where", is_lost, a, builder.emit("Where", is_far, builder.emit("Log", more), exact))


def expm1(builder: Builder, dtype: np.dtype, a: str) -> str:
    """exp(x) - 1 as 2 tanh(x/2) / (1 - tanh(x/2)) near zero, where the difference would lose digits."""
    half = builder.emit("Tanh", builder.emit("Mul", a, number(builder, dtype, 0.5)))
    one = number(builder, dtype, 1)
    near = builder.emit("Div", builder.emit("Add", half, half), builder.emit("Sub", one, half))
    far = builder.emit("Sub", builder.emit("Exp", a), one)
    is_near = builder.emit("Less", builder.emit("Abs", a), one)
    return builder.emit("Where", is_near, near, far)


def tan(builder: Builder, dtype: np.dtype, a: str) -> str:
    """The quotient: runtimes have no tangent of doubles."""
    return builder.emit("Div", builder.emit("Sin", a), builder.emit("Cos", a))


def cosh(builder: Builder, dtype: np.dtype, a: str) -> str:
    half = builder.emit("Exp", builder.emit("Mul", builder.emit("Abs", a), number(builder, dtype, 0.5)))
    one_half = number(builder, dtype, 0.5)  # the halves of the exponent multiply, so that only a result can overflow
    grown = builder.emit("Mul", builder.emit("Mul", half, one_half), half)
    inverse = builder.emit("Div", number(builder, dtype, 1), half)
    return builder.emit("Add", grown, builder.emit("Mul", builder.emit("Mul", inverse, inverse), one_half))


def sinh(builder: Builder, dtype: np.dtype, a: str) -> str:
    size, one_half = builder.emit("Abs", a), number(builder, dtype, 0.5)
    less = expm1(builder, dtype, size)
    share = builder.emit("Div", less, builder.emit("Add", less, number(builder, dtype, 1)))
    near = builder.emit("Mul", builder.emit("Add", less, share), one_half)
    root = builder.emit("Exp", builder.emit("Mul", size, one_half))
    far = builder.emit("Mul", builder.emit("Mul", root, one_half), root)
    is_near = builder.emit("Less", size, number(builder, dtype, 8 if dtype.itemsize < 8 else 20))
    return _signed(builder, dtype, a, builder.emit("Where", is_near, near, far))


def _signed(builder: Builder, dtype: np.dtype, a: str, size: str) -> str:
    """`size` with the sign of `a`; a zero keeps its own."""
    zero = number(builder, dtype, 0)
    found = builder.emit("Where", builder.emit("Less", a, zero), builder.emit("Neg", size), size)
    return builder.emit("Where", builder.emit("Equal", a, zero), a, found)


def arcsinh(builder: Builder, dtype: np.dtype, a: str) -> str:
    """log(x + sqrt(x x + 1)), as log1p of the part above one; the logarithm of 2 x where the square would overflow."""
    size, one = builder.emit("Abs", a), number(builder, dtype, 1)
    is_far = builder.emit("Greater", size, number(builder, dtype, 1e4 if dtype.itemsize < 8 else 1e8))
    safe = builder.emit("Where", is_far, one, size)
    squared = builder.emit("Mul", safe, safe)
    root = builder.emit("Add", one, builder.emit("Sqrt", builder.emit("Add", squared, one)))
    near = log1p(builder, dtype, builder.emit("Add", safe, builder.emit("Div", squared, root)))
    far = builder.emit("Add", builder.emit("Log", size), number(builder, dtype, np.log(2.0)))
    return _signed(builder, dtype, a, builder.emit("Where", is_far, far, near))


def arccosh(builder: Builder, dtype: np.dtype, a: str) -> str:
    one = number(builder, dtype, 1)
    is_far = builder.emit("Greater", a, number(builder, dtype, 1e4 if dtype.itemsize < 8 else 1e8))
    above = builder.emit("Sub", builder.emit("Where", is_far, one, a), one)
    root = builder.emit("Sqrt", builder.emit("Mul", above, builder.emit("Add", above, number(builder, dtype, 2))))
    near = log1p(builder, dtype, builder.emit("Add", above, root))
    far = builder.emit("Add", builder.emit("Log", a), number(builder, dtype, np.log(2.0)))
    return builder.emit("Where", is_far, far, near)


def arctanh(builder: Builder, dtype: np.dtype, a: str) -> str:
    size, one = builder.emit("Abs", a), number(builder, dtype, 1)
    twice = builder.emit("Div", builder.emit("Add", size, size), builder.emit("Sub", one, size))
    return _signed(builder, dtype, a, builder.emit("Mul", log1p(builder, dtype, twice), number(builder, dtype, 0.5)))


def hypot(builder: Builder, dtype: np.dtype, a: str, b: str) -> str:
    """The larger side is taken out of the root, so that squares cannot overflow."""
    sides = builder.emit("Abs", a), builder.emit("Abs", b)
    long, short = builder.emit("Max", *sides), builder.emit("Min", *sides)
    is_zero = builder.emit("Equal", long, number(builder, dtype, 0))
    part = builder.emit("Div", short, builder.emit("Where", is_zero, number(builder, dtype, 1), long))
    root = builder.emit("Sqrt", builder.emit("Add", number(builder, dtype, 1), builder.emit("Mul", part, part)))
    missing = builder.emit("Or", builder.emit("IsNaN", a), builder.emit("IsNaN", b))
    found = builder.emit("Where", missing, number(builder, dtype, np.nan), builder.emit("Mul", long, root))
    is_infinite = builder.emit("Or", builder.emit("IsInf", a), builder.emit("IsInf", b))
    return builder.emit("Where", is_infinite, number(builder, dtype, np.inf), found)


def logaddexp(builder: Builder, dtype: np.dtype, a: str, b: str) -> str:
    top = larger("GreaterOrEqual")(builder, dtype, a, b)
    gap = builder.emit("Neg", builder.emit("Abs", builder.emit("Sub", a, b)))
    same = builder.emit("Equal", a, b)
    gap = builder.emit("Where", same, number(builder, dtype, 0), gap)  # two infinities of one sign
    return builder.emit("Add", top, log1p(builder, dtype, builder.emit("Exp", gap)))
