"""Plots of measurements: ratios as bars for each workload, and times against sizes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from bench.harness import Measurement
from gjit.errors import require

COLOURS = {
    "gjit": "#d62728",
    "gjit native": "#ff9896",
    "NumPy": "#000000",
    "numexpr": "#2ca02c",
    "numba": "#1f77b4",
    "jax": "#9467bd",
    "torch.compile": "#ff7f0e",
    "torchscript": "#ffbb78",
    "cupy": "#17becf",
    "cupy.fuse": "#9edae5",
}


def write_plots(measurements: Iterable[Measurement], folder: Path) -> list[Path]:
    """Draw PNGs into a folder: `ratios.png`, and one of the times of each workload. Needs matplotlib."""
    pyplot = require("matplotlib.pyplot", extra="bench")
    folder.mkdir(parents=True, exist_ok=True)
    ratios = [each for each in measurements if each.unit == "x" and not each.note and each.plain_seconds is not None]
    files = []
    if ratios:
        files.append(folder / "ratios.png")
        _save(pyplot, _ratio_bars(pyplot, ratios), files[-1])
    for workload in dict.fromkeys(each.workload for each in ratios):
        files.append(folder / f"{workload}.png")
        _save(pyplot, _times(pyplot, [each for each in ratios if each.workload == workload]), files[-1])
    return files


def _save(pyplot: Any, figure: Any, file: Path) -> None:
    figure.savefig(file, dpi=120)
    pyplot.close(figure)


def _ratio_bars(pyplot: Any, ratios: Sequence[Measurement]) -> Any:
    """For each program at its largest size a bar for each side: how many times as fast as NumPy."""
    largest: dict[tuple[str, str], int] = defaultdict(int)
    for each in ratios:
        largest[each.workload, each.program] = max(largest[each.workload, each.program], each.size)
    rows = list(largest)
    sides = [side for side in COLOURS if any(each.side == side for each in ratios)]
    height = 0.8 / max(len(sides), 1)
    figure, axes = pyplot.subplots(figsize=(9, 1.5 + 0.16 * len(rows) * (len(sides) + 1)), layout="constrained")
    for place, side in enumerate(sides):
        chosen = {
            (m.workload, m.program): m for m in ratios if m.side == side and m.size == largest[m.workload, m.program]
        }
        found = [(rows.index(key), chosen[key]) for key in rows if key in chosen]
        places = [row + place * height for row, _ in found]
        spread = [[m.value - m.low for _, m in found], [m.high - m.value for _, m in found]]
        values = [m.value for _, m in found]
        axes.barh(places, values, height, label=side, color=COLOURS[side], xerr=spread, error_kw={"lw": 0.6})
    labels = [f"{program}\n{largest[workload, program]:,}" for workload, program in rows]
    axes.set_yticks([row + 0.4 - height / 2 for row in range(len(rows))], labels, fontsize="small")
    axes.axvline(1.0, color="black", linewidth=0.8)
    axes.set(xscale="log", xlabel="times as fast as NumPy (medians of interleaved rounds, bars: quartiles)")
    axes.set_ylim(len(rows) - 0.1, -0.3)
    axes.legend(fontsize="small", loc="lower right")
    return figure


def _times(pyplot: Any, ratios: Sequence[Measurement]) -> Any:
    """One panel for each program: the time of a call against the number of elements."""
    programs = list(dict.fromkeys(each.program for each in ratios))
    columns = min(3, len(programs))
    count = -(-len(programs) // columns)
    figure, grid = pyplot.subplots(
        count, columns, figsize=(4 * columns, 3.2 * count), squeeze=False, layout="constrained"
    )
    panels = [axes for row in grid for axes in row]
    for axes, program in zip(panels, programs, strict=False):
        _panel(axes, [each for each in ratios if each.program == program])
        axes.set(title=program, xscale="log", yscale="log", xlabel="elements", ylabel="seconds")
    for axes in panels[len(programs) :]:
        axes.set_axis_off()
    names = {name: line for axes in panels for line, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(names.values(), names.keys(), loc="outside lower center", ncols=5, fontsize="small")
    return figure


def _panel(axes: Any, ratios: Sequence[Measurement]) -> None:
    lines: dict[str, dict[int, float]] = defaultdict(dict)
    for each in ratios:
        lines["NumPy"][each.size] = each.plain_seconds or 0.0
        lines[each.side][each.size] = each.compiled_seconds or 0.0
    for side in COLOURS:
        if side in lines:
            style = "--" if side == "NumPy" else "-"
            axes.plot(
                *zip(*sorted(lines[side].items()), strict=True), style, marker="o", label=side, color=COLOURS[side]
            )
