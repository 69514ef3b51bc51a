"""Arrays made of sizes, of other arrays and of lists; sorting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.interchange.onnx.builder import Builder, working_dtype
from gjit.interchange.onnx.rules import RULES, axes_of, result_of, rule
from gjit.interchange.onnx.rules_shape import c_order, expand_dims, joined, sizes, view
from gjit.interchange.onnx.values import Tensor, Unwritable


def filled(builder: Builder, shape: Any, value: Any, dtype: np.dtype) -> Tensor:
    """An array of one value; `shape` is a list of numbers and tensors, or the name of a shape."""
    rank = len(shape) if isinstance(shape, list) else 0
    builder.type_number(dtype)
    name = builder.emit("Expand", builder.cast(value, dtype), builder.integers(shape))
    return builder.array(name, dtype, rank)


def _full(value: Any) -> Callable[..., Tensor]:
    def write(builder: Builder, shape: Any, dtype: Any = float, order: Any = "C") -> Tensor:
        c_order(order)
        return filled(builder, sizes(shape), value, np.dtype(dtype or float))

    return write


for _name, _value in {"zeros": 0, "ones": 1, "empty": 0}.items():
    RULES[f"numpy.{_name}"] = _full(_value)


@rule("numpy.full")
def full(builder: Builder, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Tensor:
    c_order(order)
    kind = result_of(np.full, 1, fill_value, dtype).dtype
    return filled(builder, sizes(shape), fill_value, kind)


def _like(value: Any) -> Callable[..., Tensor]:
    def write(builder: Builder, a: Any, dtype: Any = None, order: Any = "K", *, shape: Any = None) -> Tensor:
        c_order(order)
        tensor = builder.tensor(a)
        kind = tensor.dtype if dtype is None else np.dtype(dtype)
        if shape is not None:
            return filled(builder, sizes(shape), value, kind)
        name = builder.emit("Expand", builder.cast(value, kind), builder.shape(tensor))
        return builder.array(name, kind, tensor.rank)

    return write


for _name, _value in {"zeros": 0, "ones": 1, "empty": 0}.items():
    RULES[f"numpy.{_name}_like"] = _like(_value)


@rule("numpy.full_like")
def full_like(builder: Builder, a: Any, fill_value: Any, dtype: Any = None, order: Any = "K") -> Tensor:
    return _like(fill_value)(builder, a, dtype, order)


@rule("numpy.arange")
def arange(builder: Builder, start: Any, stop: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    if stop is None:
        start, stop = 0, start
    kind = result_of(lambda *ends: np.arange(*ends, dtype=dtype), start, stop, step).dtype
    work = working_dtype(kind)
    if kind.kind == "f":
        raise Unwritable("numpy.arange of floats rounds as no runtime does: write numpy.arange(n) * step")
    name = builder.emit("Range", *(builder.cast(each, work) for each in (start, stop, step)))
    return builder.array(builder.cast_name(name, work, kind), kind, 1)


@rule("numpy.eye", "numpy.identity")
def eye(builder: Builder, n: Any, m: Any = None, k: Any = 0, dtype: Any = float) -> Tensor:
    rows = builder.array(builder.emit("Range", *map(builder.integer, (0, n, 1))), np.int64, 1)
    columns = builder.array(builder.emit("Range", *map(builder.integer, (0, n if m is None else m, 1))), np.int64, 1)
    moved = RULES["numpy.add"](builder, expand_dims(builder, rows, 1), k)
    same = RULES["numpy.equal"](builder, moved, columns)
    return RULES["numpy.astype"](builder, same, np.dtype(dtype or float))


@view("numpy.ascontiguousarray")
def ascontiguousarray(builder: Builder, a: Any, dtype: Any = None) -> Tensor:
    return RULES["numpy.atleast_1d"](builder, array(builder, a, dtype))


@view("numpy.asarray", "numpy.asanyarray")
def asarray(builder: Builder, a: Any, dtype: Any = None) -> Tensor:
    return array(builder, a, dtype)


@rule("numpy.array")
def array(builder: Builder, a: Any, dtype: Any = None, *, copy: Any = True, ndmin: Any = 0) -> Tensor:
    if isinstance(a, tuple | list):
        return _nested(builder, a, dtype)
    tensor = builder.tensor(a)
    kind = tensor.dtype if dtype is None else np.dtype(dtype)
    if ndmin > tensor.rank:
        raise Unwritable("ndmin has no form in a model: write numpy.expand_dims")
    return builder.array(builder.cast(tensor, kind), kind, tensor.rank)


def _nested(builder: Builder, parts: Any, dtype: Any) -> Tensor:
    like = result_of(lambda values: np.array(values, dtype), list(parts))
    rows = [builder.tensor(array(builder, part, like.dtype)) for part in parts]
    rows = [expand_dims(builder, builder.array(builder.cast(row, like.dtype), like.dtype, row.rank), 0) for row in rows]
    return joined(builder, rows, 0)


@rule("numpy.copy", "ndarray.copy")
def copy_of(builder: Builder, a: Any, order: Any = "K") -> Tensor:
    tensor = builder.tensor(a)
    return builder.array(builder.name_of(tensor), tensor.dtype, tensor.rank)


@rule("numpy.sort")
def sort(builder: Builder, a: Any, axis: Any = -1) -> Tensor:
    return _sorted(builder, a, axis, 0)


@rule("numpy.argsort")
def argsort(builder: Builder, a: Any, axis: Any = -1, *, kind: Any = None, stable: Any = None) -> Tensor:
    if kind != "stable" and not stable:
        raise Unwritable("numpy.argsort leaves the order of equal elements open; a model needs kind='stable'")
    return _sorted(builder, a, axis, 1)


def _sorted(builder: Builder, a: Any, axis: Any, which: int) -> Tensor:
    tensor = builder.tensor(a)
    if tensor.dtype.kind == "f":
        raise Unwritable("runtimes order NaN as they like: sorting is written for integers")
    work = working_dtype(tensor.dtype)
    (number,) = axes_of(axis, tensor.rank)
    name = builder.cast_name(builder.cast(tensor, tensor.dtype), tensor.dtype, work)
    size = builder.emit("Gather", builder.shape(tensor), builder.constant(np.array([number], np.int64)))
    found = builder.emit("TopK", name, size, axis=number, largest=0, sorted=1, outputs=2)[which]
    came, goes = (np.int64, np.int64) if which else (work, tensor.dtype)
    return builder.array(builder.cast_name(found, came, goes), goes, tensor.rank)
