"""Traces of functions: what is recorded runs on other inputs."""

from __future__ import annotations

import functools
import math

import numpy as np
import pytest
from numpy import sqrt as square_root

from gjit.capture.trace import trace_function
from tests.capture.tracing import check, ops, run, vector

WEIGHTS = np.arange(3.0)
FACTOR = 3
GENERATOR = np.random.default_rng(5)


def helper(x, power=2):
    return x**power + WEIGHTS * FACTOR


def test_operators_methods_and_functions_run_on_other_sizes_and_dtypes():
    def f(x, y):
        z = np.sqrt(np.abs(x)) @ y
        z = (z // 2) % 3 - -z
        return (z > 0) & ~(z < 1), z.sum(axis=0, keepdims=True), 2 ** z.clip(-1, 1), abs(z), divmod(z, 2)

    check(
        f,
        (vector(3, 4), vector(4, 2)),
        (vector(5, 6, seed=1), vector(6, 3, seed=2)),
        (vector(3, 4, dtype=np.float32), vector(4, 2, dtype=np.float32)),
    )


def test_reflected_operators_and_numpy_scalars():
    def f(x):
        return 1 - x, np.float32(2) * x, [1.0, 2.0] + x, (1, 2) * x, 2.0 / x, np.int8(3) // x

    check(f, (np.array([1.0, 2.0]),), (np.array([4, 5], np.int16),))


def test_sizes_stay_symbolic():
    def f(x):
        rows, columns = x.shape
        out = np.zeros((columns, rows + 1), dtype=x.dtype)
        out[:, :rows] = x.T
        return out, np.arange(len(x)), x.size // 2, x.reshape(rows * columns), x.shape[:-1] + (1,), np.ones(x.shape)

    check(f, (vector(2, 3),), (vector(4, 5),), (vector(3, 1, dtype=np.float32),))


def test_len_range_and_conversions_are_values():
    def f(x):
        n = len(x)
        return n, range(n), float(x[0, 0]), int(x[0, 0]), bool(x[0, 0]), max(n, 2), min(x.shape), sum(x.shape), str(n)

    check(f, (np.array([[1.5], [2.0]]),), (np.array([[3], [4], [5]]),))


def test_python_loops_are_unrolled():
    def f(x):
        total = 0
        for i in range(3):
            total = total + x * i
        return [total * k for k in (1, 2)], {"sum": sum([x, x])}

    check(f, (vector(2),), (vector(5),))


def test_writes_in_place_reach_the_argument_and_its_views():
    def f(x, y):
        view = x[1:]
        x += y
        x[0] = 7
        x[x > 5] *= 2
        view -= 1
        np.add(x, 1, out=x)
        np.add.at(x, [0, 0], 1)
        return x, view

    check(f, (vector(4), vector(4)), (vector(3), vector(3)), (np.arange(3), np.arange(3)))


def test_augmented_assignment_of_a_scalar_rebinds():
    def f(x):
        s = x[0]
        t = s
        s += 1
        return s, t

    check(f, (vector(2),))


def test_setting_attributes_and_deleting():
    def f(x):
        x.real = x * 2
        x.sort()
        return x.T

    check(f, (vector(3),), (vector(5),))


def test_user_functions_closures_and_lambdas_are_traced_through():
    offset = np.array([10.0, 20.0, 30.0])

    def inner(x):
        return helper(x) + offset

    def decorated(function):
        @functools.wraps(function)
        def wrapper(*arguments, **keywords):
            return function(*arguments, **keywords) * 2

        return wrapper

    @decorated
    def outer(x, *, k=1):
        return (lambda v: v * k)(inner(x))

    def f(x):
        return outer(x, k=3), functools.reduce(lambda a, b: a + b, [x, x, x]), functools.partial(helper, power=3)(x)

    check(f, (vector(3),), (vector(1),))


def test_library_functions_without_a_row():
    def f(x):
        return np.median(x, axis=0), np.linalg.svd(x)[1], np.fft.fft(x), np.unique(x, return_counts=True)

    check(f, (vector(3, 3),), (vector(4, 2),))


def test_names_imported_from_numpy_and_math():
    def f(x, n):
        return square_root(x), math.sqrt(n), math.pi * x, math.floor(n), math.sqrt(4.0)

    check(f, (np.ones(2), 2.5), (np.ones(3), 9.0))


def test_imports_inside_the_function():
    def f(x):
        import numpy as xp
        from numpy import linalg

        return xp.exp(x), linalg.norm(x)

    check(f, (vector(3),))


def test_array_functions_reached_some_other_way():
    functions = {"exp": np.exp, "stack": np.stack}

    def f(x):
        return functions["exp"](x), functions["stack"]([x, x]), np.add.reduce(x), np.multiply.outer(x, x)

    check(f, (vector(3),), (vector(2),))


def test_tuples_that_functions_return():
    def f(x):
        fraction, whole = np.modf(x)
        rows, columns = np.nonzero(x > 0)
        first, second = np.split(x, 2)
        return fraction, whole, rows, columns, first, second, [part * 2 for part in np.split(x, 2)]

    check(f, (vector(4, 3),), (vector(2, 5),))


def test_unpacking_an_array_takes_as_many_as_there_are_names():
    def f(x):
        a, b = x
        return a + b

    graph = check(f, (vector(2, 3),), (vector(2),))
    with pytest.raises(ValueError, match="too many values to unpack"):
        run(graph, np.ones(3))


def test_print_is_recorded_and_silent_while_tracing(capsys):
    def f(x):
        print("start")
        print(x, x.shape, sep="|")
        return x

    graph = trace_function(f, (np.arange(2),))
    assert capsys.readouterr().out == ""
    run(graph, np.arange(3))
    assert capsys.readouterr().out == "start\n[0 1 2]|(3,)\n"


def test_random_numbers_are_drawn_when_the_graph_runs():
    def f(n):
        return GENERATOR.normal(size=n), np.random.random(n)

    state, legacy = GENERATOR.bit_generator.state, np.random.get_state()
    graph = trace_function(f, (3,))
    assert GENERATOR.bit_generator.state == state
    assert np.array_equal(np.random.get_state()[1], legacy[1])
    found = run(graph, 4)
    GENERATOR.bit_generator.state = state
    np.random.set_state(legacy)
    expected = f(4)
    assert np.array_equal(found[0], expected[0])
    assert np.array_equal(found[1], expected[1])


def test_containers_as_inputs():
    def f(pair, settings, items):
        a, b = pair
        items.append(a)
        return a + b * settings["k"], items[0], len(items)

    check(f, ((vector(2), vector(2)), {"k": 2.0}, [1]), ((vector(3), vector(3)), {"k": 5}, [1, 2, 3]))


def test_variadic_parameters():
    def f(*arrays):
        return sum(arrays)

    graph = trace_function(f, (np.ones(2), np.ones(2)))
    assert run(graph, (np.ones(3), np.ones(3))).tolist() == [2, 2, 2]


def test_managers_of_floating_point_errors_are_recorded():
    def f(x):
        with np.errstate(divide="ignore", invalid="ignore"):
            y = 1 / x
            z = y - y
        return y, z + 1

    graph = check(f, (np.ones(2),))
    assert "with" in ops(graph)
    with np.errstate(all="raise"):
        assert run(graph, np.zeros(1))[0].tolist() == [np.inf]


def test_spans_are_the_lines_of_the_user():
    def f(x):
        y = x + 1
        return np.sin(y)

    graph = trace_function(f, (np.ones(2),))
    lines = [node.span.text().strip() for node in graph.block]
    assert lines == ["y = x + 1", "return np.sin(y)"]


def test_constants_and_unused_inputs():
    check(lambda x: (1, "text", None, 2.5, np.pi, slice(1, None), ...), (vector(2),))


def test_a_numpy_scalar_example():
    check(lambda x: np.sqrt(x) + x, (np.float32(4),), (np.float64(9),), (np.array([1.0]),))


def test_results_keep_identities():
    def f(x):
        pair = [x, x]
        return pair, pair

    check(f, (vector(2),))


def test_cython_functions_are_library_functions():
    def f(n):
        np.random.seed(3)
        return np.random.rand(n), np.random.default_rng(4).normal(size=n)

    check(f, (2,), (3,))


def test_a_method_may_be_read_and_passed_on():
    def f(x):
        total = x.sum
        return total(), np.ndarray.sum(x), [method() for method in (x.max, x.min)]

    check(f, (vector(3),))
