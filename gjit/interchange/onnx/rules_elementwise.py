"""Elementwise ops: the ONNX name where it means the same, else how it is composed."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.interchange.onnx.builder import Builder, working_dtype
from gjit.interchange.onnx.composed import (
    arccosh,
    arcsinh,
    arctanh,
    cosh,
    expm1,
    hypot,
    larger,
    log1p,
    logaddexp,
    number,
    scaled_log,
    sinh,
    tan,
)
from gjit.interchange.onnx.rules import RULES, elementwise, plain, result_of, rule
from gjit.interchange.onnx.values import Tensor, Unwritable
from gjit.ops.row import table

FLOATING = {
    "sqrt": "Sqrt",
    "exp": "Exp",
    "log": "Log",
    "sin": "Sin",
    "cos": "Cos",
    "arcsin": "Asin",
    "arccos": "Acos",
    "arctan": "Atan",
    "tanh": "Tanh",
}
"""Functions of floating point numbers, by NumPy's name."""

COMPARISONS = {"equal": "Equal", "less": "Less", "less_equal": "LessOrEqual", "greater": "Greater"}
COMPARISONS |= {"greater_equal": "GreaterOrEqual"}
ARITHMETIC = {"add": ("Add", "Or"), "subtract": ("Sub", ""), "multiply": ("Mul", "And")}
BITS = {"bitwise_and": ("BitwiseAnd", "And"), "bitwise_or": ("BitwiseOr", "Or"), "bitwise_xor": ("BitwiseXor", "Xor")}
CONSTANTS = {"log2": np.log(2.0), "log10": np.log(10.0)}


def one_node(numeric: str, boolean: str = "") -> Callable[..., str]:
    """Writes one node; for truth values the other one."""

    def write(builder: Builder, dtype: np.dtype, *names: str) -> str:
        op = boolean if dtype.char == "?" and boolean else numeric
        return builder.emit(op, *names)

    return write


def comparison(op: str) -> Callable[..., str]:
    """Truth values are compared as numbers."""

    def write(builder: Builder, dtype: np.dtype, *names: str) -> str:
        kind = np.dtype(np.int32) if dtype.char == "?" else dtype
        return builder.emit(op, *(builder.cast_name(name, dtype, kind) for name in names))

    return write


def divide(builder: Builder, dtype: np.dtype, a: str, b: str) -> str:
    return builder.emit("Div", a, b)


def floor_divide(builder: Builder, dtype: np.dtype, a: str, b: str) -> str:
    zero, one = number(builder, dtype, 0), number(builder, dtype, 1)
    if dtype.kind == "f":
        return _floor_quotient(builder, dtype, a, b)
    # runtimes stop at a division by zero, and at that of the least number by -1; NumPy gives 0, and wraps around
    is_zero, is_minus = builder.emit("Equal", b, zero), builder.emit("Equal", b, number(builder, dtype, -1))
    safe = builder.emit("Where", builder.emit("Or", is_zero, is_minus), one, b)
    quotient = builder.emit("Div", a, safe)
    rest = builder.emit("Sub", a, builder.emit("Mul", quotient, safe))
    signs = builder.emit("Xor", builder.emit("Less", rest, zero), builder.emit("Less", safe, zero))
    lower = builder.emit("And", builder.emit("Not", builder.emit("Equal", rest, zero)), signs)
    result = builder.emit("Where", lower, builder.emit("Sub", quotient, one), quotient)
    result = builder.emit("Where", is_minus, builder.emit("Sub", zero, a), result)
    return builder.emit("Where", is_zero, zero, result)


def _floor_quotient(builder: Builder, dtype: np.dtype, a: str, b: str) -> str:
    """As NumPy does it: the exact rest is taken off first, so that no quotient is rounded up."""
    zero, one = number(builder, dtype, 0), number(builder, dtype, 1)
    rest, direct = builder.emit("Mod", a, b, fmod=1), builder.emit("Div", a, b)
    quotient = builder.emit("Div", builder.emit("Sub", a, rest), b)
    signs = builder.emit("Xor", builder.emit("Less", rest, zero), builder.emit("Less", b, zero))
    lower = builder.emit("And", builder.emit("Not", builder.emit("Equal", rest, zero)), signs)
    quotient = builder.emit("Where", lower, builder.emit("Sub", quotient, one), quotient)
    down = builder.emit("Floor", quotient)
    far = builder.emit("Greater", builder.emit("Sub", quotient, down), number(builder, dtype, 0.5))
    nearest = builder.emit("Where", far, builder.emit("Add", down, one), down)
    signed = builder.emit("Where", builder.emit("Equal", quotient, zero), builder.emit("Mul", direct, zero), nearest)
    return builder.emit("Where", builder.emit("Equal", b, zero), direct, signed)


