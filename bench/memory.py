"""The peak of memory that one call of a program takes: what NumPy allocates over what gjit does."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator

import gjit
from bench import elementwise, science
from bench.cases import Case
from bench.harness import Measurement, Options, note
from gjit.runtime.pool import scratch

NAMES = ("polynomial float64", "damped_wave float64", "black-scholes", "n-body")


def run(options: Options) -> Iterator[Measurement]:
    """The ratio of the peaks for some programs."""
    for case in (*elementwise.cases(), *science.cases()):
        if case.name in NAMES:
            note(f"memory of {case.name}")
            yield ratio_of_peaks(case, options)


def ratio_of_peaks(case: Case, options: Options) -> Measurement:
    """NumPy's peak over that of gjit's first engine, at the size of a quick run."""
    arguments = case.arguments(case.quick)
    compiled = gjit.script(case.plain, engine=options.engines[0]).compile(*arguments)
    compiled(*arguments)
    plain, ours = peak(case.plain, arguments), peak(compiled, arguments)
    ratio = plain / ours
    return Measurement("memory", f"{case.name}: {plain / 1e6:.0f} MB", case.quick, ratio, ratio, ratio, "x")


def peak(function: Callable, arguments: tuple) -> int:
    """The most bytes that are allocated at a time during one call."""
    scratch.clear()  # what is kept from earlier calls would not be counted
    tracemalloc.start()
    try:
        function(*arguments)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
