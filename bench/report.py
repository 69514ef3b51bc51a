"""Measurements as a table on the console, as JSON, and as plots."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterable, Sequence
from pathlib import Path

from bench.harness import Measurement
from gjit.cli import facts
from gjit.errors import require
from gjit.timing import readable_seconds

HEADER = f"{'workload':13} {'program':42} {'size':>11} {'median':>10} {'quartiles':>17} {'NumPy':>9} {'gjit':>9}"


def line(measurement: Measurement) -> str:
    """One line of the table, under HEADER."""
    m = measurement
    return (
        f"{m.workload:13} {m.program:42} {m.size:11,} {m.value:7.2f} {m.unit:2} {m.low:8.2f} {m.high:8.2f}"
        f" {_time(m.plain_seconds):>9} {_time(m.compiled_seconds):>9}"
    )


def _time(seconds: float | None) -> str:
    return "" if seconds is None else readable_seconds(seconds)


def write_json(measurements: Sequence[Measurement], file: Path) -> None:
    """Write the machine and the measurements; folders are made as needed."""
    file.parent.mkdir(parents=True, exist_ok=True)
    content = {"machine": dict(facts()), "measurements": [dataclasses.asdict(each) for each in measurements]}
    file.write_text(json.dumps(content, indent=1) + "\n")


def write_plots(measurements: Iterable[Measurement], folder: Path) -> list[Path]:
    """Draw the ratios of each workload over the size, one PNG a workload. Needs matplotlib."""
    pyplot = require("matplotlib.pyplot", extra="bench")
    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for workload, lines in _ratios(measurements).items():
        figure, axes = pyplot.subplots(figsize=(9, 6), layout="constrained")
        for program, points in lines.items():
            axes.plot(*zip(*sorted(points), strict=True), marker="o", label=program)
        axes.axhline(1.0, color="black", linewidth=0.8)
        axes.set(xscale="log", yscale="log", xlabel="elements", ylabel="time of NumPy / time of gjit", title=workload)
        axes.legend(fontsize="x-small", ncols=2)
        files.append(folder / f"{workload}.png")
        figure.savefig(files[-1], dpi=150)
        pyplot.close(figure)
    return files


def _ratios(measurements: Iterable[Measurement]) -> dict[str, dict[str, list[tuple[int, float]]]]:
    workloads: dict[str, dict[str, list[tuple[int, float]]]] = {}
    for each in measurements:
        if each.unit == "x":
            workloads.setdefault(each.workload, {}).setdefault(each.program, []).append((each.size, each.value))
    return workloads