def remainder(builder: Builder, dtype: np.dtype, a: str, b: str) -> str:
    zero = number(builder, dtype, 0)
    if dtype.kind != "f":
        is_zero = builder.emit("Equal", b, zero)
        safe = builder.emit("Where", is_zero, number(builder, dtype, 1), b)
        return builder.emit("Where", is_zero, zero, builder.emit("Mod", a, safe))
    rest = builder.emit("Mod", a, b, fmod=1)
    is_zero = builder.emit("Equal", rest, zero)
    signs = builder.emit("Xor", builder.emit("Less", rest, zero), builder.emit("Less", b, zero))
    other = builder.emit("And", builder.emit("Not", is_zero), signs)
    return builder.emit("Where", other, builder.emit("Add", rest, b), rest)


def fmod(builder: Builder, dtype: np.dtype, a: str, b: str) -> str:
    if dtype.kind == "f":
        return builder.emit("Mod", a, b, fmod=1)
    zero = number(builder, dtype, 0)
    is_zero = builder.emit("Equal", b, zero)
    safe = builder.emit("Where", is_zero, number(builder, dtype, 1), b)
    return builder.emit("Where", is_zero, zero, builder.emit("Mod", a, safe, fmod=1))


def sign(builder: Builder, dtype: np.dtype, a: str) -> str:
    found = builder.emit("Sign", a)
    return builder.emit("Where", builder.emit("IsNaN", a), a, found) if dtype.kind == "f" else found


def not_equal(builder: Builder, dtype: np.dtype, a: str, b: str) -> str:
    return builder.emit("Not", builder.emit("Equal", a, b))


def negative(builder: Builder, dtype: np.dtype, a: str) -> str:
    return builder.emit("Neg", a)


def rounding(op: str) -> Callable[..., str]:
    def write(builder: Builder, dtype: np.dtype, a: str) -> str:
        return builder.emit(op, a) if dtype.kind == "f" else a

    return write


def trunc(builder: Builder, dtype: np.dtype, a: str) -> str:
    if dtype.kind != "f":
        return a
    is_negative = builder.emit("Less", a, number(builder, dtype, 0))
    return builder.emit("Where", is_negative, builder.emit("Ceil", a), builder.emit("Floor", a))


def invert(builder: Builder, dtype: np.dtype, a: str) -> str:
    return builder.emit("Not" if dtype.char == "?" else "BitwiseNot", a)


def reciprocal(builder: Builder, dtype: np.dtype, a: str) -> str:
    if dtype.kind != "f":
        raise Unwritable("numpy.reciprocal of integers has no form in a model: write 1 // x")
    return builder.emit("Div", number(builder, dtype, 1), a)


def square(builder: Builder, dtype: np.dtype, a: str) -> str:
    return builder.emit("Mul", a, a)


def magnitude(builder: Builder, dtype: np.dtype, a: str) -> str:
    return a if dtype.char == "?" else builder.emit("Abs", a)


def finite(builder: Builder, dtype: np.dtype, a: str) -> str:
    if dtype.kind != "f":
        return builder.emit("Equal", a, a)
    return builder.emit("Not", builder.emit("Or", builder.emit("IsNaN", a), builder.emit("IsInf", a)))


def special(op: str) -> Callable[..., str]:
    def write(builder: Builder, dtype: np.dtype, a: str) -> str:
        return builder.emit(op, a) if dtype.kind == "f" else builder.emit("Not", builder.emit("Equal", a, a))

    return write


def truth(op: str) -> Callable[..., str]:
    def write(builder: Builder, dtype: np.dtype, *names: str) -> str:
        return builder.emit(op, *(builder.cast_name(name, dtype, bool) for name in names))

    return write


WRITERS: dict[str, Callable[..., str]] = {
    **{name: one_node(op) for name, op in FLOATING.items()},
    **{name: comparison(op) for name, op in COMPARISONS.items()},
    **{name: one_node(*ops) for name, ops in (ARITHMETIC | BITS).items()},
    **{name: scaled_log(value) for name, value in CONSTANTS.items()},
    **{name: rounding(op) for name, op in {"floor": "Floor", "ceil": "Ceil", "rint": "Round"}.items()},
    **{name: truth(op) for name, op in {"logical_and": "And", "logical_or": "Or", "logical_xor": "Xor"}.items()},
    "logical_not": truth("Not"),
    "divide": divide,
    "floor_divide": floor_divide,
    "remainder": remainder,
    "fmod": fmod,
    "maximum": larger("GreaterOrEqual"),
    "minimum": larger("LessOrEqual"),
    "sign": sign,
    "not_equal": not_equal,
    "negative": negative,
    "positive": lambda builder, dtype, a: a,
    "absolute": magnitude,
    "fabs": magnitude,
    "trunc": trunc,
    "log1p": log1p,
    "expm1": expm1,
    "hypot": hypot,
    "tan": tan,
    "sinh": sinh,
    "cosh": cosh,
    "arcsinh": arcsinh,
    "arccosh": arccosh,
    "arctanh": arctanh,
    "logaddexp": logaddexp,
    "invert": invert,
    "square": square,
    "isfinite": finite,
    "isnan": special("IsNaN"),
    "isinf": special("IsInf"),
    "reciprocal": reciprocal,
    "degrees": lambda builder, dtype, a: builder.emit("Mul", a, number(builder, dtype, 180 / np.pi)),
    "radians": lambda builder, dtype, a: builder.emit("Mul", a, number(builder, dtype, np.pi / 180)),
}
"""By name of the ufunc: the nodes of one result from operands that have the dtype of the loop."""
WRITERS |= {"rad2deg": WRITERS["degrees"], "deg2rad": WRITERS["radians"]}


