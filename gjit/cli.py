"""The command line: `python -m gjit demo`, `python -m gjit info`, `python -m gjit cache list`."""

from __future__ import annotations

import argparse
import importlib.metadata
import os
import platform
import re
import shutil
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from gjit import demo, settings
from gjit.runtime import device, kernel_cache

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
    _add_cache(commands)
    return parser


def _add_cache(commands: argparse._SubParsersAction) -> None:
    cache = commands.add_parser(
        "cache",
        help="look at the compiled kernels on disk, or remove them",
        description="Look at the compiled kernels that are kept on disk, or remove them. Running programs are not "
        "disturbed: they compile again what they miss.",
    )
    actions = cache.add_subparsers(required=True, metavar="ACTION")
    for name, run, text in (
        ("list", _cache_list, "one line a kernel: when it was used last, its size, its key"),
        ("size", _cache_size, "the folder, and how many kernels and bytes it holds"),
        ("clear", _cache_clear, "remove all kernels"),
    ):
        actions.add_parser(name, help=text, description=text).set_defaults(run=run)


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


def _cache_list(options: argparse.Namespace) -> int:
    for entry in kernel_cache.entries():
        used = time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(entry.used))
        print(f"{used}  {entry.size:9,}  {entry.key}")
    return 0


def _cache_size(options: argparse.Namespace) -> int:
    print(cache_text())
    return 0


def _cache_clear(options: argparse.Namespace) -> int:
    removed = kernel_cache.make_room(0)
    print(f"removed {len(removed)} kernels, {sum(entry.size for entry in removed):,} bytes")
    return 0


def cache_text() -> str:
    """The folder of kernels on disk, their number and bytes, and how many bytes there may be."""
    found = kernel_cache.entries()
    size, limit = sum(entry.size for entry in found), int(str(settings.get("cache_size")))
    return f"{kernel_cache.cache_folder()}: {len(found)} kernels, {size:,} of {limit:,} bytes"


def facts() -> Iterator[tuple[str, str]]:
    """What `info` says of this machine, as pairs of a name and a value."""
    yield "python", f"{platform.python_version()} ({platform.python_implementation()}, {platform.platform()})"
    for package in PACKAGES:
        yield package, _version(package)
    yield "cpu", _cpu_name()
    yield "cores", f"{os.cpu_count()}, of which gjit uses {settings.threads()}"
    yield "L2 cache", _level_2_cache()
    yield "compilers", ", ".join(_compilers()) or "none"
    yield "cache", cache_text()
    names = device.devices()
    yield "devices", ", ".join(names)
    for name in names[1:]:
        yield name, device.device_named(name).describe()


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
            yield f"{path} ({_compiler_version(path)})"


def _compiler_version(path: str) -> str:
    """The last line that tells a version: the first of a C++ compiler, a later one of nvcc."""
    try:
        done = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=30)
    except (OSError, subprocess.TimeoutExpired):
        return "does not run"
    lines = [line for line in done.stdout.splitlines() if re.search(r"\d+\.\d+", line)]
    return next((line for line in lines if "release" in line), lines[0] if lines else "unknown")
