"""Regions for tests: built node by node, with a twin that runs the nodes one by one, and a comparison of the two."""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np

import gjit.ops  # noqa: F401  (the rows)
from gjit.ir.builder import Builder
from gjit.ir.graph import Constant, Graph, Node, Parameter, Value
from gjit.ir.types import ArrayType, type_of
from gjit.ops.row import table
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.tiles import TiledRegion
from gjit.scheduler.regions import form_regions
from gjit.source import Span


class Nodes:
    """Adds nodes of proven arrays to a graph, a line of `program.py` each."""

    def __init__(self, builder: Builder):
        self.builder = builder
        self.line = 0

    def __call__(self, op: str, *inputs: object, **keywords: object) -> Value:
        self.line += 1
        self.builder.span = Span("program.py", self.line)
        operands = [value if isinstance(value, Value) else Constant(value) for value in (*inputs, *keywords.values())]
        labels = ("",) * len(inputs) + tuple(f"{name}=" for name in keywords)
        node = self.builder.node(op, operands, labels=labels, results=0 if op == "setitem" else 1)
        if not node.results:
            return None
        node.result.type = ArrayType()
        return node.result


def region_graph(build: Callable, inputs: tuple) -> Graph:
    """The graph of `build(nodes, *parameters)`, which returns the values that it returns, with its regions formed."""
    names = [f"a{index}" for index in range(len(inputs))]
    graph = Graph("program", [Parameter(name) for name in names])
    for parameter, value in zip(graph.block.parameters, inputs, strict=True):
        parameter.type = type_of(value)
    builder = Builder(graph)
    returned = build(Nodes(builder), *graph.block.parameters)
    builder.end("return", [builder.add("tuple", [value for value in returned or ()])])
    form_regions(graph)
    return graph


def twin_of(node: Node) -> Callable:
    """Runs the body of a region op by op, through the functions of the rows."""
    body = node.blocks[0]

    def twin(*inputs: object) -> object:
        values = dict(zip(body.parameters, inputs, strict=True))
        for step in body:
            operands = [_value(values, value) for value in step.inputs]
            if step.op == "setitem":
                operands[0][operands[1]] = operands[2]
                continue
            keywords = {step.label(i)[:-1]: value for i, value in enumerate(operands) if step.label(i)}
            positional = [value for i, value in enumerate(operands) if not step.label(i)]
            values[step.result] = table[step.op].function(*positional, **keywords)
        results = tuple(_value(values, value) for value in body.terminator.inputs)
        return results[0] if len(results) == 1 else results or None

    return twin


def _value(values: dict, value: Value) -> object:
    return value.value if isinstance(value, Constant) else values[value]


class Program:
    """One region, its twin and its tiled form, called with the inputs of the whole program."""

    def __init__(self, build: Callable, *inputs: object):
        graph = region_graph(build, inputs)
        (node,) = [node for node in graph.block if node.op == "region"]
        order = {parameter: index for index, parameter in enumerate(graph.block.parameters)}
        assert all(value in order for value in node.inputs), "this region needs nodes before it"
        self._order = [order[value] for value in node.inputs]
        self._twin = twin_of(node)
        self.globals: dict[str, object] = {"__name__": "program"}
        self.region = TiledRegion(node, self._twin, RegionSource(self.globals))

    def twin(self, *inputs: object) -> object:
        return self._twin(*(inputs[index] for index in self._order))

    def tiled(self, *inputs: object) -> object:
        return self.region(*(inputs[index] for index in self._order))


def assert_same(build: Callable, *inputs: object) -> TiledRegion:
    """Run both forms on copies of the inputs and compare results, written inputs, warnings and exceptions."""
    program = Program(build, *inputs)
    ours, theirs = copies(inputs), copies(inputs)
    assert outcome(program.tiled, ours) == outcome(program.twin, theirs)
    for left, right in zip(ours, theirs, strict=True):
        assert describe(left, ours) == describe(right, theirs)
    return program.region


def outcome(function: Callable, inputs: list) -> tuple:
    """Everything that one can tell about a call: its results, or its exception, and its warnings in order."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            results = function(*inputs)
        except Exception as error:
            return ("raised", type(error), str(error), [str(each.message) for each in caught])
    results = results if isinstance(results, tuple) else (results,)
    return [describe(value, inputs) for value in results], [(each.category, str(each.message)) for each in caught]


def describe(value: object, inputs: list) -> tuple:
    """Kind, dtype, shape, strides, bits, and which input it is."""
    if not isinstance(value, np.ndarray | np.generic):
        return type(value), repr(value)
    which = [index for index, other in enumerate(inputs) if other is value]
    data = np.ascontiguousarray(value).tobytes()
    return type(value), value.dtype, value.dtype.char, value.shape, value.strides, which, data


def copies(inputs: tuple) -> list:
    """Copies of the inputs with the same strides and the same sharing of memory."""
    bases: dict[int, np.ndarray] = {}
    return [_copy(value, bases) if isinstance(value, np.ndarray) else value for value in inputs]


def _copy(value: np.ndarray, bases: dict[int, np.ndarray]) -> np.ndarray:
    base = value
    while isinstance(base.base, np.ndarray):
        base = base.base
    if id(base) not in bases:
        bases[id(base)] = base.copy(order="K")
    fresh = bases[id(base)]
    if base is value:
        fresh.flags.writeable = value.flags.writeable
        return fresh
    offset = value.__array_interface__["data"][0] - base.__array_interface__["data"][0]
    copied = np.ndarray(value.shape, value.dtype, buffer=fresh.data if fresh.flags.c_contiguous else fresh.T.data,
                        offset=offset, strides=value.strides)  # fmt: skip
    copied.flags.writeable = value.flags.writeable
    return copied


def special_values(dtype: str, size: int, seed: int) -> np.ndarray:
    """Random values, with zeros of both signs, infinities, NaNs with payloads and extremes among them."""
    random, kind = np.random.default_rng(seed), np.dtype(dtype)
    if kind.kind == "c":
        return special_values(f"f{kind.itemsize // 2}", 2 * size, seed).view(kind)
    if kind.kind != "f":
        low, high = (0, 1) if kind.kind == "b" else (np.iinfo(kind).min, np.iinfo(kind).max)
        small = random.integers(0, 2 if kind.kind == "b" else 10, size)
        wide = random.integers(low, high, size, dtype=np.int64 if kind.kind != "u" else np.uint64, endpoint=True)
        return np.where(random.random(size) < 0.2, wide, small).astype(kind)
    with np.errstate(all="ignore"):
        values = (random.standard_normal(size) * np.exp(random.uniform(-8, 8, size))).astype(kind)
    bits = values.view(f"u{kind.itemsize}")
    quiet = np.array([np.nan], kind).view(bits.dtype)[0]
    odd = random.random(size) < 0.02
    bits[odd] = quiet | random.integers(1, 100, odd.sum()).astype(bits.dtype)
    few = np.array([0.0, -0.0, np.inf, -np.inf, np.finfo(kind).max, np.finfo(kind).tiny / 4, 1.0, -1.0], kind)
    at = random.random(size) < 0.1
    values[at] = random.choice(few, at.sum())
    return values
