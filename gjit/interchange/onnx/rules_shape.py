"""Shapes, views, joining, products of matrices, and arrays made of sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.interchange.onnx.builder import Builder, working_dtype
from gjit.interchange.onnx.rules import RULES, axes_of, plain, result_of, rule
from gjit.interchange.onnx.values import Tensor, Unwritable

VIEWS: set[str] = set()
"""Ops whose result may share the memory of their first operand."""


def view(*names: str) -> Callable:
    VIEWS.update(names)
    return rule(*names)


def sizes(shape: Any) -> list[Any]:
    """A shape as a list of numbers and tensors."""
    return list(shape) if isinstance(shape, tuple | list) else [shape]


def _one_shape(shape: tuple, given: Any) -> Any:
    shape = shape if given is None else (given,)
    return shape[0] if len(shape) == 1 else shape


def _c_order(order: Any) -> None:
    if order not in ("C", "K", "A"):
        raise Unwritable(f"the order {order!r} has no form in a model, whose arrays have the order C")


@view("numpy.reshape")
def reshape(builder: Builder, a: Any, shape: Any = None, order: Any = "C", **keywords: Any) -> Tensor:
    shape = keywords.pop("newshape", shape)
    return reshape_method(builder, a, shape, order=order, **keywords)


@view("ndarray.reshape")
def reshape_method(builder: Builder, a: Any, *shape: Any, order: Any = "C", copy: Any = None) -> Tensor:
    _c_order(order)
    extents = sizes(_one_shape(shape, None))
    tensor = builder.tensor(a)
    name = builder.emit("Reshape", tensor, builder.integers(extents), allowzero=int(-1 not in extents))
    return builder.array(name, tensor.dtype, len(extents))


@view("numpy.ravel")
def ravel(builder: Builder, a: Any, order: Any = "C") -> Tensor:
    return reshape_method(builder, a, -1, order=order)


@rule("ndarray.flatten")
def flatten(builder: Builder, a: Any, order: Any = "C") -> Tensor:
    return reshape_method(builder, a, -1, order=order)


def _permuted(builder: Builder, a: Any, order: list[int]) -> Tensor:
    tensor = builder.tensor(a)
    name = builder.emit("Transpose", tensor, perm=order) if tensor.rank > 1 else builder.name_of(tensor)
    return builder.array(name, tensor.dtype, tensor.rank)


@view("numpy.transpose", "numpy.permute_dims")
def transpose(builder: Builder, a: Any, axes: Any = None) -> Tensor:
    rank = builder.tensor(a).rank
    return _permuted(builder, a, list(range(rank))[::-1] if axes is None else axes_of(axes, rank))


@view("ndarray.transpose")
def transpose_method(builder: Builder, a: Any, *axes: Any) -> Tensor:
    given = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes or None
    return transpose(builder, a, given)


@view("numpy.matrix_transpose")
def matrix_transpose(builder: Builder, a: Any) -> Tensor:
    return swapaxes(builder, a, -1, -2)


@view("numpy.swapaxes")
def swapaxes(builder: Builder, a: Any, axis1: Any, axis2: Any) -> Tensor:
    rank = builder.tensor(a).rank
    one, other = axes_of((axis1, axis2), rank)
    order = list(range(rank))
    order[one], order[other] = other, one
    return _permuted(builder, a, order)


@view("numpy.moveaxis")
def moveaxis(builder: Builder, a: Any, source: Any, destination: Any) -> Tensor:
    rank = builder.tensor(a).rank
    came, goes = axes_of(source, rank), axes_of(destination, rank)
    order = [axis for axis in range(rank) if axis not in came]
    for place, axis in sorted(zip(goes, came, strict=True)):
        order.insert(place, axis)
    return _permuted(builder, a, order)


@view("numpy.squeeze")
def squeeze(builder: Builder, a: Any, axis: Any = None) -> Tensor:
    tensor = builder.tensor(a)
    if axis is None:
        raise Unwritable("numpy.squeeze needs an axis: without one the rank depends on the extents")
    axes = axes_of(axis, tensor.rank)
    return builder.array(builder.emit("Squeeze", tensor, axes), tensor.dtype, tensor.rank - len(axes))


@view("numpy.expand_dims")
def expand_dims(builder: Builder, a: Any, axis: Any) -> Tensor:
    tensor = builder.tensor(a)
    count = len(axis) if isinstance(axis, tuple | list) else 1
    axes = axes_of(axis, tensor.rank + count)
    return builder.array(builder.emit("Unsqueeze", tensor, axes), tensor.dtype, tensor.rank + count)


def _at_least(rank: int) -> Callable[..., Tensor]:
    def write(builder: Builder, a: Any) -> Tensor:
        tensor = builder.tensor(a)
        places = {1: {0: [0]}, 2: {0: [0, 1], 1: [0]}, 3: {0: [0, 1, 2], 1: [0, 2], 2: [2]}}[rank].get(tensor.rank, [])
        name = builder.emit("Unsqueeze", tensor, places) if places else builder.name_of(tensor)
        return builder.array(name, tensor.dtype, max(tensor.rank, rank))

    return write


for _rank in (1, 2, 3):
    view(f"numpy.atleast_{_rank}d")(_at_least(_rank))


@view("numpy.broadcast_to")
def broadcast_to(builder: Builder, a: Any, shape: Any) -> Tensor:
    tensor, extents = builder.tensor(a), sizes(shape)
    return builder.array(builder.emit("Expand", tensor, builder.integers(extents)), tensor.dtype, len(extents))


@view("numpy.flip")
def flip(builder: Builder, a: Any, axis: Any = None) -> Tensor:
    tensor = builder.tensor(a)
    axes = axes_of(axis, tensor.rank)
    ends = [[-1] * len(axes), [np.iinfo(np.int64).min] * len(axes), axes, [-1] * len(axes)]
    name = builder.emit("Slice", tensor, *ends) if axes else builder.name_of(tensor)
    return builder.array(name, tensor.dtype, tensor.rank)


@view("numpy.fliplr")
def fliplr(builder: Builder, a: Any) -> Tensor:
    return flip(builder, a, 1)


@view("numpy.flipud")
def flipud(builder: Builder, a: Any) -> Tensor:
    return flip(builder, a, 0)


def joined(builder: Builder, arrays: list[Any], axis: int) -> Tensor:
    tensors = [builder.tensor(array) for array in arrays]
    like = result_of(lambda *each: np.concatenate(each, axis), *tensors)
    names = [builder.cast(tensor, like.dtype) for tensor in tensors]
    return builder.made(builder.emit("Concat", *names, axis=axes_of(axis, like.ndim)[0]), like)


def _parts(arrays: Any) -> list[Any]:
    if isinstance(arrays, tuple | list):
        return list(arrays)
    raise Unwritable("joining needs a tuple or list of arrays")


@rule("numpy.concatenate")
def concatenate(builder: Builder, arrays: Any, axis: Any = 0) -> Tensor:
    parts = _parts(arrays)
    if axis is None:
        parts, axis = [ravel(builder, part) for part in parts], 0
    return joined(builder, parts, plain(axis, "the axis"))


@rule("numpy.stack")
def stack(builder: Builder, arrays: Any, axis: Any = 0) -> Tensor:
    rank = builder.tensor(_parts(arrays)[0]).rank
    (place,) = axes_of(axis, rank + 1)
    return joined(builder, [expand_dims(builder, part, place) for part in _parts(arrays)], place)


@rule("numpy.vstack")
def vstack(builder: Builder, arrays: Any) -> Tensor:
    return joined(builder, [RULES["numpy.atleast_2d"](builder, part) for part in _parts(arrays)], 0)


@rule("numpy.hstack")
def hstack(builder: Builder, arrays: Any) -> Tensor:
    parts = [RULES["numpy.atleast_1d"](builder, part) for part in _parts(arrays)]
    return joined(builder, parts, 0 if parts[0].rank == 1 else 1)


@rule("numpy.tile")
def tile(builder: Builder, a: Any, repeats: Any) -> Tensor:
    tensor, counts = builder.tensor(a), sizes(repeats)
    rank = max(tensor.rank, len(counts))
    counts = [1] * (rank - len(counts)) + counts
    missing = list(range(rank - tensor.rank))
    name = builder.emit("Unsqueeze", tensor, missing) if missing else builder.name_of(tensor)
    return builder.array(builder.emit("Tile", name, builder.integers(counts)), tensor.dtype, rank)


@rule("numpy.take")
def take(builder: Builder, a: Any, indices: Any, axis: Any = None) -> Tensor:
    tensor, chosen = builder.tensor(a), builder.tensor(indices)
    if axis is None:
        tensor, axis = ravel(builder, tensor), 0
    (number,) = axes_of(axis, tensor.rank)
    name = builder.emit("Gather", tensor, builder.cast(chosen, np.int64), axis=number)
    return builder.made(
        name, result_of(np.take, tensor, 0 if chosen.rank == 0 else np.zeros((1,) * chosen.rank, int), number)
    )


@rule("numpy.matmul", "operator.matmul")
def matmul(builder: Builder, a: Any, b: Any) -> Tensor:
    return _product(builder, "MatMul", np.matmul, a, b)


@rule("numpy.dot", "ndarray.dot")
def dot(builder: Builder, a: Any, b: Any) -> Tensor:
    one, other = builder.tensor(a), builder.tensor(b)
    if one.rank == 0 or other.rank == 0:
        return RULES["numpy.multiply"](builder, a, b)
    if one.rank > 2 or other.rank > 2:
        raise Unwritable("numpy.dot of more than two axes has no form in a model: write matmul")
    return _product(builder, "MatMul", np.dot, a, b)


def _product(builder: Builder, op: str, function: Callable, a: Any, b: Any, **attributes: Any) -> Tensor:
    like = result_of(function, a, b)
    work = working_dtype(np.asarray(like).dtype)
    names = [builder.cast_name(builder.cast(each, like.dtype), like.dtype, work) for each in (a, b)]
    if np.asarray(like).dtype.char == "?":
        raise Unwritable("a product of matrices of truth values has no form in a model")
    return builder.made(builder.cast_name(builder.emit(op, *names, **attributes), work, like.dtype), like)


@rule("numpy.inner")
def inner(builder: Builder, a: Any, b: Any) -> Tensor:
    other = builder.tensor(b)
    return dot(builder, a, b if other.rank < 2 else transpose(builder, b))


@rule("numpy.outer")
def outer(builder: Builder, a: Any, b: Any) -> Tensor:
    column = expand_dims(builder, ravel(builder, a), 1)
    return RULES["numpy.multiply"](builder, column, ravel(builder, b))


@rule("numpy.vecdot")
def vecdot(builder: Builder, a: Any, b: Any) -> Tensor:
    return RULES["numpy.sum"](builder, RULES["numpy.multiply"](builder, a, b), -1, result_of(np.vecdot, a, b).dtype)


@rule("numpy.einsum")
def einsum(builder: Builder, subscripts: Any, *operands: Any) -> Tensor:
    like = result_of(lambda *arrays: np.einsum(subscripts, *arrays), *operands)
    work = working_dtype(like.dtype)
    names = [builder.cast_name(builder.cast(each, like.dtype), like.dtype, work) for each in operands]
    found = builder.emit("Einsum", *names, equation=subscripts)
    return builder.made(builder.cast_name(found, work, like.dtype), like)


def _triangle(upper: bool) -> Callable[..., Tensor]:
    def write(builder: Builder, m: Any, k: Any = 0) -> Tensor:
        tensor = builder.tensor(m)
        work = np.dtype("i4") if tensor.dtype.char == "?" else working_dtype(tensor.dtype)
        name = builder.cast_name(builder.cast(tensor, tensor.dtype), tensor.dtype, work)
        found = builder.emit("Trilu", name, builder.integer(k), upper=int(upper))
        return builder.array(builder.cast_name(found, work, tensor.dtype), tensor.dtype, tensor.rank)

    return write


RULES["numpy.triu"], RULES["numpy.tril"] = _triangle(True), _triangle(False)


def filled(builder: Builder, shape: Any, value: Any, dtype: np.dtype) -> Tensor:
    """An array of one value; `shape` is a list of numbers and tensors, or the name of a shape."""
    rank = len(shape) if isinstance(shape, list) else 0
    builder.type_number(dtype)
    name = builder.emit("Expand", builder.cast(value, dtype), builder.integers(shape))
    return builder.array(name, dtype, rank)


def _full(value: Any) -> Callable[..., Tensor]:
    def write(builder: Builder, shape: Any, dtype: Any = float, order: Any = "C") -> Tensor:
        _c_order(order)
        return filled(builder, sizes(shape), value, np.dtype(dtype or float))

    return write


for _name, _value in {"zeros": 0, "ones": 1, "empty": 0}.items():
    RULES[f"numpy.{_name}"] = _full(_value)


@rule("numpy.full")
def full(builder: Builder, shape: Any, fill_value: Any, dtype: Any = None, order: Any = "C") -> Tensor:
    _c_order(order)
    kind = result_of(np.full, 1, fill_value, dtype).dtype
    return filled(builder, sizes(shape), fill_value, kind)


def _like(value: Any) -> Callable[..., Tensor]:
    def write(builder: Builder, a: Any, dtype: Any = None, order: Any = "K", *, shape: Any = None) -> Tensor:
        _c_order(order)
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
