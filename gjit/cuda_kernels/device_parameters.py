"""The parameters of a kernel on a device.

const float64 *__restrict__ x_data, int32 x_stride_0, float64 *out_data, int32 extent_0, int32 extent_1, float64 a
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gjit.cuda_kernels.arguments import all_arrays
from gjit.cuda_kernels.blocks import partial_type
from gjit.cuda_kernels.device_layout import Finish, Layout
from gjit.cuda_kernels.element import INDENT
from gjit.cuda_kernels.program import Access, Array, Field, KernelProgram, Loop, Meaning
from gjit.ops.kernels import c_type

DIVIDED_RANK = 4
"""From so many axes on, the outermost ones share one index of the grid, which has to be divided."""
_UINT32 = np.dtype("u4")
_LINE = 116


def index_type(layout: Layout) -> str:
    """The type of indices, strides and extents."""
    return "int64" if layout.wide else "int32"


def fields_of(program: KernelProgram, layout: Layout) -> tuple[Field, ...]:
    """All parameters in their order."""
    return tuple(_fields(program, layout, dict(layout.finishes)))


def _fields(program: KernelProgram, layout: Layout, finishes: dict[str, Finish]) -> Iterator[Field]:
    index = index_type(layout)
    written = {output.array.source for output in program.outputs}
    for array in all_arrays(program):
        yield from _array_fields(array, program.rank, layout, "" if array.source in written else "const ")
    for axis in range(program.rank):
        yield Field(f"{index} extent_{axis}", Meaning.EXTENT, axis=axis)
    for axis in divided_axes(program, layout):
        yield Field(f"uint32 multiplier_{axis}", Meaning.MULTIPLIER, axis=axis, dtype=_UINT32)
        yield Field(f"uint32 shift_{axis}", Meaning.SHIFT, axis=axis, dtype=_UINT32)
    for number in program.numbers:
        yield Field(f"{c_type(number.dtype)} {number.name}", Meaning.NUMBER, number.name, dtype=number.dtype)
    for total in program.totals:
        name, partial = total.result, partial_type(total)
        finish = finishes.get(name)
        final, dtype = (partial, total.partial) if finish is None else (c_type(finish.dtype), finish.dtype)
        yield Field(f"{partial} *{name}_partials", Meaning.PARTIALS, name, dtype=total.partial)
        yield Field(f"{final} *{name}_result", Meaning.TOTAL, name, dtype=dtype)
    is_split = layout.rows is not None and layout.rows.split
    for step in program.reductions if is_split else ():
        yield Field(f"{partial_type(step)} *{step.result}_partials", Meaning.PARTIALS, step.result, dtype=step.partial)
    if program.totals or is_split:
        yield Field("uint32 *ticket", Meaning.TICKET, dtype=_UINT32)
    if program.loop is not None:
        yield from _loop_fields(program.loop)


def _array_fields(array: Array, rank: int, layout: Layout, constant: str) -> Iterator[Field]:
    index, name = index_type(layout), array.source
    restrict = "__restrict__ " if name in layout.separate else ""
    yield Field(f"{constant}{c_type(array.dtype)} *{restrict}{name}_data", Meaning.ARRAY, name, dtype=array.dtype)
    for axis in range(rank - 1):
        yield Field(f"{index} {name}_stride_{axis}", Meaning.STRIDE, name, axis)
    is_packed = array.part is not None and array.part.width > 0
    if array.access is Access.STRIDED and not is_packed:
        yield Field(f"{index} {name}_step", Meaning.STRIDE, name, rank - 1)
    if array.part is not None and not is_packed:
        yield Field(f"{index} {name}_apart", Meaning.STRIDE, name, rank)


def _loop_fields(loop: Loop) -> Iterator[Field]:
    yield Field("int64 turns", Meaning.COUNT)
    if loop.has_route:
        yield Field("const uint8 *__restrict__ route", Meaning.ROUTE, "route", dtype=np.dtype("u1"))
    for number in loop.numbers:
        declaration = f"const {c_type(number.dtype)} *__restrict__ {number.name}_turns"
        yield Field(declaration, Meaning.TURNS, number.name, dtype=number.dtype)


def divided_axes(program: KernelProgram, layout: Layout) -> range:
    """The axes whose extents an index is divided by, by way of a multiplication."""
    is_divided = program.rank >= DIVIDED_RANK and not layout.wide
    return range(1, program.rank - 2) if is_divided else range(0)


def multiplier_of(extent: int) -> tuple[int, int]:
    """Multiplier and shift that divide by an extent: `n / extent` is `(high32(n * multiplier) + n) >> shift`.

    For `n` and extents below 2**31.

    >>> multiplier, shift = multiplier_of(7)
    >>> [(n * multiplier // 2**32 + n) >> shift for n in (6, 7, 2**31 - 1)] == [0, 1, (2**31 - 1) // 7]
    True
    """
    shift = (extent - 1).bit_length()
    return ((1 << 32) * ((1 << shift) - extent)) // extent + 1, shift


def head_text(name: str, bounds: str, fields: tuple[Field, ...]) -> list[str]:
    """The first lines of a kernel with so many threads, and perhaps so many blocks at once."""
    first = f'extern "C" __global__ void __launch_bounds__({bounds}) {name}'
    return spread(first, [field.declaration for field in fields], " {")


def spread(before: str, items: list[str], after: str) -> list[str]:
    """A list in parentheses on one line, or on a line for each item where it is long."""
    line = f"{before}({', '.join(items)}){after}"
    if len(line) <= _LINE:
        return [line]
    lines = [f"{INDENT}{item}," for item in items]
    return [f"{before}(", *lines[:-1], lines[-1].removesuffix(","), f"){after}"]
