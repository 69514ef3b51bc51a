"""`python -m bench.gpu_check`: whether a GPU gives NumPy's results, what it tells of itself, and how fast it is.

It needs NumPy, CuPy and, for the description of the machine, pynvml; a run takes less than ten minutes. On
`--device emulated` it runs whole without a GPU: values are judged there, times are not.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from bench.gpu_goals import Goal, bench_of, goals
from bench.gpu_programs import ULPS, semantics, sweep
from bench.gpu_questions import answers
from bench.gpu_report import goal_line, plot
from gjit.runtime import gpu_facts
from gjit.runtime.device import device_named

PACKAGES = ("numpy", "cupy-cuda13x", "cupy-cuda12x", "nvidia-ml-py")
_WORDS = """
add subtract multiply divide sqrt absolute fabs negative positive maximum minimum fmax fmin floor ceil trunc rint
copysign square reciprocal sign fmod remainder floor_divide conjugate
"""
EXACT = frozenset(_WORDS.split())
"""Functions whose bits have to be NumPy's."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run everything; the exit status is 1 where a value is wrong or, on a GPU, a goal is missed."""
    options = _parse(arguments)
    start = time.perf_counter()
    report: dict[str, object] = {"facts": facts(options.device)}
    print(json.dumps(report["facts"], indent=1, default=str), flush=True)
    wrong = _check_semantics(options, report)
    _ask(options, report)
    missed = _measure(options, report)
    report["seconds"] = time.perf_counter() - start
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "gpu_check.json").write_text(json.dumps(report, indent=1, default=str))
    print(f"{wrong} wrong, {missed} goals missed, {report['seconds']:.0f} s")
    return int(bool(wrong or (missed and options.device.startswith("cuda"))))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.gpu_check", description=__doc__.splitlines()[0])
    parser.add_argument("--device", default="cuda", help="cuda, cuda:1, cuda:free or emulated (default: %(default)s)")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write gpu_check.json and plots to FOLDER")
    parser.add_argument("--quick", action="store_true", help="fewer programs and smaller arrays")
    parser.add_argument("--only", choices=("semantics", "questions", "goals"), help="one part alone")
    return parser.parse_args(arguments)


def facts(name: str) -> dict[str, object]:
    """The machine, the versions and the device."""
    device = device_named(name)
    found: dict[str, object] = {"device": device.name, "description": device.describe(), "commit": _commit()}
    found["python"], found["machine"] = platform.python_version(), platform.platform()
    found["packages"] = {package: _version(package) for package in PACKAGES}
    if device.name.startswith("cuda"):
        try:
            found["management"] = gpu_facts.description(device.bus)
            found["state"] = gpu_facts.state(device.bus)
        except Exception as error:
            found["management"] = f"{type(error).__name__}: {error}"
    return found


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None


def _commit() -> str | None:
    folder = Path(__file__).parent
    done = subprocess.run(["git", "rev-parse", "HEAD"], cwd=folder, capture_output=True, text=True, check=False)
    return done.stdout.strip() or None


def _check_semantics(options: argparse.Namespace, report: dict[str, object]) -> int:
    if options.only not in (None, "semantics"):
        return 0
    checks = list(semantics(options.device, every=11 if options.quick else 1))
    problems = [check for check in checks if check.problem]
    for check in problems:
        print(f"WRONG {check.name}: {check.problem}", flush=True)
    distances = sweep(options.device, 300 if options.quick else 20_000)
    far = {name: each for name, each in distances.items() if max(each.values()) > (0 if name in EXACT else ULPS)}
    for name, each in far.items():
        print(f"FAR {name}: {each} units in the last place", flush=True)
    report["semantics"] = {"checks": len(checks), "problems": [asdict(check) for check in problems]}
    report["distances"] = distances
    print(f"{len(checks)} programs, {len(problems)} wrong; {len(distances)} functions, {len(far)} too far", flush=True)
    return len(problems) + len(far)


def _ask(options: argparse.Namespace, report: dict[str, object]) -> None:
    if options.only not in (None, "questions"):
        return
    found = report["answers"] = {}
    for name, answer in answers(bench_of(options.device, options.quick)):
        found[name] = answer
        print(f"{name:55} {answer}", flush=True)


def _measure(options: argparse.Namespace, report: dict[str, object]) -> int:
    if options.only not in (None, "goals"):
        return 0
    found = list(_printed(goals(bench_of(options.device, options.quick))))
    report["goals"] = [{**asdict(goal), "passed": goal.passed} for goal in found]
    if options.out:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "gpu_check.svg").write_text(plot(found))
    return sum(goal.passed is False for goal in found)


def _printed(found: Iterable[Goal]) -> Iterable[Goal]:
    for goal in found:
        print(goal_line(goal), flush=True)
        yield goal


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(main())
