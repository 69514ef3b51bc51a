"""Implicit sweeps: recurrences along strided column slices, forwards and backwards."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program

BACKWARD_WEIGHT = 0.5 * (1.0 - 0.2)
FORWARD_WEIGHT = 0.5 * (1.0 + 0.2)


def alternating_directions(steps, u):
    """Peaceman and Rachford's scheme for the heat equation: columns implicitly, then rows."""
    n = u.shape[0]
    v = np.empty(u.shape, dtype=u.dtype)
    p = np.empty(u.shape, dtype=u.dtype)
    q = np.empty(u.shape, dtype=u.dtype)
    dx = 1.0 / n
    dt = 1.0 / steps
    x_number = 2.0 * dt / dx**2
    y_number = 1.0 * dt / dx**2
    a = c = -x_number / 2.0
    b = 1.0 + x_number
    d = f = -y_number / 2.0
    e = 1.0 + y_number
    for _ in range(steps):
        v[0, 1:-1] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = v[0, 1:-1]
        for j in range(1, n - 1):
            p[1:-1, j] = -c / (a * p[1:-1, j - 1] + b)
            q[1:-1, j] = (-d * u[j, :-2] + (1.0 + 2.0 * d) * u[j, 1:-1] - f * u[j, 2:] - a * q[1:-1, j - 1]) / (
                a * p[1:-1, j - 1] + b
            )
        v[-1, 1:-1] = 1.0
        for j in range(n - 2, 0, -1):
            v[j, 1:-1] = p[1:-1, j] * v[j + 1, 1:-1] + q[1:-1, j]

        u[1:-1, 0] = 1.0
        p[1:-1, 0] = 0.0
        q[1:-1, 0] = u[1:-1, 0]
        for j in range(1, n - 1):
            p[1:-1, j] = -f / (d * p[1:-1, j - 1] + e)
            q[1:-1, j] = (-a * v[:-2, j] + (1.0 + 2.0 * a) * v[1:-1, j] - c * v[2:, j] - d * q[1:-1, j - 1]) / (
                d * p[1:-1, j - 1] + e
            )
        u[1:-1, -1] = 1.0
        for j in range(n - 2, 0, -1):
            u[1:-1, j] = p[1:-1, j] * u[1:-1, j + 1] + q[1:-1, j]


def vertical_advection(tendency, vertical_wind, wind, position, stage_tendency, inverse_step):
    """Crank-Nicolson transport along the last axis: Thomas's algorithm, a plane at a time."""
    rows, columns, levels = wind.shape[0], wind.shape[1], wind.shape[2]
    upper = np.ndarray((rows, columns, levels), dtype=wind.dtype)
    right = np.ndarray((rows, columns, levels), dtype=wind.dtype)
    data_column = np.ndarray((rows, columns), dtype=wind.dtype)

    for k in range(1):
        outflow = 0.25 * (vertical_wind[1:, :, k + 1] + vertical_wind[:-1, :, k + 1])
        explicit = outflow * BACKWARD_WEIGHT
        upper[:, :, k] = outflow * FORWARD_WEIGHT
        diagonal = inverse_step - upper[:, :, k]
        correction = -explicit * (wind[:, :, k + 1] - wind[:, :, k])
        right[:, :, k] = inverse_step * position[:, :, k] + tendency[:, :, k] + stage_tendency[:, :, k] + correction
        divided = 1.0 / diagonal
        upper[:, :, k] = upper[:, :, k] * divided
        right[:, :, k] = right[:, :, k] * divided

    for k in range(1, levels - 1):
        inflow = -0.25 * (vertical_wind[1:, :, k] + vertical_wind[:-1, :, k])
        outflow = 0.25 * (vertical_wind[1:, :, k + 1] + vertical_wind[:-1, :, k + 1])
        lower = inflow * FORWARD_WEIGHT
        upper[:, :, k] = outflow * FORWARD_WEIGHT
        diagonal = inverse_step - lower - upper[:, :, k]
        correction = -(inflow * BACKWARD_WEIGHT) * (wind[:, :, k - 1] - wind[:, :, k]) - (outflow * BACKWARD_WEIGHT) * (
            wind[:, :, k + 1] - wind[:, :, k]
        )
        right[:, :, k] = inverse_step * position[:, :, k] + tendency[:, :, k] + stage_tendency[:, :, k] + correction
        divided = 1.0 / (diagonal - upper[:, :, k - 1] * lower)
        upper[:, :, k] = upper[:, :, k] * divided
        right[:, :, k] = (right[:, :, k] - lower * right[:, :, k - 1]) * divided

    for k in range(levels - 1, levels):
        inflow = -0.25 * (vertical_wind[1:, :, k] + vertical_wind[:-1, :, k])
        lower = inflow * FORWARD_WEIGHT
        diagonal = inverse_step - lower
        correction = -(inflow * BACKWARD_WEIGHT) * (wind[:, :, k - 1] - wind[:, :, k])
        right[:, :, k] = inverse_step * position[:, :, k] + tendency[:, :, k] + stage_tendency[:, :, k] + correction
        divided = 1.0 / (diagonal - upper[:, :, k - 1] * lower)
        right[:, :, k] = (right[:, :, k] - lower * right[:, :, k - 1]) * divided

    for k in range(levels - 1, levels - 2, -1):
        data_column[:] = right[:, :, k]
        right[:, :, k] = data_column
        tendency[:, :, k] = inverse_step * (data_column - position[:, :, k])

    for k in range(levels - 2, -1, -1):
        data_column[:] = right[:, :, k] - upper[:, :, k] * data_column[:, :]
        right[:, :, k] = data_column
        tendency[:, :, k] = inverse_step * (data_column - position[:, :, k])


