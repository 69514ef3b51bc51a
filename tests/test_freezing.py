"""Frozen modules do what the modules did, with their arrays as constants."""

from __future__ import annotations

import io

import numpy as np
import pytest

import gjit
from gjit.demo import EXPECTED, Net
from gjit.testing import same


class Layer(gjit.Module):
    def __init__(self, scale):
        self.weight = gjit.Parameter(np.arange(9.0).reshape(3, 3) * scale)
        self.register_buffer("shift", np.ones(3))
        self.power = 2

    def forward(self, x, bias=0.5):
        scaled = self.weight / np.sqrt((self.weight**self.power).sum())
        return np.maximum(x @ scaled + self.shift, 0) + bias


class Model(gjit.Module):
    def __init__(self):
        self.layers = gjit.ModuleList([Layer(0.5), Layer(-2.0)])
        self.last = Layer(1.0)
        self.table = {"factor": 3.0}

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        if self.training:
            x = x + np.random.normal(size=x.shape)
        return self.last(x, bias=1.0) * self.table["factor"]


X = np.random.default_rng(1).normal(size=(4, 3))


def ops(function):
    return {node.op for graph in function.graph.functions.values() for node in graph.all_nodes()} | {
        node.op for node in function.graph.all_nodes()
    }


@pytest.mark.parametrize("compile_", [lambda module: module, gjit.script])
def test_a_frozen_module_gives_the_same_bits(compile_):
    module = Model().eval()
    frozen = gjit.freeze(compile_(module))
    assert same(module(X), frozen(X)) is None
    assert same(module(X[0]), frozen(X[0])) is None
    assert [parameter.name for parameter in frozen.graph.parameters] == ["x"]


def test_what_depends_on_parameters_alone_is_computed_once_and_the_rest_is_gone():
    frozen = gjit.freeze(Model().eval())
    found = ops(frozen)
    assert not found & {"for", "if", "numpy.sqrt", "operator.truediv", "numpy.random.normal"}
    assert not any("training" in str(graph) for graph in frozen.graph.functions.values())


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_later_changes_of_the_module_do_not_reach_it():
    module = Layer(1.0)
    expected = module(X)
    frozen = gjit.freeze(module)
    module.weight[:] = 0
    module.power = 1
    module.shift = np.zeros(3)
    assert same(expected, frozen(X)) is None
    assert not same(expected, module(X)) is None
    assert not any(
        array.flags.writeable
        for held in frozen.captures.values()
        for array in held.values()
        if isinstance(array, np.ndarray)
    )


def test_a_frozen_module_is_saved_and_exported():
    module = Model().eval()
    file = io.BytesIO()
    gjit.save(gjit.freeze(module), file)
    assert same(module(X), gjit.load(file)(X)) is None
    onnxruntime = pytest.importorskip("onnxruntime")
    model = io.BytesIO()
    gjit.export_onnx(gjit.freeze(module), model, X)
    session = onnxruntime.InferenceSession(model.getvalue())
    np.testing.assert_allclose(session.run(None, {"x": X})[0], module(X), rtol=1e-12)


def test_the_hybrid_net_is_frozen():
    frozen = gjit.freeze(Net())
    assert {x: float(frozen(np.array(x))) for x in EXPECTED} == EXPECTED


class Writing(gjit.Module):
    def __init__(self):
        self.weight = gjit.Parameter(np.arange(4.0))

    def forward(self, x):
        scaled = self.weight * 2
        part = (self.weight + 1).reshape(2, 2)
        part[0] = x
        scaled[1:3] += x
        rest = self.weight - 1
        rest += x
        return scaled, part.sum(), np.add(x, 1, out=self.weight * 3), rest, self.weight + 5


def test_arrays_that_are_written_or_returned_are_made_anew():
    module = Writing()
    frozen = gjit.freeze(module)
    for x in (np.float64(1.0), np.float64(7.0)):
        first, second = frozen(x), frozen(x)
        assert same(module(x), first) is None
        assert first[0] is not second[0]
        first[-1][:] = 0
        assert same(module(x), second) is None


class Counting(gjit.Module):
    def __init__(self):
        self.count = 0

    def forward(self, x):
        self.count += 1
        return x


def test_modules_with_state_are_refused_at_the_line():
    with pytest.raises(gjit.UnsupportedError, match=r"self\.count \+= 1"):
        gjit.freeze(Counting())
    with pytest.raises(TypeError, match="takes a module"):
        gjit.freeze(len)
    module = Layer(1.0)
    module.register_forward_hook(lambda module, arguments, result: result)
    with pytest.raises(gjit.UnsupportedError, match="hooks"):
        gjit.freeze(module)


class Failing(gjit.Module):
    def __init__(self):
        self.zeros = np.zeros(2)

    def forward(self, x):
        return x + 1.0 / self.zeros


def test_what_warns_still_warns_when_it_runs():
    frozen = gjit.freeze(Failing())
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        assert np.isinf(frozen(np.ones(2))).all()
