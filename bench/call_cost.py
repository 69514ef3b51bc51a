"""What a call costs over the plain function, for 1, 3 and 10 small arrays."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import numpy as np

import gjit
from bench.harness import Measurement, Options, Program, checked_comparison

ELEMENTS = 16


def one_array(a):
    return a + 1.0


def three_arrays(a, b, c):
    return a * b + c


def ten_arrays(a, b, c, d, e, f, g, h, i, j):
    return a + b + c + d + e + f + g + h + i + j


PROGRAMS = [(one_array, 1), (three_arrays, 3), (ten_arrays, 10)]


def run(options: Options) -> Iterator[Measurement]:
    """One measurement a program, in nanoseconds a call over plain NumPy."""
    for plain, arrays in PROGRAMS:
        program = Program(plain.__name__, gjit.script(plain), plain, lambda size, arrays=arrays: small_arrays(arrays))
        # Many short rounds: what disturbs the machine for a while then hits both sides of a pair alike.
        comparison = checked_comparison(program, ELEMENTS, 10 * options.rounds, least_seconds=0.001)
        over = sorted((b - a) * 1e9 for a, b in zip(comparison.plain, comparison.compiled, strict=True))
        low, middle, high = statistics.quantiles(over, n=4)
        yield Measurement(
            "call_cost",
            program.name,
            ELEMENTS,
            middle,
            low,
            high,
            "ns",
            comparison.plain_seconds,
            comparison.compiled_seconds,
        )


def small_arrays(count: int) -> list[np.ndarray]:
    """`count` different arrays."""
    return [np.linspace(0.0, 1.0 + k, ELEMENTS) for k in range(count)]
