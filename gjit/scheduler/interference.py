"""The values that need a Python variable, and those that must not share one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gjit.ir.graph import Constant, Graph, Node, Value
from gjit.scheduler.flow import Flow, is_of_class
from gjit.scheduler.folding import Folding, is_atom

Live = set[Value]


@dataclass(slots=True)
class Interference:
    """The values that need a variable, and for each those that must not share it.

    exclusive holds values that an inner function or a generator reads later: nothing else may take their variable.
    scopes gives the function node (None: the function itself) that a value is a local variable of.
    """

    edges: dict[Value, Live] = field(default_factory=dict)
    exclusive: Live = field(default_factory=set)
    scopes: dict[Value, Node | None] = field(default_factory=dict)
    cells: list[Value] = field(default_factory=list)


class Variables:
    """Collects interference while `liveness` walks over a function."""

    def __init__(self, graph: Graph, flow: Flow, folding: Folding):
        self.graph, self.flow, self.folding = graph, flow, folding
        self.found = Interference()
        self._is_variable: dict[Value, bool] = {}

    def variables(self, values: Iterable[Value]) -> Live:
        """Those of the values that are read from a variable."""
        return set(filter(self.is_variable, map(self.flow.resolve, values)))

    def read_by(self, value: Value) -> Live:
        """The variables that the printed expression of a value reads."""
        if value not in self.folding.folded:
            return self.variables([value])
        reads: Live = {value} & self.folding.shared
        for operand in value.producer.inputs:
            reads |= self.read_by(self.flow.resolve(operand))
        return reads | self.variables(self.flow.free.get(value.producer, ()))

    def is_variable(self, value: Value) -> bool:
        """Whether a value is read from a Python variable that it shares with no live one."""
        known = self._is_variable.get(value)
        if known is None:
            known = self._is_variable[value] = self._needs_variable(value)
        return known

    def _needs_variable(self, value: Value) -> bool:
        if isinstance(value, Constant) or value.producer is None or is_of_class(value):
            return False
        if isinstance(value.producer, Node) and (value.producer.op == "cell" or is_atom(value.producer, self.graph)):
            return False
        if value in self.folding.shared:
            return True
        return value not in self.folding.folded and value not in self.folding.targets

    def define(self, values: Iterable[Value], live: Live, scope: Node | None) -> None:
        """Note that the values come into being together while `live` is live."""
        values = [value for value in values if self.is_variable(value)]
        for value in values:
            self.found.scopes[value] = scope
            self._connect(value, live)
            self._connect(value, values)

    def _connect(self, value: Value, others: Iterable[Value]) -> None:
        edges = self.found.edges.setdefault(value, set())
        added = set(others).difference(edges, (value,))
        edges |= added
        for other in added:
            self.found.edges.setdefault(other, set()).add(value)

    def moves(self, targets: list[Value], sources: list[Value], live: Live, scope: Node | None) -> Live:
        """A parallel move; a target may share the variable of its own source."""
        needed = [(t, self.flow.resolve(s)) for t, s in zip(targets, sources, strict=True) if t in self.flow.needed]
        for target, source in needed:
            if self.is_variable(target):
                self.found.scopes.setdefault(target, scope)
                self._connect(target, live - {source})
                self._connect(target, [other for other, _ in needed if self.is_variable(other)])
        return (live - set(targets)) | self.variables(source for _, source in needed)
