"""What all workloads share: options, measurements, and timing that first checks that both sides agree."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from gjit.testing import assert_same_as_numpy
from gjit.timing import Comparison, compare


@dataclass(frozen=True, slots=True)
class Options:
    """How thorough a run is."""

    quick: bool = False
    full: bool = False
    engines: tuple[str, ...] = ("auto", "native")
    peers: tuple[str, ...] = ()

    @property
    def rounds(self) -> int:
        """Timing rounds of one measurement."""
        return 5 if self.quick else 11

    @property
    def sizes(self) -> tuple[int, ...]:
        """Elements in the arguments of an array program."""
        return (10_000, 1_000_000) if self.quick else (1_000, 10_000, 100_000, 1_000_000, 10_000_000)


@dataclass(frozen=True, slots=True)
class Measurement:
    """One line of the table.

    `value` is a median in `unit` and lies between the quartiles `low` and `high`. A ratio (unit `x`) is the time of
    plain NumPy over that of `side`; `plain_seconds` and `compiled_seconds` are the medians behind it, where two sides
    were compared. `noise` is how far apart, relatively, two sides of the same version were in the same rounds. `note`
    says why there is no value: the side was wrong, or failed.
    """

    workload: str
    program: str
    size: int
    value: float
    low: float
    high: float
    unit: str
    plain_seconds: float | None = None
    compiled_seconds: float | None = None
    side: str = "gjit"
    noise: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Program:
    """A compiled function, the plain one, and what makes their arguments for a size."""

    name: str
    compiled: Callable
    plain: Callable
    make_arguments: Callable[[int], Sequence]


def speed_up(workload: str, program: Program, size: int, options: Options) -> Measurement:
    """The ratio of `program` at `size`. Raises AssertionError where gjit and NumPy disagree in any bit."""
    comparison = checked_comparison(program, size, options.rounds)
    low, high = comparison.spread
    return Measurement(
        workload,
        program.name,
        size,
        comparison.ratio,
        low,
        high,
        "x",
        comparison.plain_seconds,
        comparison.compiled_seconds,
    )


def checked_comparison(program: Program, size: int, rounds: int, *, least_seconds: float = 0.01) -> Comparison:
    """Compare results and mutated arguments with NumPy's, then time both."""
    note(f"{program.name} at {size:,}")
    assert_same_as_numpy(program.compiled, *program.make_arguments(size))
    return compare(
        program.plain,
        program.compiled,
        lambda: program.make_arguments(size),
        rounds=rounds,
        least_seconds=least_seconds,
    )


def note(text: str) -> None:
    """Say on standard error what is being measured, in one line that the next note replaces."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)
