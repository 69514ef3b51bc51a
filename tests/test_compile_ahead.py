"""`f.compile(*args)`: kernels are there before the first call, and nothing is run."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import gjit
from gjit import settings
from gjit.report.progress_bar import progress
from gjit.runtime import native

needs_compiler = pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler")


@pytest.fixture
def kernels(tmp_path):
    with settings.config(cache_dir=str(tmp_path), compile="never"):
        yield


def wave(u, v, k):
    w = u[1:-1] * k + v[:-2] / 3.0
    print("running")
    return np.where(w > 0.0, w * w, 0.0) - v[2:]


@needs_compiler
@pytest.mark.usefixtures("kernels")
@pytest.mark.parametrize("engine", ["auto", "native"])
@pytest.mark.parametrize("layout", [lambda x: x, lambda x: x[::2]], ids=["contiguous", "every other"])
def test_the_first_call_finds_its_kernels(engine, layout, capsys):
    u, v = (layout(np.linspace(1.0, 2.0 + k, 200_000)) for k in range(2))
    before = u.copy(), v.copy()
    compiled = gjit.script(wave, engine=engine)
    assert compiled.compile(u, v, 2.0) is compiled
    assert capsys.readouterr().out == ""
    assert np.array_equal(u, before[0])
    assert np.array_equal(v, before[1])
    compilations = compiled.statistics.compilations
    assert compilations > 1
    assert np.array_equal(compiled(u, v, 2.0), wave(u, v, 2.0))
    statistics = compiled.statistics
    assert (statistics.compilations, statistics.fallbacks) == (compilations, 0)
    assert all(region.native == 1 for region in statistics.tiled_regions)


@needs_compiler
@pytest.mark.usefixtures("kernels")
def test_another_process_would_find_them_on_disk():
    u, counted = np.linspace(1.0, 2.0, 200_000), []
    for _ in range(2):
        native._kernels.clear()
        native._libraries.clear()
        statistics = gjit.script(wave).compile(u, u, 2.0).statistics
        counted.append((statistics.compilations, statistics.cache_hits))
    assert counted == [(3, 0), (1, 2)]  # the host program is printed anew


@pytest.mark.usefixtures("kernels")
def test_regions_with_unknown_inputs_are_left_for_later():
    compiled = gjit.script(lambda values: values["x"] * 2.0 + values["y"])
    compiled.compile({"x": np.ones(9), "y": np.ones(9)})
    assert compiled({"x": np.ones(2), "y": np.ones(2)}).tolist() == [3.0, 3.0]


def test_progress_is_shown_on_a_terminal_alone(monkeypatch, capsys):
    assert list(progress([1, 2], "kernels")) == [1, 2]
    assert capsys.readouterr().err == ""
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setitem(sys.modules, "rich.progress", None)
    assert list(progress([1, 2], "kernels")) == [1, 2]
    assert "kernels 2 of 2" in capsys.readouterr().err


def test_progress_is_a_bar_where_rich_is_installed(monkeypatch, capsys):
    pytest.importorskip("rich")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert list(progress([1, 2], "kernels")) == [1, 2]
    assert "kernels" in capsys.readouterr().err
