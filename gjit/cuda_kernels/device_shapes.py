"""How many blocks of how many threads a launch has: functions of the extents alone."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from gjit.cuda_kernels.device_layout import Extents

Three = tuple[int, int, int]
MOST_BLOCKS = 1024
_MOST_SPLITS = 256
_MOST_PARTIALS = 1 << 15
"""Of a launch that reduces: as many as stay on a large device at once. The order of a sum depends on it."""
_MOST_ALONG = 65535
"""The most blocks along the second and third axis of a grid."""


@dataclass(frozen=True, slots=True)
class LaunchShape:
    """One launch.

    grid      blocks along three axes
    block     threads along three axes
    shared    bytes of shared memory that each block is given
    partials  how many partial results each total has
    """

    grid: Three
    block: Three
    shared: int = 0
    partials: int = 0


def line_shape(extents: Extents, tile: int, threads: int) -> LaunchShape:
    """A block for each tile of one line.

    >>> line_shape((1000,), 512, 256)
    LaunchShape(grid=(2, 1, 1), block=(256, 1, 1), shared=0, partials=0)
    """
    return LaunchShape((max(1, -(-extents[0] // tile)), 1, 1), (threads, 1, 1))


def nest_shape(extents: Extents, vector: int, threads: int) -> LaunchShape:
    """Threads along the last axis and, where that is short, along the one before.

    >>> nest_shape((5, 100, 3), 1, 256)
    LaunchShape(grid=(1, 2, 5), block=(4, 64, 1), shared=0, partials=0)
    """
    lanes = max(1, -(-extents[-1] // vector))
    along = min(threads, 1 << (lanes - 1).bit_length())
    across = threads // along
    rows = extents[-2] if len(extents) > 1 else 1
    outer = math.prod(extents[:-2])
    grid = -(-lanes // along), _limited(-(-rows // across)), _limited(outer)
    return LaunchShape(grid, (along, across, 1))


def _limited(count: int) -> int:
    return max(1, min(count, _MOST_ALONG))


def total_shape(extents: Extents, tile: int, vector: int, threads: int, shared: int) -> LaunchShape:
    """As many blocks as there are tiles of one line, or parts of rows, but not more than stay on a device at once.

    >>> total_shape((10000,), 2048, 4, 256, 32)
    LaunchShape(grid=(5, 1, 1), block=(256, 1, 1), shared=32, partials=5)
    """
    shape = line_shape(extents, tile, threads) if len(extents) == 1 else nest_shape(extents, vector, threads)
    grid, room = [], MOST_BLOCKS
    for count in shape.grid:
        grid.append(min(count, room))
        room //= grid[-1]
    return LaunchShape((grid[0], grid[1], grid[2]), shape.block, shared, math.prod(grid))


def rows_shape(extents: Extents, kept: int, team: int, rows: int, slots: int, held: int, tile: int) -> LaunchShape:
    """Blocks of `rows` teams each; `held` bytes of each element of whole tiles wait in shared memory.

    >>> rows_shape((100, 1000), 1, 32, 8, 0, 0, 4)
    LaunchShape(grid=(13, 1, 1), block=(32, 8, 1), shared=0, partials=0)
    """
    count = math.prod(extents[:kept])
    length = -(-extents[-1] // tile) * tile
    return LaunchShape((max(1, -(-count // rows)), 1, 1), (team, rows, 1), slots + held * length)


def columns_shape(extents: Extents, kept: int, team: int, side: int, slot: int) -> LaunchShape:
    """A block for each `side` columns; `slot` bytes of shared memory for each thread.

    >>> columns_shape((1000, 70), 0, 8, 32, 8)
    LaunchShape(grid=(3, 1, 1), block=(32, 8, 1), shared=2048, partials=0)
    """
    blocks = -(-extents[-1] // side) * math.prod(extents[:kept])
    return LaunchShape((max(1, blocks), 1, 1), (side, team, 1), slot * team * side)


def tiled_shape(extents: Extents, axis: int, tile: int, lines: int, shared: int) -> LaunchShape:
    """A block for each tile along the last axis and another.

    >>> tiled_shape((100, 40, 70), 0, 32, 8, 8448)
    LaunchShape(grid=(3, 4, 40), block=(32, 8, 1), shared=8448, partials=0)
    """
    outer = math.prod(extents[:-1]) // max(1, extents[axis])
    grid = max(1, -(-extents[-1] // tile)), max(1, -(-extents[axis] // tile)), _limited(outer)
    return LaunchShape(grid, (tile, lines, 1), shared)


def split_shape(shape: LaunchShape, results: int, tiles: int) -> LaunchShape:
    """A launch whose rows are shared by several blocks, along the second axis of its grid.

    Args:
        shape: with one block for each row, or few columns.
        results: how many rows or columns there are.
        tiles: how many tiles a row has.

    >>> split_shape(LaunchShape((3, 1, 1), (32, 8, 1), 2048), 70, 5000)
    LaunchShape(grid=(3, 256, 1), block=(32, 8, 1), shared=2048, partials=17920)
    """
    most = min(_MOST_SPLITS, MOST_BLOCKS // shape.grid[0], max(1, _MOST_PARTIALS // max(1, results)))
    splits = max(1, min(tiles, most))
    return LaunchShape((shape.grid[0], splits, 1), shape.block, shape.shared, results * splits)


def split_rows_shape(extents: Extents, kept: int, team: int, slots: int, tile: int) -> LaunchShape:
    """Several blocks for each of a few long rows."""
    count = math.prod(extents[:kept])
    shape = LaunchShape((max(1, count), 1, 1), (team, 1, 1), slots)
    return split_shape(shape, count, -(-extents[-1] // tile))


def split_columns_shape(extents: Extents, whole: Callable[[Extents], LaunchShape], kept: int, tile: int) -> LaunchShape:
    """Several blocks for each few of not many long columns."""
    results = math.prod(extents[:kept]) * extents[-1]
    return split_shape(whole(extents), results, -(-math.prod(extents[kept:-1]) // tile))