def deriche(alpha, image):
    """Deriche's edge detector: second-order recursive filters over columns, then over rows, both ways."""
    k = (1.0 - np.exp(-alpha)) ** 2 / (1.0 + alpha * np.exp(-alpha) - np.exp(2.0 * alpha))
    a1 = a5 = k
    a2 = a6 = k * np.exp(-alpha) * (alpha - 1.0)
    a3 = a7 = k * np.exp(-alpha) * (alpha + 1.0)
    a4 = a8 = -k * np.exp(-2.0 * alpha)
    b1 = 2.0 ** (-alpha)
    b2 = -np.exp(-2.0 * alpha)
    c1 = c2 = 1

    forward = np.empty_like(image)
    forward[:, 0] = a1 * image[:, 0]
    forward[:, 1] = a1 * image[:, 1] + a2 * image[:, 0] + b1 * forward[:, 0]
    for j in range(2, image.shape[1]):
        forward[:, j] = a1 * image[:, j] + a2 * image[:, j - 1] + b1 * forward[:, j - 1] + b2 * forward[:, j - 2]
    backward = np.empty_like(image)
    backward[:, -1] = 0.0
    backward[:, -2] = a3 * image[:, -1]
    for j in range(image.shape[1] - 3, -1, -1):
        backward[:, j] = a3 * image[:, j + 1] + a4 * image[:, j + 2] + b1 * backward[:, j + 1] + b2 * backward[:, j + 2]
    smooth = c1 * (forward + backward)

    forward[0, :] = a5 * smooth[0, :]
    forward[1, :] = a5 * smooth[1, :] + a6 * smooth[0, :] + b1 * forward[0, :]
    for i in range(2, image.shape[0]):
        forward[i, :] = a5 * smooth[i, :] + a6 * smooth[i - 1, :] + b1 * forward[i - 1, :] + b2 * forward[i - 2, :]
    backward[-1, :] = 0.0
    backward[-2, :] = a7 * smooth[-1, :]
    for i in range(image.shape[0] - 3, -1, -1):
        backward[i, :] = (
            a7 * smooth[i + 1, :] + a8 * smooth[i + 2, :] + b1 * backward[i + 1, :] + b2 * backward[i + 2, :]
        )
    return c2 * (forward + backward)


def advection_arguments(size, rng):
    shape = (size, size + 1, max(size // 2, 3))
    wide = (size + 1, *shape[1:])
    return rng.random(shape), rng.random(wide), rng.random(shape), rng.random(shape), rng.random(shape), 3.0 / 20.0


PROGRAMS = [
    Program(alternating_directions, lambda size, rng: (3, rng.random((size, size))), (2, 3, 40, 150)),
    Program(vertical_advection, advection_arguments, (1, 6, 60)),
    Program(deriche, lambda size, rng: (0.25, rng.random((size, size + 3))), (2, 20, 400)),
]
