from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import gjit

NAMES = list(gjit.__all__)
SUBMODULES = [found.name for found in pkgutil.walk_packages(gjit.__path__, "gjit.") if found.name != "gjit.__main__"]


def run_python(program: str) -> str:
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_all_names_exist_and_are_sorted_into_no_duplicates():
    assert len(set(NAMES)) == len(NAMES)
    assert [name for name in NAMES if not hasattr(gjit, name)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_is_documented(name):
    value = getattr(gjit, name)
    if inspect.isclass(value) or inspect.isroutine(value) or inspect.ismodule(value):
        assert inspect.getdoc(value), f"gjit.{name} has no docstring"


@pytest.mark.parametrize("name", NAMES)
def test_every_public_name_was_made_in_gjit(name):
    value = getattr(gjit, name)
    if inspect.isclass(value) or inspect.isroutine(value):
        assert value.__module__.split(".")[0] == "gjit"


def test_importing_every_submodule_leaves_every_public_name():
    before = {name: getattr(gjit, name) for name in NAMES}
    for submodule in SUBMODULES:
        importlib.import_module(submodule)
    assert [name for name in NAMES if getattr(gjit, name) is not before[name]] == []


def test_no_submodule_has_the_name_of_a_public_function():
    hidden = [name for name in NAMES if f"gjit.{name}" in SUBMODULES and not inspect.ismodule(getattr(gjit, name))]
    assert hidden == []


def test_a_star_import_gives_the_public_names_in_a_new_process():
    text = run_python("from gjit import *; print(sorted(name for name in dir() if not name.startswith('_')))")
    assert text.strip() == str(sorted(name for name in NAMES if not name.startswith("_")))


@pytest.mark.parametrize("package", ["cupy", "scipy", "pynvml", "hypothesis", "pytest", "matplotlib"])
def test_importing_gjit_does_not_import(package):
    text = run_python(f"import sys, gjit; print({package!r} in sys.modules)")
    assert text.strip() == "False"


def test_importing_gjit_prints_nothing_and_starts_no_thread():
    program = "import gjit, threading; print(threading.active_count())"
    assert run_python(program).strip() == "1"
