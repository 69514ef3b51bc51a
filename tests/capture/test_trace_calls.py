"""Traced functions, scripted functions and modules that call each other."""

from __future__ import annotations

import functools

import numpy as np
import pytest

from gjit.capture.trace import trace_function
from gjit.capture.trace_check import check_trace
from gjit.errors import TraceError
from gjit.ir.verify import verify_graph
from gjit.module import Module, ModuleDict, ModuleList, Parameter, ScriptModule, Sequential, script_method, set_script
from tests.capture.tracing import Scripted, check, ops, run, vector


@pytest.fixture(autouse=True)
def scripted_methods():
    from gjit.module import scripted

    before = list(scripted._script)
    set_script(Scripted)
    yield
    scripted._script[:] = before


class Traced:
    def __init__(self, function, *examples):
        functools.update_wrapper(self, getattr(function, "forward", function), updated=())
        self.graph = trace_function(function, examples)

    def __gjit_graph__(self):
        return self.graph

    def __call__(self, *arguments):
        return run(self.graph, *arguments)


@Scripted
def factorial(x):
    z = np.ones((), dtype=np.int64)
    for i in range(int(x)):
        z = z * (i + 1)
    return z


@Scripted
def choose(x, y, *, flip=False, scale=2.0):
    if flip:
        return y * scale
    return x * scale


def absolute_double(x):
    return abs(2 * x)


class Root(Module):
    def forward(self, x):
        x = x.astype(np.float32)
        return np.floor(np.sqrt(x) / 5.0)


class HalfOrNegative(ScriptModule):
    @script_method
    def forward(self, x):
        if int(np.fmod(x, 2.0)) == 0:
            return x / 2.0
        return -x


class Net(Module):
    def __init__(self):
        self.double = Traced(absolute_double, np.array(3))
        self.root = Traced(Root(), np.array(3))
        self.choice = HalfOrNegative()

    def forward(self, x):
        return self.choice(self.root(factorial(self.double(x))))


def test_a_hybrid_net_runs_on_other_inputs_and_dtypes():
    net = Net()
    graph = trace_function(net, (np.array(5),))
    verify_graph(graph)
    for dtype in (np.int64, np.int32, np.float64):
        found = [run(graph, np.array(i, dtype)) for i in range(1, 8)]
        assert found == [0, 0, -5, 20, 190, -4377, -59051]
        assert [type(value) for value in found] == [type(net(np.array(i, dtype))) for i in range(1, 8)]
    assert [node.attributes.get("function") for node in graph.block if node.op == "invoke"] == [
        "absolute_double",
        "factorial",
        "forward_1",
        "forward_2",
    ]
    assert "for" in ops(graph.functions["factorial"])
    assert "if" in ops(graph.functions["forward_2"])


def test_calls_of_scripted_functions_fill_in_defaults():
    calls = lambda x, y: (choose(x, y), choose(y=x, x=y, flip=True), choose(x, y, scale=x))
    graph = check(calls, (vector(2), vector(2)))
    assert ops(graph).count("invoke") == 3
    assert list(graph.functions) == ["choose"]


def test_called_graphs_are_copied_with_all_that_they_call():
    @Scripted
    def outer(x):
        return factorial.__wrapped__(x) + 1

    def f(x):
        return outer(x), factorial(x)

    graph = trace_function(f, (np.array(3),))
    verify_graph(graph)
    assert run(graph, np.array(4)) == (25, 24)
    assert all(called.functions is graph.functions for called in graph.functions.values())


class Linear(Module):
    def __init__(self, rows, columns, seed):
        self.weight = Parameter(vector(rows, columns, seed=seed))
        self.bias = Parameter(np.zeros(rows))

    def forward(self, x):
        return x @ self.weight.T + self.bias


class Model(Module):
    def __init__(self):
        self.layers = ModuleList([Linear(3, 2, 1), Linear(3, 3, 2)])
        self.heads = ModuleDict({"mean": Linear(1, 3, 3)})
        self.tail = Sequential(Linear(2, 3, 4), np.tanh, HalfOrNegative())
        self.scale = 2.0
        self.register_buffer("running", np.zeros(3))

    def forward(self, x):
        for layer in self.layers:
            x = np.maximum(layer(x), 0.0)
        self.running *= 0.5
        self.running += x.mean(axis=0)
        if self.training:
            x = x * self.scale
        return self.heads["mean"](x), self.tail(x).sum() if len(self.tail) == 2 else self.tail[0](x), len(self.layers)


