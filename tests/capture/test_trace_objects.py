"""Traces that meet objects of the user, and make some."""

from __future__ import annotations

import threading
from collections import namedtuple
from dataclasses import dataclass
from enum import Enum

import numpy as np
import pytest

from gjit.capture.trace import trace_function
from gjit.ir.printer import print_graph
from tests.capture.tracing import check, run, vector

WEIGHTS = np.arange(3.0)
FACTOR = 3
NESTED = {"scale": np.array([2.0]), "names": ["a", "b"], "layers": [np.ones(2), np.full(2, 4.0)]}
Pair = namedtuple("Pair", "x y")


def helper(x, power=2):
    return x**power + WEIGHTS * FACTOR


def test_arrays_in_containers_outside_are_loaded():
    def f(x):
        y = x * NESTED["scale"]
        for layer in NESTED["layers"]:
            y = y + layer
        return y, [name for name in NESTED["names"]], NESTED["layers"][1:]

    check(f, (vector(2),))


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


def test_objects_that_cannot_be_copied_stay_as_they_are():
    class Guarded:
        def __init__(self):
            self.lock = threading.Lock()
            self.total = np.zeros(2)
            self.calls = 0

        def add(self, x):
            self.total += x
            self.calls += 1
            return self.total * self.calls

    guarded = Guarded()
    graph = trace_function(guarded.add, (np.ones(2),))
    assert guarded.calls == 0
    assert guarded.total.tolist() == [0, 0]
    assert run(graph, np.ones(2)).tolist() == [1, 1]
    assert run(graph, np.ones(2)).tolist() == [4, 4]


def test_the_text_of_equal_traces_is_equal():
    model = Louder(np.ones(2), 0.5)

    def f(x):
        return helper(x[:1]) * model.scaled(x)[0] + NESTED["scale"]

    texts = {print_graph(trace_function(f, (np.ones(2),))) for _ in range(2)}
    assert len(texts) == 1
    assert "0x" not in texts.pop()
