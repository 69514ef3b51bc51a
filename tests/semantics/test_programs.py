"""The kernels that people try first, from unmodified NumPy source: the bits of NumPy, one plan for all sizes."""

from __future__ import annotations

import functools
import gc
import importlib
import pkgutil
import weakref
import zlib
from collections.abc import Callable

import numpy as np
import pytest

import gjit
import tests.semantics.programs
from gjit.runtime import tile_plan
from gjit.testing import assert_same_as_numpy
from tests.semantics.programs.program import Program
from tests.semantics.support import check_text

FILES = sorted(file.name for file in pkgutil.iter_modules(tests.semantics.programs.__path__))
MODULES = [importlib.import_module(f"tests.semantics.programs.{file}") for file in FILES]
PROGRAMS = [
    pytest.param(program, id=f"{module.__name__.split('.')[-1]}.{program.name}")
    for module in MODULES
    for program in getattr(module, "PROGRAMS", ())
]
PROGRAMS_AND_SIZES = [
    pytest.param(*parameter.values, size, id=f"{parameter.id}-{size}")
    for parameter in PROGRAMS
    for size in parameter.values[0].sizes
]


@functools.cache
def compiled(function: Callable) -> gjit.CompiledFunction:
    return gjit.script(function)


def arguments_of(program: Program, size: int) -> tuple:
    return program.make_arguments(size, np.random.default_rng(zlib.crc32(program.name.encode()) + size))


@pytest.fixture(autouse=True)
def tiles_of_the_largest_arrays(monkeypatch):
    """The largest size of each program runs tile by tile, where plain calls are about as fast, too."""
    monkeypatch.setattr(tile_plan, "MINIMUM_BYTES", 1 << 18)


@pytest.mark.parametrize(("program", "size"), PROGRAMS_AND_SIZES)
def test_program_gives_the_bits_of_numpy(program, size):
    assert_same_as_numpy(compiled(program.function), *arguments_of(program, size))


@pytest.mark.parametrize("program", PROGRAMS)
def test_one_plan_serves_every_size_and_every_call(program):
    function = gjit.script(program.function)
    function(*arguments_of(program, program.sizes[-2]))
    captures = function.statistics.captures
    for size in program.sizes[:-1]:
        assert_same_as_numpy(function, *arguments_of(program, size), calls=2)
    assert function.statistics.signatures == program.signatures
    assert function.statistics.captures == captures


def strided_singles(value: object) -> object:
    """The same numbers in single precision, spread over every second place of every axis."""
    if not isinstance(value, np.ndarray):
        return value
    dtype = {"f": np.float32, "c": np.complex64}.get(value.dtype.kind, value.dtype)
    wide = np.zeros([2 * extent for extent in value.shape], dtype)
    spread = wide[(slice(None, None, 2),) * value.ndim]
    spread[...] = value
    return spread


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_takes_other_dtypes_and_layouts(program):
    arguments = tuple(map(strided_singles, arguments_of(program, program.sizes[-2])))
    assert_same_as_numpy(compiled(program.function), *arguments)


@pytest.mark.parametrize("program", PROGRAMS)
def test_program_runs_without_the_interpreter_and_prints_back(program):
    function = gjit.script(program.function)
    function(*arguments_of(program, program.sizes[-2]))
    assert function.statistics.host_calls == 0
    check_text(function)


@pytest.mark.parametrize("program", [parameter for parameter in PROGRAMS if parameter.values[0].tiled])
def test_large_arrays_run_tile_by_tile(program):
    function = gjit.script(program.function)
    function(*arguments_of(program, program.sizes[-1]))
    assert function.statistics.launches > 0


def test_closures_of_a_call_die_with_it():
    def program(x, references):
        doubled = x * 2.0
        references.append(weakref.ref(doubled))

        def outer(y):
            def inner(z):
                return z + doubled

            return inner(y)

        return outer(x)

    references = []
    for function in (program, gjit.script(program)):
        function(np.ones(10), references)
    gc.collect()
    assert all(reference() is None for reference in references)


def test_names_are_distinct():
    names = [parameter.id for parameter in PROGRAMS]
    functions = [parameter.values[0].function for parameter in PROGRAMS]
    assert len(set(names)) == len(set(functions))
