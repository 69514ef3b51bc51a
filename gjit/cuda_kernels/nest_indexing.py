"""Indexing of views in a nest: an element, a part that is a view again, or elements chosen by an array of integers."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gjit.cuda_kernels.nest_scalars import bounds_of, fit
from gjit.cuda_kernels.nest_values import (
    ARRAYS,
    INT64,
    MOST_EXTENT,
    Gathered,
    Known,
    Reference,
    Refused,
    Scalar,
    Slice,
    Tuple,
    View,
)
from gjit.cuda_kernels.nest_writer import Writer, number
from gjit.ops.kernels import c_type

EXTENT_BOUNDS = (0, MOST_EXTENT)


@dataclass(slots=True)
class Place:
    """Where an index leads: `data` is the address of the first element, the axes are those that are left."""

    data: str
    extents: list[str] = field(default_factory=list)
    strides: list[str] = field(default_factory=list)
    unit: int = -1


def item(view: View, index: Reference, writer: Writer) -> Reference:
    """`view[index]`."""
    if isinstance(index, View):
        return _gathered(view, index, writer)
    place = locate(view, index, writer)
    if not place.extents:
        return Scalar(element_at(place.data, view.dtype), view.dtype)
    return view_of(view, place)


def view_of(view: View, place: Place) -> View:
    """The part of a view at a place."""
    extents, strides = tuple(place.extents), tuple(place.strides)
    return View(view.dtype, place.data, extents, strides, place.unit, view.base, view.is_own)


def element_at(address: str, dtype: np.dtype) -> str:
    """The element at an address, as a place that can be read and set.

    >>> element_at("x_data + i * 8", np.dtype("f8"))
    '*(cell_float64 *)(x_data + i * 8)'
    """
    return f"*(cell_{c_type(dtype)} *)({address})"


def locate(view: View, index: Reference, writer: Writer) -> Place:
    """Where a basic index leads; indices out of bounds go back to the host."""
    parts = _whole_index(view, list(index.elements) if isinstance(index, Tuple) else [index])
    place, axis = Place(view.data), 0
    for part in parts:
        if isinstance(part, Known) and part.value is None:
            place.extents.append("1")
            place.strides.append("0")
            continue
        if isinstance(part, Slice):
            _slice(view, axis, part, place, writer)
        else:
            _integer(view, axis, part, place, writer)
        axis += 1
    return place


def _whole_index(view: View, parts: list[Reference]) -> list[Reference]:
    """An index with a part for each axis."""
    everything = Slice(Known(None), Known(None), Known(None))
    taken = sum(not (isinstance(part, Known) and (part.value is None or part.value is ...)) for part in parts)
    if taken > view.rank:
        raise Refused("more indices than axes")
    rest = [everything] * (view.rank - taken)
    dots = [place for place, part in enumerate(parts) if isinstance(part, Known) and part.value is ...]
    if len(dots) > 1:
        raise Refused("an index with two `...`")
    if dots:
        return [*parts[: dots[0]], *rest, *parts[dots[0] + 1 :]]
    return [*parts, *rest]


def _integer(view: View, axis: int, part: Reference, place: Place, writer: Writer) -> None:
    extent = view.extents[axis]
    index = checked_index(part, extent, writer)
    if index != "0":
        place.data = f"{place.data} + {index} * {stride_of(view, axis)}"


def checked_index(part: Reference, extent: str, writer: Writer) -> str:
    """An integer as an index along an axis of this extent, counted from its start."""
    if isinstance(part, (*ARRAYS, Tuple)) or (isinstance(part, Known) and type(part.value) is not int):
        raise Refused("an index that is no integer")
    value = number(part)
    if value.dtype.kind not in "iu":
        raise Refused("an index that is no integer")
    fit(value, INT64, writer)
    low, high = bounds_of(value)
    text = value.text if value.dtype == INT64 else f"(int64){value.text}"
    if low == high:
        text = str(low) if low >= 0 else f"({extent} - {-low})"
        writer.bail(f"{extent} <= {low}" if low >= 0 else f"{extent} < {-low}")
        return text
    if low < 0:
        text = writer.temporary("int64", f"nest_index({text}, {extent})")
    writer.bail(f"(uint64){text} >= (uint64){extent}")
    return text


def stride_of(view: View, axis: int) -> str:
    """The stride along an axis: a number where it is known."""
    return str(view.dtype.itemsize) if axis == view.unit else view.strides[axis]


def _slice(view: View, axis: int, part: Slice, place: Place, writer: Writer) -> None:
    step = part.step.value if isinstance(part.step, Known) else 0
    if step is None:
        step = 1
    if type(step) is not int or step == 0 or abs(step) > MOST_EXTENT:
        raise Refused("a slice whose step is not known")
    extent, stride = view.extents[axis], stride_of(view, axis)
    start, length = _span(part, extent, step, writer)
    if start != "0":
        place.data = f"{place.data} + {start} * {stride}"
    if axis == view.unit and step == 1:
        place.unit = len(place.extents)
    place.extents.append(length)
    place.strides.append(stride if step == 1 else writer.temporary("int64", f"{stride} * {step}"))


def _span(part: Slice, extent: str, step: int, writer: Writer) -> tuple[str, str]:
    """The first index of a slice and how many there are, clipped as Python clips them."""
    side = "up" if step > 0 else "down"
    first = "0" if step > 0 else f"({extent} - 1)"
    last = extent if step > 0 else "-1"
    start = _clipped(part.start, extent, side, first, writer)
    stop = _clipped(part.stop, extent, side, last, writer)
    if step == 1 and start == "0":
        return start, stop
    distance = f"{stop} - {start}" if step > 0 else f"{start} - {stop}"
    return start, writer.temporary("int64", f"nest_count({distance}, {abs(step)})")


def _clipped(bound: Reference, extent: str, side: str, default: str, writer: Writer) -> str:
    if isinstance(bound, Known) and bound.value is None:
        return default
    value = number(bound)
    if value.dtype.kind not in "iu":
        raise Refused("a slice bound that is no integer")
    fit(value, INT64, writer)
    if side == "up" and bounds_of(value) == (0, 0):
        return "0"
    return writer.temporary("int64", f"nest_clip_{side}((int64){value.text}, {extent})")


def _gathered(view: View, index: View, writer: Writer) -> Gathered:
    """`view[index]` for an array of indices, all of which are looked at first."""
    if view.rank != 1 or index.rank != 1 or index.dtype.kind not in "iu" or index.dtype == np.uint64:
        raise Refused("an index array of this kind")
    element = element_at(f"{index.data} + k * {stride_of(index, 0)}", index.dtype)
    outside = writer.fresh("outside")
    writer.line(f"int64 {outside} = 0;")
    writer.open(f"for (int64 k = 0; k < {index.extents[0]}; ++k) {{")
    writer.line(f"const int64 place = {element};")
    writer.line(f"{outside} |= (int64)(place < -{view.extents[0]}) | (int64)(place >= {view.extents[0]});")
    writer.close()
    writer.bail(outside)
    return Gathered(view, index)
