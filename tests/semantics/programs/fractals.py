"""The Mandelbrot set in two ways: masks over the whole grid, and arrays that shrink as points escape."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program


def mandelbrot_by_mask(xmin, xmax, ymin, ymax, columns, rows, most, horizon=2.0):
    """Escape counts and last values; points that have left stay where they are."""
    x = np.linspace(xmin, xmax, columns, dtype=np.float64)
    y = np.linspace(ymin, ymax, rows, dtype=np.float64)
    c = x + y[:, None] * 1j
    counts = np.zeros(c.shape, dtype=np.int64)
    z = np.zeros(c.shape, dtype=np.complex128)
    for n in range(most):
        inside = np.less(abs(z), horizon)
        counts[inside] = n
        z[inside] = z[inside] ** 2 + c[inside]
    counts[counts == most - 1] = 0
    return z, counts


def mandelbrot_by_shrinking(xmin, xmax, ymin, ymax, columns, rows, most, horizon=2.0):
    """Escaped points are taken out, until none is left."""
    rows_of, columns_of = np.mgrid[0:columns, 0:rows]
    x = np.linspace(xmin, xmax, columns)[rows_of]
    y = np.linspace(ymin, ymax, rows)[columns_of]
    c = x + complex(0, 1) * y
    del x, y
    counts = np.zeros(c.shape, dtype=np.int64)
    last = np.zeros(c.shape, dtype=np.complex128)
    rows_of = rows_of.reshape(columns * rows)
    columns_of = columns_of.reshape(columns * rows)
    c = c.reshape(columns * rows)
    z = np.zeros(c.shape, np.complex128)
    for i in range(most):
        if not len(z):
            break
        np.multiply(z, z, z)
        np.add(z, c, z)
        escaped = abs(z) > horizon
        counts[rows_of[escaped], columns_of[escaped]] = i + 1
        last[rows_of[escaped], columns_of[escaped]] = z[escaped]
        kept = ~escaped
        rows_of, columns_of = rows_of[kept], columns_of[kept]
        z, c = z[kept], c[kept]
    return last.T, counts.T


def mandelbrot_flat(xmin, xmax, ymin, ymax, columns, rows, most, horizon=2.0):
    """The same with arrays that are reshaped by assignment to their shape."""
    i, j = np.mgrid[0:columns, 0:rows]
    c = np.linspace(xmin, xmax, columns)[i] + 1j * np.linspace(ymin, ymax, rows)[j]
    counts = np.zeros(c.shape, dtype=np.int32)
    i.shape = j.shape = c.shape = columns * rows
    z = np.copy(c)
    for n in range(most):
        if not len(z):
            break
        np.multiply(z, z, z)
        np.add(z, c, z)
        gone = np.greater(np.absolute(z), horizon)
        counts[i[gone], j[gone]] = n + 1
        np.logical_not(gone, gone)
        i, j, z, c = i[gone], j[gone], z[gone], c[gone]
    return counts.T


def grid(size, rng):
    del rng
    return -1.75, 0.25, -1.0, 1.0, size, size + 1, 12


def far_away(size, rng):
    """All points escape before the last step."""
    del rng
    return 1.0, 2.25, 1.0, 1.5, size, size + 1, 30


PROGRAMS = [
    Program(mandelbrot_by_mask, grid, (1, 20, 370)),
    Program(mandelbrot_by_shrinking, grid, (1, 20, 370)),
    Program(mandelbrot_by_shrinking, far_away, (1, 20)),
    Program(mandelbrot_flat, far_away, (1, 20, 200)),
]
