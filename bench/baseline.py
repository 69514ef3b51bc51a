"""What has become slower since an earlier run, beyond the noise of both."""

from __future__ import annotations

from collections.abc import Sequence

from bench.harness import Measurement

LEAST_NOISE = 0.05
"""Changes below this are not told apart, whatever the rounds say."""
_TIMES_NOISE = 2.0


def regressions(before: Sequence[Measurement], after: Sequence[Measurement]) -> list[str]:
    """A line for each ratio of gjit that fell by more than twice the noise that two sides of one version had.

    >>> old = Measurement("rows", "softmax", 1000, 4.0, 3.9, 4.1, "x", noise=0.01)
    >>> new = Measurement("rows", "softmax", 1000, 3.0, 2.9, 3.1, "x", noise=0.02)
    >>> regressions([old], [new])
    ['rows: softmax at 1,000 elements: 4.00 times NumPy before, 3.00 now (noise 10%)']
    >>> regressions([old], [old]), regressions([], [new])
    ([], [])
    """
    known = {_key(each): each for each in before if _counts(each)}
    lines = []
    for now in filter(_counts, after):
        old = known.get(_key(now))
        if old is None:
            continue
        noise = _TIMES_NOISE * max(LEAST_NOISE, _noise(old), _noise(now))
        if now.value < old.value * (1.0 - noise):
            place = f"{now.workload}: {now.program} at {now.size:,} elements"
            lines.append(f"{place}: {old.value:.2f} times NumPy before, {now.value:.2f} now (noise {noise:.0%})")
    return lines


def _counts(measurement: Measurement) -> bool:
    return measurement.unit == "x" and measurement.side == "gjit" and not measurement.note


def _key(measurement: Measurement) -> tuple[str, str, int]:
    return measurement.workload, measurement.program, measurement.size


def _noise(measurement: Measurement) -> float:
    """Measured by a second side of the same version, or else by the spread of the rounds."""
    if measurement.noise is not None:
        return measurement.noise
    return (measurement.high - measurement.low) / 2 / measurement.value if measurement.value else 0.0
