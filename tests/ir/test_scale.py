"""Large and deep graphs: no recursion limit, and time that grows with the size of the graph."""

from __future__ import annotations

import time

import pytest

from gjit.ir import (
    Builder,
    Constant,
    Graph,
    Parameter,
    clone_graph,
    graphs_equal,
    parse_graph,
    print_graph,
    verify_graph,
)
from gjit.ir.types import FLOAT

SECONDS = 30  # of processor time, generous: quadratic time would be minutes


def long_graph(count: int) -> Graph:
    graph = Graph("f", [Parameter("x")])
    builder = Builder(graph)
    value = graph.block.parameters[0]
    for index in range(count):
        value = builder.add("operator.add", [value, Constant(float(index))])
        value.name, value.type = "x", FLOAT
    builder.end("return", [value])
    return graph


def doubled_graph(count: int) -> Graph:
    graph = Graph("f", [Parameter("x")])
    builder = Builder(graph)
    value = graph.block.parameters[0]
    for _ in range(count):
        value = builder.add("operator.add", [value, value])
    builder.end("return", [value])
    return graph


def deep_graph(depth: int) -> Graph:
    graph = Graph("f", [Parameter("x")])
    builder = Builder(graph)
    value = graph.block.parameters[0]
    for _ in range(depth):
        node = builder.node("if", [value], results=0)
        inner, other = node.add_block(), node.add_block()
        builder.end(
            "return" if builder.block is graph.block else "yield", [value] if builder.block is graph.block else []
        )
        with builder.at(other):
            builder.end("yield")
        builder.block = inner
    builder.end("yield")
    return graph


def wide_graph(count: int) -> Graph:
    graph = Graph("f", [Parameter("x")])
    builder = Builder(graph)
    builder.end("return", [builder.add("list", [graph.block.parameters[0]] * count)])
    return graph


@pytest.mark.parametrize(
    ("graph", "nodes"),
    [
        (long_graph(10_000), 10_001),
        (doubled_graph(60), 61),
        (deep_graph(10_000), 20_001 + 10_000),
        (wide_graph(20_000), 2),
    ],
    ids=["10,000 nodes", "x = x + x, 60 times", "10,000 nested blocks", "20,000 inputs"],
)
def test_text_copy_equality_and_check_are_linear(graph, nodes):
    start = time.process_time()
    text = print_graph(graph)
    parsed = parse_graph(text)
    copy = clone_graph(parsed)
    verify_graph(parsed)
    verify_graph(copy)
    assert graphs_equal(graph, copy)
    assert sum(1 for _ in copy.all_nodes()) == sum(1 for _ in graph.all_nodes()) == nodes
    assert print_graph(copy) == text
    assert time.process_time() - start < SECONDS


def test_a_doubled_value_prints_one_line_a_node():
    assert len(print_graph(doubled_graph(60)).splitlines()) == 63
