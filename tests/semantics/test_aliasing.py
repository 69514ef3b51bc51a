"""Names, views and overlapping arguments: what is one memory stays one memory."""

from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.support import call, check, read_only

SIZES = [4, 1000, 20_000]


def test_augmented_assignment_is_in_place_and_plain_assignment_is_not():
    def both(x, y):
        x += 1
        y = y + 1
        return x, y

    check(
        both, call(np.ones(2), np.ones(2)), call(np.ones(2, "f4"), np.array(1.0)), call(1, 2.0), call([1], np.ones(1))
    )


def test_two_names_for_one_array():
    def names(x, count):
        one = x
        two = x
        for _ in range(count):
            one += 1
        three = two
        for _ in range(count):
            three = three + 1
        return one, two, three

    check(names, call(np.zeros(3), 2), call(np.zeros(3), 0), call(5, 2))


@pytest.mark.parametrize("size", SIZES)
def test_an_array_is_added_to_its_own_transpose(size):
    def symmetrise(x):
        x += x.T
        return x

    side = int(size**0.5)
    check(symmetrise, call(np.arange(float(side * side)).reshape(side, side)))


@pytest.mark.parametrize("size", SIZES)
def test_shifted_slices_read_everything_before_they_write(size):
    def shift(x, y, z):
        x[1:] += x[:-1]
        y[1:] = y[:-1]
        z[:-1] = z[1:] * 2 + 1
        x[::-1] = x * 0.5
        y[1::2] -= y[::2]
        return x, y, z

    check(
        shift,
        call(np.ones(size), np.arange(float(size)), np.arange(float(size))),
        call(np.arange(2.0 * size)[::2], np.arange(float(size), dtype="f4"), np.arange(size)[::-1]),
    )


@pytest.mark.parametrize("size", SIZES)
def test_a_stencil_over_one_buffer(size):
    def smooth(u, rounds):
        for _ in range(rounds):
            u[1:-1] = 0.25 * u[:-2] + 0.5 * u[1:-1] + 0.25 * u[2:]
        return u.sum()

    check(
        smooth,
        call(np.sin(np.arange(float(size))), 3),
        call(np.arange(float(size), dtype="f4")[::-1], 1),
        call(np.ones(2), 2),
    )


def test_arguments_may_overlap():
    def update(a, b):
        a *= 2.0
        total = a + b
        b -= 1.0
        return total, a * b

    square = np.arange(1.0, 26).reshape(5, 5)
    line = np.arange(1.0, 9)
    check(
        update,
        call(square, square[0, 0:1]),
        call(line[:-1], line[1:]),
        call(line, line),
        call(line, line[::-1]),
        call(line[::2], line[1::2]),
        call(np.ones(3), np.full(3, 2.0)),
        call(square, square.T),
    )


@pytest.mark.parametrize("offset", [0, 1, 7])
def test_large_arguments_that_overlap(offset):
    def update(target, source):
        target += source * 2 - 1
        return target.sum()

    base = np.arange(30_000.0)
    check(
        update, call(base[offset : offset + 20_000], base[:20_000]), call(base[:20_000], base[offset : offset + 20_000])
    )


def test_output_arguments():
    def write(x, buffer):
        result = np.multiply(x, 2, out=buffer)
        np.add(buffer, 1, out=buffer, where=x > 1)
        np.subtract(x, buffer, buffer)
        np.sqrt(np.abs(buffer), buffer[...])
        return result is buffer, result

    check(
        write,
        call(np.array([1.0, 2.0]), np.zeros(2)),
        call(np.array([1.0, 2.0], "f4"), np.zeros(2)),
        call(np.array([1.0, 2.0]), np.zeros(2, "f4")),
        call(np.array([1, 2]), np.zeros((3, 2))),
        call(np.array([1.0, 2.0]), np.zeros(3)),
        call(np.array([1.0, 2.0]), read_only(np.zeros(2))),
    )


