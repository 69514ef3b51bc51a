"""Shapes, views, joining, products of matrices, and arrays made of sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.interchange.onnx.builder import Builder
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


def c_order(order: Any) -> None:
    if order not in ("C", "K", "A"):
        raise Unwritable(f"the order {order!r} has no form in a model, whose arrays have the order C")


@view("numpy.reshape")
def reshape(builder: Builder, a: Any, shape: Any = None, order: Any = "C", **keywords: Any) -> Tensor:
    shape = keywords.pop("newshape", shape)
    return reshape_method(builder, a, shape, order=order, **keywords)


@view("ndarray.reshape")
def reshape_method(builder: Builder, a: Any, *shape: Any, order: Any = "C", copy: Any = None) -> Tensor:
    c_order(order)
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
