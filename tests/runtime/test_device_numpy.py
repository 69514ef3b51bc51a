"""NumPy arrays on a device: what a call gives is what NumPy gives, and what is copied is counted."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest

import gjit
import gjit.testing
from gjit.runtime.device import device as on_device
from gjit.testing import assert_same_as_numpy
from tests.runtime.devices import NAME, faulty, used, without_kernels


@pytest.fixture(autouse=True)
def op_by_op():
    with without_kernels():
        yield


def check(function, *args, **kwargs):
    compiled = gjit.script(function, device=NAME)
    for _ in range(2):
        assert_same_as_numpy(compiled, *args, plain=function, check_warnings=False, **kwargs)
    return compiled


def moved(function, *args) -> tuple[int, int]:
    """Transfers and bytes of one call."""
    compiled = gjit.script(function, device=NAME)
    compiled(*args)
    return compiled.statistics.transfers, compiled.statistics.bytes_moved


def test_values_kinds_and_layouts():
    def program(x, y):
        total = (x * y).sum()
        return x + y, total, np.sqrt(x * x), x.T * 2.0, float(total) > 3.0, (x > y).any()

    check(program, np.arange(12.0).reshape(3, 4), np.ones((3, 4)))
    check(program, np.asfortranarray(np.arange(12.0).reshape(3, 4)), np.ones((3, 4), "f4"))
    check(program, np.arange(12)[::-1].reshape(3, 4), np.full((3, 4), 3, "i2"))
    check(program, np.zeros((0, 4)), np.zeros((0, 4)))


def test_arguments_written_on_a_device_are_copied_back():
    def relax(u, n):
        for _ in range(n):
            u[1:-1] = 0.5 * (u[:-2] + u[2:])
        u *= 2.0
        return u

    check(relax, np.arange(10.0) ** 2, 3)


def test_overlapping_arguments_share_their_copy():
    def shift(left, right):
        left[:] = left + right
        right *= 3.0
        return left + right

    base = np.arange(10.0)
    check(shift, base[:8], base[2:])
    check(shift, base, base[::-1])
    check(shift, base[::2], base[1::2])
    transfers, size = moved(lambda a, b: a * b + a, base[:6], base[4:])
    assert (transfers, size) == (2, 10 * 8 + 6 * 8)


def test_each_transfer_is_made_once():
    def steps(x):
        a = x * 2.0 + 1.0
        b = a * a - x
        c = np.sqrt(b * b) + a
        return c.reshape(2, 5).T[1:]

    compiled = check(steps, np.arange(10.0))
    assert compiled.statistics.transfers == 4  # of two calls: the argument, and the result
    assert compiled.statistics.bytes_moved == 2 * 2 * 80


def test_temporaries_are_not_copied():
    def power(x):
        y = x
        for _ in range(20):
            y = y * x + 1.0
        return y

    assert moved(power, np.full(100, 0.5)) == (2, 2 * 800)


def test_the_host_reads_what_it_looks_at():
    def mixed(x, seen):
        y = x * 2.0 + 1.0
        seen.append(y[3])
        z = y * y - x
        print(z[0], y.shape, len(z))
        if z.max() > 10.0 and z[1] > 0.0:
            y += z * 2.0
        return [y, z.tolist(), f"{y[2]:.3f}", sorted(y)]

    check(mixed, np.arange(6.0), [])


def test_the_host_writes_what_a_device_has_read():
    def both(x):
        y = x * 2.0 + 1.0
        x[0] = 100.0
        z = x * y + x
        np.copyto(x, z[::-1])
        y.sort()
        return x * 3.0 + y

    check(both, np.array([3.0, 1.0, 2.0]))


def test_what_escapes_holds_its_elements():
    class Keeper:
        pass

    def keep(x, keeper, items):
        y = x * x + 1.0
        keeper.value = y
        items.append(y)
        y += x * 2.0
        return None

    keeper, items = Keeper(), []
    gjit.script(keep, device=NAME)(np.arange(3.0), keeper, items)
    assert items[0] is keeper.value
    assert keeper.value.tolist() == [1.0, 4.0, 9.0]


def test_code_of_the_user_sees_everything():
    class Box:
        def __init__(self, data):
            self.data = data

        @property
        def first(self):
            return self.data[0] + 0.0

        def __add__(self, other):
            return self.data + other

    @gjit.ignore
    def peek(box):
        box.data[1] = 50.0
        return box.data.copy()

    def program(x):
        y = x * 3.0 + 1.0
        box = Box(y)
        y *= x + 1.0
        first = box.first
        y += x * x
        added = box + x
        y -= x * 2.0
        copied = peek(box)
        return first, added, copied, y * y + 1.0

    compiled = gjit.script(program, device=NAME)
    x = np.arange(4.0)
    for found, wanted in zip(compiled(x.copy()), program(x.copy()), strict=True):
        assert np.array_equal(found, wanted)


def test_calls_comprehensions_generators_and_inner_functions():
    def scale(x, factor):
        return x * factor + 1.0

    def stream(x):
        for factor in (1.0, 2.0):
            x = x * factor + 1.0
            yield x

    def program(x):
        parts = [scale(x, 2.0) + part for part in stream(x)]
        inner = lambda y: y * 2.0 - x  # noqa: E731
        best = max(parts, key=lambda part: float(inner(part).sum()))
        total = sum(scale(part, 0.5)[0] for part in parts)
        return best, total, [inner(part).tolist() for part in parts], scale(x, 3.0) is x or scale(x, 1.0)

    check(program, np.arange(5.0))


def test_exceptions_leave_what_was_done():
    def fails(x, n):
        x += x * 2.0 + 1.0
        x[1:] = x[:-1] * 2.0
        if n > 2:
            raise ValueError(x[0])
        return x / n

    check(fails, np.arange(4.0), 1)
    check(fails, np.arange(4.0), 3)
    check(lambda x, y: x * 2.0 + y, np.ones(3), np.ones(4))


def test_error_states_raise_at_their_operation():
    def divide(x):
        y = x * 2.0 + 1.0
        with np.errstate(divide="raise"):
            return y / x - 1.0

    compiled = gjit.script(divide, device=NAME)
    assert compiled(np.ones(3)).tolist() == [2.0, 2.0, 2.0]
    with pytest.raises(FloatingPointError):
        compiled(np.zeros(3))


def test_products_run_on_the_device():
    def chain(a, b, v):
        c = a @ b + 1.0
        d = np.dot(c, v) * 2.0
        return c @ c.T, d, d @ d, np.matmul(v, a)

    args = np.arange(12.0).reshape(3, 4), np.ones((4, 3)), np.arange(3.0)
    compiled = gjit.script(chain, device=NAME)
    for found, wanted in zip(compiled(*args[:2], args[2]), chain(*args[:2], args[2]), strict=True):
        assert type(found) is type(wanted)
        assert np.allclose(found, wanted)
    assert "device_matmul" in compiled.code
    check(lambda a, b: a @ b, np.ones((2, 3)), np.ones((2, 3)))
    check(lambda a, b: a @ b + 1, np.ones((2, 0)), np.ones((0, 3)))
    check(lambda a, b: (a @ b, np.dot(a, 2)), np.arange(6).reshape(2, 3), np.arange(3))


def test_where_a_function_runs():
    def place(x):
        return x * 2.0 + 1.0

    plain, decorated = gjit.script(place), gjit.script(place, device=NAME)
    x = np.ones(4)
    plain(x)
    assert plain.statistics.transfers == 0
    with on_device(NAME):
        plain(x)
    assert plain.statistics.transfers == 2
    with on_device("cpu"):
        decorated(x)
    assert decorated.statistics.transfers == 0
    with gjit.config(disable=True), on_device(NAME):
        plain(x)
    assert plain.statistics.transfers == 2
    plain(x)
    assert plain.statistics.transfers == 2


def test_read_only_and_odd_arrays():
    def program(x):
        y = x * 2 + 1
        return y - x

    frozen = np.arange(5.0)
    frozen.flags.writeable = False
    check(program, frozen)
    check(program, np.arange(5, dtype=">f8"))
    check(program, np.frombuffer(b"\0" + np.arange(5.0).tobytes(), np.uint8)[1:].view("f8"))
    check(program, np.broadcast_to(np.float64(3.0), (4, 3)))
    check(program, np.array([1, 2, None, 3][:2], object))
    check(lambda x: x.__iadd__(x * 2.0 + 1.0), frozen)


def test_threads_share_a_function():
    compiled = gjit.script(lambda x: (x * 2.0 + 1.0) * x, device=NAME)
    failures = []

    def work(seed):
        x = np.random.default_rng(seed).random(50)
        for _ in range(20):
            if not np.array_equal(compiled(x), (x * 2.0 + 1.0) * x):
                failures.append(seed)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures


def test_memory_is_given_back():
    def program(x):
        y = x * 2.0 + 1.0
        for _ in range(50):
            y = y * x + 1.0
        return y

    gc.collect()
    before = used()
    compiled = gjit.script(program, device=NAME)
    for _ in range(3):
        compiled(np.ones(1000))
        assert used() == before


@pytest.mark.parametrize("count", range(6))
def test_no_memory_is_an_error_that_leaves_everything(count):
    def program(x, y):
        y[:] = x * 2.0 + y
        return x * y + 1.0

    compiled = gjit.script(program, device=NAME)
    x, y = np.arange(4.0), np.ones(4)
    gc.collect()
    before = used()
    try:
        with faulty(allocations=count):
            found = compiled(x, y)
    except MemoryError:
        assert y.tolist() in ([1.0] * 4, [1.0, 3.0, 5.0, 7.0])
    else:
        assert np.array_equal(found, x * y + 1.0)
    gc.collect()
    assert used() == before
    y = np.ones(4)
    assert compiled(x, y).tolist() == [1.0, 4.0, 11.0, 22.0]


def test_explain_shows_settling_and_transfers():
    def program(x):
        y = x * 2.0 + 1.0
        return y[0], y * y - 1.0

    f = gjit.script(program, device=NAME)
    assert f.explain(np.ones(5)).transfers == 0
    f(np.ones(5))
    explanation = f.explain(np.ones(5))
    assert (explanation.engine, explanation.regions) == ("emulated:0", 2)
    assert explanation.transfers == f.statistics.transfers > 0
    assert "settle(y)" in explanation.code
    assert "copied between host and device so far" in str(explanation)
    assert "settle" in str(f.graph_for(np.ones(5)))


def test_a_device_with_little_memory_for_tests():
    f = gjit.script(lambda x: x * 2.0 + 1.0)
    with gjit.testing.emulated_device(memory=3000) as memory:
        assert np.array_equal(f(np.ones(10)), np.full(10, 3.0))
        with pytest.raises(MemoryError):
            f(np.ones(1000))
        assert memory.used_bytes() == 0
    assert np.array_equal(f(np.ones(1000)), np.full(1000, 3.0))
