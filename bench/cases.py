"""Cases: one NumPy program at one size, run by gjit's engines and by each peer that is installed, side by side."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

import gjit
from bench.harness import Measurement, Options, note
from bench.peers import PEERS, Peer, is_installed
from gjit.testing.copying import copy_arguments
from gjit.timing import collector_paused, seconds_per_call

LEAST_SECONDS = 0.005
MOST_SECONDS = 20.0
"""A side that takes longer for one call is timed in that call alone."""


@dataclass(frozen=True, slots=True)
class Case:
    """One program.

    plain      the program in NumPy, which gjit scripts
    arguments  makes its arguments for a size
    sizes      elements, from small to large; `quick` is the one of a quick run, `huge` is for full runs alone
    programs   the best that a user of a peer would write, by the name of the peer: what makes it. A peer that takes
               NumPy programs as they are needs none: `without` names those that cannot run this one
    tolerance  how far a peer may be from NumPy, relative to the largest value
    """

    name: str
    plain: Callable
    arguments: Callable[[int], tuple]
    sizes: tuple[int, ...] = (10_000, 1_000_000, 10_000_000)
    quick: int = 1_000_000
    huge: tuple[int, ...] = ()
    programs: Mapping[str, Callable[[], Callable]] = field(default_factory=dict)
    without: frozenset[str] = frozenset()
    tolerance: float = 1e-5


@dataclass(slots=True)
class Side:
    """One way to run a case: `call()` runs it once on its own arguments, to the end."""

    name: str
    call: Callable[[], object]
    seconds: list[float] = field(default_factory=list)
    failure: str = ""


def run_cases(workload: str, cases: Sequence[Case], options: Options) -> Iterator[Measurement]:
    """All measurements of some cases: the ratio of each side to NumPy, pair by pair."""
    for case in cases:
        for size in _sizes(case, options):
            note(f"{case.name} at {size:,}")
            yield from _measure(workload, case, size, options)


def _sizes(case: Case, options: Options) -> tuple[int, ...]:
    if options.quick:
        return (case.quick,)
    return (*case.sizes, *case.huge) if options.full else case.sizes


def _measure(workload: str, case: Case, size: int, options: Options) -> Iterator[Measurement]:
    arguments = case.arguments(size)
    results, after = outcome(case.plain, arguments)
    plain = Side("NumPy", _call(case.plain, arguments))
    sides = [*_engines(case, arguments, [*results, *after], options), *_peers(case, arguments, results, options)]
    running = [side for side in sides if not side.failure]
    _time([plain, *running], options.rounds)
    noise = _noise(running)
    for side in sides:
        if side.name != AGAIN:
            yield _measurement(workload, case.name, size, plain, side, noise)


AGAIN = "gjit again"
"""The same version a second time: how far two runs of one thing are apart is the noise of a measurement."""


def _noise(sides: list[Side]) -> float | None:
    first, second = (next((side for side in sides if side.name == name), None) for name in ("gjit", AGAIN))
    if first is None or second is None:
        return None
    ratios = [one / two for one, two in zip(first.seconds, second.seconds, strict=True)]
    spread = statistics.quantiles(ratios, n=4) if len(ratios) > 3 else [min(ratios), 1.0, max(ratios)]
    return max(abs(statistics.median(ratios) - 1.0), (spread[2] - spread[0]) / 2)


def _measurement(workload: str, name: str, size: int, plain: Side, side: Side, noise: float | None) -> Measurement:
    if side.failure:
        return Measurement(workload, name, size, 0.0, 0.0, 0.0, "x", side=side.name, note=side.failure)
    ratios = [one / two for one, two in zip(plain.seconds, side.seconds, strict=True)]
    quartiles = statistics.quantiles(ratios, n=4) if len(ratios) > 3 else [min(ratios), 0.0, max(ratios)]
    seconds = statistics.median(plain.seconds), statistics.median(side.seconds)
    own_noise = noise if side.name == "gjit" else None
    spread = quartiles[0], quartiles[2]
    return Measurement(
        workload, name, size, statistics.median(ratios), *spread, "x", *seconds, side=side.name, noise=own_noise
    )


def _call(function: Callable, arguments: tuple) -> Callable[[], object]:
    own = copy_arguments(arguments)
    return lambda: function(*own)


def _engines(case: Case, arguments: tuple, expected: list, options: Options) -> Iterator[Side]:
    """gjit on its engines, the first of them twice; results of engines that promise NumPy's bits have them."""
    for place, engine in enumerate(options.engines):
        compiled = gjit.script(case.plain, engine=engine)
        compiled.compile(*copy_arguments(arguments))
        found = [leaf for part in outcome(compiled, arguments) for leaf in part]
        is_exact = engine in ("auto", "numpy")
        wrong = difference(found, expected) > (0.0 if is_exact else case.tolerance)
        if wrong and is_exact:
            raise AssertionError(f"{case.name}: gjit and NumPy disagree on the engine {engine}")
        names = ("gjit", AGAIN) if place == 0 else (f"gjit {engine}",)
        for name in names:
            yield Side(name, _call(compiled, arguments), failure="wrong" if wrong else "")


