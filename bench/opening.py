"""What opening an archive with 100 MB of parameters takes: they are mapped, and read when they are used."""

from __future__ import annotations

import pathlib
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator

import numpy as np

import gjit
from bench.harness import Measurement, Options, note


class Model(gjit.Module):
    """Ten parameters of 10 MB each."""

    def __init__(self):
        self.parameters_ = gjit.ModuleList([Part() for _ in range(10)])

    def forward(self, x):
        return [part(x) for part in self.parameters_]


class Part(gjit.Module):
    """One of them."""

    def __init__(self):
        self.weight = gjit.Parameter(np.ones((1250, 1000)))

    def forward(self, x):
        return self.weight[0] * x


def run(options: Options) -> Iterator[Measurement]:
    """Opening, and opening with one call, in milliseconds."""
    note("opening an archive of 100 MB")
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder) / "model.gjit"
        gjit.save(gjit.script(Model()), file)
        x = np.ones(1000)
        for name, work in (("open", lambda: gjit.load(file)), ("open and call", lambda: gjit.load(file)(x))):
            times = [_milliseconds(work) for _ in range(max(options.rounds, 2))]
            low, middle, high = statistics.quantiles(times, n=4)
            yield Measurement("opening", name, file.stat().st_size, middle, low, high, "ms")


def _milliseconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return (time.perf_counter() - start) * 1e3
