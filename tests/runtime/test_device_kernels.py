"""Kernels on the emulated device, through the whole runtime: their values, and what happens where they fail."""

from __future__ import annotations

import gc

import numpy as np
import pytest

import gjit
from gjit.testing import assert_same_as_numpy
from tests.runtime.devices import HAS_COMPILER, NAME, faulty, there, to_numpy, used

pytestmark = pytest.mark.skipif(not HAS_COMPILER, reason="there is no C++ compiler")


def chain(x, y):
    return np.sqrt(x * x + y) * 2.0 - y / 3.0


def relax(u, n):
    for _ in range(n):
        u[1:-1] = 0.5 * (u[:-2] + u[2:])
    u += u * 2.0
    return u


def totals(x):
    return (x * 2.0).max(), (x - 1.0).min(), (x > 0.5).any(), (x * x).argmax()


def softmax(x):
    e = np.exp(x - x.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def integrate(x, n, step):
    for i in range(n):
        x = x + step * (x - x * x * x) / (i + 1)
    return x


def escape(c, n):
    z = np.zeros(c.shape)
    for _ in range(n):
        z *= 0.5
        z += c
        if n > 100:
            z = z - 1.0
    return z, c * 2.0 + z


def data(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape)


@pytest.fixture(scope="module")
def compiled():
    return {function: gjit.script(function) for function in (chain, relax, totals, softmax, integrate, escape)}


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (chain, (abs(data(5, 700)), abs(data(5, 700, seed=1)))),
        (chain, (abs(data(700)), 2.0)),
        (relax, (data(300), 5)),
        (totals, (data(40, 30),)),
        (integrate, (data(40, 30), 7, 0.1)),
        (escape, (data(300), 5)),
    ],
    ids=["chain", "chain of a number", "stencil in place", "totals", "loop", "loop in place"],
)
def test_bits_are_numpys(function, args, compiled):
    here = gjit.script(function, device=NAME)
    assert_same_as_numpy(here, *args, plain=function, calls=2, check_warnings=False)
    assert (here.statistics.launches > 0, here.statistics.fallbacks) == (True, 0)
    found = compiled[function](*(there(arg) if isinstance(arg, np.ndarray) else arg for arg in args))
    wanted = function(*(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args))
    for one, other in zip(found, wanted, strict=True) if isinstance(wanted, tuple) else [(found, wanted)]:
        assert np.array_equal(to_numpy(one), np.asarray(other))


def test_rows_are_reduced_in_one_launch(compiled):
    x = data(33, 50)
    here = gjit.script(softmax, device=NAME)
    assert np.allclose(here(x), softmax(x), rtol=1e-13)
    assert (here.statistics.launches, here.statistics.transfers) == (1, 2)
    assert np.allclose(to_numpy(compiled[softmax](there(x))), softmax(x), rtol=1e-13)


def test_the_same_call_gives_the_same_bits():
    f = gjit.script(lambda x: (np.exp(x) * x).sum(), device=NAME)
    assert len({f(data(5000)).tobytes() for _ in range(3)}) == 1


def test_a_kernel_that_fails_loses_the_device_until_it_works_again(compiled):
    f = gjit.script(chain, device=NAME)
    x = abs(data(700))
    wanted = f(x, x)
    with faulty(launches=0):
        with pytest.raises(gjit.DeviceLostError) as error:
            f(x, x)
        assert "np.sqrt(x * x + y)" in str(error.value)
        with pytest.raises(gjit.DeviceLostError):
            f(x, x)
        with gjit.device("cpu"):
            assert np.array_equal(f(x, x), wanted)
        with pytest.raises(gjit.DeviceLostError):
            gjit.synchronize(NAME)
    assert np.array_equal(f(x, x), wanted)


@pytest.mark.parametrize("count", range(4))
def test_no_memory_leaves_arguments_and_memory_alone(count, compiled):
    x, y = there(abs(data(700))), there(abs(data(700, seed=1)))
    wanted = to_numpy(compiled[chain](x, y))
    gc.collect()
    before = used()
    with faulty(allocations=count):
        try:
            found = compiled[chain](x, y)
        except MemoryError:
            pass
        else:
            assert np.array_equal(to_numpy(found), wanted)
            del found
    gc.collect()
    assert used() == before
    assert np.array_equal(to_numpy(compiled[chain](x, y)), wanted)


def test_no_memory_is_told_with_the_line(compiled):
    x = there(abs(data(700)))
    with faulty(allocations=0), pytest.raises(MemoryError, match=r"return np.sqrt\(x \* x \+ y\)"):
        compiled[chain](x, x)


def test_layouts_that_no_kernel_takes_run_op_by_op():
    f = gjit.script(chain, device=NAME)
    x = abs(data(6, 8))
    for view in (x[::-1], x[:, ::-1], x.T, x[:0]):
        assert_same_as_numpy(f, view, view, plain=chain, check_warnings=False)


def test_explain_and_compile():
    f = gjit.script(chain, device=NAME)
    f.compile(np.ones(700), np.ones(700))
    (region,) = f.plan_for(np.ones(700), np.ones(700)).regions
    assert "__global__" in region.programs()[0]
    assert "region_0" in f.plan_for(np.ones(700), np.ones(700)).code
    assert f.statistics.launches == 0


def test_a_call_that_comes_often_runs_by_one_function():
    f = gjit.script(lambda x, y, a: (x * y + a, x - y))
    x, y = data(3, 700), data(3, 700, seed=1)
    for scale in (1.0, 2.5, 3):
        for left, right in ((x, y), (y, x), (x[:, ::2], y[:, 1::2]), (x[:2], y[:2]), (x.astype("f4"), y.astype("f4"))):
            for _ in range(6):
                found = f(there(left), there(right), scale)
                for one, other in zip(found, (left * right + scale, left - right), strict=True):
                    assert np.array_equal(to_numpy(one), other)
    (region,) = f.plan_for(there(x), there(y), 1.0).regions
    assert region._fast is not None
    shifted = there(np.arange(1401.0))
    assert np.array_equal(to_numpy(f(shifted[1:701], shifted[700:1400], 2.0)[1]), np.full(600 + 100, -699.0)[:700])
    with faulty(launches=0), pytest.raises(gjit.DeviceLostError):
        f(there(x), there(y), 1.0)


def test_a_loop_is_one_launch(compiled):
    f = gjit.script(integrate)
    f(there(data(40, 30)), 50, 0.1)
    assert (f.statistics.launches, f.statistics.fallbacks) == (1, 0)
