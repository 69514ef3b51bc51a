from __future__ import annotations

import importlib.util
import itertools
import linecache
from pathlib import Path

import pytest
from hypothesis import event, given, settings, target
from hypothesis import strategies as st

import gjit
from gjit.testing import assert_same_as_numpy
from tests.semantics.random_programs import argument_sets, programs
from tests.semantics.support import small_tiles

_number = itertools.count()


def load(text: str, folder: Path):
    """The function `program` of a new file with this text."""
    name = f"random_program_{next(_number)}"
    path = folder / f"{name}.py"
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    linecache.checkcache(str(path))
    return module.program


def run(text: str, sets: list[tuple], folder: Path) -> int:
    """Compare the program on every argument set, as it is and tile by tile; the number of its regions."""
    program = load(text, folder)
    plain_size, tiled = gjit.script(program), gjit.script(program)
    for arguments in sets:
        assert_same_as_numpy(plain_size, *arguments, plain=program)
        with small_tiles():
            assert_same_as_numpy(tiled, *arguments, plain=program)
    assert plain_size.statistics.host_calls == 0
    graph = str(plain_size.graph)
    assert str(gjit.parse_graph(graph)) == graph
    return tiled.statistics.launches


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("random_programs")


@settings(max_examples=40)
@given(programs(), st.lists(argument_sets(), min_size=1, max_size=3))
def test_random_programs_do_what_numpy_does(folder, text, sets):
    launches = run(text, sets, folder)
    event(f"regions that ran tile by tile: {min(launches, 3)}")
    target(float(launches), label="regions that ran tile by tile")


@pytest.mark.slow
@settings(max_examples=4000)
@given(programs(), st.lists(argument_sets(), min_size=1, max_size=4))
def test_many_random_programs_do_what_numpy_does(folder, text, sets):
    run(text, sets, folder)
