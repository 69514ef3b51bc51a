"""Backends: a compiler of the user's receives regions as graphs; what it refuses runs on NumPy."""

from __future__ import annotations

import logging

import numpy as np
import pytest

import gjit
from gjit.errors import CompileError
from gjit.ir.graph import Constant
from gjit.ir.types import FLOAT, ArrayType
from gjit.ir.verify import verify_graph
from gjit.ops.row import table

SIZE = 30_000


def evaluate(graph):
    """A backend's function that runs the nodes one by one."""

    def run(*inputs):
        values = dict(zip(graph.block.parameters, inputs, strict=True))
        for node in graph.block:
            if node is not graph.block.terminator:
                operands = [each.value if isinstance(each, Constant) else values[each] for each in node.inputs]
                found = tuple(operands) if node.op == "tuple" else table[node.op].function(*operands)
                if node.results:
                    values[node.result] = found
        (result,) = graph.block.terminator.inputs
        return result.value if isinstance(result, Constant) else values[result]

    return run


class Recorder:
    """A backend that keeps what it is asked."""

    def __init__(self, supports=lambda graph: True, compile=evaluate):
        self.asked, self.compiled = [], []
        self._supports, self._compile = supports, compile

    def supports(self, graph):
        verify_graph(graph)
        self.asked.append(graph)
        return self._supports(graph)

    def compile(self, graph):
        verify_graph(graph)
        self.compiled.append(graph)
        return self._compile(graph)


@pytest.fixture
def register():
    registered = []

    def register(recorder, **options):
        registered.append(gjit.register_backend("mine", recorder.supports, recorder.compile, **options))
        return registered[-1]

    yield register
    for backend in registered:
        backend.unregister()


def wave(x, y, a):
    z = x * a + np.sqrt(y)
    return z - 1.0, z * y


def test_a_region_runs_on_the_backend(register):
    recorder = Recorder()
    register(recorder)
    compiled = gjit.script(wave, engine="mine")
    x, y = np.linspace(0.0, 1.0, SIZE), np.linspace(1.0, 2.0, SIZE)
    for found, expected in zip(compiled(x, y, 2.5), wave(x, y, 2.5), strict=True):
        assert np.array_equal(found, expected)
    statistics = compiled.statistics
    assert (statistics.launches, statistics.fallbacks, statistics.compilations) == (1, 0, 2)
    (graph,) = recorder.compiled
    assert [value.type for value in graph.block.parameters if value.name in "xya"].count(FLOAT) == 1
    assert compiled.explain(x, y, 2.5).engine == "mine"


def test_each_class_of_inputs_is_compiled_once(register):
    recorder = Recorder()
    register(recorder)
    compiled = gjit.script(lambda x, y: x * y + 1.0, engine="mine")
    for dtype in ("f8", "f4", "f8"):
        for size in (SIZE, SIZE + 1):
            x = np.arange(size).astype(dtype)
            assert np.array_equal(compiled(x, x), x * x + 1.0)
    assert [graph.block.parameters[0].type for graph in recorder.compiled] == [
        ArrayType(np.dtype("f8"), 1),
        ArrayType(np.dtype("f4"), 1),
    ]
    assert compiled.statistics.launches == 6


def test_small_arrays_and_refused_regions_are_numpy_s(register):
    recorder = Recorder(supports=lambda graph: all(node.op != "numpy.sqrt" for node in graph.all_nodes()))
    register(recorder, least_elements=1000)
    refused, taken = gjit.script(wave, engine="mine"), gjit.script(lambda x: x * 2.0 + 1.0, engine="mine")
    x = np.ones(SIZE)
    assert np.array_equal(refused(x, x, 2.0)[0], wave(x, x, 2.0)[0])
    assert np.array_equal(taken(x[:999]), x[:999] * 2.0 + 1.0)
    assert recorder.compiled == []
    assert np.array_equal(taken(x[:1000]), x[:1000] * 2.0 + 1.0)
    assert len(recorder.compiled) == 1


