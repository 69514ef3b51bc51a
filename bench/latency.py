"""What the first call of a program costs: with nothing compiled, with kernels on disk, again in the same process."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator

from bench.harness import Measurement, Options, note

CHILD = """
import json, sys, time
import numpy as np
import gjit
gjit.config(cache_dir=sys.argv[1], engine="native")
def wave(x, y):
    return np.sqrt(x * x + y * y) * np.sin(x) + np.exp(-y)
def again(x, y):
    return np.sqrt(x * x + y * y) * np.sin(x) + np.exp(-y)
x = np.linspace(0.0, 1.0, 10_000)
times = []
for function in (wave, again):
    start = time.perf_counter()
    compiled = gjit.script(function)
    compiled(x, x)
    times.append(time.perf_counter() - start)
print(json.dumps(times))
"""


def run(options: Options) -> Iterator[Measurement]:
    """Milliseconds of the first call on the native engine, each round in new processes."""
    times: dict[str, list[float]] = {"cold": [], "kernel on disk": [], "second program": []}
    for number in range(3 if options.quick else 5):
        note(f"latency, round {number + 1}")
        with tempfile.TemporaryDirectory() as folder:
            times["cold"].append(first_calls(folder)[0])
            first, second = first_calls(folder)
            times["kernel on disk"].append(first)
            times["second program"].append(second)
    for name, found in times.items():
        low, middle, high = statistics.quantiles(found, n=4)
        yield Measurement("latency", f"first call, {name}", 10_000, middle, low, high, "ms", side="gjit native")


def first_calls(folder: str) -> list[float]:
    """Milliseconds of the first calls of two programs in a new process that keeps kernels in `folder`."""
    done = subprocess.run([sys.executable, "-c", CHILD, folder], capture_output=True, text=True, check=True)
    return [seconds * 1e3 for seconds in json.loads(done.stdout)]