def test_modules_are_traced_through_and_load_their_arrays():
    model = Model()
    x = vector(4, 2)
    graph = trace_function(model, (x,))
    assert not model.running.any()

    def agree():
        model.running[:] = 0
        found, after = run(graph, x), model.running.copy()
        model.running[:] = 0
        expected = model(x)
        assert np.array_equal(found[0], expected[0])
        assert np.array_equal(found[1], expected[1])
        assert np.array_equal(after, model.running)

    agree()
    model.layers[0].weight[:] += 1
    agree()
    model.heads["mean"].weight = vector(1, 3, seed=9)
    agree()
    model.eval()
    with pytest.raises(TypeError, match=r"`Model\.training` is True"):
        run(graph, x)


def test_a_scripted_method_gets_the_module_itself():
    class Scaled(ScriptModule):
        def __init__(self):
            self.factor = Parameter(np.array([2.0]))

        @script_method
        def forward(self, x):
            return x * self.factor

    class Holder(Module):
        def __init__(self):
            self.scaled = Scaled()

        def forward(self, x):
            return self.scaled(x) + self.scaled.forward(x)

    holder = Holder()
    graph = trace_function(holder, (np.ones(2),))
    assert run(graph, np.ones(2)).tolist() == [4, 4]
    holder.scaled.factor[:] = 5
    assert run(graph, np.ones(2)).tolist() == [10, 10]
    holder.scaled = Scaled()
    assert run(graph, np.ones(2)).tolist() == [4, 4]


def test_a_bound_script_method_is_called_by_its_graph():
    choice = HalfOrNegative()
    method = choice.forward
    graph = check(lambda x: method(x), (np.array(3.0),), (np.array(4.0),))
    assert "invoke" in ops(graph)


def test_ignored_functions_stay_with_the_interpreter():
    def host(x):
        return x + 1 if x.sum() > 0 else x

    host.__gjit_ignore__ = True
    graph = check(lambda x: host(x) * 2, (np.ones(2),), (-np.ones(2),))
    assert "call" in ops(graph)


def test_check_accepts_a_faithful_trace():
    def f(x):
        x += 1
        print(x.shape)
        return x * np.float32(2)

    check_trace(Traced(f, np.ones(2)), f, (np.ones(3),))
    rough = lambda x: f(x) * (1 + 1e-9)
    with pytest.raises(TraceError, match="1 of 1 elements differ"):
        check_trace(rough, f, (np.ones(1),))
    check_trace(rough, f, (np.ones(1),), rtol=1e-6)


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        (lambda x: x.astype(np.float32), "dtype float64 became float32"),
        (lambda x: x[:1], r"shape \(2,\) became \(1,\)"),
        (lambda x: (x,), "ndarray became tuple"),
        (lambda x: 1 / 0, "the trace raises ZeroDivisionError"),
        (lambda x: x.__iadd__(1) - 1, "the arguments"),
        (lambda x: (print("hello"), x)[1], "prints ''"),
    ],
)
def test_check_finds_what_differs(other, problem):
    with pytest.raises(TraceError, match=problem):
        check_trace(other, lambda x: x * 1, (np.ones(2),))


def test_check_restores_captured_arrays_and_generators():
    state = np.zeros(2)
    generator = np.random.default_rng(1)

    def f(x):
        state[:] += 1
        return x + generator.normal() + np.random.random()

    before, legacy = generator.bit_generator.state, np.random.get_state()[1].copy()
    traced = Traced(f, np.ones(2))
    check_trace(traced, f, (np.ones(2),))
    assert state.tolist() == [0, 0]
    assert generator.bit_generator.state == before
    assert np.array_equal(np.random.get_state()[1], legacy)


def test_check_compares_generators_and_objects_that_refer_to_themselves():
    def f(generator, model):
        model.me = model
        return generator.normal(), model

    check_trace(Traced(f, np.random.default_rng(1), Module()), f, (np.random.default_rng(2), Module()))
    with pytest.raises(TraceError, match="the arguments"):
        check_trace(
            lambda generator, model: 1.0,
            lambda generator, model: float(generator.normal() * 0 + 1),
            (np.random.default_rng(1), Module()),
        )
