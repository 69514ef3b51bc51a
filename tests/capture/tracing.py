"""Run traces through the interpreter, which knows nothing of regions."""

from __future__ import annotations

import copy
import functools
import types

import numpy as np

import gjit
from gjit.capture.script import capture_function
from gjit.capture.trace import trace_function
from gjit.ir.interpreter import Interpreter
from gjit.ir.verify import verify_graph
from gjit.ops import names, table
from gjit.testing.comparison import same


def function_of(op):
    row = table.get(op)
    if row is not None and row.function is not None:
        return row.function
    try:
        return names.object_named(op)
    except LookupError:
        return None


def run(graph, *arguments):
    return Interpreter(function_of).run(graph, *arguments)


def check(function, *examples):
    """Trace on the first tuple of inputs; graph and compiled function must do what the function does on each."""
    before = copy.deepcopy(examples[0])
    graph = trace_function(function, examples[0])
    assert same(before, examples[0]) is None
    verify_graph(graph)
    compiled = gjit.trace(function, examples[0])
    for inputs in examples:
        for call in (functools.partial(run, graph), compiled):
            ours, plain = copy.deepcopy(inputs), copy.deepcopy(inputs)
            expected = function(*plain)
            found = call(*ours)
            assert same((expected, plain), (found, ours)) is None
    return graph


def ops(graph):
    return [node.op for node in graph.all_nodes()]


class Scripted:
    """What capture needs of a scripted function."""

    def __init__(self, function):
        functools.update_wrapper(self, function)
        self.graph = capture_function(function)[0]

    def __gjit_graph__(self):
        return self.graph

    def __call__(self, *arguments, **keywords):
        return self.__wrapped__(*arguments, **keywords)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)


def vector(*shape, dtype=np.float64, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)
