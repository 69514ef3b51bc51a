from __future__ import annotations

import contextvars
import os
import threading

import numpy as np
import pytest

from gjit import settings as knobs
from gjit.runtime import tile_run
from gjit.runtime.pool import ScratchPool
from gjit.runtime.threads import run_on_threads
from tests.runtime.region_programs import Program, arrays, assert_same, chain, in_place, risky

VARIABLE = contextvars.ContextVar("VARIABLE", default=0)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.parametrize("count", [1, 2, 3, 4])
def test_the_count_of_threads_changes_nothing(count, monkeypatch):
    monkeypatch.setattr(tile_run, "THREADED_WORK", 1)

    def build(nodes, x, y):
        (result,) = chain(nodes, x, y)
        return [result, nodes("numpy.sum", nodes("numpy.sqrt", result))]

    with knobs.config(threads=count):
        assert assert_same(build, *np.random.default_rng(0).random((2, 30000)) + 1).tiled == 1
        assert assert_same(risky, *arrays("f8", "f8")).tiled == 1
        assert assert_same(in_place, *arrays("f8", "f8")).tiled == 1


def test_every_copy_of_a_task_runs_in_the_context_of_the_caller():
    seen, barrier = [], threading.Barrier(3)

    def task():
        barrier.wait(timeout=60)
        seen.append((threading.get_ident(), VARIABLE.get()))

    VARIABLE.set(7)
    run_on_threads(task, 3)
    assert len({thread for thread, _ in seen}) == 3
    assert {value for _, value in seen} == {7}


def test_an_error_of_another_thread_is_raised_by_the_caller():
    caller, barrier = threading.get_ident(), threading.Barrier(2)

    def task():
        barrier.wait(timeout=60)
        if threading.get_ident() != caller:
            raise KeyError("there")

    with pytest.raises(KeyError, match="there"):
        run_on_threads(task, 2)


@pytest.mark.usefixtures("small_tiles")
@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_makes_threads_of_its_own(monkeypatch):
    monkeypatch.setattr(tile_run, "THREADED_WORK", 1)
    inputs = [np.linspace(0, 1, 30000)] * 2
    program = Program(chain, *inputs)
    with knobs.config(threads=2):
        expected = program.tiled(*inputs)
        child = os.fork()
        if child == 0:
            os._exit(0 if np.array_equal(program.tiled(*inputs), expected) else 1)
        _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 0


def test_scratch_is_aligned_kept_and_bounded():
    pool = ScratchPool(kept_bytes=1 << 20)
    block = pool.take(100_000)
    assert block.nbytes >= 100_000
    assert block.ctypes.data % 64 == 0
    pool.give(block)
    assert pool.take(100_000) is block
    large = pool.take(2 << 20)
    pool.give(large)
    assert pool.kept() == 0
    pool.give(block)
    pool.clear()
    assert pool.kept() == 0
