"""What a trace records, and what it refuses: sizes stay symbolic, data never decides silently."""

from __future__ import annotations

import math

import numpy as np
import pytest

import gjit
from gjit.testing import assert_same_as_numpy


def check_trace(function, example, *others):
    traced = gjit.trace(function, example)
    for arguments in (example, *others):
        for _ in range(2):
            assert_same_as_numpy(traced, *arguments, plain=function)
    text = str(traced.graph)
    assert str(gjit.parse_graph(text)) == text
    return traced


def test_sizes_are_not_frozen():
    def sizes(x):
        grid = x * np.arange(x.shape[0]) + x.size
        return grid, x.reshape(x.shape[0], 1).sum(axis=1), np.zeros(len(x)), np.ones(x.shape) * x.ndim

    check_trace(sizes, (np.ones(5),), (np.ones(3),), (np.ones(0),), (np.ones(1, "f4"),))


def test_a_loop_over_a_size_is_kept():
    def count(x):
        total = np.zeros(())
        for index in range(x.shape[0]):
            total = total + x[index] * index
        return total

    try:
        traced = gjit.trace(count, (np.arange(3.0),))
    except gjit.TraceError:
        return
    for size in (3, 5, 0):
        assert_same_as_numpy(traced, np.arange(float(size)), plain=count)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x * 2 if x.sum() > 0 else x - 1,
        lambda x: [float(value) for value in x],
        lambda x: x * x.max().item(),
        lambda x: x if (x > 0).all() and x.any() else -x,
    ],
)
def test_data_that_decides_is_refused(function):
    example = (np.array([1.0, 2.0]),)
    with pytest.raises(gjit.TraceError, match="script"):
        gjit.trace(function, example)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[: int(x[0])],
        lambda x: math.sqrt(x[0]) + x,
        lambda x: np.zeros(int(x.sum())),
        lambda x: x * float(x[1]),
        lambda x: x + x[0].item(),
        lambda x: x.reshape(int(x[0]), -1) * 2,
    ],
)
def test_numbers_made_of_data_stay_symbolic_or_are_refused(function):
    try:
        traced = gjit.trace(function, (np.array([1.0, 2.0]),))
    except gjit.TraceError:
        return
    for values in ([1.0, 2.0], [2.0, 1.0], [4.0, 9.0]):
        assert_same_as_numpy(traced, np.array(values), plain=function)


def test_an_update_of_an_argument_is_recorded_and_not_applied_to_the_example():
    def update(x, y):
        x += y
        return x * 2

    x, y = np.ones(2), np.ones(2)
    traced = gjit.trace(update, (x, y))
    assert x.tolist() == [1, 1]
    assert y.tolist() == [1, 1]
    assert_same_as_numpy(traced, np.arange(2.0), y, plain=update)


def test_printing_and_draws_while_tracing_leave_no_mark(capsys):
    def noisy(x, rng):
        return x + rng.random(2)

    rng = np.random.default_rng(4)
    before = rng.bit_generator.state
    traced = gjit.trace(noisy, (np.ones(2), rng))
    assert rng.bit_generator.state == before
    assert capsys.readouterr().out == ""
    assert_same_as_numpy(traced, np.ones(2), rng, plain=noisy)


def test_user_functions_are_traced_through_and_scripted_ones_keep_their_control_flow():
    def helper(x):
        return x * 3

    @gjit.script
    def clip_sum(x):
        if x.sum() > 10:
            return x / x.sum()
        return x

    def program(x):
        return clip_sum(helper(x)) + 1

    check_trace(program, (np.ones(2),), (np.full(2, 100.0),), (np.full(3, -5.0),))


def test_a_single_array_is_an_example():
    traced = gjit.trace(lambda x: np.sqrt(x) + 1, np.ones(3))
    assert traced(np.array([4.0, 9.0])).tolist() == [3.0, 4.0]


def test_other_inputs_are_checked():
    def frozen(x, flag=[0]):
        flag[0] += 1
        return x * flag[0]

    with pytest.raises(gjit.TraceError):
        gjit.trace(frozen, (np.ones(2),), check_inputs=[(np.ones(3),)])


def test_results_in_containers():
    def several(x, y):
        return {"sum": x + y, "parts": [x - y, (x * y, None)]}, x.shape

    check_trace(several, (np.ones(2), np.ones(2)), (np.ones((2, 3)), np.float64(2)))


def test_dtypes_are_those_of_the_call():
    def program(x):
        return (x * 2.5 + 1) / 3, x.astype(np.float32) * x.size, x.sum(axis=0)

    check_trace(program, (np.ones(3),), (np.ones(3, "f4"),), (np.ones((2, 2), "i1"),))


def test_slices_and_stores():
    def stencil(u):
        v = u.copy()
        v[1:-1] = (u[:-2] + u[2:]) / 2
        v[0] = v[-1]
        return v

    check_trace(stencil, (np.arange(5.0),), (np.arange(9.0),), (np.arange(3, dtype="f4"),))
