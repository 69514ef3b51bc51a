"""What a trace takes from its surroundings and from its examples, and how the graph checks it."""

from __future__ import annotations

from collections.abc import Iterable
from numbers import Number

import numpy as np
import pytest

from gjit.capture.trace import trace_function
from tests.capture.tracing import check, ops, run, vector

WEIGHTS = np.arange(3.0)
FACTOR = 3


def helper(x, power=2):
    return x**power + WEIGHTS * FACTOR


def test_arrays_outside_are_loaded_each_time():
    weights = np.ones(3)

    def f(x):
        return x * weights

    graph = check(f, (vector(3),))
    weights[:] = 5
    assert run(graph, np.ones(3)).tolist() == [5, 5, 5]
    weights = np.full(3, 6.0)
    assert run(graph, np.ones(3)).tolist() == [6, 6, 6]


def test_captured_arrays_are_not_written_while_tracing():
    state = np.zeros(2)

    def f(x):
        state[:] += x
        return state.sum()

    graph = trace_function(f, (np.ones(2),))
    assert state.tolist() == [0, 0]
    assert run(graph, np.ones(2)) == 2
    assert state.tolist() == [1, 1]


def test_captured_numbers_functions_and_containers_are_checked():
    scale, function, layers, table = 2.0, np.sqrt, [1.0, 2.0], {"a": 3.0}

    def f(x):
        y = function(helper(x)) * scale + table["a"]
        for layer in layers:
            y = y + layer
        return y

    graph = check(f, (vector(3),))
    scale = 3.0
    with pytest.raises(TypeError, match=r"scale is 2\.0"):
        run(graph, np.ones(3))
    scale, function = 2.0, np.exp
    with pytest.raises(TypeError, match="function is `sqrt`"):
        run(graph, np.ones(3))
    function = np.sqrt
    layers.append(1.0)
    with pytest.raises(TypeError, match="the length of a list is 2"):
        run(graph, np.ones(3))
    layers[:] = [1.0, 5.0]
    with pytest.raises(TypeError, match=r"element 1 of a list is 2\.0"):
        run(graph, np.ones(3))
    layers[:] = [1.0, 2.0]
    table["a"] = 4.0
    with pytest.raises(TypeError, match=r"element 'a' of a dict is 3\.0"):
        run(graph, np.ones(3))


def test_checks_stand_before_the_operations():
    graph = trace_function(lambda x: (x * FACTOR + x.ndim) * FACTOR, (vector(3),))
    names = [node.op for node in graph.block]
    assert names[-3:] == ["operator.mul", "operator.add", "operator.mul"]
    assert names.count("if") == 2


def test_static_questions_are_answered_and_checked():
    def f(x):
        if x.ndim == 2 and x.dtype == np.float64 and isinstance(x, np.ndarray) and np.issubdtype(x.dtype, np.floating):
            return x.dtype.type(3) * x
        return None

    graph = check(f, (vector(2, 2),), (vector(3, 1),))
    with pytest.raises(TypeError, match=r"`\.ndim` is 2"):
        run(graph, np.ones(2))
    with pytest.raises(TypeError, match="float64"):
        run(graph, np.ones((2, 2), np.float32))


def test_dtypes_pass_on_as_values():
    def f(x):
        return np.zeros(3, x.dtype), np.ones_like(x).astype(x.dtype), np.result_type(x, np.float32)

    check(f, (vector(2),), (np.arange(3, dtype=np.int16),))


def test_defaults_belong_to_the_trace():
    def f(x, axis=0, *, scale=2.0, mask=None):
        y = x.sum(axis) * scale
        return y if mask is None else y[mask]

    graph = trace_function(f, (vector(2, 3),))
    assert run(graph, np.ones((2, 2)), 0, 2.0, None).tolist() == [4, 4]
    with pytest.raises(TypeError, match="axis is 0"):
        run(graph, np.ones((2, 2)), 1, 2.0, None)
    with pytest.raises(TypeError, match="mask is None"):
        run(graph, np.ones((2, 2)), 0, 2.0, np.ones(2, bool))


def test_none_and_texts_are_checked():
    def f(x, y, mode):
        return x if y is None and mode == "plain" else x + y

    graph = check(f, (vector(2), None, "plain"))
    with pytest.raises(TypeError, match="y is None"):
        run(graph, np.ones(2), np.ones(2), "plain")
    with pytest.raises(TypeError, match="mode is 'plain'"):
        run(graph, np.ones(2), None, "other")


def test_returning_numpy_scalars_asks_nothing_about_them():
    graph = check(lambda x: (x + 1, x * 2), (np.float32(1),), (np.float64(2),), (3,))
    assert "if" not in ops(graph)


def test_questions_about_protocols_are_answered_by_the_example():
    def f(x, n):
        kinds = isinstance(x, Iterable), isinstance(n, Iterable), isinstance(n, Number), hasattr(n, "__len__")
        return kinds, callable(x), hasattr(x, "shape"), np.iterable(n)

    check(f, (vector(2), 3), (vector(3), 4))


def test_is_none_is_a_static_question():
    def f(x, y):
        return max(x.ndim, y is None), x is None, None is y, x is not None

    check(f, (vector(2), None))
