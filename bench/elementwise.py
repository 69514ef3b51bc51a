"""Elementwise programs of several lengths, in float64 and float32."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

import gjit
from bench.harness import Measurement, Options, Program, speed_up


def scaled_sum(x, y):
    return 2.5 * x + y


def polynomial(x, y):
    return ((((0.1 * x + 0.2) * x + 0.3) * x + 0.4) * x + 0.5) * y


def distance(x, y):
    return np.sqrt(x * x + y * y)


def damped_wave(x, y):
    return np.exp(-0.5 * x * x) * np.sin(3.0 * y) + np.log1p(x)


def selection(x, y):
    return np.where((x > 0.25) & (y < 0.75), np.minimum(x, y), np.maximum(x, y) - 1.0)


def root_mean_square(x, y):
    return np.sqrt(((x - y) ** 2).mean())


PROGRAMS = [scaled_sum, polynomial, distance, damped_wave, selection, root_mean_square]


def run(options: Options) -> Iterator[Measurement]:
    """The ratio of each program at each size and dtype."""
    for plain in PROGRAMS:
        compiled = gjit.script(plain)
        for kind in (np.float64, np.float32):
            program = Program(f"{plain.__name__} {np.dtype(kind)}", compiled, plain, two_arrays(kind))
            for size in options.sizes:
                yield speed_up("elementwise", program, size, options)


def two_arrays(kind: type) -> Callable[[int], tuple[np.ndarray, np.ndarray]]:
    """What makes two arrays of a dtype, with values from 0 to 1."""

    def make(size: int) -> tuple[np.ndarray, np.ndarray]:
        random = np.random.default_rng(5)
        return random.random(size).astype(kind), random.random(size).astype(kind)

    return make
