"""Compilers that users bring: a backend receives regions as graphs and gives functions that compute them."""

from __future__ import annotations

import itertools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gjit import settings
from gjit.errors import CompileError
from gjit.ir.builder import Builder
from gjit.ir.clone import clone_block_into
from gjit.ir.graph import Constant, Graph, Node, Parameter, Value
from gjit.ir.types import UNKNOWN, TupleType, Type, type_of
from gjit.passes.specialise import specialise
from gjit.runtime.engines import BACKENDS, Engine, Region
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.tiles import TiledRegion

Supports = Callable[[Graph], bool]
Compile = Callable[[Graph], "Callable[..., Any] | None"]
_MOST_CLASSES = 64


@dataclass(frozen=True, slots=True, eq=False)
class Backend:
    """A registered backend; `unregister()` takes it out again."""

    name: str
    supports: Supports
    compile: Compile
    least_elements: int

    def unregister(self) -> None:
        """Forget the backend; functions that were compiled for it keep it. A second time does nothing."""
        if BACKENDS.get(self.name) == self.engine:
            del BACKENDS[self.name]
            settings.ENGINES.remove(self.name)

    def engine(self) -> Engine:
        """The engine that hands regions to the backend, and what it refuses to NumPy."""
        return Engine(self.name, lambda region: self.least_elements, self._region)

    def _region(self, node: Node, twin: Callable, source: RegionSource) -> Region:
        graph = region_graph(node)
        if not self.supports(graph):
            return TiledRegion(node, twin, source)
        return BackendRegion(self, graph, node, twin, source)


def register_backend(name: str, supports: Supports, compile: Compile, *, least_elements: int = 1 << 14) -> Backend:
    """Let a compiler of one's own run regions: `script(engine=name)` and `config(engine=name)` choose it.

    A region is handed over as a graph: its parameters are the inputs, in order, and it returns one value, a tuple of
    several, or None. It holds elementwise operations, reductions along the last axis, and at the end perhaps a
    `setitem`; an operator such as `operator.iadd` writes its first operand. What the backend refuses NumPy runs.

    Args:
        name: of the engine, an identifier.
        supports: whether the backend takes the region, asked once for each, with types as far as they are known.
        compile: gives the function that computes the region, called with its inputs, for a graph whose parameters
            have the exact types of the inputs; None, or a CompileError, leaves these types to NumPy.
        least_elements: smaller arrays run op by op.

    Returns:
        The backend, whose `unregister()` takes it out again.

    Raises:
        ValueError: the name is no identifier, or is taken.

    What a function gives is the backend's promise; gjit checks that results have the kind, dtype and rank that NumPy's
    have, and leaves the region to NumPy where they have not.
    """
    if not name.isidentifier():
        raise ValueError(f"an engine is named by an identifier, not {name!r}")
    if name in settings.ENGINES:
        raise ValueError(f"there is an engine {name!r} already")
    backend = Backend(name, supports, compile, least_elements)
    settings.ENGINES.append(name)
    BACKENDS[name] = backend.engine
    return backend


class BackendRegion:
    """One `region` node, callable with its inputs, for one backend; a function for each class of inputs."""

    __slots__ = ("backend", "graph", "node", "tiled", "compilations", "_numpy", "_functions")

    cache_hits = swaps = 0

    def __init__(self, backend: Backend, graph: Graph, node: Node, twin: Callable, source: RegionSource):
        self.backend, self.graph, self.node = backend, graph, node
        self.tiled = self.compilations = 0
        self._numpy = TiledRegion(node, twin, source)
        self._functions: dict[tuple[Type, ...], _Compiled | None] = {}

    def __call__(self, *inputs: object) -> Any:
        types = tuple(map(type_of, inputs))
        compiled = self._functions[types] if types in self._functions else self._made(types)
        if compiled is None:
            return self._numpy(*inputs)
        results = compiled.function(*inputs)
        if type_of(results) != compiled.type:
            return self._refused(types, compiled, results, inputs)
        self.tiled += 1
        return results

    def compile(self, inputs: tuple[object, ...]) -> None:
        """Compile the function for such inputs now."""
        types = tuple(map(type_of, inputs))
        if types not in self._functions:
            self._made(types)

    def programs(self) -> list[str]:
        """The graph that the backend was given."""
        return [str(self.graph)]

    @property
    def fallbacks(self) -> int:
        """Calls that ran on NumPy."""
        return self._numpy.fallbacks + self._numpy.tiled

    @property
    def native(self) -> int:
        """Calls that the backend ran."""
        return self.tiled

    def _made(self, types: tuple[Type, ...]) -> _Compiled | None:
        compiled = None
        if UNKNOWN not in types and len(self._functions) < _MOST_CLASSES:
            graph = specialise(self.graph, list(types))
            compiled = self._compiled(graph)
        self._functions[types] = compiled
        return compiled

    def _compiled(self, graph: Graph) -> _Compiled | None:
        type_ = graph.block.terminator.inputs[0].type
        parts = type_.elements if isinstance(type_, TupleType) else (type_,)
        if UNKNOWN in parts:
            return None
        try:
            function = self.backend.compile(graph)
        except CompileError as error:
            settings.log(logging.INFO, "the backend %s leaves a region to NumPy: %s", self.backend.name, error)
            return None
        self.compilations += function is not None
        return None if function is None else _Compiled(function, type_)

    def _refused(self, types: tuple[Type, ...], compiled: _Compiled, results: object, inputs: tuple) -> Any:
        """A result of the wrong kind: the region is NumPy's from now on."""
        settings.log(
            logging.WARNING,
            "the backend %s gave %s for %s: the region runs on NumPy",
            self.backend.name,
            type_of(results),
            compiled.type,
        )
        self._functions[types] = None
        return self._numpy(*inputs)


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A function of the backend, and the type of what it has to give."""

    function: Callable[..., Any]
    type: Type


def region_graph(node: Node) -> Graph:
    """A region as a graph of its own: its inputs are the parameters, and it returns its results."""
    body = node.blocks[0]
    names = _unique_names(body.parameters)
    graph = Graph(f"region_{node.attributes['index']}", [Parameter(name) for name in names], span=node.span)
    mapping: dict[Value, Value] = dict(zip(body.parameters, graph.block.parameters, strict=True))
    for parameter, outer in zip(graph.block.parameters, node.inputs, strict=True):
        parameter.type = outer.type
    clone_block_into(body, mapping, graph.block, terminator=False)
    builder = Builder(graph)
    results = [mapping.get(value, value) for value in body.terminator.inputs]
    results = [Constant(value.value) if isinstance(value, Constant) else value for value in results]
    if len(results) > 1:
        made = builder.add("tuple", results)
        made.type = TupleType(tuple(value.type for value in results))
        results = [made]
    builder.end("return", results or [Constant(None)])
    return graph


def _unique_names(values: list[Value]) -> list[str]:
    """A name for each parameter, the user's where it has one."""
    names: list[str] = []
    for value in values:
        candidates = (f"{value.name or 'value'}{'_' + str(number) if number else ''}" for number in itertools.count())
        names.append(next(name for name in candidates if name not in names))
    return names
