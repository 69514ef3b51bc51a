"""What a kernel for a device is made for besides its program: how wide indices are, where vectors may be read."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from gjit.cuda_kernels.arguments import all_arrays
from gjit.cuda_kernels.device_row_plan import RowPlan, plan_columns, plan_rows, row_count, row_length
from gjit.cuda_kernels.program import Access, Array, KernelProgram, Level, Operation
from gjit.cuda_kernels.sweeps import CHEAP_ROWS

VECTOR_BYTES = 16
"""The most that one thread reads at once."""
_NARROW = 1 << 31
_SLACK = 1 << 24
"""An index may run past the last element by as much as one launch covers at a time."""
_FEW_ARRAYS = 8
_MOST_PARTS = 64
_MOST_REDUCED = 8
_MOST_LANES = 40
TILE = 32
"""The sides of what a block takes of arrays whose fastest axes differ."""
TILE_BYTES = TILE * (TILE + 1)
"""The shared memory of such a tile for each byte of an element; the additional column keeps banks apart."""
_TILES_BYTES = 48 << 10
_MOST_ACROSS = 65535 * TILE
_DEAR = 8
MOST_WORK = 256
"""Cheap ops in the text of one kernel; dear ones count for several."""

Extents = tuple[int, ...]
Strides = Mapping[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class Finish:
    """What becomes of a total: with `is_mean` it is divided by the number of elements less `lost`; then comes the root.

    dtype  of the result
    """

    dtype: np.dtype
    is_mean: bool = False
    lost: int = 0
    is_root: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """What is known of the arrays of a launch, as far as the text of its kernel depends on it.

    wide      whether indices need 64 bits
    aligned   whether every row of every contiguous array begins where a whole vector may be read
    separate  the arrays that are proved to share no memory with any that is written
    finishes  what becomes of totals, by name; of others the last partial result is given
    rows      how threads share rows, where rows are reduced
    turned    an axis before the last, and the arrays whose elements lie side by side along it
    """

    wide: bool = False
    aligned: bool = False
    separate: frozenset[str] = frozenset()
    finishes: tuple[tuple[str, Finish], ...] = ()
    rows: RowPlan | None = None
    turned: tuple[int, frozenset[str]] | None = None


def layout_of(
    program: KernelProgram,
    extents: Extents,
    strides: Strides,
    addresses: Mapping[str, int],
    separate: frozenset[str] = frozenset(),
    shared: int = 48 << 10,
) -> Layout:
    """The layout of a launch.

    Args:
        program: the kernel's.
        extents: of the axes after collapsing.
        strides: of each array along each axis, in elements; of one that comes in parts also between these.
        addresses: of the first element of each array, in bytes.
        separate: the arrays that are proved to share no memory with any that is written.
        shared: how many bytes of shared memory a block may have.
    """
    is_wide, is_aligned = _is_wide(program, extents, strides), _is_aligned(program, strides, addresses)
    rows = None
    if program.is_columns:
        rows = plan_columns(program, row_count(program, extents), row_length(program, extents), extents[-1])
    elif program.reductions and not program.totals:
        rows = plan_rows(
            program, row_count(program, extents), row_length(program, extents), vector_width(program), shared
        )
    turned = None if program.reductions or program.loop is not None else _turned(program, extents, strides)
    return Layout(is_wide, is_aligned, separate, rows=rows, turned=turned)


def vector_width(program: KernelProgram) -> int:
    """How many elements a thread reads at once where arrays are aligned: 16 bytes of the widest dtype.

    Many arrays take fewer, since each vector needs registers, and so do many ops, since each lane has its own text.
    """
    arrays = all_arrays(program)
    widths = [array.dtype.itemsize for array in arrays if is_vector(array)]
    if not widths:
        return 1
    width = VECTOR_BYTES // max(widths)
    if program.reductions:
        width = min(width, _MOST_REDUCED)
    if len(arrays) > _FEW_ARRAYS or width * len(arrays) > _MOST_LANES:
        width = max(1, width // 2)
    while width > 1 and width * work_of(program) > MOST_WORK:
        width //= 2
    return width


def work_of(program: KernelProgram) -> int:
    """How much text one element makes: each lane of each vector has it once."""
    steps = [step for step in program.all_steps if isinstance(step, Operation) and step.level is Level.ELEMENT]
    return len(program.reductions) + sum(1 if step.row in CHEAP_ROWS else _DEAR for step in steps)


def is_vector(array: Array) -> bool:
    """Whether neighbours along the last axis lie side by side."""
    return array.access is Access.CONTIGUOUS and array.part is None


def _is_wide(program: KernelProgram, extents: Extents, strides: Strides) -> bool:
    """Whether the number of elements, or the offset of one of them in bytes, does not fit 31 bits."""
    largest = math.prod(extents)
    for array in all_arrays(program):
        steps = zip(extents, strides[array.source], strict=False)
        offset = sum((extent - 1) * abs(stride) for extent, stride in steps if extent > 1)
        offset += _MOST_PARTS * max(map(abs, strides[array.source][program.rank :]), default=0)
        largest = max(largest, (offset + 1) * array.dtype.itemsize)
    return largest + _SLACK >= _NARROW


def _turned(program: KernelProgram, extents: Extents, strides: Strides) -> tuple[int, frozenset[str]] | None:
    """Arrays that lie along another axis than the last, where others lie along that."""
    arrays = [*program.arrays, *(output.array for output in program.outputs)]
    if extents[-1] < TILE or not any(array.access is Access.CONTIGUOUS for array in arrays):
        return None
    strided = [array for array in arrays if array.access is Access.STRIDED and array.part is None]
    for axis in range(program.rank - 1):
        if not TILE <= extents[axis] <= _MOST_ACROSS:
            continue
        found, room = [], _TILES_BYTES
        for array in strided:
            if abs(strides[array.source][axis]) == 1 and room >= array.dtype.itemsize * TILE_BYTES:
                room -= array.dtype.itemsize * TILE_BYTES
                found.append(array.name)
        if found:
            return axis, frozenset(found)
    return None


def _is_aligned(program: KernelProgram, strides: Strides, addresses: Mapping[str, int]) -> bool:
    width = vector_width(program)
    for array in all_arrays(program):
        if not is_vector(array):
            continue
        if addresses[array.source] % (width * array.dtype.itemsize):
            return False
        if any(stride % width for stride in strides[array.source][: program.rank - 1]):
            return False
    return True
