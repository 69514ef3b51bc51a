"""The command line: `python -m gjit demo`, `python -m gjit info`."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from gjit import demo, settings

PACKAGES = ("gjit", "numpy", "cupy-cuda12x", "cupy-cuda13x", "scipy", "onnx", "dask", "rich", "graphviz")
"""The packages whose versions `info` shows."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit status is what it returns.

    Raises SystemExit for `--help` and for arguments that no command takes, as argparse does.
    """
    options = _parser().parse_args(arguments)
    return options.run(options)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="gjit", description="gjit: TorchScript for NumPy")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    run = commands.add_parser(
        "demo",
        help="run the hybrid frontend example and time Black-Scholes",
        description="Run a program of traced and scripted parts, print its graphs and values, "
        "then time Black-Scholes prices against plain NumPy.",
    )
    run.add_argument(
        "--size", type=_positive, default=10_000_000, help="how many options to price (default: %(default)s)"
    )
    run.add_argument("--rounds", type=_positive, default=7, help="timing rounds (default: %(default)s)")
    run.set_defaults(run=_demo)
    info = commands.add_parser(
        "info",
        help="show versions, the machine and the knobs",
        description="Show what gjit finds on this machine, and the value of every knob.",
    )
    info.set_defaults(run=_info)
    return parser


def _positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a positive number")
    return value


def _demo(options: argparse.Namespace) -> int:
    demo.main(options.size, options.rounds)
    return 0


def _info(options: argparse.Namespace) -> int:
    for name, value in facts():
        print(f"{name:16} {value}")
    for knob in settings.KNOBS.values():
        print(f"{knob.variable:16} {settings.get(knob.name)!r:10} {knob.help}")
    return 0


def facts() -> Iterator[tuple[str, str]]:
    """What `info` says of this machine, as pairs of a name and a value."""
    yield "python", f"{platform.python_version()} ({platform.python_implementation()}, {platform.platform()})"
    for package in PACKAGES:
        yield package, _version(package)
    yield "cpu", _cpu_name()
    yield "cores", f"{os.cpu_count()}, of which gjit uses {settings.threads()}"
    yield "L2 cache", _level_2_cache()
    yield "compilers", ", ".join(_compilers()) or "none"
    yield "devices", "none"


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _cpu_name() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _level_2_cache() -> str:
    try:
        size = Path("/sys/devices/system/cpu/cpu0/cache/index2/size").read_text().strip()
    except OSError:
        return "unknown"
    return f"{size.removesuffix('K')} KiB a core"


def _compilers() -> Iterator[str]:
    for name in dict.fromkeys([os.environ.get("CXX", ""), "c++", "g++", "clang++", "nvcc"]):
        path = shutil.which(name) if name else None
        if path:
            yield path
