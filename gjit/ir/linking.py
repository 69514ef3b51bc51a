"""Bring graphs of another program into one: copies of a graph and of all that it calls, under names that are free."""

from __future__ import annotations

from gjit.ir.clone import clone_graph
from gjit.ir.graph import Graph


class Linker:
    """Copies graphs into `functions`, each once, however often it is asked for.

    >>> functions: dict[str, Graph] = {}
    >>> linker = Linker(functions, {"step"})
    >>> step = Graph("step")
    >>> linker.adopt(step), linker.adopt(step), list(functions)
    ('step_1', 'step_1', ['step_1'])
    """

    def __init__(self, functions: dict[str, Graph], reserved: set[str]):
        self.functions = functions
        self._reserved = reserved
        self._adopted: dict[int, tuple[Graph, str]] = {}  # holds the originals, so that an id stays theirs

    def adopt(self, graph: Graph) -> str:
        """The name in `functions` of the copy of `graph`; the graph itself stays as it is."""
        known = self._adopted.get(id(graph))
        if known is not None:
            return known[1]
        name = self._free_name(graph.name)
        self._adopted[id(graph)] = graph, name
        copied = self.functions[name] = clone_graph(graph)
        copied.name, copied.functions = name, self.functions
        for node in copied.all_nodes():
            if node.op in ("invoke", "differentiate"):
                called = str(node.attributes["function"])
                node.attributes["function"] = self.adopt(graph.functions.get(called, graph))
        return name

    def _free_name(self, base: str) -> str:
        name, number = base, 1
        while name in self.functions or name in self._reserved:
            name, number = f"{base}_{number}", number + 1
        return name
