"""Graphs of derivatives for one plan: they join the captured graphs, and are typed and planned as those are."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import cast

from gjit.capture.resolve import is_immutable
from gjit.capture.script import capture_function
from gjit.ir.graph import Graph, Node
from gjit.ir.linking import Linker
from gjit.ir.types import NONE, Type
from gjit.ops import table
from gjit.ops.arguments import NOT_CONSTANT
from gjit.ops.gradients import Rule
from gjit.passes import pipelines
from gjit.passes.gradient.analysis import Analysis
from gjit.passes.gradient.augment import Derived
from gjit.passes.gradient.derive import augmented, derive, whole_gradient
from gjit.passes.gradient.kinds import is_inert
from gjit.passes.gradient.normalise import normalise
from gjit.passes.gradient.rereading import reread
from gjit.passes.gradient.rules import Rules, flatten
from gjit.passes.methods import method_row

Typed = Callable[[Graph, tuple[Type, ...]], Graph]
_WRITING_METHODS = frozenset({"fill", "sort", "put", "partition", "resize", "setfield", "byteswap"})

_READING_METHODS = frozenset({"append", "items", "keys", "values"})


class Derivatives:
    """Replaces `differentiate` nodes by calls of graphs that it makes.

    Args:
        captured: the graphs of the program, by name; gets the new ones.
        typed: gives a typed copy of a graph.
        owners: the functions that have the defaults.
    """

    def __init__(self, captured: dict[str, Graph], typed: Typed, owners: Mapping[str, types.FunctionType | None]):
        self._captured, self._typed, self._owners = captured, typed, owners
        self._linker = Linker(captured, set())
        self._derived: dict[tuple, Derived] = {}
        self._whole: dict[tuple, str] = {}
        self._writes: dict[str, bool] = {}
        self.rules = Rules(self._rule)

    def expand(self, graph: Graph) -> None:
        """Turn each `differentiate` node of a typed graph into an `invoke`."""
        for node in list(graph.all_nodes()):
            if node.op == "differentiate":
                node.attributes = {"function": self._whole_of(node)}
                node.op = "invoke"

    def _whole_of(self, node: Node) -> str:
        attributes = node.attributes
        function = str(attributes["function"])
        count = len(self._captured[function].parameters)
        types_ = tuple(value.type for value in node.inputs[:count])
        key = (function, tuple(value.type for value in node.inputs), *map(str, attributes.values()))
        if key not in self._whole:
            name = self._whole[key] = self._free_name(f"{attributes['mode']}_of_{function}")
            if attributes["mode"] == "augmented":
                shadows = [value.type for value in node.inputs[count:]]
                active = [shadow != NONE and not is_inert(type_) for shadow, type_ in zip(shadows, types_, strict=True)]
                derived = self.derived(function, types_, tuple(active), exposed=True)
                self._captured[name] = augmented(self._captured[function], name, derived)
                return name
            typed = self._typed(self._captured[function], types_)
            typed.functions, typed.name = self._captured, function
            normalise(typed)
            active = [index in attributes["arguments"] for index in range(count)]
            analysis = self._analysis(typed, active, exposed=False)
            self._captured[name] = whole_gradient(typed, name, self, analysis, attributes)
        return self._whole[key]

    def derived(
        self, name: str, types_: tuple[Type, ...], active: tuple[bool, ...], *, exposed: bool, is_entry: bool = False
    ) -> Derived:
        """The forward and the reverse of a function, made when they are first asked for."""
        key = (name, types_, active, exposed, is_entry)
        if key not in self._derived:
            names = self._free_name(f"forward_of_{name}"), self._free_name(f"reverse_of_{name}")
            for each in names:  # a recursive call finds them
                self._captured[each] = Graph(each, functions=self._captured)
            self._derived[key] = Derived(*names, active)
            typed = self._typed(self._captured[name], types_)
            typed.functions, typed.name = self._captured, name
            normalise(typed)
            analysis = self._analysis(typed, list(active), exposed=exposed)
            graphs = derive(typed, list(active), self, analysis, names, is_entry=is_entry)
            self._captured.update(zip(names, graphs, strict=True))
        return self._derived[key]

    def _analysis(self, typed: Graph, active: list[bool], *, exposed: bool) -> Analysis:
        """The analysis of a typed graph, whose read-only views of written memory stand where they are read."""
        analysis = Analysis(typed, active, self.writes, exposed=exposed)
        return Analysis(typed, active, self.writes, exposed=exposed) if reread(typed, analysis) else analysis

    def default(self, name: str, parameter: str) -> object:
        """The default of a parameter, where it is a number or the like; NOT_CONSTANT otherwise."""
        owner = self._owners.get(name)
        found = None if owner is None else inspect.signature(owner).parameters.get(parameter)
        return found.default if found is not None and is_immutable(found.default) else NOT_CONSTANT

    def writes(self, name: str) -> bool:
        """Whether a function, or one that it calls, may write memory that it is given."""
        if name not in self._writes:
            self._writes[name] = False  # while it is looked at: a recursive call adds nothing
            self._writes[name] = any(map(self._node_writes, self._captured[name].all_nodes()))
        return self._writes[name]

    def _node_writes(self, node: Node) -> bool:
        if node.op in ("invoke", "differentiate"):
            return self.writes(str(node.attributes["function"]))
        if node.op == "call":
            lookup = node.inputs[0].producer
            name = lookup.attributes["name"] if isinstance(lookup, Node) and lookup.op == "getattr" else ""
            return name not in _READING_METHODS and (name in _WRITING_METHODS or method_row(str(name)) is None)
        row = table.get(node.op)
        return "out=" in node.labels or (row is not None and bool(row.writes))

    def _rule(self, rule: Rule) -> Graph:
        return self._captured[self._linker.adopt(captured_rule(rule))]

    def _free_name(self, base: str) -> str:
        name, number = base, 1
        while name in self._captured:
            name, number = f"{base}_{number}", number + 1
        return name


@functools.cache
def captured_rule(rule: Rule) -> Graph:
    """The graph of a gradient rule; it must not be changed."""
    function = cast(types.FunctionType, inspect.unwrap(rule))
    graph, program = capture_function(function)
    defaults = {name: inspect.signature(owner).parameters for name, owner in program.owners.items() if owner}
    flatten(graph, defaults)
    pipelines.run(graph, "captured")
    graph.functions = {graph.name: graph}
    return graph
