from __future__ import annotations

import threading
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gjit
from gjit.testing import same
from gjit.testing.strength import strength_of

THREADS = 6


def ratio(signal, norm, fallback):
    return np.where(norm == 0.0, fallback, signal / norm) + np.sqrt(np.abs(signal)) * fallback


def argument_sets(size):
    rng = np.random.default_rng(1)
    for thread in range(THREADS):
        length = size + 17 * thread
        norm = rng.integers(0, 3, length).astype(float)
        yield rng.normal(size=length), norm, np.full(length, float(thread))


@pytest.mark.parametrize("size", [50, 3000, 200_000])
def test_one_compiled_function_in_several_threads(size):
    compiled = gjit.script(ratio)
    sets = list(argument_sets(size))
    with np.errstate(all="ignore"):
        expected = [ratio(*arguments) for arguments in sets]

    def work(thread):
        with np.errstate(all="ignore"):
            return [same(expected[thread], compiled(*sets[thread])) for _ in range(8)]

    with ThreadPoolExecutor(THREADS) as pool:
        reasons = [reason for found in pool.map(work, range(THREADS)) for reason in found if reason]
    assert reasons == []


def test_the_first_calls_may_come_from_several_threads_at_once():
    for _ in range(5):
        compiled = gjit.script(lambda x: np.sqrt(x * x + 1) - x)
        barrier = threading.Barrier(THREADS)

        def work(thread, compiled=compiled, barrier=barrier):
            x = np.arange(100.0 + thread)
            barrier.wait()
            return same(np.sqrt(x * x + 1) - x, compiled(x))

        with ThreadPoolExecutor(THREADS) as pool:
            assert [reason for reason in pool.map(work, range(THREADS)) if reason] == []


def test_different_signatures_from_several_threads_at_once():
    compiled = gjit.script(lambda x, k: (x + k) * x)
    dtypes = ["f4", "f8", "i4", "c8", "u1", "?"]

    def work(dtype):
        x = np.ones(50, dtype)
        return [same((x + 2) * x, compiled(x, 2)) for _ in range(20)]

    with ThreadPoolExecutor(THREADS) as pool:
        assert [reason for found in pool.map(work, dtypes) for reason in found if reason] == []


@pytest.mark.skipif(not strength_of(None).warnings, reason="this engine gives no floating-point warnings")
def test_error_states_belong_to_their_thread():
    compiled = gjit.script(lambda x: 1 / x + 1)
    x = np.zeros(200_000)
    outcomes = {}

    def work(mode):
        with np.errstate(divide=mode), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                compiled(x)
                outcomes[mode] = "returned"
            except FloatingPointError:
                outcomes[mode] = "raised"

    threads = [threading.Thread(target=work, args=(mode,)) for mode in ("raise", "ignore")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert outcomes == {"raise": "raised", "ignore": "returned"}


def test_a_program_that_starts_threads_of_its_own():
    def program(x):
        with ThreadPoolExecutor(2) as pool:
            parts = list(pool.map(np.sqrt, [x, x + 1]))
        return parts[0] + parts[1]

    x = np.arange(5.0)
    assert same(program(x), gjit.script(program)(x)) is None


def test_a_callback_may_call_the_compiled_function_again():
    compiled = gjit.script(lambda x, deeper: (x * 2 + 1) + (deeper(x) if deeper else 0))
    x = np.arange(200_000.0)
    expected = (x * 2 + 1) + ((x * 2 + 1) + 0)
    assert same(expected, compiled(x, lambda value: compiled(value, None))) is None


def test_statistics_count_every_call_of_every_thread():
    compiled = gjit.script(lambda x: x + 1)
    with ThreadPoolExecutor(THREADS) as pool:
        list(pool.map(compiled, [np.ones(3)] * 300))
    assert compiled.statistics.calls == 300
