"""Loop nests that leave the interpreter: results, writes, exceptions and warnings are those of the plain loops."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import gjit
from gjit import settings
from gjit.runtime import nest_region
from gjit.runtime.compiler import find_compiler
from gjit.testing import assert_same_as_numpy
from tests.semantics.support import call

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
RNG = np.random.default_rng(7)
F8 = RNG.standard_normal(9)
I4 = np.arange(9, dtype=np.int32)


@pytest.fixture(autouse=True)
def _native(monkeypatch, tmp_path_factory):
    """Nests run natively however small their arrays are; kernels are kept in a folder of the test run."""
    monkeypatch.setattr(nest_region, "LEAST_ELEMENTS", 0)
    with settings.config(cache_dir=str(tmp_path_factory.getbasetemp() / "kernels")):
        yield


def compare(function, *calls, native: int | None = None):
    """The compiled function does what the plain one does; `native` of the calls ran without the host."""
    compiled = gjit.script(function, engine="native")
    for each in calls:
        assert_same_as_numpy(compiled, *each.args, plain=function)
    if native is not None:
        plans = [compiled.plan_for(*each.args) for each in calls]
        reasons = [getattr(region, "reasons", "no nest") for plan in plans for region in plan.regions]
        assert compiled.statistics.launches == native, reasons


def crc16(data, poly):
    crc = 0xFFFF
    for byte in data:
        current = 0xFF & byte
        for _ in range(0, 8):
            if (crc & 0x0001) ^ (current & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            current >>= 1
    crc = ~crc & 0xFFFF
    return (crc << 8) | ((crc >> 8) & 0xFF)


def test_crc_of_bytes():
    data = RNG.integers(0, 256, 40, dtype=np.uint8)
    compare(crc16, call(data, 0x8408), call(data[::-2], 0x8408), call(data[:0], 0x8408), native=3)


def test_a_sum_that_starts_as_a_python_int():
    def total(x):
        s = 0
        for i in range(len(x)):
            if x[i] > 0:
                s += x[i]
        return s

    compare(total, call(F8), call(-np.abs(F8)), call(F8.astype("f4")), call(I4), call(F8[:0]), native=5)


def test_bounds_of_indices():
    def shifted(x, y, k):
        for i in range(len(y)):
            y[i] = x[i + k]

    out = np.zeros(9)
    compare(shifted, call(F8, out, 0), call(F8, out, 1), call(F8, out, -4), call(F8, out, -12), native=2)


def test_an_error_in_the_middle_keeps_what_was_written():
    def divided(x, y, d):
        for i in range(len(x)):
            y[i] = i // (d - i)
        return y

    compare(divided, call(I4, np.zeros(9, int), 20), call(I4, np.zeros(9, int), 4), native=1)


def test_integers_of_python_stay_unbounded():
    def product(x):
        p = 1
        for i in range(len(x)):
            p *= i + 3
        return p

    compare(product, call(np.zeros(15)), call(np.zeros(40)), native=1)


def test_overflow_of_numpy_integers_warns_once_at_its_line():
    def doubled(x):
        s = x[0]
        for i in range(len(x)):
            s = s + x[i]
        return s

    compare(doubled, call(np.full(9, 1, np.int8)), call(np.full(9, 100, np.int8)), call(np.full(5, 200, np.uint8)))


def test_floating_point_warnings():
    def inverted(x, y):
        for i in range(len(x)):
            y[i] = 1 / x[i]
        return y

    zero = np.array([1.0, 2.0, 0.0, 4.0])
    compare(inverted, call(F8, np.zeros(9)), call(zero, np.ones(4)), native=1)
    compiled = gjit.script(inverted, engine="native")
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(compiled(zero, np.ones(4)), inverted(zero, np.ones(4)))
    with np.errstate(divide="raise"), pytest.raises(FloatingPointError):
        compiled(zero, np.ones(4))


def test_arguments_that_share_memory():
    def running(x, y):
        for i in range(len(y)):
            y[i] = x[i] + 1
        return y

    memory = np.arange(12.0)
    compare(running, call(memory[:8], memory[1:9]), call(memory, memory), call(memory[::-1], memory), native=3)


def test_arrays_that_cannot_be_written():
    def cleared(x):
        for i in range(len(x)):
            x[i] = 0.0

    frozen = F8.copy()
    frozen.flags.writeable = False
    compare(cleared, call(F8), call(frozen), native=1)


def test_early_exits():
    def first_above(x, limit):
        found = -1
        for i in range(len(x)):
            if x[i] < 0:
                continue
            if x[i] > limit:
                found = i
                break
        else:
            found = -2
        return found

    compare(first_above, call(F8, 0.5), call(F8, 100.0), call(F8[:0], 0.5), native=3)


def test_while_loops_and_calls():
    def middle(a, b):
        return (a + b) // 2

    def position(x, wanted):
        low, high = 0, len(x)
        while low < high:
            at = middle(low, high)
            if x[at] < wanted:
                low = at + 1
            else:
                high = at
        return low

    compare(position, call(np.sort(F8), 0.1), call(np.sort(F8), 9.0), call(I4, 3), native=3)


def test_minimum_and_maximum_of_two_types():
    def extremes(x):
        low, high = 0, 0.0
        for value in x:
            low = min(low, value)
            high = max(value, high)
        return low, high

    compare(extremes, call(F8), call(np.abs(F8)), call(np.array([np.nan, 1.0])), call(F8.astype("f4")))


def test_loops_over_several_things_at_once():
    def mixed(x, y):
        s = 0.0
        for i, (a, b) in enumerate(zip(x, y)):
            s = s * 0.5 + i * a - b
        for row in y.reshape(3, 3):
            s += row[0] * row[-1]
        return s

    compare(mixed, call(F8, F8[::-1].copy()), native=2)


def test_stores_that_convert():
    def stored(x, bytes_, floats, whole, flags):
        for i in range(len(x)):
            bytes_[i] = x[i]
            floats[i] = x[i]
            whole[i] = i * 2
            flags[i] = x[i] > 3

    targets = (np.zeros(9, "u1"), np.zeros(9, "f4"), np.zeros(9, "i8"), np.zeros(9, bool))
    compare(stored, call(I4, *targets), call(-I4, *targets), call(I4 * 100, *targets), native=1)


def test_arithmetic_of_python_and_numpy_numbers():
    def many(x, n, f):
        s = 0.0
        for i in range(len(x)):
            a = x[i] * n + f
            b = (i - 4) // n + (i - 4) % n + i / n + (i - 4) ** 2
            c = (f - i) // 1.5 + (f - i) % 1.5 + abs(f - i)
            d = -x[i] // 2 + x[i] % 3 + x[i] ** 2 - (+x[i])
            s += a + b + c + d + (i << 2) + (i >> 1) + (~i & 7) + (i ^ 5) + int(f) + float(i) + bool(i)
        return s

    compare(many, call(F8, 3, 2.5), call(I4, -3, 2.5), call(F8.astype("f4"), 3, 2.5), native=3)


def test_functions_of_math():
    import math

    def series(x):
        s = 0.0
        for i in range(len(x)):
            s += math.sqrt(abs(x[i])) + math.exp(-i) * math.sin(x[i]) + math.floor(i / 2) + math.pi
        return s

    compare(series, call(F8), native=1)


def test_gathers_and_scatters():
    def sparse(indptr, indices, data, x, y):
        for i in range(len(indptr) - 1):
            cols = indices[indptr[i] : indptr[i + 1]]
            y[i] = np.sum(data[indptr[i] : indptr[i + 1]] * x[cols])

    indptr, indices = np.array([0, 3, 3, 7]), np.array([0, 4, 8, 1, 2, -1, 5])
    wrong = np.where(indices == 5, 50, indices)
    compare(
        sparse,
        call(indptr, indices, np.arange(7.0), F8, np.zeros(3)),
        call(indptr, wrong, np.arange(7.0), F8, np.zeros(3)),
        native=1,
    )


def test_slices_that_move():
    def moved(a):
        for i in range(1, len(a) - 1):
            a[i, 1:-1] += a[i - 1, :-2] - a[i, 2:] * 0.5
            a[i:, i] = a[i, i:][::-1]
            a[i, -3:i] = i
            a[:i, 0] -= a[0, :i]
        return a

    square = RNG.standard_normal((7, 7))
    compare(moved, call(square), call(square.T), call(square.astype("f4")), call(np.arange(49).reshape(7, 7)))


def test_returns_from_the_middle():
    def position(x, wanted):
        for i in range(len(x)):
            for j in range(i):
                if x[j] + x[i] > wanted:
                    return i, j, x[i]
        return None

    def counted(x, limit):
        total, count = 0.0, 0
        for value in x:
            total += value
            count += 1
            if total > limit:
                return count
            x[0] = total
        return total, count

    compare(position, call(F8, 1.0), call(F8, 100.0), call(I4, 11), native=3)
    compare(counted, call(F8, 1.0), call(F8, 100.0), call(F8[:0], 1.0), native=3)


def test_loops_in_try_blocks():
    def guarded(x, k):
        try:
            for i in range(len(x)):
                if x[i + k] > 1:
                    return i
        except IndexError as error:
            return str(error)
        finally:
            x[0] = 0
        return -1

    compare(guarded, call(F8, 0), call(-np.abs(F8), 0), call(-np.abs(F8), 1), native=2)


def test_variables_that_a_loop_may_leave_unset():
    def last(x, n):
        for i in range(n):
            for j in range(i):
                value = x[j]
                x[i] += value * 0.25
            x[i] += 1
            if x[i] > 3:
                break
        return i, x

    def tried(x, n):
        try:
            for i in range(n):
                y = x[i] * 2
                if y > 1:
                    x[i] = y + i
        except IndexError as error:
            return str(error), x
        return x

    compare(last, call(F8, 9), call(F8, 0), call(F8, 12), call(I4, 9), native=3)
    compare(tried, call(F8, 9), call(F8, 0), call(F8, 12), native=2)


def test_variables_that_only_a_handler_reads():
    def where(x, n):
        i = -1
        try:
            for i in range(n):
                x[i] = i
        except IndexError:
            pass
        return i

    compare(where, call(F8, 9), call(F8, 12), call(F8, 0))
