"""Fair timings of a compiled function against the plain one: interleaved rounds, medians, ratio pair by pair."""

from __future__ import annotations

import gc
import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter_ns


@dataclass(frozen=True, slots=True)
class Comparison:
    """Times of one call in each round, in seconds; `plain[i]` and `compiled[i]` were measured side by side."""

    plain: tuple[float, ...]
    compiled: tuple[float, ...]

    @property
    def plain_seconds(self) -> float:
        """Median time of a call of the plain function."""
        return statistics.median(self.plain)

    @property
    def compiled_seconds(self) -> float:
        """Median time of a call of the compiled function."""
        return statistics.median(self.compiled)

    @property
    def ratios(self) -> tuple[float, ...]:
        """Plain over compiled, round by round: above 1 the compiled function is faster."""
        return tuple(plain / compiled for plain, compiled in zip(self.plain, self.compiled, strict=True))

    @property
    def ratio(self) -> float:
        """Median of the ratios. A machine that slows down for a while slows both sides of a pair."""
        return statistics.median(self.ratios)

    @property
    def spread(self) -> tuple[float, float]:
        """First and third quartile of the ratios; the least and greatest where there are fewer than four rounds."""
        if len(self.ratios) < 4:
            return min(self.ratios), max(self.ratios)
        first, _, third = statistics.quantiles(self.ratios, n=4)
        return first, third


def compare(
    plain: Callable,
    compiled: Callable,
    make_arguments: Callable[[], Sequence],
    *,
    rounds: int = 7,
    least_seconds: float = 0.01,
    progress: Callable[[int, int], None] = lambda done, rounds: None,
) -> Comparison:
    """Time both functions in turn, the order changing from round to round.

    Each side has arguments of its own, made by `make_arguments`, so that a function that writes into them does the
    same work on both sides. Both are called once first: that compiles, and warms caches and the allocator.

    Args:
        plain: the function under NumPy alone.
        compiled: the function under test, called with equal arguments.
        make_arguments: gives fresh arguments; called twice.
        rounds: how many pairs to time.
        least_seconds: calls are repeated until one timing lasts about this long.
        progress: told the rounds done and the rounds in all, after each round.

    >>> comparison = compare(sum, sum, lambda: (range(1000),), rounds=4)
    >>> len(comparison.ratios)
    4
    """
    sides = [(plain, make_arguments()), (compiled, make_arguments())]
    for function, arguments in sides:
        function(*arguments)
    calls = max(1, int(least_seconds / max(seconds_per_call(*sides[0]), 1e-9)))
    times: tuple[list[float], list[float]] = ([], [])
    with collector_paused():
        for done in range(rounds):
            for side in (0, 1) if done % 2 == 0 else (1, 0):
                times[side].append(seconds_per_call(*sides[side], calls=calls))
            progress(done + 1, rounds)
    return Comparison(tuple(times[0]), tuple(times[1]))


def seconds_per_call(function: Callable, arguments: Sequence, *, calls: int = 1) -> float:
    """The mean time of `calls` calls, in seconds."""
    repeat = range(calls)
    start = perf_counter_ns()
    for _ in repeat:
        function(*arguments)
    return (perf_counter_ns() - start) * 1e-9 / calls


@contextmanager
def collector_paused() -> Iterator[None]:
    """No garbage collection in the block: a pause would be charged to whoever runs at that moment."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def readable_seconds(seconds: float) -> str:
    """A time with three digits and its unit.

    >>> [readable_seconds(s) for s in (3.2e-7, 0.0123, 4.5)]
    ['320 ns', '12.3 ms', '4.50 s']
    """
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            value = seconds / size
            digits = 2 if value < 10 else 1 if value < 100 else 0
            return f"{value:.{digits}f} {unit}"
    return f"{seconds * 1e9:.0f} ns"