def _peers(case: Case, arguments: tuple, expected: list, options: Options) -> Iterator[Side]:
    for name in options.peers:
        peer = PEERS[name]
        make = case.programs.get(name) or peer.from_numpy
        if name in case.without or make is None or not is_installed(peer):
            continue
        note(f"{case.name} on {name}")
        yield _peer(peer, make, case, arguments, expected)


def _peer(peer: Peer, make: Callable, case: Case, arguments: tuple, expected: list) -> Side:
    """A peer's side: compiled, checked against NumPy, and ready; its failure is shown, not hidden."""
    try:
        program = make() if case.programs.get(peer.name) else make(case.plain, arguments)
        first, own = (peer.take(copy_arguments(arguments)) for _ in range(2))
        result = peer.finish(program(*first))
        error = difference(leaves(peer.give(result)), expected)
        if not error <= case.tolerance:
            return Side(peer.name, program, failure=f"wrong by {error:.0e}")
        return Side(peer.name, lambda: peer.finish(program(*own)))
    except Exception as error:  # what a peer cannot run is part of the result
        return Side(peer.name, lambda: None, failure=f"{type(error).__name__}")


def _time(sides: list[Side], rounds: int) -> None:
    """Interleaved rounds, the order turning from round to round."""
    calls = {}
    for side in sides:
        side.call()
        once = seconds_per_call(side.call, ())
        calls[side.name] = max(1, int(LEAST_SECONDS / max(once, 1e-9)))
        rounds = 1 if once > MOST_SECONDS else rounds
    with collector_paused():
        for done in range(rounds):
            turn = done % len(sides)
            for side in sides[turn:] + sides[:turn]:
                side.seconds.append(seconds_per_call(side.call, (), calls=calls[side.name]))


def outcome(function: Callable, arguments: tuple) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """All arrays and numbers that a call gives, and those of its arguments afterwards."""
    own = copy_arguments(arguments)
    results = leaves(function(*own))
    return [each.copy() for each in results], leaves(own)


def leaves(value: object) -> list[np.ndarray]:
    """The arrays and numbers in a result."""
    if isinstance(value, tuple | list):
        return [leaf for part in value for leaf in leaves(part)]
    if isinstance(value, dict):
        return leaves(list(value.values()))
    return [] if value is None or isinstance(value, str) else [np.asarray(value)]


def difference(found: list[np.ndarray], expected: list[np.ndarray]) -> float:
    """The largest difference, relative to the largest value of its array; infinite where shapes differ."""
    if [each.shape for each in found] != [each.shape for each in expected]:
        return np.inf
    errors = [0.0]
    for one, other in zip(found, expected, strict=True):
        if not np.array_equal(one, other, equal_nan=one.dtype.kind in "fc"):
            scale = np.abs(other).max() or 1.0
            errors.append(float(np.abs(one.astype(complex) - other.astype(complex)).max() / scale))
    return max(errors) if all(error == error for error in errors) else np.inf
