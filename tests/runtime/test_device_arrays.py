"""Device arrays: they stay where they are; values and exceptions are NumPy's, kinds those of the device."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit.runtime.emulated.array import EmulatedArray
from tests.runtime.devices import NAME, there, to_numpy, without_kernels


@pytest.fixture(autouse=True)
def op_by_op():
    with without_kernels():
        yield


def same(found, wanted) -> bool:
    """Whether results are device arrays, in the same containers, with the values of NumPy's results."""
    if isinstance(wanted, tuple | list):
        return type(found) is type(wanted) and all(map(same, found, wanted))
    if not isinstance(wanted, np.ndarray | np.generic):
        return found == wanted
    array = np.asarray(wanted)
    is_like = type(found) is EmulatedArray and found.dtype == array.dtype and found.shape == array.shape
    return is_like and np.array_equal(to_numpy(found), array, equal_nan=array.dtype.kind in "fc")


def check(function, *args):
    compiled = gjit.script(function)
    found = compiled(*(there(arg) if isinstance(arg, np.ndarray) else arg for arg in args))
    wanted = function(*(arg.copy() if isinstance(arg, np.ndarray) else arg for arg in args))
    assert same(found, wanted), (found, wanted)
    return compiled


def test_results_lie_on_the_device():
    def program(x, y):
        z = np.sqrt(x * x + y) - 1.0
        return z, z.sum(), z.T, [z[1:], z.max(axis=0)], (x > y).any(), x @ y.T, np.linalg.norm(z), np.where(x > 1, x, y)

    compiled = check(program, np.arange(12.0).reshape(3, 4), np.ones((3, 4)))
    assert compiled.statistics.transfers == 0
    assert compiled.signatures == ["float64[2] on emulated:0, float64[2] on emulated:0"]


def test_arrays_that_are_made_follow_the_arguments():
    def program(x, n):
        table = np.zeros((n, n)) + np.arange(n)
        table[0] = x
        return table + np.eye(n) * np.array([1.0, 2.0, 3.0]) + np.full(n, 2.0), np.linspace(0.0, 1.0, n)

    check(program, np.arange(3.0), 3)


def test_scalars_do_not_change_with_their_array():
    def program(x):
        first, total = x[0], x.sum()
        kept = total
        x[0] = 50.0
        total += 1.0
        return first, total, kept, x

    check(program, np.arange(4.0))


def test_python_reads_values():
    def program(x):
        y = x * 2.0 + 1.0
        count = 0
        for value in y:
            if value > 2.0:
                count += 1
        return count, float(y.sum()), f"{y.max():.2f}", int(y[1]), len(y), y.shape, [float(v) for v in y]

    check(program, np.arange(4.0))


def test_host_functions_and_draws_get_values_and_give_arrays():
    @gjit.ignore
    def host(a):
        assert type(a) is np.ndarray
        a[0] = 77.0
        return a * 2.0

    def program(x, rng):
        return host(x) + x + rng.normal(size=3), np.insert(x, 1, 5.0)

    compiled, x = gjit.script(program), there(np.arange(3.0))
    found = compiled(x, np.random.default_rng(1))
    wanted = program(np.arange(3.0), np.random.default_rng(1))
    assert same(found, wanted)
    assert to_numpy(x).tolist() == [77.0, 1.0, 2.0]
    assert compiled.statistics.transfers > 0
    assert compiled.statistics.host_calls == 1


def test_mixed_operands_are_a_type_error():
    outside = np.ones(3)
    with pytest.raises(TypeError, match="Unsupported type"):
        gjit.script(lambda x: x * 2.0 + outside)(there(np.ones(3)))
    with pytest.raises(TypeError, match="Unsupported type"):
        gjit.script(lambda x, y: (x + y) * 2.0)(there(np.ones(3)), np.ones(3))


def test_exceptions_are_numpys():
    cases = [
        (lambda x: x[7], IndexError),
        (lambda x: x + np.ones(5), ValueError),
        (lambda x: x.reshape(5, 5), ValueError),
        (lambda x: x[np.array([0, 9])], IndexError),
        (lambda x: x.no_such_attribute, AttributeError),
    ]
    for function, kind in cases:
        with pytest.raises(kind):
            gjit.script(function)(there(np.arange(3.0)))


@pytest.mark.parametrize(
    "index", [[0, 3], [-4, 0], [[1, 2], [0, 5]]], ids=["behind the end", "before the start", "in two axes"]
)
def test_an_index_out_of_range_is_an_index_error(index):
    indices, x = np.array(index), np.arange(3.0)

    def read(x, i):
        return x[i] * 2.0

    def write(x, i):
        x[i] = 1.0

    for function in (read, write):
        with pytest.raises(IndexError) as expected:
            function(x.copy(), indices)
        with pytest.raises(IndexError) as found:
            gjit.script(function)(there(x), there(indices))
        assert str(found.value) == str(expected.value)
    check(lambda x, i: x[None, ..., np.abs(i) % 3] + x[i % 3], x, indices)


def test_stores_and_in_place_operators_write_the_argument():
    def program(x, y):
        x += y * 2.0
        x[1:] = x[:-1] * 2.0
        x[y > 1.5] = -1.0
        return x

    compiled, x = gjit.script(program), there(np.arange(5.0))
    found = compiled(x, there(np.arange(5.0)))
    assert found is x
    assert same(x, program(np.arange(5.0), np.arange(5.0)))


def test_each_device_has_plans_of_its_own():
    compiled = gjit.script(lambda x: np.zeros(2) + x * 2.0 + 1.0)
    for name in ("emulated:0", "emulated:1"):
        found = compiled(gjit.asarray(np.ones(2), name))
        assert found.device.id == int(name[-1])
    assert compiled.statistics.signatures == 2
    with pytest.raises(ValueError, match="several devices"):
        gjit.script(lambda x, y: x * y + x)(
            gjit.asarray(np.ones(2), "emulated:0"), gjit.asarray(np.ones(2), "emulated:1")
        )


def test_to_the_device_and_back():
    x = np.arange(3.0)
    moved = gjit.asarray(x, NAME)
    assert gjit.asarray(moved, NAME) is moved
    assert gjit.to_numpy(moved).tolist() == x.tolist()
    assert gjit.asarray(moved, "cpu").tolist() == x.tolist()
    assert gjit.asarray(x) is x
    with gjit.device(NAME):
        assert type(gjit.asarray([1, 2])) is EmulatedArray
    gjit.synchronize()
    gjit.synchronize(NAME)
    assert "cpu" in gjit.devices()
    assert NAME in gjit.devices()


def test_names_that_no_device_has():
    for name in ("gpu", "cuda:x", "emulated:", "cpu:0"):
        with pytest.raises(ValueError, match="GJIT_DEVICE"):
            gjit.device(name)
    with pytest.raises(gjit.DeviceError, match="emulated devices"):
        gjit.asarray([1.0], "emulated:99")


def test_results_may_be_views_of_arguments():
    x = there(np.arange(6.0).reshape(2, 3))
    view = gjit.script(lambda x: x[1])(x)
    x[1, 0] = 40.0
    assert to_numpy(view).tolist() == [40.0, 4.0, 5.0]
