"""What `for` loops of a nest run over: how many items there are, and which one belongs to a counter."""

from __future__ import annotations

from gjit.cuda_kernels.nest_indexing import EXTENT_BOUNDS, Place, element_at, view_of
from gjit.cuda_kernels.nest_values import (
    INT64,
    MOST_EXTENT,
    Enumerate,
    Known,
    Range,
    Reference,
    Refused,
    Scalar,
    Tuple,
    View,
    Zip,
)
from gjit.cuda_kernels.nest_writer import Writer, number


def count_of(iterable: Reference, writer: Writer) -> Scalar:
    """How many items an iterable has."""
    match iterable:
        case Range():
            return _range_count(iterable, writer)
        case Enumerate(inner):
            return count_of(inner, writer)
        case Zip(iterables):
            first, *rest = [count_of(each, writer) for each in iterables]
            for each in rest:
                text = f"{each.text} < {first.text} ? {each.text} : {first.text}"
                first = Scalar(writer.temporary("int64", text), INT64, "int", EXTENT_BOUNDS)
            return first
        case View() if iterable.extents:
            return Scalar(iterable.extents[0], INT64, "int", EXTENT_BOUNDS)
    raise Refused("a loop over something else than ranges and arrays")


def _range_count(iterable: Range, writer: Writer) -> Scalar:
    start, stop = (_bounded(each, writer) for each in (iterable.start, iterable.stop))
    step = _bounded(iterable.step, writer)
    if step.bounds[0] <= 0 <= step.bounds[1]:
        writer.bail(f"{step.text} == 0")
    upwards = f"nest_count({stop.text} - {start.text}, {step.text})"
    downwards = f"nest_count({start.text} - {stop.text}, -({step.text}))"
    if step.bounds[0] > 0:
        text = upwards
    elif step.bounds[1] < 0:
        text = downwards
    else:
        text = f"{step.text} > 0 ? {upwards} : {downwards}"
    return Scalar(writer.temporary("int64", text), INT64, "int", (0, 2 * MOST_EXTENT))


def _bounded(reference: Reference, writer: Writer) -> Scalar:
    """A bound of a range; beyond any array it goes to the host, which takes its time anyway."""
    value = number(reference)
    if value.bounds[0] < -MOST_EXTENT or value.bounds[1] > MOST_EXTENT:
        writer.bail(f"{value.text} < -{MOST_EXTENT} || {value.text} > {MOST_EXTENT}")
    return value


def item_at(iterable: Reference, counter: Scalar, writer: Writer) -> Reference:
    """The item at a place."""
    match iterable:
        case Range():
            return _range_item(iterable, counter)
        case Enumerate(inner):
            return Tuple((counter, item_at(inner, counter, writer)))
        case Zip(iterables):
            return Tuple(tuple(item_at(each, counter, writer) for each in iterables))
        case View():
            stride = str(iterable.dtype.itemsize) if iterable.unit == 0 else iterable.strides[0]
            data = f"{iterable.data} + {counter.text} * {stride}"
            if iterable.rank == 1:
                return Scalar(element_at(data, iterable.dtype), iterable.dtype)
            unit = iterable.unit - 1 if iterable.unit > 0 else -1
            return view_of(iterable, Place(data, list(iterable.extents[1:]), list(iterable.strides[1:]), unit))
    raise Refused("a loop over something else than ranges and arrays")


def _range_item(iterable: Range, counter: Scalar) -> Scalar:
    start, stop, step = (number(each) for each in (iterable.start, iterable.stop, iterable.step))
    lows = [max(bound, -MOST_EXTENT) for bound in (start.bounds[0], stop.bounds[0])]
    highs = [min(bound, MOST_EXTENT) for bound in (start.bounds[1], stop.bounds[1])]
    bounds = (min(lows), max(highs))
    if step.bounds[0] > 0:
        bounds = (lows[0], max(highs[1] - 1, lows[0]))
    elif step.bounds[1] < 0:
        bounds = (min(lows[1] + 1, highs[0]), highs[0])
    if start.bounds == (0, 0) and step.bounds == (1, 1):
        return Scalar(counter.text, INT64, "int", bounds)
    if step.bounds == (1, 1):
        return Scalar(f"{start.text} + {counter.text}", INT64, "int", bounds)
    return Scalar(f"{start.text} + {counter.text} * {step.text}", INT64, "int", bounds)


def ranged(operands: list[Reference]) -> Range:
    """`range(...)` of Python's integers."""
    if not all(_is_python_int(each) for each in operands):
        raise Refused("a range of other things than Python's integers")
    match operands:
        case [stop]:
            return Range(Known(0), stop, Known(1))
        case [start, stop]:
            return Range(start, stop, Known(1))
        case [start, stop, step]:
            return Range(start, stop, step)
    raise Refused("a range")


def _is_python_int(reference: Reference) -> bool:
    if isinstance(reference, Known):
        return type(reference.value) is int
    return isinstance(reference, Scalar) and reference.python == "int"
