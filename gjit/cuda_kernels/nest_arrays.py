"""Short arrays in a nest: expressions over slices become loops where they are stored, summed or multiplied."""

from __future__ import annotations

import numpy as np

from gjit.cuda_kernels.nest_indexing import element_at, stride_of
from gjit.cuda_kernels.nest_scalars import apply, converted, to_element, type_of
from gjit.cuda_kernels.nest_values import (
    ARRAYS,
    Array,
    Elementwise,
    Gathered,
    Operand,
    Reference,
    Refused,
    Scalar,
    View,
)
from gjit.cuda_kernels.nest_writer import Writer, is_usual, number
from gjit.ir.types import ArrayType
from gjit.ops.kernels import c_type, cast_text
from gjit.ops.row import Op
from gjit.ops.rules import ufunc_dtypes

_INDICES = ("k", "m", "p", "q")
_MOST_AXES = 4


def elementwise(row: Op, operands: list[Reference], writer: Writer) -> Reference:
    """A ufunc on operands of which some may be arrays."""
    if not any(isinstance(each, ARRAYS) for each in operands):
        return apply(row, tuple(map(number, operands)), writer)
    if not isinstance(row.function, np.ufunc) or row.function.nin != len(operands) or row.function.nout != 1:
        raise Refused(f"`{row.name}`")
    values = [each if isinstance(each, ARRAYS) else number(each) for each in operands]
    types = [ArrayType(v.dtype, len(v.extents)) if isinstance(v, ARRAYS) else type_of(v) for v in values]
    loops = ufunc_dtypes(row.function, types)
    text = None if loops is None else row.kernel_text(loops)
    if loops is None or text is None or not all(map(is_usual, loops)):
        raise Refused(f"`{row.name}` of {', '.join(map(str, types))}")
    _check_integers(row, loops)
    if not row.kernel_exact(loops):
        writer.exact = False
    writer.floats |= any(dtype.kind == "f" for dtype in loops)
    taken = tuple(
        value if isinstance(value, ARRAYS) else Scalar(_uniform(value, dtype, writer), dtype)
        for value, dtype in zip(values, loops, strict=False)
    )
    extents = broadcast([value.extents for value in values if isinstance(value, ARRAYS)], writer)
    return Elementwise(loops[-1], extents, text, taken, loops)


def _check_integers(row: Op, loops: tuple[np.dtype, ...]) -> None:
    if loops[0].kind in "iu" and row.name in ("numpy.floor_divide", "numpy.remainder", "numpy.fmod", "numpy.power"):
        raise Refused(f"`{row.name}` of arrays of integers, which may warn")


def _uniform(value: Scalar, dtype: np.dtype, writer: Writer) -> str:
    """A number that all elements share, in a variable."""
    return writer.temporary(c_type(dtype), converted(value, dtype, writer))


def broadcast(shapes: list[tuple[str, ...]], writer: Writer) -> tuple[str, ...]:
    """The extents of arrays that are combined; those that do not fit go back to the host."""
    rank = max(map(len, shapes))
    if rank > _MOST_AXES:
        raise Refused(f"an array of {rank} axes")
    extents = []
    for axis in range(-rank, 0):
        found = dict.fromkeys(shape[axis] for shape in shapes if len(shape) >= -axis and shape[axis] != "1")
        first, *rest = found or ["1"]
        for other in rest:
            writer.bail(f"{other} != {first}")
        extents.append(first)
    return tuple(extents)


# Elements


def element(value: Operand, indices: tuple[str, ...]) -> str:
    """One element of an operand, as text; `indices` count the axes of the result from the last."""
    match value:
        case Scalar(text):
            return text
        case View():
            return element_at(address(value, indices), value.dtype)
        case Gathered(source, index):
            place = f"nest_index((int64){element(index, indices)}, {source.extents[0]})"
            return element_at(f"{source.data} + {place} * {stride_of(source, 0)}", source.dtype)
        case Elementwise():
            operands = [
                cast_text(element(each, indices), each.dtype, dtype)
                for each, dtype in zip(value.operands, value.loops, strict=False)
            ]
            return value.text.format(*operands)


def address(view: View, indices: tuple[str, ...]) -> str:
    """Where an element of a view lies."""
    own = indices[len(indices) - view.rank :] if view.rank else ()
    terms = [view.data]
    for axis, index in enumerate(own):
        if view.extents[axis] != "1" and index != "0":
            terms.append(f"{index} * {stride_of(view, axis)}")
    return " + ".join(terms)


