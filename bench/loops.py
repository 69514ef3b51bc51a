"""Loops round elementwise work: Mandelbrot, an ordinary differential equation, control flow that depends on data."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bench.cases import Case, run_cases
from bench.harness import Measurement, Options
from bench.peers import jax, numba_program
from examples.mandelbrot import ITERATIONS, plane

STEPS = 100
SIZES, QUICK = (10_000, 1_000_000), 100_000


def mandelbrot(x, y):
    real = np.zeros_like(x)
    imaginary = np.zeros_like(y)
    count = np.zeros(x.shape)
    for _ in range(ITERATIONS):
        real_squared = real * real
        imaginary_squared = imaginary * imaginary
        inside = real_squared + imaginary_squared <= 4.0
        imaginary = np.where(inside, 2.0 * real * imaginary + y, imaginary)
        real = np.where(inside, real_squared - imaginary_squared + x, real)
        count = count + inside
    return count


def mandelbrot_loops(x, y):
    count = np.zeros(x.shape)
    for i in range(x.shape[0]):
        for j in range(x.shape[1]):
            real = imaginary = 0.0
            for _ in range(ITERATIONS):
                if real * real + imaginary * imaginary > 4.0:
                    break
                real, imaginary = real * real - imaginary * imaginary + x[i, j], 2.0 * real * imaginary + y[i, j]
                count[i, j] += 1.0
    return count


def growth(x, dt):
    for _ in range(STEPS):
        x = x + dt * (x - x * x * x)
    return x


def growth_loops(x, dt):
    result = np.empty_like(x)
    for i in range(x.size):
        value = x[i]
        for _ in range(STEPS):
            value = value + dt * (value - value * value * value)
        result[i] = value
    return result


def cooled(x):
    steps = 0
    while x.max() > 1.0 and steps < 60:
        if steps % 2 == 0:
            x = 0.5 * (x + np.sqrt(np.abs(x)))
        else:
            x = np.where(x > 2.0, 0.75 * x, x - 0.01 * x * x)
        steps += 1
    return x


def cooled_loops(x):
    x = x.copy()
    steps = 0
    while x.max() > 1.0 and steps < 60:
        for i in range(x.size):
            value = x[i]
            if steps % 2 == 0:
                x[i] = 0.5 * (value + np.sqrt(abs(value)))
            else:
                x[i] = 0.75 * value if value > 2.0 else value - 0.01 * value * value
        steps += 1
    return x


def _jax_mandelbrot() -> Callable:
    xp = jax().numpy

    def step(_, state):
        real, imaginary, count, x, y = state
        inside = real * real + imaginary * imaginary <= 4.0
        next_real = xp.where(inside, real * real - imaginary * imaginary + x, real)
        return next_real, xp.where(inside, 2.0 * real * imaginary + y, imaginary), count + inside, x, y

    def run(x, y):
        zero = xp.zeros_like(x)
        return jax().lax.fori_loop(0, ITERATIONS, step, (zero, zero, zero, x, y))[2]

    return jax().jit(run)


def _jax_growth() -> Callable:
    return jax().jit(lambda x, dt: jax().lax.fori_loop(0, STEPS, lambda _, x: x + dt * (x - x * x * x), x))


def _jax_cooled() -> Callable:
    xp = jax().numpy

    def step(state):
        x, steps = state
        even = 0.5 * (x + xp.sqrt(xp.abs(x)))
        odd = xp.where(x > 2.0, 0.75 * x, x - 0.01 * x * x)
        return xp.where(steps % 2 == 0, even, odd), steps + 1

    def goes_on(state):
        return (state[0].max() > 1.0) & (state[1] < 60)

    return jax().jit(lambda x: jax().lax.while_loop(goes_on, step, (x, 0))[0])


def points(size):
    return (np.random.default_rng(8).uniform(-2.0, 2.0, size),)


def cases() -> list[Case]:
    """Three programs. A loop of a hundred steps is too long for what unrolls it."""
    no_torch = frozenset({"torch.compile", "torchscript"})
    growing = {"numba": numba_program(growth_loops), "jax": _jax_growth}
    return [
        Case(
            "mandelbrot",
            mandelbrot,
            plane,
            SIZES,
            QUICK,
            programs={"numba": numba_program(mandelbrot_loops), "jax": _jax_mandelbrot},
            without=frozenset({"torch.compile"}),
            tolerance=1.0,  # a point on the edge may escape elsewhere
        ),
        Case("ode", growth, lambda size: (*points(size), 0.01), SIZES, QUICK, programs=growing, without=no_torch),
        Case(
            "branches on data",
            cooled,
            lambda size: (10.0 * np.abs(points(size)[0]),),
            SIZES,
            QUICK,
            programs={"numba": numba_program(cooled_loops), "jax": _jax_cooled},
            without=no_torch,
        ),
    ]


def run(options: Options) -> Iterator[Measurement]:
    """The ratio of each program."""
    return run_cases("loops", cases(), options)
