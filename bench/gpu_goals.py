"""The performance goals of a GPU, as measurements with a bar each has to reach."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import gjit
from gjit.runtime.device import Device, device_named

SPEC_BYTES_A_SECOND = 4.8e12
"""What the memory of an H200 can move at most."""


@dataclass(frozen=True, slots=True)
class Goal:
    """One measurement: `accept` is the bar, `stretch` the next one; larger is better unless `is_least`."""

    name: str
    value: float
    unit: str
    accept: float | None = None
    stretch: float | None = None
    is_least: bool = False
    details: dict[str, float] = field(default_factory=dict)

    @property
    def passed(self) -> bool | None:
        """Whether it reaches the bar; None for one without."""
        if self.accept is None:
            return None
        return self.value <= self.accept if self.is_least else self.value >= self.accept


@dataclass(slots=True)
class Bench:
    """A device and how much work there is for it.

    elements  of a large array of eight bytes each
    rounds    of each measurement
    """

    device: Device
    elements: int
    rounds: int

    @property
    def xp(self) -> Any:
        """NumPy of the device."""
        return self.device.functions

    def array(self, count: int, dtype: str, seed: int = 0) -> Any:
        """Random numbers on the device."""
        values = np.random.default_rng(seed).random(min(count, 1 << 20)).astype(dtype)
        whole = self.xp.empty((count,), np.dtype(dtype))
        for start in range(0, count, values.size):
            part = values[: min(values.size, count - start)]
            whole[start : start + part.size] = self.xp.asarray(part)
        return whole

    def seconds(self, function: Callable, *sets: tuple) -> float:
        """The median time of a call on the device, with the sets of arguments in turn."""
        events = getattr(self.xp, "cuda", self.xp)
        for arguments in sets * 2:
            function(*arguments)
        times = []
        for round_ in range(self.rounds):
            start, end = events.Event(), events.Event()
            start.record()
            result = function(*sets[round_ % len(sets)])
            end.record()
            end.synchronize()
            del result
            times.append(events.get_elapsed_time(start, end) * 1e-3)
        return max(statistics.median(times), 1e-9)

    def host_seconds(self, function: Callable, *arguments: Any, calls: int = 200) -> float:
        """The time that a call takes of the host, while the device works behind it."""
        for _ in range(20):
            function(*arguments)
        times = []
        for _ in range(7):
            self.device.synchronize()
            start = time.perf_counter()
            for _ in range(calls):
                function(*arguments)
            times.append((time.perf_counter() - start) / calls)
        return statistics.median(times)


copy_one = gjit.script(lambda x: x * 1.0)
add_two = gjit.script(lambda x, y: x + y)
add_four = gjit.script(lambda x, y, z, w: x + y - z * w)
chain = gjit.script(lambda x, y: (x * y + x - y) * 0.5 + 1.0)
add_row = gjit.script(lambda x, row: x + row)
total = gjit.script(lambda x: (x * 1.0).sum())
largest = gjit.script(lambda x: (x * 1.0).max())


@gjit.script
def softmax(x):
    """Rows that add up to one."""
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


@gjit.script
def layer_norm(x):
    """Rows with mean 0 and variance 1."""
    z = x - x.mean(axis=-1, keepdims=True)
    return z / np.sqrt((z * z).mean(axis=-1, keepdims=True) + 1e-5)


@gjit.script
def integrate(x, turns):
    """Steps of an ordinary differential equation."""
    for _ in range(turns):
        x = x + 0.01 * (x - x * x * x)
    return x


def one_step(x):
    """One of these steps."""
    return x + 0.01 * (x - x * x * x)


def plain_chain(x, y):
    """What `chain` computes, op by op."""
    return (x * y + x - y) * 0.5 + 1.0


def goals(bench: Bench) -> Iterator[Goal]:
    """All measurements, one after the other."""
    copies = {name: _copy_rate(bench, name) for name in ("f4", "f8", "f2")}
    for name, rate in copies.items():
        bar = 0.85 * SPEC_BYTES_A_SECOND / 1e9
        yield Goal(f"copy {name}", rate / 1e9, "GB/s", bar, 0.9 * SPEC_BYTES_A_SECOND / 1e9)
    best = copies["f4"]
    yield from _elementwise(bench, best)
    yield from _reductions(bench, best)
    yield from _against_library(bench)
    yield from _loops(bench)
    yield from _launches(bench)
    yield from _host(bench)
    yield from _compilation(bench)


def _copy_rate(bench: Bench, dtype: str) -> float:
    count = bench.elements * 8 // np.dtype(dtype).itemsize // 2
    sets = [(bench.array(count, dtype, seed),) for seed in range(2)]
    return 2 * count * np.dtype(dtype).itemsize / bench.seconds(copy_one, *sets)


def _elementwise(bench: Bench, best: float) -> Iterator[Goal]:
    count = bench.elements // 2
    x, y, z, w = (bench.array(count, "f4", seed) for seed in range(4))
    two = 3 * 4 * count / bench.seconds(add_two, (x, y), (z, w))
    yield Goal("two inputs f4, of the copy rate", two / best, "x", 0.95, 0.98)
    four = 5 * 4 * count / bench.seconds(add_four, (x, y, z, w), (w, z, y, x))
    yield Goal("four inputs f4, of the copy rate", four / best, "x", 0.95, 0.98)
    side = 1 << (count.bit_length() - 1) // 2
    square = x[: side * side].reshape(side, side)
    row, column = x[:side], x[:side].reshape(side, 1)
    for name, other in (("row", row), ("column", column)):
        rate = 2 * 4 * side * side / bench.seconds(add_row, (square, other))
        yield Goal(f"broadcast {name} f4, of the copy rate", rate / best, "x", 0.85, 0.92)


def _reductions(bench: Bench, best: float) -> Iterator[Goal]:
    count = bench.elements
    x = bench.array(count, "f4")
    for name, function in (("sum", total), ("max", largest)):
        rate = 4 * count / bench.seconds(function, (x,))
        yield Goal(f"{name} of all f4, of what memory can do", rate / SPEC_BYTES_A_SECOND, "x", 0.85, 0.9)
    for width in (256, 2048, 16384, 32768):
        rows = count // 2 // width
        if not rows:
            continue
        square = x[: rows * width].reshape(rows, width)
        for name, function in (("softmax", softmax), ("layer norm", layer_norm)):
            rate = 2 * 4 * square.size / bench.seconds(function, (square,))
            yield Goal(f"{name} rows of {width} f4, of the copy rate", rate / best, "x", 0.85, 0.92)


def _against_library(bench: Bench) -> Iterator[Goal]:
    count = bench.elements // 2
    x, y, z, w = (bench.array(count, "f4", seed) for seed in range(4))
    ours = bench.seconds(add_two, (x, y), (z, w))
    theirs = bench.seconds(lambda a, b: a + b, (x, y), (z, w))
    yield Goal("one addition f4, times as fast as CuPy", theirs / ours, "x", 1.4, 1.8)
    ours = bench.seconds(chain, (x, y), (z, w))
    theirs = bench.seconds(plain_chain, (x, y), (z, w))
    yield Goal("five ops f4, times as fast as CuPy op by op", theirs / ours, "x", 6.0, 9.0)


def _loops(bench: Bench) -> Iterator[Goal]:
    step, turns = gjit.script(one_step), 100
    for count, accept, stretch in ((min(10**6, bench.elements), 30.0, 60.0), (min(10**8, bench.elements), 8.0, 12.0)):
        x = bench.array(count, "f4")

        def by_steps(x: Any) -> Any:
            for _ in range(turns):
                x = step(x)
            return x

        whole, single = bench.seconds(integrate, (x, turns)), bench.seconds(by_steps, (x,))
        yield Goal(f"100 turns of {count:,} in one region, times as fast", single / whole, "x", accept, stretch)


def _launches(bench: Bench) -> Iterator[Goal]:
    x = bench.array(4096, "f4").reshape(64, 64)
    programs = (
        ("chain", chain, (x, x)),
        ("softmax", softmax, (x,)),
        ("layer norm", layer_norm, (x,)),
        ("sum", total, (x,)),
    )
    for name, function, arguments in programs:
        before = function.statistics.launches
        function(*arguments)
        yield Goal(f"launches of {name}", function.statistics.launches - before, "", 1, 1, is_least=True)


def _host(bench: Bench) -> Iterator[Goal]:
    x, y, z = (bench.array(1000, "f4", seed) for seed in range(3))
    three = gjit.script(lambda x, y, z: x * y + z)
    one = bench.host_seconds(three, x, y, z)
    yield Goal("host time of a call with one kernel", one * 1e6, "us", 10.0, 6.0, is_least=True)
    twice = gjit.script(lambda x, y, z: (x * y + z, (x[1:] * y[:-1] + z[1:])))
    more = bench.host_seconds(twice, x, y, z) - one
    yield Goal("host time of one more kernel", more * 1e6, "us", 4.0, 2.5, is_least=True)
    yield Goal("host time of an addition by the library", bench.host_seconds(lambda: x + y) * 1e6, "us")
    yield Goal(
        "host time of an empty array", bench.host_seconds(lambda: bench.xp.empty((1000,), np.float32)) * 1e6, "us"
    )
    plain = np.ones(1000, "f4")
    away = gjit.script(lambda x: x * 2.0 + 1.0, device=bench.device.name)
    yield Goal("a call with a NumPy array there and back", bench.host_seconds(away, plain, calls=50) * 1e6, "us")


def _compilation(bench: Bench) -> Iterator[Goal]:
    x = bench.array(1000, "f4")
    with tempfile.TemporaryDirectory() as folder, gjit.config(cache_dir=folder):
        for name, accept, stretch in (("cold", 250.0, 120.0), ("from disk", 60.0, 40.0)):
            gjit.runtime.device_kernel._kernels.clear()
            function = gjit.script(lambda x: (np.exp(x) * x + 3.5 - x / 7.0) * np.sqrt(x) + x * x - 0.25 * x)
            start = time.perf_counter()
            function(x)
            bench.device.synchronize()
            seconds = time.perf_counter() - start
            yield Goal(f"first call of ten ops, {name}, capture included", seconds * 1e3, "ms", accept, stretch, True)
    program = "import time, numpy; t = time.perf_counter(); import gjit; print(time.perf_counter() - t)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    yield Goal("import gjit after NumPy", float(done.stdout) * 1e3, "ms", 40.0, 20.0, is_least=True)


def bench_of(name: str, quick: bool) -> Bench:
    """A device with work for it: little for an emulated one."""
    device = device_named(name)
    is_emulated = name.startswith("emulated")
    elements = 1 << 13 if is_emulated else 1 << 24 if quick else 1 << 28
    return Bench(device, elements, 3 if is_emulated else 30)
