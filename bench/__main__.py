"""`python -m bench`: run workloads, print a table, keep the measurements."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from bench import call_cost, capture_time, elementwise, examples, import_time, loop_nests
from bench.harness import Measurement, Options, note
from bench.report import HEADER, line, write_json, write_plots

WORKLOADS = {
    "call_cost": call_cost,
    "import_time": import_time,
    "capture_time": capture_time,
    "elementwise": elementwise,
    "examples": examples,
    "loop_nests": loop_nests,
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the workloads that were asked for; the exit status is 0, or the AssertionError of a wrong result."""
    options = _parse(arguments)
    measurements = _measure(options.workload or list(WORKLOADS), Options(quick=options.quick))
    if options.json:
        write_json(measurements, options.json)
    if options.plots:
        write_plots(measurements, options.plots)
    return 0


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description="Time gjit against plain NumPy.")
    parser.add_argument("workload", nargs="*", help=f"any of {', '.join(WORKLOADS)} (default: all)")
    parser.add_argument("--quick", action="store_true", help="fewer sizes and rounds")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the measurements to FILE")
    parser.add_argument("--plots", type=Path, metavar="FOLDER", help="draw the ratios into FOLDER (needs matplotlib)")
    options = parser.parse_args(arguments)
    unknown = set(options.workload) - set(WORKLOADS)
    if unknown:
        parser.error(f"no workload is named {', '.join(sorted(unknown))}")
    return options


def _measure(workloads: Sequence[str], options: Options) -> list[Measurement]:
    print(HEADER)
    measurements = []
    for workload in workloads:
        for measurement in WORKLOADS[workload].run(options):
            note("")
            print(line(measurement), flush=True)
            measurements.append(measurement)
    return measurements


if __name__ == "__main__":
    sys.exit(main())
