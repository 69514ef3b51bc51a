"""Regions of loop nests: what decides whether native code runs, what goes in and comes out."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit import settings
from gjit.runtime import auto_nest, background, nest_region
from gjit.runtime.compiler import find_compiler
from gjit.runtime.nest_region import signature

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
X = np.linspace(-1, 1, 50)


@pytest.fixture(autouse=True)
def _kernels(tmp_path_factory):
    with settings.config(cache_dir=str(tmp_path_factory.getbasetemp() / "kernels")):
        yield


def positive(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            total += x[i]
    return total


def scaled(x, y, factor):
    for i in range(len(x)):
        y[i] = x[i] * factor


def products(x):
    total = 0.0
    for i in range(len(x)):
        total += x[:i] @ x[:i]
    return total


def test_small_arrays_stay_on_the_host():
    compiled = gjit.script(positive, engine="native")
    compiled(X[: nest_region.LEAST_ELEMENTS - 1])
    assert compiled.statistics.launches == 0
    compiled(X)
    assert compiled.statistics.launches == 1


def test_the_signature_holds_what_the_text_depends_on():
    square = np.ones((8, 8))
    assert signature((square, 1)) == signature((square[:6, :6].copy(), 7))
    assert signature((square, 1)) != signature((square.T, 1))
    assert signature((square, 1)) != signature((square, 1.0)) != signature((square, np.float64(1)))
    assert signature((square, range(0, 5, 2))) != signature((square, range(0, 5, 3)))
    assert signature((square.astype(">f8"), 1)) is None
    assert signature((square, [1])) is None
    assert signature((square[:2, :2],)) is None


def test_what_was_written_is_taken_back_before_the_host_runs():
    def twice(x, limit):
        for i in range(len(x)):
            x[i] = x[i] * 2
            if i == limit:
                x[i] = x[i + 1000]

    compiled = gjit.script(twice, engine="native")
    x = X.copy()
    with pytest.raises(IndexError, match="index 1040 is out of bounds for axis 0 with size 50"):
        compiled(x, 40)
    assert np.array_equal(x, np.where(np.arange(50) <= 40, X * 2, X))
    assert compiled.statistics.fallbacks == 1


def test_numbers_beyond_64_bits_stay_on_the_host():
    compiled = gjit.script(scaled, engine="native")
    y = np.zeros(50)
    compiled(X, y, 1 << 70)
    assert np.array_equal(y, X * float(1 << 70))
    assert compiled.statistics.launches == 0


def test_auto_moves_a_hot_exact_nest_to_native_code(monkeypatch):
    monkeypatch.setattr(auto_nest, "HOT_SECONDS", 0.0)
    compiled = gjit.script(positive, engine="auto")
    assert compiled(X) == positive(X)
    assert background.worker.wait(60)
    assert compiled.statistics.swaps == 1
    result = compiled(X)
    assert (result, type(result)) == (positive(X), np.float64)
    assert compiled.statistics.launches == 1


def test_auto_leaves_sums_in_another_order_to_the_host(monkeypatch):
    monkeypatch.setattr(auto_nest, "HOT_SECONDS", 0.0)
    compiled = gjit.script(products, engine="auto")
    with settings.config(compile="wait"):
        compiled(X)
        compiled(X)
    assert compiled.statistics.launches == 0
    (region,) = (each for each in compiled.statistics.tiled_regions if isinstance(each, nest_region.NestRegion))
    assert list(region.reasons.values()) == ["arithmetic whose last bits are not NumPy's"]


def test_auto_takes_powers_of_numpy_scalars(monkeypatch):
    def powers(x):
        total = 0.0
        for i in range(len(x)):
            total += x[i] ** 2 + abs(x[i]) ** 0.5 + abs(x[i]) ** x[i]
        return total

    monkeypatch.setattr(auto_nest, "HOT_SECONDS", 0.0)
    compiled = gjit.script(powers, engine="auto")
    with settings.config(compile="wait"):
        compiled(X)
        assert compiled(X) == powers(X)
        assert compiled(X.astype("f4")) == powers(X.astype("f4"))
    assert compiled.statistics.launches == 1


def test_never_compiling_is_possible(monkeypatch):
    monkeypatch.setattr(auto_nest, "HOT_SECONDS", 0.0)
    compiled = gjit.script(positive, engine="auto")
    with settings.config(compile="never"):
        compiled(X)
        compiled(X)
    assert compiled.statistics.launches == compiled.statistics.swaps == 0


def test_results_keep_their_types():
    def kinds(x, f):
        a, b, c, d = 0, 0.0, False, x[0]
        for i in range(len(x)):
            a += i
            b += f
            c = c or x[i] > 100
            d = d + x[i]
        return a, b, c, d

    compiled = gjit.script(kinds, engine="native")
    for x in (X, X.astype("f4"), np.arange(50, dtype="u2")):
        expected, actual = kinds(x, 0.5), compiled(x, 0.5)
        assert [type(each) for each in actual] == [type(each) for each in expected]
        assert actual == expected
    assert compiled.statistics.launches == 3
