"""`python -m bench`: run workloads, print a table, keep the measurements, compare them with earlier ones."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import gjit
from bench import (
    call_cost,
    capture_time,
    elementwise,
    examples,
    grids,
    import_time,
    latency,
    loop_nests,
    loops,
    memory,
    ocean,
    opening,
    rows,
    science,
)
from bench.baseline import regressions
from bench.harness import Measurement, Options
from bench.peers import ON_CPU, ON_GPU, PEERS, is_installed
from bench.plots import write_plots
from bench.report import Table, read_json, write_json

WORKLOADS = {
    "elementwise": elementwise,
    "rows": rows,
    "grids": grids,
    "loops": loops,
    "science": science,
    "ocean": ocean,
    "loop_nests": loop_nests,
    "latency": latency,
    "memory": memory,
    "call_cost": call_cost,
    "capture_time": capture_time,
    "import_time": import_time,
    "opening": opening,
    "examples": examples,
}
LONG = ("loop_nests", "examples")
"""Workloads that a quick run leaves out unless they are named."""
SLOW_TO_COMPILE = ("torch.compile", "torchscript")
"""Peers that a quick run leaves out unless they are named."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the workloads that were asked for; 1 where something is slower than in the baseline, beyond the noise.

    Raises:
        AssertionError: gjit gave a wrong result.
    """
    options = _parse(arguments)
    gjit.config(device=options.device)
    chosen = options.workload or [name for name in WORKLOADS if not options.quick or name not in LONG]
    wanted = Options(options.quick, options.full, tuple(options.engine.split(",")), _peers(options))
    measurements = _measure(chosen, wanted)
    if options.json:
        write_json(measurements, options.json)
    if options.plots:
        for file in write_plots(measurements, options.plots):
            print(file)
    if not options.baseline:
        return 0
    slower = regressions(read_json(options.baseline), measurements)
    print("\n".join(slower) or "nothing is slower than in the baseline, beyond the noise")
    return 1 if slower else 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m bench", description="Time gjit and its peers against plain NumPy, side by side."
    )
    parser.add_argument("workload", nargs="*", help=f"any of {', '.join(WORKLOADS)} (default: all)")
    parser.add_argument("--device", default="cpu", help="where gjit's programs run (default: %(default)s)")
    parser.add_argument(
        "--engine", default="auto,native", help="gjit's engines, the main one first (default: %(default)s)"
    )
    parser.add_argument("--peers", help=f"any of {', '.join(PEERS)}, or none (default: those that are installed)")
    length = parser.add_mutually_exclusive_group()
    length.add_argument("--quick", action="store_true", help="one size a program, fewer rounds: under two minutes")
    length.add_argument("--full", action="store_true", help="up to 100 million elements")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write machine, versions and measurements to FILE")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw the ratios and times (needs matplotlib)")
    parser.add_argument("--baseline", type=Path, metavar="FILE", help="fail where a result of --json was better")
    options = parser.parse_args(arguments)
    unknown = set(options.workload) - set(WORKLOADS) | (set((options.peers or "none").split(",")) - {*PEERS, "none"})
    if unknown:
        parser.error(f"no workload or peer is named {', '.join(sorted(unknown))}")
    return options


def _peers(options: argparse.Namespace) -> tuple[str, ...]:
    if options.peers is not None:
        return tuple(name for name in options.peers.split(",") if name != "none")
    names = ON_CPU + (ON_GPU if options.device.startswith("cuda") else ())
    skipped = SLOW_TO_COMPILE if options.quick else ()
    return tuple(name for name in names if name not in skipped and is_installed(PEERS[name]))


def _measure(workloads: Sequence[str], options: Options) -> list[Measurement]:
    measurements = []
    with Table(len(workloads)) as table:
        for workload in workloads:
            table.begin(workload)
            for measurement in WORKLOADS[workload].run(options):
                table.add(measurement)
                measurements.append(measurement)
    return measurements


if __name__ == "__main__":
    sys.exit(main())
