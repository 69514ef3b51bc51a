"""Explicit stencils: slices of the caller's arrays are written in place inside time loops, and nothing is returned."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program


def jacobi_1d(steps, a, b):
    for _ in range(1, steps):
        b[1:-1] = 0.33333 * (a[:-2] + a[1:-1] + a[2:])
        a[1:-1] = 0.33333 * (b[:-2] + b[1:-1] + b[2:])


def jacobi_2d(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.2 * (b[1:-1, 1:-1] + b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])


def heat_3d(steps, a, b):
    for _ in range(1, steps):
        b[1:-1, 1:-1, 1:-1] = (
            0.125 * (a[2:, 1:-1, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[:-2, 1:-1, 1:-1])
            + 0.125 * (a[1:-1, 2:, 1:-1] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, :-2, 1:-1])
            + 0.125 * (a[1:-1, 1:-1, 2:] - 2.0 * a[1:-1, 1:-1, 1:-1] + a[1:-1, 1:-1, :-2])
            + a[1:-1, 1:-1, 1:-1]
        )
        a[1:-1, 1:-1, 1:-1] = (
            0.125 * (b[2:, 1:-1, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[:-2, 1:-1, 1:-1])
            + 0.125 * (b[1:-1, 2:, 1:-1] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, :-2, 1:-1])
            + 0.125 * (b[1:-1, 1:-1, 2:] - 2.0 * b[1:-1, 1:-1, 1:-1] + b[1:-1, 1:-1, :-2])
            + b[1:-1, 1:-1, 1:-1]
        )


def fdtd_2d(electric_x, electric_y, magnetic, source):
    """Yee's scheme; the source is iterated element by element."""
    for pulse in source:
        electric_y[0, :] = pulse
        electric_y[1:, :] -= 0.5 * (magnetic[1:, :] - magnetic[:-1, :])
        electric_x[:, 1:] -= 0.5 * (magnetic[:, 1:] - magnetic[:, :-1])
        magnetic[:-1, :-1] -= 0.7 * (
            electric_x[:-1, 1:] - electric_x[:-1, :-1] + electric_y[1:, :-1] - electric_y[:-1, :-1]
        )


def seidel_2d(steps, a):
    """Gauss-Seidel: a row uses what the row above has just become, an element what its left neighbour has."""
    n = len(a)
    for _ in range(steps):
        for i in range(1, n - 1):
            a[i, 1:-1] += a[i - 1, :-2] + a[i - 1, 1:-1] + a[i - 1, 2:] + a[i, 2:] + a[i + 1, :-2]
            a[i, 1:-1] += a[i + 1, 1:-1] + a[i + 1, 2:]
            for j in range(1, n - 1):
                a[i, j] += a[i, j - 1]
                a[i, j] /= 9.0


def horizontal_diffusion(field, out, coefficient):
    """Fourth-order diffusion with a flux limiter, on a field with two rows of halo on each side."""
    rows, columns = out.shape[0], out.shape[1]
    laplacian = 4.0 * field[1 : rows + 3, 1 : columns + 3, :] - (
        field[2 : rows + 4, 1 : columns + 3, :]
        + field[0 : rows + 2, 1 : columns + 3, :]
        + field[1 : rows + 3, 2 : columns + 4, :]
        + field[1 : rows + 3, 0 : columns + 2, :]
    )
    difference = laplacian[1:, 1 : columns + 1, :] - laplacian[:-1, 1 : columns + 1, :]
    flux_x = np.where(
        difference * (field[2 : rows + 3, 2 : columns + 2, :] - field[1 : rows + 2, 2 : columns + 2, :]) > 0,
        0,
        difference,
    )
    difference = laplacian[1 : rows + 1, 1:, :] - laplacian[1 : rows + 1, :-1, :]
    flux_y = np.where(
        difference * (field[2 : rows + 2, 2 : columns + 3, :] - field[2 : rows + 2, 1 : columns + 2, :]) > 0,
        0,
        difference,
    )
    out[:, :, :] = field[2 : rows + 2, 2 : columns + 2, :] - coefficient[:, :, :] * (
        flux_x[1:, :, :] - flux_x[:-1, :, :] + flux_y[:, 1:, :] - flux_y[:, :-1, :]
    )


def two_grids(dimensions):
    def make_arguments(size, rng):
        shape = (size,) * dimensions
        return 4, rng.random(shape), rng.random(shape)

    return make_arguments


def fdtd_arguments(size, rng):
    shape = (size, size + 2)
    return rng.random(shape), rng.random(shape), rng.random(shape), np.arange(3, dtype=np.float64)


def diffusion_arguments(size, rng):
    shape = (size, size + 1, 5)
    return rng.random((size + 4, size + 5, 5)), np.zeros(shape), rng.random(shape)


PROGRAMS = [
    Program(jacobi_1d, two_grids(1), (1, 2, 3, 100, 200_000), tiled=True),
    Program(jacobi_2d, two_grids(2), (1, 3, 20, 450), tiled=True),
    Program(heat_3d, two_grids(3), (1, 3, 12, 66), tiled=True),
    Program(fdtd_2d, fdtd_arguments, (1, 2, 20, 400)),
    Program(seidel_2d, lambda size, rng: (2, rng.random((size, size))), (1, 3, 30)),
    Program(horizontal_diffusion, diffusion_arguments, (1, 8, 180), tiled=True),
]
