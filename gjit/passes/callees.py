"""What the graphs that a graph calls return, for the types that they are called with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gjit.ir.deep import Walk
from gjit.ir.graph import Graph, Node, ParameterKind, Value
from gjit.ir.types import UNKNOWN, Type

Infer = Callable[[str, tuple[Type, ...]], Walk]
SIGNATURES = 16
"""For how many signatures a function is inferred; more callers get UNKNOWN."""

_NAMED = (ParameterKind.POSITIONAL_ONLY, ParameterKind.NORMAL)


@dataclass(slots=True)
class Callees:
    """Return types by function and argument types, inferred once each. A call that is being inferred is UNKNOWN."""

    functions: dict[str, Graph]
    infer: Infer
    known: dict[tuple[str, tuple[Type, ...]], Type] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def returned(self, node: Node) -> Walk:
        """The walk that finds the type that an `invoke` gives."""
        name = node.attributes["function"]
        graph = self.functions.get(name)
        types = None if graph is None else parameter_types(node, graph)
        if types is None:
            return UNKNOWN
        key = name, types
        if key not in self.known:
            self.known[key] = UNKNOWN
            self._counts[name] = self._counts.get(name, 0) + 1
            if self._counts[name] <= SIGNATURES:
                self.known[key] = yield self.infer(name, types)
        return self.known[key]


def bind_arguments(node: Node, graph: Graph) -> list[Value | None] | None:
    """The argument for each parameter of the called graph, None for a default; None where spreads or
    variadic parameters hide them, or the call does not fit."""
    names = [parameter.name for parameter in graph.parameters]
    values: list[Value | None] = [None] * len(names)
    position = 0
    for index, value in enumerate(node.inputs):
        label = node.label(index)
        if label.startswith("*"):
            return None
        target = names.index(label[:-1]) if label and label[:-1] in names else -1 if label else position
        position += not label
        if not 0 <= target < len(names) or values[target] is not None:
            return None
        if not _takes(graph.parameters[target].kind, bool(label)):
            return None
        values[target] = value
    missing = any(v is None and not p.has_default for v, p in zip(values, graph.parameters, strict=True))
    return None if missing else values


def parameter_types(node: Node, graph: Graph) -> tuple[Type, ...] | None:
    """The types of the parameters in a call; a default is unknown."""
    values = bind_arguments(node, graph)
    return None if values is None else tuple(UNKNOWN if value is None else value.type for value in values)


def _takes(kind: ParameterKind, named: bool) -> bool:
    if named:
        return kind in (ParameterKind.NORMAL, ParameterKind.KEYWORD_ONLY)
    return kind in _NAMED
