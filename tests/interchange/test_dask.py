"""Compiled functions over Dask arrays, on threads and on a cluster of two processes."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import gjit
from gjit.interchange.dask import Travelling, map_blocks, map_overlap, reduction

da = pytest.importorskip("dask.array")
OFFSET = np.array(0.5)


def helper(x):
    return np.sqrt(x * x + OFFSET)


@gjit.script
def shifted(x, y, scale=1.0):
    return helper(x) * scale - y


@gjit.script
def smooth(x):
    out = x.copy()
    out[1:-1] = (x[:-2] + x[1:-1] + x[2:]) / 3
    return out


@gjit.script
def total(x, axis, keepdims):
    return np.sum(x, axis=axis, keepdims=keepdims)


@gjit.script
def largest_square(x, axis, keepdims):
    return np.max(x * x, axis=axis, keepdims=keepdims)


@gjit.script
def largest(x, axis, keepdims):
    return np.max(x, axis=axis, keepdims=keepdims)


X = np.random.default_rng(3).normal(size=(50, 40))


def results():
    """Each Dask array with what NumPy gives."""
    x, y = da.from_array(X, chunks=(20, 15)), da.from_array(X[::-1].copy(), chunks=(20, 15))
    yield map_blocks(shifted, x, y), shifted.__wrapped__(X, X[::-1])
    yield map_blocks(shifted, x, y, scale=2.0, dtype="f8"), shifted.__wrapped__(X, X[::-1], 2.0)
    yield map_overlap(smooth, x, depth=(1, 0), boundary="none"), smooth.__wrapped__(X)
    yield reduction(x, largest_square, largest, axis=0), (X * X).max(axis=0)
    yield reduction(x, largest_square, largest, keepdims=True, split_every=2), (X * X).max(keepdims=True)
    whole = da.from_array(np.arange(2000).reshape(50, 40), chunks=(20, 15))
    yield reduction(whole, total, axis=1), np.arange(2000).reshape(50, 40).sum(axis=1)
    yield reduction(whole, total, combine=total), np.arange(2000).sum()


@pytest.mark.parametrize("scheduler", ["synchronous", "threads"])
def test_blocks_margins_and_reductions(scheduler):
    for lazy, expected in results():
        got = lazy.compute(scheduler=scheduler)
        np.testing.assert_array_equal(got, expected)
        assert got.dtype == np.asarray(expected).dtype


def test_each_signature_is_compiled_once_for_all_blocks():
    function = gjit.script(lambda x: x * 3 + 1)
    lazy = map_blocks(function, da.ones((400, 10), chunks=(10, 10)), dtype="f8", meta=np.zeros((0, 0)))
    np.testing.assert_array_equal(lazy.compute(scheduler="threads"), np.full((400, 10), 4.0))
    assert function.statistics.signatures == 1
    assert function.statistics.calls == 40


def test_names_of_tasks_depend_on_the_program_alone():
    x = da.ones(10, chunks=5)
    assert map_blocks(shifted, x, x).name == map_blocks(shifted, x, x).name
    assert map_blocks(shifted, x, x).name != map_blocks(gjit.script(lambda x, y: x - y), x, x).name


def test_a_function_travels_as_its_graph():
    sent = pickle.dumps(Travelling(shifted))
    assert __name__.encode() not in sent.replace(b"__module__", b"")[:200]
    again = pickle.loads(sent)
    np.testing.assert_array_equal(again(X, X), shifted.__wrapped__(X, X))


def test_plain_functions_are_refused():
    with pytest.raises(TypeError, match="script or trace it first"):
        map_blocks(np.sqrt, da.ones(3))


def test_a_cluster_of_two_workers():
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 2, "processes": True, "dashboard_address": None}
    with distributed.LocalCluster(**options) as cluster, distributed.Client(cluster) as client:
        for lazy, expected in results():
            np.testing.assert_array_equal(lazy.compute(), expected)
        function = gjit.script(lambda x: helper(x) * 3)
        lazy = map_blocks(function, da.ones((400, 10), chunks=(5, 10)), dtype="f8", meta=np.zeros((0, 0)))
        np.testing.assert_array_equal(lazy.compute(), helper(np.ones((400, 10))) * 3)
        digest = Travelling(function).digest
        there = client.run(lambda: _signatures_of(digest))
        assert set(there.values()) <= {None, 1}
        assert 1 in there.values()
        assert function.statistics.calls == 0


def _signatures_of(digest):
    from gjit.interchange import dask

    found = dask._functions._known.get(digest)
    return None if found is None else found.statistics.signatures


def test_the_example_gives_what_numpy_gives():
    from examples import out_of_core

    lazy = out_of_core.statistics(50, block=20)
    expected = out_of_core.whole(50)
    np.testing.assert_array_equal(lazy["highest"].compute(), expected["highest"])
    assert lazy["above"].compute() == expected["above"]
