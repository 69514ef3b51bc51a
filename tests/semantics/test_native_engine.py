"""The programs and examples on the native engine, regions of every size: what NumPy gives, at the engine's strength."""

from __future__ import annotations

import importlib
import pkgutil
import zlib

import numpy as np
import pytest

import examples
import gjit
from gjit.runtime import native, native_region
from gjit.testing import assert_same_as_numpy
from tests.semantics.test_programs import PROGRAMS, arguments_of, strided_singles

pytestmark = [
    pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler"),
    pytest.mark.no_text_check,
]

EXAMPLES = [
    pytest.param(plain, make_arguments, id=f"{file.name}.{plain.__name__}")
    for file in pkgutil.iter_modules(examples.__path__)
    for _, plain, make_arguments in importlib.import_module(f"examples.{file.name}").PROGRAMS
]


@pytest.fixture(autouse=True)
def every_region_is_native(monkeypatch, tmp_path_factory):
    """Kernels for arrays of any size, kept in one folder."""
    monkeypatch.setattr(native_region, "MINIMUM_ELEMENTS", 1)
    folder = tmp_path_factory.getbasetemp() / "kernels"
    with gjit.config(cache_dir=str(folder)):
        yield


def is_chosen(name: str) -> bool:
    """Every second program runs in other dtypes and layouts, the others as they are: compiling is dear."""
    return zlib.crc32(name.encode()) % 2 == 0


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs(program):
    arguments = arguments_of(program, program.sizes[0])
    if is_chosen(program.name):
        arguments = tuple(map(strided_singles, arguments))
    assert_same_as_numpy(gjit.script(program.function, engine="native"), *arguments)


@pytest.mark.parametrize(("plain", "make_arguments"), EXAMPLES)
def test_examples(plain, make_arguments):
    function = getattr(plain, "__wrapped__", plain)
    assert_same_as_numpy(gjit.script(function, engine="native"), *make_arguments(700))


def test_results_near_those_of_numpy_are_not_enough_for_exact_engines():
    def close(x):
        return np.exp(x) * (1 + 2**-52)

    with pytest.raises(AssertionError):
        assert_same_as_numpy(gjit.script(np_exp), np.linspace(0, 1, 50), plain=close)
    assert_same_as_numpy(gjit.script(np_exp, engine="native"), np.linspace(0, 1, 50), plain=close)
    with pytest.raises(AssertionError):
        assert_same_as_numpy(
            gjit.script(np_exp, engine="native"), np.linspace(0, 1, 50), plain=lambda x: close(x) + 1e-8
        )


def np_exp(x):
    return np.exp(x) * 1.0
