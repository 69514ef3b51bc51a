"""How the threads of a block share rows, and where what several sweeps need waits: registers or shared memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from gjit.cuda_kernels.program import KernelProgram, Level
from gjit.cuda_kernels.sweeps import Sweeps, plan_sweeps

SLOT_BYTES = 1024
"""At the beginning of shared memory, for what the warps of a block exchange."""
_THREADS = 256
_WARP = 32
_MOST_UNITS = 8
_MOST_ELEMENTS = 32
_UNITS_IN_TURN = 2
_MOST_LINES = 16
_LINES_IN_TURN = 4
_FEW_BLOCKS = 128
_LONG = 1 << 15
_WORDS = {1024: 36, 512: 80, 256: 128}
"""Registers of four bytes that values may wait in, by the threads of a block."""


class Storage(Enum):
    """Where values wait for later sweeps; NONE: they are read or computed again."""

    REGISTERS = auto()
    SHARED = auto()
    NONE = auto()


@dataclass(frozen=True, slots=True)
class RowPlan:
    """How rows are shared.

    team     how many threads have one row: a power of two
    rows     how many rows a block has
    units    how many vectors each thread reads before it uses the first
    storage  where values wait; in REGISTERS `units` vectors of each thread are the whole row
    split    whether several blocks share a row, whose partial results the last of them all combines
    """

    team: int
    rows: int
    units: int
    storage: Storage
    split: bool = False


def plan_rows(program: KernelProgram, count: int, length: int, vector: int, shared: int) -> RowPlan:
    """The plan for rows of a length.

    Args:
        program: with reductions of rows.
        count: how many rows there are.
        length: how many elements a row has.
        vector: how many of them lie in one vector.
        shared: how many bytes of shared memory a block may have.
    """
    vectors = max(1, -(-length // vector))
    if is_single(program) and program.reduced == 1 and count <= _FEW_BLOCKS and length >= _LONG:
        return RowPlan(_THREADS, 1, 2 * _UNITS_IN_TURN, Storage.NONE, split=True)
    if program.reduced == 1:
        most = max(1, min(_MOST_UNITS, _MOST_ELEMENTS // vector))
        team = _team(vectors, most)
        units = _power_of_two(-(-vectors // team))
        rows = max(1, _THREADS // team)
        words = units * vector * held_bytes(program) / 4
        if units <= most and words <= _WORDS[max(team * rows, _THREADS)]:
            return RowPlan(team, rows, units, Storage.REGISTERS)
        tiles = -(-vectors // (1024 * _UNITS_IN_TURN)) * 1024 * _UNITS_IN_TURN
        if SLOT_BYTES + tiles * vector * sum(kind.itemsize for kind in held(program).values()) <= shared:
            return RowPlan(1024, 1, _UNITS_IN_TURN, Storage.SHARED)
    team = _WARP if length <= 1024 else 1024 if length >= 1 << 13 else _THREADS
    return RowPlan(team, max(1, _THREADS // team), _UNITS_IN_TURN if program.reduced == 1 else 1, Storage.NONE)


def plan_columns(program: KernelProgram, outer: int, lines: int, columns: int) -> RowPlan:
    """The plan for columns: a team lies across memory, and `rows` columns are side by side in a block.

    Args:
        program: with reductions of columns.
        outer: how many groups of columns there are.
        lines: how many elements a column has.
        columns: how many columns lie side by side.
    """
    side = min(_WARP, _power_of_two(columns))
    blocks = outer * -(-columns // side)
    if is_single(program):
        if blocks <= _FEW_BLOCKS and lines >= 4 * _LINES_IN_TURN * _THREADS // side:
            return RowPlan(_THREADS // side, side, _LINES_IN_TURN, Storage.NONE, split=True)
    else:
        for threads, most in sorted(_WORDS.items()):
            units = _power_of_two(-(-lines // (threads // side)))
            if units <= _MOST_LINES and units * held_bytes(program) / 4 <= most:
                return RowPlan(threads // side, side, units, Storage.REGISTERS)
    threads = _THREADS if blocks > 8 * _FEW_BLOCKS else 1024
    return RowPlan(threads // side, side, _LINES_IN_TURN, Storage.NONE)


def is_single(program: KernelProgram) -> bool:
    """Whether one sweep reduces all there is to reduce, and nothing is written for elements."""
    reducing = [bool(sweep.reductions) for sweep in plan_sweeps(program).sweeps]
    return sum(reducing) == 1 and all(output.array.level is not Level.ELEMENT for output in program.outputs)


def _team(vectors: int, units: int) -> int:
    """Lanes of a warp, or whole blocks for long rows, so that each thread has a few vectors."""
    if vectors <= _WARP * units:
        return min(_WARP, _power_of_two(vectors))
    return next((team for team in (256, 512) if vectors <= team * units), 1024)


def _power_of_two(count: int) -> int:
    return 1 << (count - 1).bit_length()


def held(program: KernelProgram) -> dict[str, np.dtype]:
    """What several sweeps need: arrays that more than one reads, and values that are dear to compute."""
    sweeps = plan_sweeps(program)
    counts: dict[str, int] = {}
    for sweep in sweeps.sweeps:
        for array in sweep.loads:
            counts[array.name] = counts.get(array.name, 0) + 1
    dtypes = program.dtypes()
    names = [name for name, count in counts.items() if count > 1]
    widest_first = sorted((*names, *sweeps.kept), key=lambda name: -dtypes[name].itemsize)
    return {name: dtypes[name] for name in widest_first}


def held_bytes(program: KernelProgram) -> int:
    """The most bytes of an element that wait between two sweeps; what one sweep alone reads counts as well."""
    sweeps, dtypes = plan_sweeps(program), program.dtypes()
    sizes = [sum(array.dtype.itemsize for array in sweep.loads) for sweep in sweeps.sweeps]
    for later in range(1, len(sweeps.sweeps)):
        names = [name for name in held(program) if _is_waiting(name, sweeps, later)]
        sizes.append(sum(dtypes[name].itemsize for name in names))
    return max(1, *sizes)


def _is_waiting(name: str, sweeps: Sweeps, later: int) -> bool:
    """Whether a value that is known before a sweep is used in it or after it."""
    uses = [
        place
        for place, sweep in enumerate(sweeps.sweeps)
        if name in (*sweep.kept, *sweep.buffered, *(array.name for array in sweep.loads))
    ]
    return bool(uses) and min(uses) < later <= max(uses)


def row_count(program: KernelProgram, extents: tuple[int, ...]) -> int:
    """How many rows there are, or groups of columns."""
    return math.prod(extents[axis] for axis in program.kept)


def row_length(program: KernelProgram, extents: tuple[int, ...]) -> int:
    """How many elements a row has."""
    return math.prod(extents[axis] for axis in program.lines)
