"""Stencils in place, and Jacobi iteration until it has converged."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bench.cases import Case, run_cases
from bench.harness import Measurement, Options
from bench.peers import jax, numba_program
from examples.jacobi import hot_wall
from gjit.errors import require

STEPS, QUICK = 10, 250_000


def relax(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
        a[1:-1, 1:-1] = 0.25 * (b[1:-1, :-2] + b[1:-1, 2:] + b[:-2, 1:-1] + b[2:, 1:-1])
    return a


def relax_loops(a, b, steps):
    for _ in range(steps):
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                b[i, j] = 0.25 * (a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j])
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                a[i, j] = 0.25 * (b[i, j - 1] + b[i, j + 1] + b[i - 1, j] + b[i + 1, j])
    return a


def converge(a, tolerance, limit):
    change = np.inf
    steps = 0
    while change > tolerance and steps < limit:
        before = a[1:-1, 1:-1].copy()
        a[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
        change = np.abs(a[1:-1, 1:-1] - before).max()
        steps += 1
    return a


def converge_loops(a, tolerance, limit):
    change, steps = np.inf, 0
    new = a.copy()
    while change > tolerance and steps < limit:
        change = 0.0
        for i in range(1, a.shape[0] - 1):
            for j in range(1, a.shape[1] - 1):
                new[i, j] = 0.25 * (a[i, j - 1] + a[i, j + 1] + a[i - 1, j] + a[i + 1, j])
                change = max(change, abs(new[i, j] - a[i, j]))
        a[:] = new
        steps += 1
    return a


def _mean(a: object) -> object:
    return 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])


def _jax_relax() -> Callable:
    def step(_, pair):
        a, b = pair
        b = b.at[1:-1, 1:-1].set(_mean(a))
        return a.at[1:-1, 1:-1].set(_mean(b)), b

    return jax().jit(lambda a, b, steps: jax().lax.fori_loop(0, steps, step, (a, b))[0])


def _jax_converge() -> Callable:
    xp = jax().numpy

    def converge(a, tolerance, limit):
        def goes_on(state):
            return (state[1] > tolerance) & (state[2] < limit)

        def step(state):
            a, _, steps = state
            mean = _mean(a)
            return a.at[1:-1, 1:-1].set(mean), xp.abs(mean - a[1:-1, 1:-1]).max(), steps + 1

        return jax().lax.while_loop(goes_on, step, (a, xp.inf, 0))[0]

    return jax().jit(converge)


def _torch_relax(compiles: bool) -> Callable[[], Callable]:
    def step(a, b):
        b[1:-1, 1:-1] = _mean(a)
        a[1:-1, 1:-1] = _mean(b)

    def make() -> Callable:
        torch = require("torch", extra="bench")
        once = torch.compile(step) if compiles else step

        def relax(a, b, steps):
            for _ in range(steps):
                once(a, b)
            return a

        return relax

    return make


def two_grids(size):
    a = hot_wall(size)
    return a, a.copy(), STEPS


def cases() -> list[Case]:
    """Both programs; in ten thousand elements everything is in the cache."""
    relaxing = {"numba": numba_program(relax_loops), "jax": _jax_relax}
    relaxing |= {"torch.compile": _torch_relax(True), "torchscript": _torch_relax(False)}
    converging = {"numba": numba_program(converge_loops), "jax": _jax_converge}
    no_torch = frozenset({"torch.compile", "torchscript"})
    return [
        Case("stencil in place", relax, two_grids, quick=QUICK, programs=relaxing),
        Case(
            "jacobi until converged",
            converge,
            lambda size: (hot_wall(size), 1e-3, 40),
            quick=QUICK,
            programs=converging,
            without=no_torch,
        ),
    ]


def run(options: Options) -> Iterator[Measurement]:
    """The ratio of each program."""
    return run_cases("grids", cases(), options)