def test_the_output_may_be_an_operand():
    def accumulate(x):
        np.add(x, x, out=x)
        np.add(x[1:], x[:-1], out=x[1:])
        np.cumsum(x, out=x)
        return x

    check(accumulate, call(np.arange(5.0)), call(np.arange(12_000.0)))


def test_views_of_views_reach_the_argument():
    def write(a):
        inner = a[1:-1]
        inner[...] = 2.0
        inner += 1.0
        every = inner[::2]
        every *= 10
        folded = a.reshape(2, -1)
        folded[1] = -1
        flat = folded.ravel()
        flat[0] = 77
        return inner

    check(write, call(np.ones(10)), call(np.ones(20)[::2]), call(np.ones(10, "i4")))


def test_a_copy_is_not_made_in_an_argument_that_is_overwritten():
    def replace(x, source):
        y = x.copy()
        y[1:3] = source
        x[:] = 0
        z = x + y
        x[:] = 5
        return y, z

    check(replace, call(np.arange(5.0), np.array([9.0, 9.0])), call(np.arange(5), 3))


def test_an_argument_that_is_returned_is_the_same_object():
    def pass_through(x, y, flag):
        result = x if flag else y
        return result, [x, x], (y,), {"x": x}, x[:], x[:1]

    check(pass_through, call(np.ones(2), np.ones(2), True), call([1], [2], False), call(np.ones(2), np.ones(3), False))


def test_results_do_not_share_memory_with_each_other():
    def results(x):
        one = x + 1
        two = x + 1
        three = one
        return one, two, three, one.T, x * 2

    check(results, call(np.ones((2, 3))), call(np.ones((100, 200))), calls=3)


def test_the_body_runs_once_for_each_call():
    def once(x, log):
        x += 1
        log.append(x.sum())
        return x

    check(once, call(np.zeros(1), []), call(np.zeros(1, "f4"), []), call(np.zeros((2, 2)), []), calls=3)


def test_writing_through_views_that_may_not_be_written():
    def write(x, kind):
        if kind == 0:
            x += 1
        elif kind == 1:
            x[0] = 5
        else:
            np.add(x, 1, out=x)
        return x

    for kind in range(3):
        check(
            write,
            call(np.broadcast_to(np.ones(3), (2, 3)), kind),
            call(read_only(np.ones(3)), kind),
            call(np.ones(3), kind),
            call(np.ones(3)[::-1], kind),
        )


def test_a_loop_that_swaps_two_buffers():
    def evolve(current, following, rounds):
        for _ in range(rounds):
            following[1:-1] = (current[:-2] + current[2:]) / 2
            current, following = following, current
        return current

    check(
        evolve,
        call(np.arange(6.0), np.zeros(6), 3),
        call(np.arange(6.0), np.zeros(6), 0),
        call(np.arange(9000.0), np.zeros(9000), 2),
    )


def test_stores_of_expressions_that_read_the_target():
    def update(x, y):
        x[:] = x * 2 + y
        y[:] = y - x
        x[:, 0] = x[:, 1] + x[:, 0]
        x[...] = x.T
        x[0] = x.sum(axis=0)
        return x, y

    check(
        update,
        call(np.arange(9.0).reshape(3, 3), np.ones((3, 3))),
        call(np.arange(9.0).reshape(3, 3), np.ones(3)),
        call(np.arange(9, dtype="i4").reshape(3, 3), np.ones((3, 3), "i4")),
    )


def test_multiple_assignment_shares_one_object():
    def assign(x):
        a = b = x + 1
        (p, q), r = (a, 2), [3]
        b += 1
        c = d = []
        c.append(1)
        return a, b, p is a, q, r, c, d

    check(assign, call(np.array([1])), call(1), call(np.float32(1)))


def test_freed_memory_is_not_given_out_while_it_is_in_use():
    def keep(x):
        kept = []
        for index in range(4):
            temporary = np.exp(x) * index
            kept.append(temporary[::2] + 1)
            kept.append(temporary)
            temporary = temporary * 0
        return kept

    check(keep, call(np.linspace(0, 1, 10)), call(np.linspace(0, 1, 10_000)))