def _ufunc_rule(function: Callable, ufunc: np.ufunc, writer: Callable[..., str]) -> Callable[..., Tensor]:
    def write(builder: Builder, *operands: Any) -> Tensor:
        return elementwise(builder, function, ufunc, list(operands), writer)

    return write


def power(builder: Builder, a: Any, b: Any) -> Tensor:
    """A power; of integers only for a known exponent, since runtimes round products of integers through floats."""
    like = result_of(operator.pow, a, b)
    dtype = np.asarray(like).dtype
    work = working_dtype(dtype)
    base = builder.cast_name(builder.cast(a, dtype), dtype, work)
    exponent = None if isinstance(b, Tensor) and b.constant is None else plain(b, "the exponent")
    if dtype.kind == "f" and exponent != 2:
        name = builder.emit("Pow", base, builder.cast_name(builder.cast(b, dtype), dtype, work))
    elif type(exponent) is int and exponent >= 0:
        name = _product(builder, work, base, exponent)
    elif exponent == 2:
        name = builder.emit("Mul", base, base)
    else:
        raise Unwritable("a power of integers needs an exponent that is known when the model is written")
    return builder.made(builder.cast_name(name, work, dtype), like)


def _product(builder: Builder, dtype: np.dtype, base: str, exponent: int) -> str:
    found = ""
    while exponent:
        if exponent & 1:
            found = builder.emit("Mul", found, base) if found else base
        exponent >>= 1
        base = builder.emit("Mul", base, base) if exponent else base
    one = number(builder, dtype, 1)
    return found or builder.emit("Add", builder.emit("Mul", base, number(builder, dtype, 0)), one)


@rule("numpy.where")
def where(builder: Builder, condition: Any, x: Any = None, y: Any = None) -> Any:
    if x is None or y is None:
        raise Unwritable("numpy.where with one argument gives arrays of unknown length: use a mask")
    like = result_of(np.where, condition, x, y)
    name = builder.emit(
        "Where", builder.cast(condition, bool), builder.cast(x, like.dtype), builder.cast(y, like.dtype)
    )
    return builder.made(name, like)


@rule("numpy.clip", "ndarray.clip")
def clip(builder: Builder, a: Any, low: Any = None, high: Any = None, *, min: Any = None, max: Any = None) -> Any:
    low, high = min if low is None else low, max if high is None else high
    if low is not None:
        a = RULES["numpy.maximum"](builder, a, low)
    return a if high is None else RULES["numpy.minimum"](builder, a, high)


@rule("numpy.round", "numpy.around")
def round_to(builder: Builder, a: Any, decimals: Any = 0) -> Any:
    decimals = plain(decimals, "the number of decimals")
    tensor = builder.tensor(a)
    if tensor.dtype.kind != "f":
        if decimals < 0 or tensor.dtype.kind == "b":
            raise Unwritable("rounding integers to tens has no form in a model")
        return a
    work = working_dtype(tensor.dtype)
    scale = number(builder, work, 10.0 ** abs(decimals))
    name = builder.cast(tensor, work)
    if decimals:
        name = builder.emit("Mul" if decimals > 0 else "Div", name, scale)
    name = builder.emit("Round", name)
    if decimals:
        name = builder.emit("Div" if decimals > 0 else "Mul", name, scale)
    return builder.made(builder.cast_name(name, work, tensor.dtype), result_of(np.round, a))


@rule("ndarray.astype", "numpy.astype")
def astype(builder: Builder, a: Any, dtype: Any, *arguments: Any, **keywords: Any) -> Tensor:
    tensor = builder.tensor(a)
    like = result_of(lambda value: np.asarray(value).astype(dtype) if tensor.is_array else value.astype(dtype), a)
    builder.type_number(like.dtype)
    name = builder.cast(tensor, like.dtype)
    return builder.made(name, like)


def _register() -> None:
    for name in WRITERS:
        ufunc = getattr(np, name)
        RULES[f"numpy.{name}"] = _ufunc_rule(ufunc, ufunc, WRITERS[name])
    for op in table.rows.values():
        name = op.ufunc.removeprefix("numpy.")
        if op.name.startswith("operator.") and name in WRITERS and op.function is not None:
            RULES[op.name] = _ufunc_rule(op.function, getattr(np, name), WRITERS[name])
    for name in ("numpy.power", "operator.pow", "operator.ipow", "numpy.float_power"):
        RULES[name] = power


_register()
del RULES["numpy.float_power"]  # its result is float64 whatever its operands are
