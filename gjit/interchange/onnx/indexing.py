"""Indexing: what `x[...]` reads, and what a write into it makes of the array."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjit.interchange.onnx.builder import Builder
from gjit.interchange.onnx.values import Tensor, Unwritable

FAR = np.iinfo(np.int64)


def is_basic(index: Any) -> bool:
    """Whether the result shares memory with the array: numbers, slices, `None` and `...` only."""
    parts = index if isinstance(index, tuple) else (index,)
    return not any(_is_advanced(part) for part in parts)


def _is_advanced(part: Any) -> bool:
    if isinstance(part, Tensor):
        return part.dtype.kind == "b" or (part.is_array and part.rank > 0)
    return isinstance(part, list | np.ndarray | bool | np.bool_)


def read(builder: Builder, array: Tensor, index: Any) -> Tensor:
    """The elements at an index."""
    parts = _complete(array, index)
    if not is_basic(index):
        return _advanced(builder, array, parts)
    name, rank, axis = _sliced(builder, builder.name_of(array), parts), array.rank, 0
    for part in parts:
        if part is None:
            name, rank = builder.emit("Unsqueeze", name, [axis]), rank + 1
        elif not isinstance(part, slice):
            name, rank = builder.emit("Gather", name, builder.integer(part), axis=axis), rank - 1
            continue
        axis += 1
    given = index if isinstance(index, tuple) else (index,)
    is_scalar = rank == 0 and not any(part is Ellipsis for part in given)
    return builder.array(name, array.dtype, rank, "scalar" if is_scalar else "array")


def _complete(array: Tensor, index: Any) -> list[Any]:
    """One part for each axis: `...` is spelled out, and an array of a list is a tensor."""
    parts = list(index) if isinstance(index, tuple) else [index]
    taken = sum(_axes_taken(part) for part in parts)
    if taken > array.rank:
        raise Unwritable(f"too many indices: the array has {array.rank} axes, and {taken} were indexed")
    rest = [slice(None)] * (array.rank - taken)
    place = next((number for number, part in enumerate(parts) if part is Ellipsis), len(parts))
    return [*parts[:place], *rest, *parts[place + 1 :]]


def _axes_taken(part: Any) -> int:
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, Tensor) and part.dtype.kind == "b":
        return part.rank
    return 1


def _sliced(builder: Builder, name: str, parts: list[Any]) -> str:
    """All slices of the index in one node; axes count those of the array."""
    chosen, axis = [], 0
    for part in parts:
        if isinstance(part, slice) and part != slice(None):
            chosen.append((axis, part))
        axis += part is not None
    if not chosen:
        return name
    columns = list(zip(*(_ends(part) for _, part in chosen), strict=True))
    starts, stops, steps = (builder.integers(list(column)) for column in columns)
    axes = builder.constant(np.array([axis for axis, _ in chosen], np.int64))
    return builder.emit("Slice", name, starts, stops, axes, steps)


def _ends(part: slice) -> tuple[Any, Any, Any]:
    step = 1 if part.step is None else part.step
    if isinstance(step, Tensor):
        raise Unwritable("the step of a slice has to be known when the model is written")
    start = part.start if part.start is not None else (0 if step > 0 else FAR.max)
    stop = part.stop if part.stop is not None else (FAR.max if step > 0 else FAR.min)
    return start, stop, step


def _advanced(builder: Builder, array: Tensor, parts: list[Any]) -> Tensor:
    """Arrays of numbers in axes side by side, or one mask; slices may stand around them."""
    places = [number for number, part in enumerate(parts) if _is_advanced(part) or _is_number(part)]
    if any(part is None for part in parts) or places != list(range(places[0], places[-1] + 1)):
        raise Unwritable("arrays as indices have to stand side by side, without None between")
    first = sum(_axes_taken(part) for part in parts[: places[0]])
    name = _sliced(builder, builder.name_of(array), [_whole(part) for part in parts for _ in range(_axes_taken(part))])
    chosen = [
        builder.tensor(np.asarray(part) if isinstance(part, list) else part)
        for part in parts[places[0] : places[-1] + 1]
    ]
    if len(chosen) == 1 and chosen[0].dtype.kind != "b":
        found = builder.emit("Gather", name, builder.cast(chosen[0], np.int64), axis=first)
        return builder.array(found, array.dtype, array.rank - 1 + chosen[0].rank)
    if any(part.dtype.kind == "b" for part in chosen):
        return _masked(builder, array, name, chosen, first)
    positions, rank = _stacked(builder, chosen)
    return _gathered(builder, array, name, positions, first, len(chosen), rank)


def _is_number(part: Any) -> bool:
    return isinstance(part, int | np.integer) or (isinstance(part, Tensor) and part.rank == 0)


def _whole(part: Any) -> slice:
    return part if isinstance(part, slice) else slice(None)


def _stacked(builder: Builder, chosen: list[Tensor]) -> tuple[str, int]:
    """The positions as one array whose last axis runs over the indexed axes."""
    rank = max(part.rank for part in chosen)
    names = [builder.cast(part, np.int64) for part in chosen]
    total = names[0]
    for name in names[1:]:
        total = builder.emit("Add", total, name)
    shape = builder.emit("Shape", total)
    rows = [builder.emit("Unsqueeze", builder.emit("Expand", name, shape), [-1]) for name in names]
    return builder.emit("Concat", *rows, axis=-1), rank


def _masked(builder: Builder, array: Tensor, name: str, chosen: list[Tensor], first: int) -> Tensor:
    if len(chosen) > 1:
        raise Unwritable("a mask beside other indices has no form in a model")
    mask = chosen[0]
    if mask.rank == 0:
        raise Unwritable("a mask without axes has no form in a model")
    places = builder.emit("Transpose", builder.emit("NonZero", mask), perm=[1, 0])
    return _gathered(builder, array, name, places, first, mask.rank, 1)


def _gathered(builder: Builder, array: Tensor, name: str, positions: str, first: int, count: int, rank: int) -> Tensor:
    """The elements at positions in `count` axes from `first` on, which are brought to the front for the while."""
    if first:
        order = [*range(first, first + count), *range(first), *range(first + count, array.rank)]
        name = builder.emit("Transpose", name, perm=order)
    found = builder.emit("GatherND", name, positions)
    left = array.rank - count + rank
    if first:
        order = [*range(rank, rank + first), *range(rank), *range(rank + first, left)]
        found = builder.emit("Transpose", found, perm=order)
    return builder.array(found, array.dtype, left)


def written(builder: Builder, array: Tensor, index: Any, value: Any) -> str:
    """The array with another value at an index, as a new one."""
    value = builder.tensor(value)
    name = builder.cast(value, array.dtype)
    parts = _complete(array, index)
    if is_basic(index) and all(part == slice(None) for part in parts if isinstance(part, slice)):
        numbers = [part for part in parts if not isinstance(part, slice) and part is not None]
        if not numbers and None not in [part for part in parts if not isinstance(part, Tensor)]:
            return builder.emit("Expand", name, builder.shape(array))
    count = builder.emit("ReduceProd", builder.shape(array), keepdims=0)
    every = builder.emit("Range", builder.constant(np.int64(0)), count, builder.constant(np.int64(1)))
    places = builder.array(builder.emit("Reshape", every, builder.shape(array)), np.int64, array.rank)
    chosen = read(builder, places, index)
    updates = builder.emit("Expand", name, builder.shape(chosen))
    if value.rank > chosen.rank:
        updates = builder.emit("Reshape", updates, builder.shape(chosen))
    flat = builder.emit("Reshape", array, [-1])
    rows = builder.emit("Reshape", chosen, [-1, 1])
    changed = builder.emit("ScatterND", flat, rows, builder.emit("Reshape", updates, [-1]))
    return builder.emit("Reshape", changed, builder.shape(array))
