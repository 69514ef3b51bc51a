"""Measurements as a table on the console, with a progress bar, and as JSON."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import importlib.util
import json
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from bench.harness import Measurement, note
from gjit.cli import facts
from gjit.errors import require
from gjit.timing import readable_seconds

HEADER = (
    f"{'workload':11} {'program':26} {'size':>11} {'side':14} {'median':>10} {'quartiles':>17} {'NumPy':>9} {'side':>9}"
)
PACKAGES = ("numba", "llvmlite", "numexpr", "jax", "jaxlib", "torch", "cupy-cuda12x", "cupy-cuda13x", "matplotlib")
_WIDTH = 20


class Table:
    """Prints a line for each measurement; standard error shows what is being done, and how far it is."""

    def __init__(self, workloads: int):
        self.workloads, self.begun = workloads, 0

    def __enter__(self) -> Table:
        print(HEADER)
        return self

    def __exit__(self, *exception: object) -> None:
        note("")

    def begin(self, workload: str) -> None:
        """The next workload begins."""
        filled = _WIDTH * self.begun // self.workloads
        self.begun += 1
        if sys.stderr.isatty():
            bar = "#" * filled + "-" * (_WIDTH - filled)
            print(f"\r\x1b[K[{bar}] {self.begun} of {self.workloads}: {workload}", file=sys.stderr, flush=True)

    def add(self, measurement: Measurement) -> None:
        """Print one line."""
        note("")
        print(line(measurement), flush=True)


def line(measurement: Measurement) -> str:
    """One line of the table, under HEADER."""
    m = measurement
    start = f"{m.workload:11} {m.program:26} {m.size:11,} {m.side:14}"
    if m.note:
        return f"{start} {m.note}"
    times = f"{_time(m.plain_seconds):>9} {_time(m.compiled_seconds):>9}"
    return f"{start} {m.value:7.2f} {m.unit:2} {m.low:8.2f} {m.high:8.2f} {times}"


def _time(seconds: float | None) -> str:
    return "" if seconds is None else readable_seconds(seconds)


def write_json(measurements: Sequence[Measurement], file: Path) -> None:
    """Write machine, versions and measurements; folders are made as needed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    content = {
        "machine": {**dict(facts()), **versions(), **graphics()},
        "measurements": [dataclasses.asdict(each) for each in measurements],
    }
    file.write_text(json.dumps(content, indent=1) + "\n")


def read_json(file: Path) -> list[Measurement]:
    """The measurements that `write_json` wrote."""
    return [Measurement(**each) for each in json.loads(file.read_text())["measurements"]]


def versions() -> dict[str, str]:
    """The peers that are installed."""
    found = {}
    for package in PACKAGES:
        with suppress(importlib.metadata.PackageNotFoundError):
            found[package] = importlib.metadata.version(package)
    return found


def graphics() -> dict[str, str]:
    """What NVML says of each graphics processor: name, driver, memory, clock; nothing where there is none."""
    if importlib.util.find_spec("pynvml") is None:
        return {}
    nvml = require("pynvml", extra="cuda")
    try:
        nvml.nvmlInit()
    except nvml.NVMLError:
        return {}
    found = {"driver": str(nvml.nvmlSystemGetDriverVersion())}
    for number in range(nvml.nvmlDeviceGetCount()):
        device = nvml.nvmlDeviceGetHandleByIndex(number)
        memory = nvml.nvmlDeviceGetMemoryInfo(device).total
        clock = nvml.nvmlDeviceGetMaxClockInfo(device, nvml.NVML_CLOCK_SM)
        found[f"gpu {number}"] = f"{nvml.nvmlDeviceGetName(device)}, {memory >> 20} MiB, up to {clock} MHz"
    nvml.nvmlShutdown()
    return found
