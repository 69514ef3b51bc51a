"""The heat equation in two dimensions: a stencil that makes a new array in each step, and one that works in place.

Run: python examples/heat.py
"""

import numpy as np

import gjit

STEPS = 10


def laplacian(u, spacing):
    return (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1] - 4.0 * u[1:-1, 1:-1]) / spacing**2


# The helper is scripted with the function that calls it, and fused into it.
@gjit.script
def heat(u, conductivity, source, spacing, time_step, steps):
    for _ in range(steps):
        new = u.copy()
        new[1:-1, 1:-1] += time_step * (conductivity[1:-1, 1:-1] * laplacian(u, spacing) + source[1:-1, 1:-1])
        u = new
    return u


# In place, through a view that is made once; the walls take the value beside them, so no heat leaves.
@gjit.script
def insulated_heat(u, spacing, time_step, steps):
    inner = u[1:-1, 1:-1]
    for _ in range(steps):
        inner += time_step * laplacian(u, spacing)
        u[0], u[-1] = u[1], u[-2]
        u[:, 0], u[:, -1] = u[:, 1], u[:, -2]
    return u.mean(), u.max()


def plate(size):
    side = max(4, int(np.sqrt(size)))
    y, x = np.mgrid[0 : 1 : side * 1j, 0 : 1 : side * 1j]
    u = np.exp(-50.0 * ((x - 0.5) ** 2 + (y - 0.3) ** 2))
    return u, x, y, 1.0 / (side - 1)


def plate_with_source(size):
    u, x, y, spacing = plate(size)
    conductivity = 1.0 + 0.5 * np.sin(6.0 * x) * np.cos(4.0 * y)
    source = np.where(np.hypot(x - 0.7, y - 0.7) < 0.1, 5.0, 0.0)
    return u, conductivity, source, spacing, 0.15 * spacing**2, STEPS


def plain_plate(size):
    u, _, _, spacing = plate(size)
    return u, spacing, 0.2 * spacing**2, STEPS


PROGRAMS = [
    (heat, heat.__wrapped__, plate_with_source),
    (insulated_heat, insulated_heat.__wrapped__, plain_plate),
]


def main():
    arguments = plate_with_source(64 * 64)
    u = heat(*arguments)
    print(f"mean before {arguments[0].mean():.6f}, after {STEPS} steps {u.mean():.6f}")
    mean, greatest = insulated_heat(*plain_plate(64 * 64))
    print(f"insulated: mean {mean:.6f}, greatest {greatest:.6f}")
    print(heat.code)


if __name__ == "__main__":
    main()
