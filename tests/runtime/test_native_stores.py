"""Stores into arrays that are read at other places: rows wait, or all of the result does."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit.runtime import native, native_delay
from gjit.runtime.native_kernel import KernelLaunch

pytestmark = [
    pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler"),
    pytest.mark.usefixtures("kernels"),
]


@pytest.fixture(autouse=True)
def waits(monkeypatch):
    """Whether each store that overlaps what it reads went through rows that wait."""
    found = []
    plain = KernelLaunch.launch_delayed

    def launch(self, *arguments):
        found.append(plain(self, *arguments))
        return found[-1]

    monkeypatch.setattr(KernelLaunch, "launch_delayed", launch)
    return found


def neighbours(u):
    u[1:-1] = u[:-2] + u[2:] * 0.5


def forward(u):
    u[1:] = u[:-1] * 2 + 1


def backward(u):
    u[:-1] = u[1:] * 2 + 1


def far(u):
    u[100:] = u[:-100] * 2 + u[100:]


def relax(u):
    u[1:-1, 1:-1] = 0.25 * (u[1:-1, :-2] + u[1:-1, 2:] + u[:-2, 1:-1] + u[2:, 1:-1])


def slanted(u):
    u[3:, 2:] = 0.25 * (u[:-3, :-2] + u[3:, 2:])


def upwards(u):
    u[:-3, 2:] = 0.25 * (u[3:, :-2] + u[:-3, 2:])


def across(u):
    u[1:, :-1] = u[:-1, 1:] * 2 + 1


def every_other(u):
    u[::2] = u[::2] * 2 + u[1::2]


def rounded(u):
    u[1:] = u[:-1].astype("f4") * 2


def cube(u):
    around = u[:-2, 1:-1, 1:-1] + u[2:, 1:-1, 1:-1] + u[1:-1, :-2, 1:-1] + u[1:-1, 2:, 1:-1]
    u[1:-1, 1:-1, 1:-1] = around + u[1:-1, 1:-1, :-2] + u[1:-1, 1:-1, 2:]


CASES = [
    (neighbours, [(10,), (5000,), (20001,)]),
    (forward, [(9000,)]),
    (backward, [(9000,)]),
    (far, [(9000,)]),
    (relax, [(30, 40), (700, 5), (5, 900)]),
    (slanted, [(40, 33)]),
    (upwards, [(40, 33)]),
    (across, [(40, 33)]),
    (every_other, [(40, 33)]),
    (rounded, [(40, 33)]),
    (cube, [(9, 11, 30), (4, 4, 300)]),
]


@pytest.mark.parametrize(("function", "shapes"), CASES, ids=[function.__name__ for function, _ in CASES])
@pytest.mark.parametrize("order", "CF")
def test_stores_see_the_old_elements(function, shapes, order, waits):
    compiled = gjit.script(function, engine="native")
    for shape in shapes:
        theirs = np.asarray(np.random.default_rng(0).standard_normal(shape), order=order)
        ours = theirs.copy(order="K")
        for _ in range(10):  # the last calls go through generated host functions
            function(theirs)
            compiled(ours)
            assert np.array_equal(ours, theirs)
    assert compiled.statistics.fallbacks == 0
    assert all(waits)
    assert waits


def test_rows_that_would_not_stay_in_the_cache_wait_as_a_whole(waits, monkeypatch):
    monkeypatch.setattr(native_delay, "MOST_BYTES", 1)
    compiled = gjit.script(relax, engine="native")
    theirs = np.random.default_rng(0).standard_normal((60, 70))
    ours = theirs.copy()
    relax(theirs)
    compiled(ours)
    assert np.array_equal(ours, theirs)
    assert waits == [False]


def mirrored(u):
    u[1:, :] = u.T[1:, :] * 2 + 1


def repeated(u):
    u[1:] = u[0] * 2 + u[1:] + u[5, 3]


@pytest.mark.parametrize("function", [mirrored, repeated])
def test_other_overlaps(function):
    compiled = gjit.script(function, engine="native")
    theirs = np.random.default_rng(0).standard_normal((50, 50))
    ours = theirs.copy()
    for _ in range(3):
        function(theirs)
        compiled(ours)
        assert np.array_equal(ours, theirs)