@pytest.mark.parametrize("refuse", ["none", "error"])
def test_what_is_not_compiled_is_numpy_s(register, refuse):
    def compile(graph):
        if refuse == "error":
            raise CompileError("not for me")

    recorder = Recorder(compile=compile)
    register(recorder)
    compiled = gjit.script(wave, engine="mine")
    x = np.linspace(1.0, 2.0, SIZE)
    for _ in range(2):
        assert np.array_equal(compiled(x, x, 3.0)[1], wave(x, x, 3.0)[1])
    assert len(recorder.compiled) == 1
    assert (compiled.statistics.launches, compiled.statistics.fallbacks) == (0, 2)


@pytest.mark.parametrize("wrong", [lambda x: x.astype("f4"), lambda x: x[None], lambda x: 1.0])
def test_results_of_the_wrong_kind_are_never_returned(register, wrong, caplog):
    register(Recorder(compile=lambda graph: lambda x: wrong(x)))
    compiled = gjit.script(lambda x: x * 2.0 + 1.0, engine="mine")
    x = np.ones(SIZE)
    with caplog.at_level(logging.WARNING, "gjit"):
        for _ in range(2):
            assert np.array_equal(compiled(x), x * 2.0 + 1.0)
    assert caplog.text.count("the region runs on NumPy") == 1


def test_a_region_that_writes_is_a_graph_that_writes(register):
    recorder = Recorder()
    register(recorder)

    def smooth(u, v):
        u[1:-1] = 0.5 * (v[:-2] + v[2:])
        return None

    u, v = np.zeros(SIZE), np.linspace(0.0, 1.0, SIZE) ** 2
    expected = u.copy()
    smooth(expected, v)
    compiled = gjit.script(smooth, engine="mine")
    assert compiled(u, v) is None
    assert np.array_equal(u, expected)
    assert "setitem" in str(recorder.compiled[0])


def test_exceptions_are_the_caller_s(register):
    def compile(graph):
        def run(*inputs):
            raise MemoryError("no room")

        return run

    register(Recorder(compile=compile))
    with pytest.raises(MemoryError, match="no room"):
        gjit.script(lambda x: x * 2.0 + 1.0, engine="mine")(np.ones(SIZE))


def test_ahead_of_time(register):
    recorder = Recorder()
    register(recorder)
    compiled = gjit.script(wave, engine="mine").compile(np.ones(SIZE), np.ones(SIZE), 2.0)
    assert len(recorder.compiled) == 1
    compiled(np.ones(SIZE), np.ones(SIZE), 2.0)
    assert len(recorder.compiled) == 1


def test_names_are_identifiers_and_taken_once(register):
    backend = register(Recorder())
    for name in ("mine", "numpy", "auto", "native"):
        with pytest.raises(ValueError, match="already"):
            gjit.register_backend(name, bool, evaluate)
    with pytest.raises(ValueError, match="identifier"):
        gjit.register_backend("not a name", bool, evaluate)
    with gjit.config(engine="mine"):
        pass
    backend.unregister()
    backend.unregister()
    with pytest.raises(ValueError, match="give one of auto, numpy, native"):
        gjit.config(engine="mine")


def test_numexpr_is_a_second_compiler():
    pytest.importorskip("numexpr")
    from examples import numexpr_backend

    backend = gjit.register_backend("numexpr", numexpr_backend.supports, numexpr_backend.compile_region)
    try:
        compiled = gjit.script(numexpr_backend.wave, engine="numexpr")
        x = np.linspace(-3.0, 3.0, 100_000)
        np.testing.assert_allclose(compiled(x, 0.5), numexpr_backend.wave(x, 0.5), rtol=1e-13, atol=1e-15)
        assert compiled.statistics.launches == 1
        single = x.astype("f4")
        assert np.array_equal(compiled(single, 0.5), numexpr_backend.wave(single, 0.5))  # left to NumPy
        assert compiled.statistics.fallbacks == 1
    finally:
        backend.unregister()
