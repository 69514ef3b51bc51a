"""What `import gjit` takes once NumPy is imported, each time in a new process."""

from __future__ import annotations

import statistics
import subprocess
import sys
from collections.abc import Iterator

from bench.harness import Measurement, Options, note

CHILD = """
import time
import numpy
start = time.perf_counter()
import gjit
print(time.perf_counter() - start)
"""


def run(options: Options) -> Iterator[Measurement]:
    """One measurement, in milliseconds."""
    note("import gjit")
    seconds_in_new_process()  # the first import writes the byte code
    times = [seconds_in_new_process() * 1e3 for _ in range(options.rounds)]
    low, middle, high = statistics.quantiles(times, n=4)
    yield Measurement("import_time", "import gjit", 0, middle, low, high, "ms")


def seconds_in_new_process() -> float:
    """Start Python, import NumPy, then time the import of gjit."""
    done = subprocess.run([sys.executable, "-c", CHILD], capture_output=True, text=True, check=True)
    return float(done.stdout)
