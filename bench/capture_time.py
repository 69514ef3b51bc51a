"""What the first call of a 20-line function takes over a plain call: parsing, passes, planning, code generation."""

from __future__ import annotations

import statistics
from collections.abc import Iterator

import numpy as np

import gjit
from bench.harness import Measurement, Options, note
from gjit.timing import seconds_per_call


def twenty_lines(x, y, steps):
    total = np.zeros_like(x)
    scale = 1.0 / (1.0 + np.abs(x))
    for step in range(steps):
        a = x * scale + step
        b = y * scale - step
        if step % 2 == 0:
            c = np.sin(a) * np.cos(b)
        else:
            c = np.exp(-a * a) + np.exp(-b * b)
        d = np.where(c > 0.0, np.sqrt(np.abs(c)), -c)
        total += d
        total[1:-1] = 0.5 * (total[:-2] + total[2:])
        x = x + 0.1 * d
        y = y - 0.1 * d
    low = total.min()
    high = total.max()
    normal = (total - low) / (high - low + 1e-9)
    mean = normal.mean()
    return normal, mean


def run(options: Options) -> Iterator[Measurement]:
    """One measurement, in milliseconds."""
    note("capture of twenty lines")
    arguments = np.linspace(0.0, 1.0, 64), np.linspace(1.0, 2.0, 64), 3
    seconds_per_call(gjit.script(twenty_lines), arguments)  # what is filled once in a process is not counted
    times = []
    for _ in range(options.rounds):
        plain = seconds_per_call(twenty_lines, arguments)
        times.append((seconds_per_call(first_call, arguments) - plain) * 1e3)
    low, middle, high = statistics.quantiles(times, n=4)
    yield Measurement("capture_time", "twenty_lines", 64, middle, low, high, "ms")


def first_call(*arguments: object) -> None:
    """Decorate and call."""
    gjit.script(twenty_lines)(*arguments)
