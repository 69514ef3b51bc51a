"""Turbulent kinetic energy in a column of water: mixing lengths, production, and an implicit step in depth."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program

SHORTEST = 1e-6
C_EPSILON = 0.7
C_K = 0.1
BACKGROUND = 1e-5


def tridiagonal_solve(lower, diagonal, upper, right):
    """Thomas's algorithm along the last axis, for all columns at once."""
    levels = right.shape[-1]
    upper_now = np.zeros_like(upper)
    right_now = np.zeros_like(right)
    upper_now[..., 0] = upper[..., 0] / diagonal[..., 0]
    right_now[..., 0] = right[..., 0] / diagonal[..., 0]
    for k in range(1, levels):
        denominator = diagonal[..., k] - lower[..., k] * upper_now[..., k - 1]
        upper_now[..., k] = upper[..., k] / denominator
        right_now[..., k] = (right[..., k] - lower[..., k] * right_now[..., k - 1]) / denominator
    solution = np.zeros_like(right)
    solution[..., -1] = right_now[..., -1]
    for k in range(levels - 2, -1, -1):
        solution[..., k] = right_now[..., k] - upper_now[..., k] * solution[..., k + 1]
    return solution


def where(mask, first, second):
    return np.where(mask, first, second)


def implicit_column_step(bottom, lower, diagonal, upper, right):
    """Columns begin at their own bottom level; what is below it is an identity."""
    levels = np.arange(diagonal.shape[-1])[np.newaxis, np.newaxis, :]
    water = levels >= bottom[:, :, np.newaxis]
    edge = levels == bottom[:, :, np.newaxis]
    lower = water * lower * np.logical_not(edge)
    diagonal = where(water, diagonal, 1.0)
    upper = where(water, upper, 0.0)
    upper[..., -1] = 0.0
    right = where(water, right, 0.0)
    return tridiagonal_solve(lower, diagonal, upper, right), water


def superbee(ratio):
    """The limiter of the advective flux."""
    return np.maximum(0.0, np.maximum(np.minimum(1.0, 2 * ratio), np.minimum(2.0, ratio)))


def advect(tke, wind, step, dx):
    """Fluxes along the first axis with a limiter on the ratio of slopes."""
    flux = np.zeros_like(tke)
    before, now, after = (tke[1 + n : -2 + n or None] - tke[n : -3 + n or None] for n in (0, 1, 2))
    speed = wind[1:-2]
    courant = np.abs(speed * step / dx)
    ratio = where(speed > 0.0, before, after) / where(np.abs(now) < 1e-20, 1e-20, now)
    limit = superbee(ratio)
    mean = 0.5 * (tke[2:-1] + tke[1:-2])
    flux[1:-2] = speed * mean - np.abs(speed) * ((1.0 - limit) + courant * limit) * now * 0.5
    return flux


def step_turbulent_energy(tke, stability, shear, wind, bottom, forcing, thickness, step, dx, mixing_length=None):
    """One step; `tke` is overwritten, and where it would be negative it is set to nothing and the loss returned."""
    root = np.sqrt(np.maximum(0.0, tke))
    length = np.sqrt(2.0) * root / np.sqrt(np.maximum(1e-12, stability))
    if mixing_length is not None:
        length = np.minimum(length, mixing_length)
    for k in range(tke.shape[2] - 2, -1, -1):
        length[:, :, k] = np.minimum(length[:, :, k], length[:, :, k + 1] + thickness[k])
    length = np.maximum(length, SHORTEST)
    viscosity = np.minimum(10.0, C_K * length * root)
    prandtl = np.maximum(1.0, np.minimum(10.0, 6.6 * stability / np.maximum(shear, 1e-12)))
    diffusivity = np.maximum(BACKGROUND, viscosity / prandtl)

    exchange = np.zeros_like(tke)
    exchange[:, :, :-1] = (
        step / thickness[np.newaxis, np.newaxis, 1:] * 0.5 * (viscosity[:, :, :-1] + viscosity[:, :, 1:])
    )
    lower = np.zeros_like(tke)
    upper = np.zeros_like(tke)
    lower[:, :, 1:] = -exchange[:, :, :-1] / thickness[np.newaxis, np.newaxis, 1:]
    upper[:, :, :-1] = -exchange[:, :, :-1] / thickness[np.newaxis, np.newaxis, :-1]
    dissipation = step * C_EPSILON * root / length
    diagonal = 1.0 + dissipation - lower - upper
    right = tke + step * (viscosity * shear - diffusivity * stability)
    right[:, :, -1] += step * forcing / (0.5 * thickness[-1])

    solution, water = implicit_column_step(bottom, lower, diagonal, upper, right)
    tke[...] = where(water, solution, tke)
    flux = advect(tke, wind, step, dx)
    tke[1:-1] += -step * (flux[1:-1] - flux[:-2]) / dx

    lost = np.zeros_like(forcing)
    negative = tke[:, :, -1] < 0.0
    lost[...] = where(negative, -tke[:, :, -1] * 0.5 * thickness[-1], 0.0)
    tke[:, :, -1] = np.maximum(0.0, tke[:, :, -1])
    return lost, diffusivity


def turbulence_arguments(size, rng):
    shape = (size + 3, size + 2, max(size // 3, 2))
    bottom = rng.integers(0, shape[2], shape[:2])
    return (
        0.01 * rng.random(shape),
        1e-4 * rng.random(shape),
        1e-3 * rng.random(shape),
        rng.random(shape) - 0.5,
        bottom,
        1e-4 * rng.random(shape[:2]),
        1.0 + rng.random(shape[2]),
        0.5,
        10.0,
    )


def limited_turbulence_arguments(size, rng):
    arguments = turbulence_arguments(size, rng)
    return *arguments, 5.0 * rng.random(arguments[0].shape)


PROGRAMS = [
    Program(step_turbulent_energy, turbulence_arguments, (1, 9, 80), tiled=True),
    Program(step_turbulent_energy, limited_turbulence_arguments, (1, 9)),
]
