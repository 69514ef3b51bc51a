"""Traces of functions: what is recorded, and that it runs on other inputs."""

from __future__ import annotations

import functools
import math
from collections import namedtuple
from collections.abc import Iterable
from dataclasses import dataclass
from enum import Enum
from numbers import Number

import numpy as np
import pytest
from numpy import sqrt as square_root

from gjit.capture.trace import trace_function
from gjit.ir.printer import print_graph
from tests.capture.tracing import check, ops, run, vector

WEIGHTS = np.arange(3.0)
FACTOR = 3
NESTED = {"scale": np.array([2.0]), "names": ["a", "b"], "layers": [np.ones(2), np.full(2, 4.0)]}
Pair = namedtuple("Pair", "x y")
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


def test_arrays_outside_are_loaded_each_time():
    weights = np.ones(3)

    def f(x):
        return x * weights

    graph = check(f, (vector(3),))
    weights[:] = 5
    assert run(graph, np.ones(3)).tolist() == [5, 5, 5]
    weights = np.full(3, 6.0)
    assert run(graph, np.ones(3)).tolist() == [6, 6, 6]


def test_arrays_in_containers_outside_are_loaded():
    def f(x):
        y = x * NESTED["scale"]
        for layer in NESTED["layers"]:
            y = y + layer
        return y, [name for name in NESTED["names"]], NESTED["layers"][1:]

    check(f, (vector(2),))


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


def test_containers_as_inputs():
    def f(pair, settings, items):
        a, b = pair
        items.append(a)
        return a + b * settings["k"], items[0], len(items)

    check(f, ((vector(2), vector(2)), {"k": 2.0}, [1]), ((vector(3), vector(3)), {"k": 5}, [1, 2, 3]))


def test_none_and_texts_are_checked():
    def f(x, y, mode):
        return x if y is None and mode == "plain" else x + y

    graph = check(f, (vector(2), None, "plain"))
    with pytest.raises(TypeError, match="y is None"):
        run(graph, np.ones(2), np.ones(2), "plain")
    with pytest.raises(TypeError, match="mode is 'plain'"):
        run(graph, np.ones(2), None, "other")


def test_variadic_parameters():
    def f(*arrays):
        return sum(arrays)

    graph = trace_function(f, (np.ones(2), np.ones(2)))
    assert run(graph, (np.ones(3), np.ones(3))).tolist() == [2, 2, 2]


@dataclass
class Affine:
    weight: np.ndarray
    bias: float
    count: int = 0

    @property
    def doubled(self):
        return self.weight * 2

    def scaled(self, x):
        return self.doubled * x

    def __call__(self, x):
        self.count += 1
        self.last = self.scaled(x) + self.bias
        return self.last

    def __matmul__(self, other):
        return self.weight @ other


class Louder(Affine):
    def scaled(self, x):
        return super().scaled(x) * np.full(x.shape, 10.0)


def test_objects_are_traced_through_and_written_when_the_graph_runs():
    model = Louder(np.ones(2), 0.5)

    def f(x):
        return model(x) + (model @ x), isinstance(model, Affine)

    graph = trace_function(f, (np.ones(2),))
    assert model.count == 0
    assert not hasattr(model, "last")
    assert run(graph, np.full(2, 3.0))[0].tolist() == [66.5, 66.5]
    assert model.count == 1
    assert model.last.tolist() == [60.5, 60.5]
    model.weight = np.full(2, 2.0)
    model.count = 0
    assert run(graph, np.full(2, 3.0))[0].tolist() == [132.5, 132.5]
    model.bias = 1.0
    with pytest.raises(TypeError, match=r"`Louder\.bias` is 0\.5"):
        run(graph, np.full(2, 3.0))


def test_objects_as_inputs():
    def f(model, x):
        return model.scaled(x)

    check(f, (Affine(np.ones(2), 1.0), vector(2)), (Affine(vector(2), 1.0), vector(2)))


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


class Point:
    made = 0

    def __init__(self, x, y):
        self.x, self.y = x, y
        self.trail = np.zeros(2)

    def moved(self, by):
        self.trail += by
        return type(self)(self.x + by, self.y + np.full(self.y.shape, 2.0))

    @staticmethod
    def origin(x):
        return Point(x * 0, x * 0)

    @property
    def length(self):
        return np.hypot(self.x, self.y)

    def __add__(self, other):
        return Point(self.x + other.x, self.y + other.y)


class Named(Point):
    def __init__(self, x, y, name):
        super().__init__(x, y)
        self.name = name


