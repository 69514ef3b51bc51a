"""Regions for tests: built node by node, with a twin that runs the nodes one by one, and a comparison of the two."""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable

import numpy as np

import gjit.ops  # noqa: F401  (the rows)
from gjit.ir.builder import Builder
from gjit.ir.graph import Constant, Graph, Parameter, Value
from gjit.ir.types import ArrayType, type_of
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.tiles import TiledRegion
from gjit.scheduler.bindings import Environment
from gjit.scheduler.host_program import compile_host_program, compile_twins, host_program
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


def straight_graph(build: Callable, inputs: tuple) -> Graph:
    """The graph of `build(nodes, *parameters)`, which returns the list of the values that it returns."""
    names = [f"a{index}" for index in range(len(inputs))]
    graph = Graph("program", [Parameter(name) for name in names])
    for parameter, value in zip(graph.block.parameters, inputs, strict=True):
        parameter.type = type_of(value)
    builder = Builder(graph)
    found = build(Nodes(builder), *graph.block.parameters)
    values = [value if isinstance(value, Value) else Constant(value) for value in found]
    if len(values) != 1:
        builder.span = Span("program.py", 1000)
        values = [builder.add("tuple", values)] if values else [Constant(None)]
    builder.end("return", values)
    return graph


class Program:
    """A program without control flow: `tiled` runs it with regions, `twin` as Python runs it, both from line numbers of
    `program.py`."""

    is_wide = False

    def __init__(self, build: Callable, *inputs: object):
        self.globals: dict[str, object] = {"__name__": "program", "__builtins__": builtins}
        environment = Environment(self.globals, least_elements=lambda region: 0)
        self.twin = compile_host_program(host_program(straight_graph(build, inputs), environment), self.globals)
        graph = straight_graph(build, inputs)
        form_regions(graph, is_wide=self.is_wide)
        printed = host_program(graph, environment)
        source = RegionSource(self.globals)
        twins = compile_twins(printed, self.globals)
        self.regions = [TiledRegion(r.node, twin, source) for r, twin in zip(printed.regions, twins, strict=True)]
        bindings = {r.name: region for r, region in zip(printed.regions, self.regions, strict=True)}
        self.tiled = compile_host_program(printed, self.globals, extra_bindings=bindings)

    @property
    def region(self) -> TiledRegion:
        (region,) = self.regions
        return region

    @property
    def tiled_count(self) -> int:
        return sum(region.tiled for region in self.regions)


def assert_same(build: Callable, *inputs: object) -> TiledRegion:
    """As `check_same`, for a program of one region, which is returned."""
    return check_same(build, *inputs).region


def check_same(build: Callable, *inputs: object) -> Program:
    """Run both forms on copies of the inputs and compare results, written inputs, warnings and exceptions."""
    program = Program(build, *inputs)
    ours, theirs = copies(inputs), copies(inputs)
    assert outcome(program.tiled, ours) == outcome(program.twin, theirs)
    for left, right in zip(ours, theirs, strict=True):
        assert describe(left, ours) == describe(right, theirs)
    return program


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


SIZE = 3 * 8192 + 517


def chain(nodes, x, y):
    """a*x + b*y - c, as operators."""
    left = nodes("operator.mul", 2.5, x)
    return [nodes("operator.sub", nodes("operator.add", left, nodes("operator.mul", 1.5, y)), 0.5)]


def arrays(*dtypes, size=SIZE):
    return [special_values(dtype, size, seed) for seed, dtype in enumerate(dtypes)]


def risky(nodes, x, y):
    """Divides by zero, takes roots and logarithms of negative numbers, overflows."""
    quotient = nodes("operator.truediv", x, y)
    root = nodes("numpy.sqrt", nodes("numpy.log", quotient))
    return [nodes("operator.pow", nodes("numpy.exp", root), 2), quotient]


def in_place(nodes, x, y):
    """Writes x twice, then reads it."""
    x = nodes("operator.iadd", x, y)
    return [nodes("operator.imul", x, 0.5), nodes("operator.sub", x, y)]
