"""Eight threads, two thousand calls each, over twelve signatures: equal results, and each signature compiled once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

import gjit
from gjit.testing import same

THREADS, CALLS = 8, 2000
SIGNATURES = [
    *((np.arange(1, 7).astype(dtype),) for dtype in ("f4", "f8", "i4", "u1", "c8", "?")),
    *((np.arange(1, 13, dtype=dtype).reshape(3, 4),) for dtype in ("f8", "i2", "f2")),
    (np.array(3.5),),
    (np.arange(1, 25, dtype="f4").reshape(2, 3, 4),),
    (np.float32(2.5),),
]


def program(x):
    y = np.sqrt(x * x + 1) - x
    if y.ndim > 1:
        y = y.sum(axis=0)
    return np.where(y > 1, y, 2 * y)


def halved(x):
    return x / 2


class Scaled(gjit.Module):
    def __init__(self):
        self.scale = gjit.Parameter(np.array(1.5, dtype=np.float32))

    def forward(self, x):
        return np.tanh(x * self.scale) + x


class ScaledMethod(gjit.ScriptModule):
    def __init__(self):
        self.scale = gjit.Parameter(np.array(1.5, dtype=np.float32))

    @gjit.script_method
    def forward(self, x):
        return np.tanh(x * self.scale) + x


def call_from_all_threads(function, plain, wrap=lambda arguments: arguments):
    """Every thread begins with another signature, at the same time; the reasons why results differ."""
    expected = [plain(*wrap(arguments)) for arguments in SIGNATURES]
    barrier = threading.Barrier(THREADS)

    def work(thread):
        barrier.wait()
        wrong = set()
        for call in range(CALLS):
            index = (call + 5 * thread) % len(SIGNATURES)
            reason = same(expected[index], function(*wrap(SIGNATURES[index])))
            if reason:
                wrong.add((index, reason))
        return wrong

    with ThreadPoolExecutor(THREADS) as pool:
        return set().union(*pool.map(work, range(THREADS)))


def assert_compiled_once(statistics):
    assert statistics.calls == THREADS * CALLS
    assert statistics.captures == 1
    assert statistics.signatures == len(SIGNATURES)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_scripted_function():
    compiled = gjit.script(program)
    assert call_from_all_threads(compiled, program) == set()
    assert_compiled_once(compiled.statistics)
    alone = gjit.script(program)
    for arguments in SIGNATURES:
        alone(*arguments)
    assert compiled.statistics.compilations == alone.statistics.compilations


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_traced_function():
    traced = gjit.trace(lambda x: np.sqrt(x * x + 1) - x, np.ones(3))
    before = traced.statistics.calls, traced.statistics.signatures
    assert call_from_all_threads(traced, lambda x: np.sqrt(x * x + 1) - x) == set()
    assert traced.statistics.calls - before[0] == THREADS * CALLS
    assert traced.statistics.signatures == len(SIGNATURES)  # the example's is one of them
    assert before[1] == 1


@pytest.mark.parametrize("make", [lambda: gjit.script(Scaled()), ScaledMethod])
def test_a_module(make):
    module, plain = make(), Scaled()
    assert call_from_all_threads(module, plain) == set()
    forward = getattr(module.forward, "__func__", module.forward)
    assert forward.statistics.signatures == len(SIGNATURES)
    assert forward.statistics.captures == 1


def test_a_function_that_is_met_when_the_program_runs():
    def apply(function, x):
        return function(x) + 1

    compiled = gjit.script(apply)
    functions = [halved, lambda x: np.tanh(x), lambda x: x * x]

    def wrap(arguments):
        return functions[arguments[0].ndim % 3], *arguments

    assert call_from_all_threads(compiled, apply, wrap) == set()
    alone = gjit.script(apply)
    for arguments in SIGNATURES:
        alone(*wrap(arguments))
    for counter in ("captures", "signatures", "compilations", "host_calls"):
        assert getattr(compiled.statistics, counter) == getattr(alone.statistics, counter), counter