def test_objects_made_while_tracing():
    def f(x, y):
        point = Named(x, y, "p")
        moved = point.moved.__func__(Point(x, y), 1.0) + Point.origin(x)
        point.trail[0] += 1
        return moved.length, point.trail, isinstance(point, Point), point.name

    graph = check(f, (vector(3), vector(3)), (vector(2), vector(2)))
    first, second = run(graph, np.ones(2), np.ones(2)), run(graph, np.ones(2), np.ones(2))
    assert second[1].tolist() == [1, 0]
    assert first[1] is not second[1]


def test_objects_made_while_tracing_can_be_returned():
    graph = trace_function(lambda x: [Point(x, x + 1)] * 2, (np.ones(2),))
    one, two = run(graph, np.zeros(2))
    assert type(one) is Point
    assert one is two
    assert one.y.tolist() == [1, 1]
    assert one.trail.tolist() == [0, 0]


def test_named_tuples():
    def f(x):
        pair = Pair(x, y=x + 1)
        return pair, pair.y * 2

    check(f, (vector(2),))


def test_two_names_of_one_object():
    left = right = Affine(np.ones(2), 0.0)

    def f(x):
        return left.weight * x + right.weight, left is right

    graph = check(f, (vector(2),))
    right = Affine(np.zeros(2), 0.0)
    with pytest.raises(TypeError, match="right is an object that was met before"):
        run(graph, np.ones(2))


def test_an_object_of_another_class_is_noticed():
    model = Affine(np.ones(2), 0.0)

    graph = trace_function(lambda x: model.scaled(x), (np.ones(2),))
    model = Louder(np.ones(2), 0.0)
    with pytest.raises(TypeError, match="model is an instance of Affine"):
        run(graph, np.ones(2))


def test_the_text_of_equal_traces_is_equal():
    model = Louder(np.ones(2), 0.5)

    def f(x):
        return helper(x[:1]) * model.scaled(x)[0] + NESTED["scale"]

    texts = {print_graph(trace_function(f, (np.ones(2),))) for _ in range(2)}
    assert len(texts) == 1
    assert "0x" not in texts.pop()


def test_returning_numpy_scalars_asks_nothing_about_them():
    graph = check(lambda x: (x + 1, x * 2), (np.float32(1),), (np.float64(2),), (3,))
    assert "if" not in ops(graph)


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


def test_elements_of_containers_outside_are_assigned_when_the_graph_runs():
    parameters = {"w": np.ones(2), "b": np.zeros(2)}
    history = [np.zeros(2), np.zeros(2)]

    def f(x):
        parameters["w"] -= x
        parameters["step"] = parameters["w"] * 2
        history[-1] = x
        return parameters["step"], list(parameters), history[1] + history[0], len(parameters)

    graph = trace_function(f, (np.ones(2),))
    assert list(parameters) == ["w", "b"]
    assert parameters["w"].tolist() == [1, 1]
    found = run(graph, np.full(2, 3.0))
    assert found[0].tolist() == [-4, -4]
    assert found[1:2] + found[3:] == (["w", "b", "step"], 3)
    assert parameters["w"].tolist() == [-2, -2]
    assert parameters["step"].tolist() == [-4, -4]
    assert history[1].tolist() == [3, 3]
    with pytest.raises(TypeError, match="the list of keys"):
        run(graph, np.ones(2))


def test_questions_about_protocols_are_answered_by_the_example():
    def f(x, n):
        kinds = isinstance(x, Iterable), isinstance(n, Iterable), isinstance(n, Number), hasattr(n, "__len__")
        return kinds, callable(x), hasattr(x, "shape"), np.iterable(n)

    check(f, (vector(2), 3), (vector(3), 4))


class Mode(Enum):
    PLAIN = 1
    LOUD = 2


class Constants:
    FACTOR = 2.0
    TABLE = np.arange(3.0)
    mode = Mode.LOUD


def test_enumerations_and_attributes_of_classes():
    settings = Constants()

    def f(x):
        y = x * Constants.FACTOR + Constants.TABLE
        return y * 3 if settings.mode is Mode.LOUD and Constants.mode == Mode.LOUD else y

    graph = check(f, (vector(3),))
    Constants.TABLE[0] = 7
    check(f, (vector(3),))
    assert run(graph, np.zeros(3)).tolist() == [21, 3, 6]
    Constants.FACTOR = 3.0
    try:
        with pytest.raises(TypeError, match=r"`Constants\.FACTOR` is 2\.0"):
            run(graph, np.zeros(3))
    finally:
        Constants.FACTOR = 2.0
