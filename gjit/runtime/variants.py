"""The typed graphs of one plan: the entry for the signature of the call, and each called function for the types
that it is called with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import FunctionType

from gjit.ir.blame import blame
from gjit.ir.graph import Graph, Node
from gjit.ir.types import UNKNOWN, Type
from gjit.passes import pipelines
from gjit.passes.callees import parameter_types
from gjit.passes.specialise import Returned, specialise
from gjit.runtime.derivatives import Derivatives

MOST_VARIANTS = 16
"""Further types of one function share a variant that knows none."""


@dataclass(slots=True)
class Variants:
    """Typed, optimised graphs by their name in the plan; `origins` tells the captured graph of each."""

    captured: dict[str, Graph]
    graphs: dict[str, Graph] = field(default_factory=dict)
    origins: dict[str, str] = field(default_factory=dict)
    _names: dict[tuple[str, tuple[Type, ...]], str] = field(default_factory=dict)
    _returned: Returned = field(default_factory=dict)
    owners: Mapping[str, FunctionType | None] = field(default_factory=dict)
    _derivatives: Derivatives | None = None
    _waiting: list[tuple[str, str, tuple[Type, ...]]] = field(default_factory=list)

    @staticmethod
    def build(
        captured: dict[str, Graph],
        entry: str,
        types: list[Type],
        owners: Mapping[str, FunctionType | None] | None = None,
    ) -> Variants:
        """All variants that a call of `entry` with these types can reach; `owners` have the defaults of functions."""
        variants = Variants(dict(captured), owners=owners or {})
        variants._name(entry, tuple(types))
        while variants._waiting:
            variants._build(*variants._waiting.pop())
        return variants

    def _build(self, name: str, origin: str, types: tuple[Type, ...]) -> None:
        graph = self.typed(self.captured[origin], types)
        self.graphs[name] = graph
        for node in graph.all_nodes():
            if node.op == "invoke":
                node.attributes["function"] = self._variant_of(node)
        graph.name, graph.functions = name, self.graphs

    def typed(self, captured: Graph, types: tuple[Type, ...]) -> Graph:
        """A typed and optimised copy of a graph, in which derivatives are calls of their graphs."""
        graph = captured
        while True:
            with blame("specialise", captured):
                graph = specialise(graph, list(types), self._returned)
            pipelines.run(graph, "typed")
            if not any(node.op == "differentiate" for node in graph.all_nodes()):
                return graph
            if self._derivatives is None:
                self._derivatives = Derivatives(self.captured, self.typed, self.owners)
            graph.functions = self.captured
            self._derivatives.expand(graph)

    def _variant_of(self, node: Node) -> str:
        origin = node.attributes["function"]
        callee = self.captured[origin]
        types = parameter_types(node, callee)
        return self._name(origin, types or (UNKNOWN,) * len(callee.parameters))

    def _name(self, origin: str, types: tuple[Type, ...]) -> str:
        known = self._names.get((origin, types))
        if known is not None:
            return known
        if sum(other == origin for other, _ in self._names) >= MOST_VARIANTS:
            types = (UNKNOWN,) * len(types)
            if (origin, types) in self._names:
                return self._names[origin, types]
        name, number = origin, 1
        while name in self.origins:
            name, number = f"{origin}_{number}", number + 1
        self._names[origin, types] = name
        self.origins[name] = origin
        self._waiting.append((name, origin, types))
        return name
