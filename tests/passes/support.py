"""Passes are tested text in, text out."""

from __future__ import annotations

import textwrap
from collections.abc import Callable

import numpy as np

from gjit.ir.graph import Graph
from gjit.ir.parser import parse_graph
from gjit.ir.printer import print_graph
from gjit.ir.types import ArrayType, Type
from gjit.ir.verify import verify_graph
from gjit.passes.specialise import specialise

MATRIX = ArrayType(np.dtype("float64"), 2)
VECTOR = ArrayType(np.dtype("float64"), 1)


def parsed(text: str) -> Graph:
    return parse_graph(textwrap.dedent(text).strip())


def typed(text: str, *types: Type) -> Graph:
    graph = specialise(parsed(text), list(types))
    verify_graph(graph)
    return graph


def lines(graph: Graph) -> list[str]:
    """The lines inside the graph, without indentation."""
    return [line.strip() for line in print_graph(graph).splitlines()[1:-1]]


def after(function: Callable[[Graph], bool], text: str, *types: Type) -> list[str]:
    """The lines of the typed graph after a pass; the pass must say truly whether it changed something."""
    graph = typed(text, *types)
    before = print_graph(graph)
    changed = function(graph)
    verify_graph(graph)
    assert changed == (print_graph(graph) != before)
    assert function(graph) is False or print_graph(graph) != before
    return lines(graph)


def type_of_result(text: str, *types: Type) -> str:
    """The text of the type of what the graph returns last."""
    return str(typed(text, *types).block.terminator.inputs[0].type)
