"""Incompressible flow by projection: helpers that write the caller's arrays, and a loop that the data end."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program


def build_source(source, density, step, u, v, dx, dy):
    source[1:-1, 1:-1] = density * (
        1 / step * ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx) + (v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy))
        - ((u[1:-1, 2:] - u[1:-1, 0:-2]) / (2 * dx)) ** 2
        - 2 * ((u[2:, 1:-1] - u[0:-2, 1:-1]) / (2 * dy) * (v[1:-1, 2:] - v[1:-1, 0:-2]) / (2 * dx))
        - ((v[2:, 1:-1] - v[0:-2, 1:-1]) / (2 * dy)) ** 2
    )


def relax_pressure(iterations, pressure, dx, dy, source):
    previous = np.empty_like(pressure)
    previous = pressure.copy()
    for _ in range(iterations):
        previous = pressure.copy()
        pressure[1:-1, 1:-1] = (
            (previous[1:-1, 2:] + previous[1:-1, 0:-2]) * dy**2 + (previous[2:, 1:-1] + previous[0:-2, 1:-1]) * dx**2
        ) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (2 * (dx**2 + dy**2)) * source[1:-1, 1:-1]
        pressure[:, -1] = pressure[:, -2]  # no gradient at the right wall
        pressure[0, :] = pressure[1, :]
        pressure[:, 0] = pressure[:, 1]
        pressure[-1, :] = 0  # open above


def cavity_flow(steps, iterations, u, v, step, dx, dy, pressure, density, viscosity):
    """A box whose lid moves."""
    source = np.zeros_like(u)
    for _ in range(steps):
        un = u.copy()
        vn = v.copy()
        build_source(source, density, step, u, v, dx, dy)
        relax_pressure(iterations, pressure, dx, dy, source)
        u[1:-1, 1:-1] = (
            un[1:-1, 1:-1]
            - un[1:-1, 1:-1] * step / dx * (un[1:-1, 1:-1] - un[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * step / dy * (un[1:-1, 1:-1] - un[0:-2, 1:-1])
            - step / (2 * density * dx) * (pressure[1:-1, 2:] - pressure[1:-1, 0:-2])
            + viscosity
            * (
                step / dx**2 * (un[1:-1, 2:] - 2 * un[1:-1, 1:-1] + un[1:-1, 0:-2])
                + step / dy**2 * (un[2:, 1:-1] - 2 * un[1:-1, 1:-1] + un[0:-2, 1:-1])
            )
        )
        v[1:-1, 1:-1] = (
            vn[1:-1, 1:-1]
            - un[1:-1, 1:-1] * step / dx * (vn[1:-1, 1:-1] - vn[1:-1, 0:-2])
            - vn[1:-1, 1:-1] * step / dy * (vn[1:-1, 1:-1] - vn[0:-2, 1:-1])
            - step / (2 * density * dy) * (pressure[2:, 1:-1] - pressure[0:-2, 1:-1])
            + viscosity
            * (
                step / dx**2 * (vn[1:-1, 2:] - 2 * vn[1:-1, 1:-1] + vn[1:-1, 0:-2])
                + step / dy**2 * (vn[2:, 1:-1] - 2 * vn[1:-1, 1:-1] + vn[0:-2, 1:-1])
            )
        )
        u[0, :] = 0
        u[:, 0] = 0
        u[:, -1] = 0
        u[-1, :] = 1  # the lid
        v[0, :] = 0
        v[-1, :] = 0
        v[:, 0] = 0
        v[:, -1] = 0


def neighbours(field):
    """West, east, south and north of every inner row, periodic along rows."""
    return np.roll(field, 1, axis=1)[1:-1], np.roll(field, -1, axis=1)[1:-1], field[:-2], field[2:]


def periodic_source(u, v, step, dx, dy):
    u_west, u_east, u_south, u_north = neighbours(u)
    v_west, v_east, v_south, v_north = neighbours(v)
    return (
        1 / step * ((u_east - u_west) / (2 * dx) + (v_north - v_south) / (2 * dy))
        - ((u_east - u_west) / (2 * dx)) ** 2
        - 2 * ((u_north - u_south) / (2 * dy) * (v_east - v_west) / (2 * dx))
        - ((v_north - v_south) / (2 * dy)) ** 2
    )


def periodic_pressure(pressure, source, dx, dy, iterations=8):
    for _ in range(iterations):
        west, east, south, north = neighbours(pressure)
        pressure[1:-1] = ((east + west) * dy**2 + (north + south) * dx**2) / (2 * (dx**2 + dy**2)) - dx**2 * dy**2 / (
            2 * (dx**2 + dy**2)
        ) * source
        pressure[0, :] = pressure[1, :]
        pressure[-1, :] = pressure[-2, :]


def advance(field, un, vn, gradient, step, dx, dy, viscosity):
    west, east, south, north = neighbours(field)
    centre = field[1:-1]
    return (
        centre
        - un[1:-1] * step / dx * (centre - west)
        - vn[1:-1] * step / dy * (centre - south)
        - step * gradient
        + viscosity * (step / dx**2 * (east - 2 * centre + west) + step / dy**2 * (north - 2 * centre + south))
    )


def channel_flow(u, v, pressure, step, dx, dy, force, viscosity=0.5):
    """A force drives fluid between two walls until the flow is steady; returns the number of steps."""
    udiff = 1
    steps = 0
    while udiff > 0.001:
        un = u.copy()
        vn = v.copy()
        periodic_pressure(pressure, periodic_source(un, vn, step, dx, dy), dx, dy)
        west, east, south, north = neighbours(pressure)
        u[1:-1] = advance(un, un, vn, (east - west) / (2 * dx), step, dx, dy, viscosity) + force * step
        v[1:-1] = advance(vn, un, vn, (north - south) / (2 * dy), step, dx, dy, viscosity)
        u[0, :] = u[-1, :] = 0
        v[0, :] = v[-1, :] = 0
        udiff = (np.sum(u) - np.sum(un)) / np.sum(u)
        steps += 1
    return steps


def cavity_arguments(size, rng):
    shape = (size, size)
    dx = 2 / max(size - 1, 1)
    return 2, 3, 0.01 * rng.random(shape), 0.01 * rng.random(shape), 0.1 * dx**2, dx, dx, np.zeros(shape), 1.0, 0.1


def channel_arguments(size, rng):
    shape = (size, size + 1)
    dx = 2 / (size - 1)
    return np.zeros(shape), np.zeros(shape), np.ones(shape), 0.1 * dx**2, dx, dx, 1 / dx


PROGRAMS = [
    Program(cavity_flow, cavity_arguments, (2, 3, 20, 370), tiled=True),
    Program(channel_flow, channel_arguments, (3, 4, 9)),
]
