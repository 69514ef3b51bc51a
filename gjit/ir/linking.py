"""Bring the graph of one program into another: copies of the graph and of all that it calls, under names that are free."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from gjit.ir.graph import Block, Constant, Graph, Node, Value


class Linker:
    """Copies graphs into `functions`, each once, however often it is asked for.

    >>> functions: dict[str, Graph] = {}
    >>> linker = Linker(functions, reserved={"step"})
    >>> step = Graph("step")
    >>> linker.adopt(step), linker.adopt(step), list(functions)
    ('step_1', 'step_1', ['step_1'])
    """

    def __init__(self, functions: dict[str, Graph], reserved: set[str] | None = None):
        self.functions = functions
        self._reserved = set(reserved or ())
        self._adopted: dict[int, tuple[Graph, str]] = {}  # holds the originals, so that an id stays theirs

    def adopt(self, graph: Graph) -> str:
        """The name in `functions` of the copy of `graph`; the graph itself is left as it is."""
        known = self._adopted.get(id(graph))
        if known is not None:
            return known[1]
        name = self._free_name(graph.name)
        self._adopted[id(graph)] = graph, name
        copied = Graph(name, graph.parameters, functions=self.functions, span=graph.span)
        self.functions[name] = copied
        copied.captures = [replace(slot) for slot in graph.captures]
        copy_block(graph.block, copied.block, {}, lambda node: self._relink(node, graph))
        return name

    def _free_name(self, base: str) -> str:
        name, number = base, 1
        while name in self.functions or name in self._reserved:
            name, number = f"{base}_{number}", number + 1
        return name

    def _relink(self, node: Node, owner: Graph) -> None:
        if node.op == "invoke":
            name = node.attributes["function"]
            callee = owner if name == owner.name and name not in owner.functions else owner.functions[name]
            node.attributes["function"] = self.adopt(callee)


def copy_block(source: Block, target: Block, values: dict[Value, Value], visit: Callable[[Node], None]) -> None:
    """Copy the nodes of `source` to the end of `target`; `values` maps old values to new ones and grows.

    Parameters are paired with those that `target` has, and added where it has fewer. `visit` sees each new node.
    """
    for index, parameter in enumerate(source.parameters):
        if index == len(target.parameters):
            target.add_parameter(parameter.type, parameter.name)
        values[parameter] = target.parameters[index]
    for node in source:
        target.append(_copy_node(node, values, visit))
    if source.terminator is not None:
        target.terminate(_copy_node(source.terminator, values, visit))


def _copy_node(node: Node, values: dict[Value, Value], visit: Callable[[Node], None]) -> Node:
    copied = Node(
        node.op,
        [values.get(value, value) if not isinstance(value, Constant) else value for value in node.inputs],
        labels=node.labels,
        attributes=dict(node.attributes),
        results=[value.type for value in node.results],
        span=node.span,
    )
    for old, new in zip(node.results, copied.results, strict=True):
        new.name = old.name
        values[old] = new
    visit(copied)
    for block in node.blocks:
        copy_block(block, copied.add_block(), values, visit)
    return copied
