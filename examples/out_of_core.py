"""Statistics of an array that does not fit into memory, block by block with Dask.

Heights over a large grid are made, smoothed with their neighbours, and reduced, with one block per core in memory at a
time; the whole would take 80 GB at the size that is the default.

Run: python examples/out_of_core.py [edge of the grid]
"""

from __future__ import annotations

import sys

import numpy as np

import gjit
from gjit.errors import require
from gjit.interchange.dask import map_blocks, map_overlap, reduction

PROGRAMS: list[tuple] = []  # nothing to compare at one size: `whole` does it for small ones
BLOCK = 4000


@gjit.script
def heights(rows, columns):
    hills = np.sin(rows * 0.01) * np.cos(columns * 0.013)
    return hills + 0.1 * np.sin(rows * columns * 1e-4)


@gjit.script
def smooth(x):
    around = x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
    out = x.copy()
    out[1:-1, 1:-1] = 0.5 * x[1:-1, 1:-1] + 0.125 * around
    return out


@gjit.script
def largest(x, axis, keepdims):
    return np.max(x, axis=axis, keepdims=keepdims)


@gjit.script
def above_sea(x, axis, keepdims):
    return np.sum(x > 0, axis=axis, keepdims=keepdims)


@gjit.script
def total(x, axis, keepdims):
    return np.sum(x, axis=axis, keepdims=keepdims)


def statistics(edge: int, block: int = BLOCK) -> dict:
    """Dask's arrays of the highest point of each column and the number of points above the sea."""
    arrays = require("dask.array", extra="dask")
    rows = arrays.arange(edge, chunks=block, dtype="f8")[:, None]
    columns = arrays.arange(edge, chunks=block, dtype="f8")[None, :]
    ground = map_blocks(heights, rows, columns, dtype="f8", chunks=(rows.chunks[0], columns.chunks[1]))
    smoothed = map_overlap(smooth, ground, depth=1, boundary="reflect", dtype="f8")
    return {
        "highest": reduction(smoothed, largest, axis=0),
        "above": reduction(smoothed, above_sea, total, dtype="i8"),
    }


def whole(edge: int) -> dict:
    """The same by plain NumPy, for a grid that fits into memory."""
    rows, columns = np.arange(edge, dtype="f8")[:, None], np.arange(edge, dtype="f8")[None, :]
    padded = np.pad(heights.__wrapped__(rows, columns), 1, mode="symmetric")
    smoothed = smooth.__wrapped__(padded)[1:-1, 1:-1]
    return {"highest": smoothed.max(axis=0), "above": (smoothed > 0).sum()}


def main() -> None:
    edge = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    print(f"{edge} x {edge} heights, {edge * edge * 8 / 1e9:.1f} GB, in blocks of {BLOCK * BLOCK * 8 / 1e6:.0f} MB")
    dask, diagnostics = require("dask", extra="dask"), require("dask.diagnostics", extra="dask")
    with diagnostics.ProgressBar():
        (found,) = dask.compute(statistics(edge))
    print(f"highest point {found['highest'].max():.6f}, {found['above'] / edge / edge:.2%} above the sea")


if __name__ == "__main__":
    main()
