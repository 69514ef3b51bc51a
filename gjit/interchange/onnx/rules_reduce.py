"""Reductions: the axes as NumPy has them, the accumulator's dtype, and NaN as NumPy passes it on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.interchange.onnx.builder import Builder, working_dtype
from gjit.interchange.onnx.composed import number
from gjit.interchange.onnx.rules import RULES, axes_of, plain, result_of, rule
from gjit.interchange.onnx.values import Tensor, Unwritable

REDUCTIONS = {"sum": "ReduceSum", "prod": "ReduceProd", "max": "ReduceMax", "min": "ReduceMin"}
ARGUMENTS = {"argmax": "ArgMax", "argmin": "ArgMin"}
RUNNING = {"cumsum": "CumSum"}


def reduced(builder: Builder, op: str, name: str, axes: list[int], keep: bool) -> str:
    return builder.emit(op, name, builder.constant(np.array(axes, np.int64)), keepdims=int(keep)) if axes else name


def _reduction(function: Callable, op: str) -> Callable[..., Tensor]:
    def write(builder: Builder, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Tensor:
        tensor, keep = builder.tensor(a), bool(plain(keepdims, "keepdims"))
        axes = axes_of(axis, tensor.rank)
        if op in ("ReduceMax", "ReduceMin"):
            if dtype is not None:
                raise Unwritable("numpy.max and numpy.min take no dtype")
            like = result_of(function, a, axis=axis, keepdims=keep)
        else:
            like = result_of(function, a, axis=axis, dtype=dtype, keepdims=keep)
        work = working_dtype(like.dtype)
        name = builder.cast_name(builder.cast(tensor, like.dtype), like.dtype, work)
        found = reduced(builder, op, name, axes, keep)
        if op in ("ReduceMax", "ReduceMin") and work.kind == "f":
            found = _with_nan(builder, name, axes, keep, found, number(builder, work, np.nan))
        return builder.made(builder.cast_name(found, work, like.dtype), like)

    return write


def _any_nan(builder: Builder, name: str, axes: list[int], keep: bool) -> str:
    ones = builder.emit("Cast", builder.emit("IsNaN", name), to=builder.type_number(np.dtype(np.int32)))
    return builder.emit("Cast", reduced(builder, "ReduceMax", ones, axes, keep), to=builder.type_number(np.dtype(bool)))


def _with_nan(builder: Builder, name: str, axes: list[int], keep: bool, found: str, nan: str) -> str:
    return builder.emit("Where", _any_nan(builder, name, axes, keep), nan, found)


for _name, _op in REDUCTIONS.items():
    RULES[f"numpy.{_name}"] = _reduction(getattr(np, _name), _op)
RULES["numpy.amax"], RULES["numpy.amin"] = RULES["numpy.max"], RULES["numpy.min"]


@rule("numpy.mean")
def mean(builder: Builder, a: Any, axis: Any = None, dtype: Any = None, *, keepdims: Any = False) -> Tensor:
    return _mean(builder, np.mean, a, axis, dtype, keepdims)


def _mean(builder: Builder, function: Callable, a: Any, axis: Any, dtype: Any, keepdims: Any) -> Tensor:
    tensor, keep = builder.tensor(a), bool(plain(keepdims, "keepdims"))
    like = result_of(function, a, axis=axis, dtype=dtype, keepdims=keep)
    work = working_dtype(like.dtype)
    name = builder.cast_name(builder.cast(tensor, like.dtype), like.dtype, work)
    found = reduced(builder, "ReduceMean", name, axes_of(axis, tensor.rank), keep)
    return builder.made(builder.cast_name(found, work, like.dtype), like)


def _spread(function: Callable, root: bool) -> Callable[..., Tensor]:
    def write(
        builder: Builder, a: Any, axis: Any = None, dtype: Any = None, *, ddof: Any = 0, keepdims: Any = False
    ) -> Tensor:
        tensor, keep = builder.tensor(a), bool(plain(keepdims, "keepdims"))
        like = result_of(function, a, axis=axis, dtype=dtype, keepdims=keep)
        work, axes = working_dtype(like.dtype), axes_of(axis, tensor.rank)
        name = builder.cast_name(builder.cast(tensor, like.dtype), like.dtype, work)
        away = builder.emit("Sub", name, reduced(builder, "ReduceMean", name, axes, True))
        total = reduced(builder, "ReduceSum", builder.emit("Mul", away, away), axes, keep)
        sizes = builder.emit("Gather", builder.shape(tensor), builder.constant(np.array(axes, np.int64)))
        count = builder.cast_name(builder.emit("ReduceProd", sizes, keepdims=0), np.int64, work)
        left = builder.emit("Sub", count, builder.cast(ddof, work))
        found = builder.emit("Div", total, left)
        found = builder.emit("Sqrt", found) if root else found
        return builder.made(builder.cast_name(found, work, like.dtype), like)

    return write


RULES["numpy.var"], RULES["numpy.std"] = _spread(np.var, False), _spread(np.std, True)


def _truth(function: Callable, everything: bool) -> Callable[..., Tensor]:
    def write(builder: Builder, a: Any, axis: Any = None, *, keepdims: Any = False) -> Tensor:
        tensor, keep = builder.tensor(a), bool(plain(keepdims, "keepdims"))
        like = result_of(function, a, axis=axis, keepdims=keep)
        name = builder.cast(tensor, bool)
        name = builder.emit("Not", name) if everything else name
        count = reduced(builder, "ReduceSum", builder.cast_name(name, bool, np.int64), axes_of(axis, tensor.rank), keep)
        found = builder.cast_name(count, np.int64, bool)
        return builder.made(builder.emit("Not", found) if everything else found, like)

    return write


for _name in ("numpy.any", "ndarray.any"):
    RULES[_name] = _truth(np.any, False)
for _name in ("numpy.all", "ndarray.all"):
    RULES[_name] = _truth(np.all, True)


@rule("numpy.count_nonzero")
def count_nonzero(builder: Builder, a: Any, axis: Any = None, *, keepdims: Any = False) -> Tensor:
    tensor = builder.array(builder.cast(a, bool), bool, builder.tensor(a).rank)
    return RULES["numpy.sum"](builder, tensor, axis, np.int64, keepdims=keepdims)


def _position(function: Callable, op: str) -> Callable[..., Tensor]:
    def write(builder: Builder, a: Any, axis: Any = None, *, keepdims: Any = False) -> Tensor:
        tensor, keep = builder.tensor(a), bool(plain(keepdims, "keepdims"))
        like = result_of(function, a, axis=axis, keepdims=keep)
        work = working_dtype(tensor.dtype)
        name = builder.cast_name(builder.cast(tensor, tensor.dtype), tensor.dtype, work)
        if axis is None:
            if keep:
                raise Unwritable("a position in all axes together has no axes to keep")
            name, number_ = builder.emit("Reshape", name, [-1]), 0
        else:
            (number_,) = axes_of(axis, tensor.rank)
        found = builder.emit(op, name, axis=number_, keepdims=int(keep))
        if work.kind == "f":
            missing = builder.cast_name(builder.emit("IsNaN", name), bool, np.int32)
            first = builder.emit("ArgMax", missing, axis=number_, keepdims=int(keep))
            found = builder.emit("Where", _any_nan(builder, name, [number_], keep), first, found)
        return builder.made(found, like)

    return write


for _name, _op in ARGUMENTS.items():
    RULES[f"numpy.{_name}"] = _position(getattr(np, _name), _op)


@rule("numpy.cumsum")
def cumsum(builder: Builder, a: Any, axis: Any = None, dtype: Any = None) -> Tensor:
    tensor = builder.tensor(a)
    like = result_of(np.cumsum, a, axis=axis, dtype=dtype)
    work = working_dtype(like.dtype)
    name = builder.cast_name(builder.cast(tensor, like.dtype), like.dtype, work)
    name = builder.emit("Reshape", name, [-1]) if axis is None else name
    number_ = 0 if axis is None else axes_of(axis, tensor.rank)[0]
    found = builder.emit("CumSum", name, builder.constant(np.int64(number_)))
    return builder.made(builder.cast_name(found, work, like.dtype), like)


@rule("numpy.ptp")
def ptp(builder: Builder, a: Any, axis: Any = None, *, keepdims: Any = False) -> Tensor:
    high, low = (RULES[f"numpy.{name}"](builder, a, axis, keepdims=keepdims) for name in ("max", "min"))
    return RULES["numpy.subtract"](builder, high, low)
