"""Gravity between particles: columns of shape (n, 1) against their transposes."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program


def acceleration(positions, masses, constant, softening):
    """Of every particle, from all others. Positions are (n, 3), masses (n, 1)."""
    x = positions[:, 0:1]
    y = positions[:, 1:2]
    z = positions[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inverse_cube = dx**2 + dy**2 + dz**2 + softening**2
    inverse_cube[inverse_cube > 0] = inverse_cube[inverse_cube > 0] ** (-1.5)
    ax = constant * (dx * inverse_cube) @ masses
    ay = constant * (dy * inverse_cube) @ masses
    az = constant * (dz * inverse_cube) @ masses
    return np.hstack((ax, ay, az))


def energies(positions, velocities, masses, constant):
    """Kinetic and potential; the matrix of distances has zeros on its diagonal."""
    kinetic = 0.5 * np.sum(np.sum(masses * velocities**2))
    x = positions[:, 0:1]
    y = positions[:, 1:2]
    z = positions[:, 2:3]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inverse = np.sqrt(dx**2 + dy**2 + dz**2)
    inverse[inverse > 0] = 1.0 / inverse[inverse > 0]
    potential = constant * np.sum(np.sum(np.triu(-(masses * masses.T) * inverse, 1)))
    return kinetic, potential


def nbody(masses, positions, velocities, steps, step, constant, softening):
    """Leapfrog, in the frame of the centre of mass."""
    velocities -= np.mean(masses * velocities, axis=0) / np.mean(masses)
    accelerations = acceleration(positions, masses, constant, softening)
    kinetic = np.ndarray(steps + 1, dtype=np.float64)
    potential = np.ndarray(steps + 1, dtype=np.float64)
    kinetic[0], potential[0] = energies(positions, velocities, masses, constant)
    for i in range(steps):
        velocities += accelerations * step / 2.0
        positions += velocities * step
        accelerations = acceleration(positions, masses, constant, softening)
        velocities += accelerations * step / 2.0
        kinetic[i + 1], potential[i + 1] = energies(positions, velocities, masses, constant)
    return kinetic, potential


def nbody_arguments(size, rng):
    masses = 20.0 * np.ones((size, 1)) / size
    return masses, rng.normal(size=(size, 3)), rng.normal(size=(size, 3)), 3, 0.01, 1.0, 0.1


PROGRAMS = [Program(nbody, nbody_arguments, (1, 2, 30, 370), tiled=True)]