def views_in(value: Operand) -> list[View]:
    """The views that an expression reads."""
    match value:
        case View():
            return [value]
        case Gathered(source, index):
            return [source, index]
        case Elementwise(operands=operands):
            return list(dict.fromkeys(view for each in operands for view in views_in(each)))
    return []


# Stores


def assign(target: View, value: Reference, writer: Writer) -> None:
    """`target[...] = value`."""
    if not target.is_own:
        writer.written.add(target.base)
    if isinstance(value, ARRAYS):
        _assign_array(target, value, writer)
        return
    scalar = number(value)
    if scalar.dtype.kind == "f" and target.dtype.kind in "iu":
        raise Refused("a float that is stored as an integer")
    held = writer.temporary(c_type(target.dtype), to_element(scalar, target.dtype, writer))
    _loops(target, Scalar(held, target.dtype), writer)


def _assign_array(target: View, value: Array, writer: Writer) -> None:
    if len(value.extents) > target.rank:
        raise Refused("an array with more axes than what it is stored into")
    if (
        value.dtype.kind in "fiu"
        and target.dtype.kind in "biu"
        and value.dtype.kind + target.dtype.kind not in _FITTING
    ):
        raise Refused(f"{value.dtype} that is stored as {target.dtype}")
    writer.floats |= target.dtype.kind == "f" and target.dtype != value.dtype
    offset = target.rank - len(value.extents)
    for own, other in zip(target.extents[offset:], value.extents, strict=True):
        if other not in ("1", own):
            writer.bail(f"{other} != {own}")
    hazards = [view for view in views_in(value) if _may_meet(target, view)]
    if not hazards:
        _loops(target, value, writer)
        return
    writer.open("{")
    apart = " && ".join(_apart(target, view, writer) for view in hazards)
    writer.open(f"if ({apart}) {{")
    _loops(target, value, writer)
    writer.depth -= 1
    writer.line("} else {")
    writer.depth += 1
    copy = buffered(value, writer, target.extents, target.dtype)
    _loops(target, copy, writer)
    writer.close()
    writer.close()


_FITTING = frozenset({"ii", "uu", "iu", "ui"})


def _may_meet(target: View, view: View) -> bool:
    """Whether writing one may change the other before it is read."""
    if target == view or target.is_own != view.is_own:
        return False
    return not target.is_own or target.base == view.base


def _apart(target: View, view: View, writer: Writer) -> str:
    """Whether two views share no element, or each element with the same one of the other."""
    names = []
    for each in (target, view):
        name = writer.fresh("area")
        numbers = [f"{extent}, {stride_of(each, axis)}" for axis, extent in enumerate(each.extents)]
        writer.line(f"const int64 {name}[] = {{{', '.join(numbers) or '1, 0'}}};")
        names.append(f"{each.data}, {name}, {each.rank}, {each.dtype.itemsize}")
    return f"nest_apart({', '.join(names)})"


def _loops(target: View, value: Operand, writer: Writer) -> None:
    """Store element by element; the elements do not depend on each other."""
    indices = _INDICES[: target.rank]
    for axis, index in enumerate(indices):
        if axis == target.rank - 1:
            writer.line("INDEPENDENT")
        writer.open(f"for (int64 {index} = 0; {index} < {target.extents[axis]}; ++{index}) {{")
    text = cast_text(element(value, indices), value.dtype, target.dtype)
    writer.line(f"{element_at(address(target, indices), target.dtype)} = {text};")
    for _ in indices:
        writer.close()


def buffered(value: Array, writer: Writer, extents: tuple[str, ...] = (), dtype: np.dtype | None = None) -> View:
    """The elements of an expression in memory of the nest's own."""
    made = allocated(extents or value.extents, dtype or value.dtype, writer)
    _loops(made, value, writer)
    return made


def allocated(extents: tuple[str, ...], dtype: np.dtype, writer: Writer) -> View:
    """Memory of the nest's own, in C order; what stood in it before this line ran is gone."""
    name = writer.fresh("buffer")
    writer.buffers.append(name)
    writer.line(f"char *{name}_data = {name}.reserve({' * '.join([*extents, str(dtype.itemsize)])});")
    writer.bail(f"{name}_data == 0")
    strides: list[str] = []
    stride = str(dtype.itemsize)
    for extent in reversed(extents):
        strides.insert(0, stride)
        stride = f"{stride} * {extent}"
    return View(dtype, f"{name}_data", extents, tuple(strides), len(extents) - 1, name, True)


def in_memory(value: Array, writer: Writer) -> View:
    """An array as a view."""
    return value if isinstance(value, View) else buffered(value, writer)
