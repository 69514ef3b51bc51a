"""Mixing along surfaces of equal density: slopes and fluxes on triads of grid points, four shifted slices at a time."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program

EPSILON = 1e-20
STEEPEST = 1e-3
SMOOTHNESS = 1e-3


def drho_by_temperature(temperature, salinity):
    return -0.2 + 0.01 * temperature - 0.001 * salinity


def drho_by_salinity(temperature, salinity):
    return 0.8 - 0.002 * temperature + 0.0005 * salinity


def taper(slope, limit=STEEPEST, width=SMOOTHNESS):
    """One where surfaces are flat, nothing where they are steep."""
    return 0.5 * (1.0 + np.tanh((-np.abs(slope) + limit) / width))


def difference(field, mask, spacing, axis):
    """Forward differences, with nothing at the last point."""
    result = np.zeros_like(field)
    lower, upper = (
        tuple(slice(n, -1 + n or None) if other == axis else slice(None) for other in range(3)) for n in (0, 1)
    )
    result[lower] = (field[upper] - field[lower]) / spacing * (mask[upper] * mask[lower])
    return result


def isoneutral_mixing(temperature, salinity, mask, depths, dx, dy, diffusivity, k11, k22, k33, east, north, top):
    """Fills the tensor `k11`, `k22`, `k33` and the slopes `east`, `north` and `top`, of which it adds up triads."""
    dz = depths[1:] - depths[:-1]
    rho_t = drho_by_temperature(temperature, salinity) * mask
    rho_s = drho_by_salinity(temperature, salinity) * mask
    t_x = difference(temperature, mask, dx, 0)
    s_x = difference(salinity, mask, dx, 0)
    t_y = difference(temperature, mask, dy, 1)
    s_y = difference(salinity, mask, dy, 1)
    t_z = difference(temperature, mask, dz[np.newaxis, np.newaxis, :], 2)
    s_z = difference(salinity, mask, dz[np.newaxis, np.newaxis, :], 2)

    k11[...] = 0.0
    k22[...] = 0.0
    k33[...] = 0.0

    sum_x = np.zeros_like(k11[1:-2, 1:-1, 1:])
    for kr in range(2):
        level = slice(kr, -1 + kr or None)
        for ip in range(2):
            column = slice(1 + ip, -2 + ip)
            along = rho_t[column, 1:-1, 1:] * t_x[1:-2, 1:-1, 1:] + rho_s[column, 1:-1, 1:] * s_x[1:-2, 1:-1, 1:]
            down = (
                rho_t[column, 1:-1, 1:] * t_z[column, 1:-1, level] + rho_s[column, 1:-1, 1:] * s_z[column, 1:-1, level]
            )
            slope = -along / (np.minimum(0.0, down) - EPSILON)
            weight = taper(slope)
            sum_x += depths[1:] * diffusivity * np.maximum(0.0, weight)
            east[1:-2, 1:-1, 1:, ip, kr] = weight * slope * mask[2:-1, 1:-1, 1:]
    k11[1:-2, 1:-1, 1:] = sum_x / (4.0 * depths[1:])

    for kr in range(2):
        level = slice(kr, -1 + kr or None)
        for jp in range(2):
            row = slice(1 + jp, -2 + jp)
            along = rho_t[1:-1, row, 1:] * t_y[1:-1, 1:-2, 1:] + rho_s[1:-1, row, 1:] * s_y[1:-1, 1:-2, 1:]
            down = rho_t[1:-1, row, 1:] * t_z[1:-1, row, level] + rho_s[1:-1, row, 1:] * s_z[1:-1, row, level]
            slope = -along / (np.minimum(0.0, down) - EPSILON)
            weight = taper(slope)
            k22[1:-1, 1:-2, 1:] += 0.25 * diffusivity * weight
            north[1:-1, 1:-2, 1:, jp, kr] = weight * slope * mask[1:-1, 2:-1, 1:]

    for kr in range(2):
        level = slice(kr, -1 + kr or None)
        for ip in range(2):
            column = slice(ip, -2 + ip or None)
            along = (
                rho_t[1:-1, 1:-1, level] * t_x[column, 1:-1, level]
                + rho_s[1:-1, 1:-1, level] * s_x[column, 1:-1, level]
            )
            down = rho_t[1:-1, 1:-1, level] * t_z[1:-1, 1:-1, :-1] + rho_s[1:-1, 1:-1, level] * s_z[1:-1, 1:-1, :-1]
            slope = -along / (np.minimum(0.0, down) - EPSILON)
            weight = taper(slope)
            k33[1:-1, 1:-1, :-1] += 0.25 * diffusivity * weight * slope**2 * mask[1:-1, 1:-1, 1:]
            top[1:-1, 1:-1, :-1, ip, kr] = weight * slope * mask[1:-1, 1:-1, 1:]
    k33[:, :, -1] = 0.0


def mixing_arguments(size, rng):
    shape = (size + 3, size + 3, max(size // 4, 2))
    triads = (*shape, 2, 2)
    mask = (rng.random(shape) > 0.1).astype(np.float64)
    depths = np.cumsum(1.0 + rng.random(shape[2]))
    fields = 10.0 * rng.random(shape), 35.0 + rng.random(shape), mask, depths
    tensor = (np.zeros(shape) for _ in range(3))
    return *fields, 1.5, 2.5, 1000.0, *tensor, np.zeros(triads), np.zeros(triads), np.zeros(triads)


PROGRAMS = [Program(isoneutral_mixing, mixing_arguments, (1, 10, 84), tiled=True)]
