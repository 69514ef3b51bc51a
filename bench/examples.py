"""Every program of `examples/`, from where plain NumPy takes 20 microseconds up to 10 million elements."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterator

import examples
from bench.harness import Measurement, Options, Program, speed_up
from gjit.timing import seconds_per_call

LEAST_SECONDS = 20e-6
MOST_SECONDS = 4.0


def run(options: Options) -> Iterator[Measurement]:
    """The ratio of each program at each size that is neither too short to matter nor too long to wait for."""
    for program in programs():
        for size in options.sizes:
            arguments = program.make_arguments(size)
            seconds = min(seconds_per_call(program.plain, arguments) for _ in range(2))
            if LEAST_SECONDS <= seconds <= MOST_SECONDS:
                yield speed_up("examples", program, size, options)


def programs() -> Iterator[Program]:
    """The programs of all example files, named `file.function`."""
    for file in pkgutil.iter_modules(examples.__path__):
        module = importlib.import_module(f"examples.{file.name}")
        for compiled, plain, make_arguments in module.PROGRAMS:
            yield Program(f"{file.name}.{plain.__name__}", compiled, plain, make_arguments)
