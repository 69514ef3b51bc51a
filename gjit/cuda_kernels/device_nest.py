"""Rows of several axes: loops over the outer indices that a grid's second and third axis share, pointers to rows.

const int32 row_start = (int32)blockIdx.y * blockDim.y + threadIdx.y;
const int32 row_step = (int32)gridDim.y * blockDim.y;
for (int32 index_0 = (int32)blockIdx.z; index_0 < extent_0; index_0 += (int32)gridDim.z) {
    for (int32 index_1 = row_start; index_1 < extent_1; index_1 += row_step) {
        const float64 *x_row = x_data + index_0 * x_stride_0 + index_1 * x_stride_1;
    }
}
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from gjit.cuda_kernels.arguments import all_arrays
from gjit.cuda_kernels.device_layout import Layout
from gjit.cuda_kernels.device_parameters import DIVIDED_RANK, index_type
from gjit.cuda_kernels.element import indented, place
from gjit.cuda_kernels.program import Array, KernelProgram, Level
from gjit.ops.kernels import c_type


def nested(program: KernelProgram, layout: Layout, body: list[str]) -> list[str]:
    """The lines of `body` for each row, with pointers `x_row` to the row of each array."""
    kind = index_type(layout)
    inner = [*row_pointers(program), *body]
    if program.rank == 1:
        return inner
    last = program.rank - 2
    before = [
        f"const {kind} row_start = ({kind})blockIdx.y * blockDim.y + threadIdx.y;",
        f"const {kind} row_step = ({kind})gridDim.y * blockDim.y;",
    ]
    head = f"for ({kind} index_{last} = row_start; index_{last} < extent_{last}; index_{last} += row_step) {{"
    lines = ["#pragma unroll 1", head, *indented(inner, 1), "}"]
    if program.rank == 2:
        return [*before, *lines]
    name, count, indices = _outermost(program, layout)
    head = f"for ({kind} {name} = ({kind})blockIdx.z; {name} < {count}; {name} += ({kind})gridDim.z) {{"
    return [*before, "#pragma unroll 1", head, *indented([*indices, *lines], 1), "}"]


def _outermost(program: KernelProgram, layout: Layout) -> tuple[str, str, list[str]]:
    """The index that the grid's third axis shares, how far it goes, and the lines that take it apart."""
    if program.rank < DIVIDED_RANK:
        return "index_0", "extent_0", []
    outer = program.rank - 2
    count = " * ".join(f"extent_{axis}" for axis in range(outer))
    return "outer", count, divided_text("outer", outer, layout)


def divided_text(whole: str, outer: int, layout: Layout) -> list[str]:
    """The indices along the axes before `outer` from one that counts through all of them."""
    kind, lines, rest = index_type(layout), [], whole
    for axis in range(outer - 1, 0, -1):
        by_hand = f"(int32)divided((uint32){rest}, multiplier_{axis}, shift_{axis})"
        lines.append(f"const {kind} rest_{axis} = {f'{rest} / extent_{axis}' if layout.wide else by_hand};")
        lines.append(f"const {kind} index_{axis} = {rest} - rest_{axis} * extent_{axis};")
        rest = f"rest_{axis}"
    return [*lines, f"const {kind} index_0 = {rest};"]


def row_pointers(program: KernelProgram) -> list[str]:
    """A pointer to the first element of the row, for each array."""
    return pointers(program, range(program.rank - 1), "data", "row")


def pointers(
    program: KernelProgram, axes: Iterable[int], start: str, ending: str, level: Level | None = None
) -> list[str]:
    """Pointers that the indices along some axes move, for all arrays or for those of one level."""
    written = {output.array.source for output in program.outputs}
    lines = []
    for array in all_arrays(program):
        if level not in (None, array.level):
            continue
        name = array.source
        kind = c_type(array.dtype) + " *" if name in written else f"const {c_type(array.dtype)} *"
        terms = [f"index_{axis} * {name}_stride_{axis}" for axis in axes]
        lines.append(f"{kind}{name}_{ending} = {' + '.join([f'{name}_{start}', *terms])};")
    return lines


def row_loads(program: KernelProgram, pointer: str) -> list[str]:
    """The arrays that have one element for a whole row."""
    return [load(array, "0", pointer) for array in program.arrays if array.level is not Level.ELEMENT]


def load(array: Array, index: str, pointer: str) -> str:
    """The line that reads one element of the row."""
    return f"const {c_type(array.dtype)} {array.name} = {place(array, index, pointer)};"


def needed(lines: Iterable[str], body: Iterable[str]) -> list[str]:
    """Of the lines that give names to values those whose names the body uses, or another of them that it uses.

    Comments are left out.

    >>> needed(["const int a = 1;", "float *b = c + a;", "int d = a;"], ["use(b);"])
    ['const int a = 1;', 'float *b = c + a;']
    """
    text, kept = "\n".join(body), []
    for line in reversed(list(lines)):
        name = line.partition(" = ")[0].split()[-1].lstrip("*")
        if not line.startswith("//") and re.search(rf"\b{name}\b", text):
            kept.append(line)
            text += line
    return kept[::-1]
