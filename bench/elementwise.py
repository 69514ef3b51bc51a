"""Elementwise programs of several lengths, in float64 and float32."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bench.cases import Case, run_cases
from bench.harness import Measurement, Options
from bench.peers import numba_elements, numexpr_program


def scaled_sum(x, y):
    return 2.5 * x + 1.5 * y - 0.5


def polynomial(x, y):
    return ((((0.1 * x + 0.2) * x + 0.3) * x + 0.4) * x + 0.5) * y


def distance(x, y):
    return np.sqrt(x * x + y * y)


def damped_wave(x, y):
    return np.exp(-0.5 * x * x) * np.sin(3.0 * y) + np.log1p(x)


def selection(x, y):
    return np.where((x > 0.25) & (y < 0.75), np.minimum(x, y), np.maximum(x, y) - 1.0)


def select_element(x, y):
    return min(x, y) if x > 0.25 and y < 0.75 else max(x, y) - 1.0


PROGRAMS = [scaled_sum, polynomial, distance, damped_wave, selection]
_EXPRESSIONS = {
    scaled_sum: "2.5 * x + 1.5 * y - 0.5",
    polynomial: "((((0.1 * x + 0.2) * x + 0.3) * x + 0.4) * x + 0.5) * y",
    distance: "sqrt(x * x + y * y)",
    damped_wave: "exp(-0.5 * x * x) * sin(3.0 * y) + log1p(x)",
    selection: "where((x > 0.25) & (y < 0.75), where(x < y, x, y), where(x > y, x, y) - 1.0)",
}


def two_arrays(kind: type) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
    """What makes two arrays of a dtype, with values from 0 to 1."""

    def make(size: int) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(5)
        return random.random(size).astype(kind), random.random(size).astype(kind)

    return make


def cases() -> Iterator[Case]:
    """Each program in both dtypes."""
    for plain in PROGRAMS:
        for kind in (np.float64, np.float32):
            element = select_element if plain is selection else plain
            programs = {"numba": numba_elements(element), "numexpr": numexpr_program(_EXPRESSIONS[plain], "x", "y")}
            huge = (100_000_000,) if plain is scaled_sum else ()
            yield Case(f"{plain.__name__} {np.dtype(kind)}", plain, two_arrays(kind), huge=huge, programs=programs)


def run(options: Options) -> Iterator[Measurement]:
    """The ratio of each program at each size and dtype; a quick run has three of them."""
    chosen = list(cases())
    names = ("scaled_sum float32", "polynomial float64", "damped_wave float64")
    return run_cases("elementwise", [case for case in chosen if not options.quick or case.name in names], options)
