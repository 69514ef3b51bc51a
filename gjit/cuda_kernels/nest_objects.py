"""Attributes of arrays, arrays that are made in a nest, and elements that index arrays choose."""

from __future__ import annotations

from contextlib import suppress

import numpy as np

from gjit.cuda_kernels.nest_arrays import allocated, assign, buffered, in_memory
from gjit.cuda_kernels.nest_indexing import EXTENT_BOUNDS, element_at, item, locate, stride_of, view_of
from gjit.cuda_kernels.nest_scalars import binary, to_element
from gjit.cuda_kernels.nest_values import (
    ARRAYS,
    INT64,
    MOST_EXTENT,
    Gathered,
    Known,
    Reference,
    Refused,
    Scalar,
    Tuple,
    View,
)
from gjit.cuda_kernels.nest_writer import Writer, is_usual, number


def extent(text: str) -> Reference:
    """An extent as the Python int that the program sees."""
    return Known(int(text)) if text.isdigit() else Scalar(text, INT64, "int", EXTENT_BOUNDS)


def attribute(name: str, owner: Reference, writer: Writer) -> Reference:
    """`owner.name` of an array."""
    if not isinstance(owner, ARRAYS):
        raise Refused(f"the attribute `{name}`")
    extents = [extent(text) for text in owner.extents]
    match name:
        case "shape":
            return Tuple(tuple(extents))
        case "ndim":
            return Known(len(extents))
        case "size":
            size: Reference = Known(1)
            for each in extents:
                size = each if size == Known(1) else binary("mul", size, each, writer)
            return size
        case "T":
            return transposed(in_memory(owner, writer))
    raise Refused(f"the attribute `{name}`")


def transposed(view: View) -> View:
    """The view with its axes in the opposite order."""
    unit = view.rank - 1 - view.unit if view.unit >= 0 else -1
    return View(view.dtype, view.data, view.extents[::-1], view.strides[::-1], unit, view.base, view.is_own)


def length(operand: Reference) -> Reference:
    """`len(x)`."""
    if isinstance(operand, Tuple):
        return Known(len(operand.elements))
    if isinstance(operand, ARRAYS) and operand.extents:
        return extent(operand.extents[0])
    raise Refused("`len` of this")


def flipped(operand: Reference, writer: Writer) -> View:
    """`numpy.flip` of an array with one axis."""
    if not isinstance(operand, ARRAYS) or len(operand.extents) != 1:
        raise Refused("`numpy.flip` of several axes")
    view = in_memory(operand, writer)
    stride = stride_of(view, 0)
    data = f"{view.data} + ({view.extents[0]} - 1) * {stride}"
    return View(view.dtype, data, view.extents, (f"-({stride})",), -1, view.base, view.is_own)


def part(container: Reference, index: Reference, *, writer: Writer) -> Reference:
    """`container[index]`."""
    if isinstance(container, ARRAYS):
        return item(in_memory(container, writer), _whole(index, writer), writer)
    if isinstance(container, Tuple) and isinstance(index, Known) and type(index.value) is int:
        with suppress(IndexError):
            return container.elements[index.value]
    raise Refused("an item of this kind")


def _whole(index: Reference, writer: Writer) -> Reference:
    return in_memory(index, writer) if isinstance(index, ARRAYS) else index


def store(target: Reference, index: Reference, value: Reference, *, writer: Writer) -> None:
    """`target[index] = value`."""
    if not isinstance(target, View):
        raise Refused("an item of this kind that is set")
    if isinstance(index, ARRAYS):
        _scatter(target, in_memory(index, writer), value, writer)
        return
    place = locate(target, index, writer)
    if place.extents:
        assign(view_of(target, place), value, writer)
        return
    if isinstance(value, (*ARRAYS, Tuple)):
        raise Refused("an array that is stored as one element")
    if not target.is_own:
        writer.written.add(target.base)
    writer.line(f"{element_at(place.data, target.dtype)} = {to_element(value, target.dtype, writer)};")


def _scatter(target: View, index: View, value: Reference, writer: Writer) -> None:
    """`target[index] = value`: one element after the other, so that the last one stays."""
    chosen = item(target, index, writer)
    if not isinstance(chosen, Gathered) or target.is_own:
        raise Refused("elements that an array of this kind chooses")
    text = _scattered(target, index, value, writer)
    index = buffered(index, writer)
    writer.written.add(target.base)
    place = element_at(f"{index.data} + k * {index.dtype.itemsize}", index.dtype)
    writer.open(f"for (int64 k = 0; k < {index.extents[0]}; ++k) {{")
    writer.line(f"const int64 place = nest_index((int64){place}, {target.extents[0]});")
    writer.line(f"{element_at(f'{target.data} + place * {stride_of(target, 0)}', target.dtype)} = {text};")
    writer.close()


def _scattered(target: View, index: View, value: Reference, writer: Writer) -> str:
    """The value for place `k` of the index."""
    if not isinstance(value, ARRAYS):
        return writer.temporary("auto", to_element(value, target.dtype, writer))
    if value.dtype != target.dtype or len(value.extents) != 1:
        raise Refused("an array that is converted where it is stored")
    held = buffered(value, writer)
    if held.extents != index.extents:
        writer.bail(f"{held.extents[0]} != {index.extents[0]}")
    return element_at(f"{held.data} + k * {held.dtype.itemsize}", held.dtype)


def made(name: str, shape: Reference, dtype: np.dtype, writer: Writer) -> View:
    """`numpy.zeros`, `ones` and `empty` of a shape."""
    parts = shape.elements if isinstance(shape, Tuple) else (shape,)
    return _filled(name, [_checked_extent(each, writer) for each in parts], dtype, writer)


def made_like(name: str, like: Reference, writer: Writer) -> View:
    """`numpy.zeros_like` and `empty_like` of an array."""
    if not isinstance(like, ARRAYS):
        raise Refused(f"`numpy.{name}` of a number")
    return _filled(name, list(like.extents), like.dtype, writer)


def _checked_extent(size: Reference, writer: Writer) -> str:
    value = number(size)
    if value.dtype.kind not in "iu" or value.dtype == np.uint64:
        raise Refused("an extent that is no integer")
    text = writer.temporary("int64", f"(int64){value.text}")
    writer.bail(f"{text} < 0 || {text} > {MOST_EXTENT}")
    return text


def _filled(name: str, extents: list[str], dtype: np.dtype, writer: Writer) -> View:
    if not is_usual(dtype) or len(extents) not in (1, 2):
        raise Refused(f"an array of {dtype} with {len(extents)} axes")
    found = allocated(tuple(extents), dtype, writer)
    if "empty" not in name:
        assign(found, Known(dtype.type(1 if "ones" in name else 0)), writer)
    return found


def elements_of(container: Reference, count: int) -> tuple[Reference, ...]:
    """The elements of what is unpacked."""
    if isinstance(container, Tuple) and len(container.elements) == count:
        return container.elements
    raise Refused("a value that is taken apart")
