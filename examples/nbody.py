"""One step of an n-body simulation: all pairs by broadcasting, a matrix product, and positions moved in place.

Run: python examples/nbody.py
"""

import numpy as np

import gjit

GRAVITY = 1.0


# (n, 1) - (1, n) gives all pairs. The product with the masses is a library call; what stands round it is fused.
@gjit.script
def step(position, velocity, mass, time_step, softening):
    x, y, z = position.T[:, :, np.newaxis]
    dx = x.T - x
    dy = y.T - y
    dz = z.T - z
    inverse_cube = (dx**2 + dy**2 + dz**2 + softening**2) ** -1.5
    acceleration = np.hstack(((dx * inverse_cube) @ mass, (dy * inverse_cube) @ mass, (dz * inverse_cube) @ mass))
    velocity += GRAVITY * acceleration * time_step
    position += velocity * time_step


# Kinetic and potential energy: sums over one axis, over all, and over the triangle above the diagonal.
@gjit.script
def energy(position, velocity, mass, softening):
    kinetic = 0.5 * np.sum(mass * velocity**2)
    difference = position[:, np.newaxis, :] - position[np.newaxis, :, :]
    distance = np.sqrt(np.sum(difference**2, axis=2) + softening**2)
    potential = -GRAVITY * np.sum(np.triu(mass * mass.T / distance, 1))
    return kinetic, potential


def cluster(size):
    # `size` counts pairs, which is what the work is done on.
    bodies = max(2, int(np.sqrt(size)))
    random = np.random.default_rng(7)
    position = random.standard_normal((bodies, 3))
    velocity = random.standard_normal((bodies, 3))
    mass = np.full((bodies, 1), 20.0 / bodies)
    return position, velocity, mass


def step_arguments(size):
    return (*cluster(size), 0.01, 0.1)


def energy_arguments(size):
    return (*cluster(size), 0.1)


PROGRAMS = [
    (step, step.__wrapped__, step_arguments),
    (energy, energy.__wrapped__, energy_arguments),
]


def main():
    position, velocity, mass = cluster(100 * 100)
    for steps in range(51):
        if steps % 10 == 0:
            kinetic, potential = energy(position, velocity, mass, 0.1)
            print(f"step {steps:3d}: kinetic {kinetic:9.4f} potential {potential:9.4f} sum {kinetic + potential:9.4f}")
        step(position, velocity, mass, 0.01, 0.1)


if __name__ == "__main__":
    main()
