"""Which loops become nests, what goes into them, and why others stay on the host."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit.ir.verify import verify_graph
from gjit.scheduler.flow import LOOPS
from gjit.scheduler.nests import form_nests, is_nest, obstacle

LINE = np.arange(40.0)
SQUARE = np.ones((6, 6))


def formed(function, *arguments):
    """The graph with its nests, and the nests."""
    graph = gjit.script(function, engine="numpy").graph_for(*arguments)
    count = form_nests(graph, graph.functions)
    verify_graph(graph)
    nests = [node for node in graph.all_nodes() if is_nest(node)]
    assert [node.attributes["index"] for node in nests] == list(range(count))
    return graph, nests


def reason(function, *arguments):
    """Why the first loop is no nest."""
    graph = gjit.script(function, engine="numpy").graph_for(*arguments)
    loop = next(node for node in graph.all_nodes() if node.op in LOOPS)
    found = obstacle(loop, graph.functions, graph)
    return "" if found is None else found.reason


def test_the_outermost_loop_that_can_be_native_becomes_a_nest():
    def program(x, y):
        total = 0.0
        for i in range(len(x)):
            for j in range(i):
                y[i] += x[j]
            total += y[i]
        return total

    graph, (nest,) = formed(program, LINE, LINE)
    assert [node.op for node in nest.blocks[0]] == ["builtin.range", "for"]
    assert [value.name for value in nest.results] == ["total"]
    assert not any(node.op in LOOPS for node in graph.block)


def test_inner_loops_become_nests_where_the_outer_one_cannot():
    def program(x):
        for i in range(3):
            print(i)
            for j in range(len(x)):
                x[j] *= i

    _, (nest,) = formed(program, LINE)
    assert nest.block.owner.op == "for"


def test_what_only_the_loop_reads_goes_along():
    def program(x, y):
        s = 0.0
        for i, (a, b) in enumerate(zip(x, y)):
            s += a * b * i
        return s

    _, (nest,) = formed(program, LINE, LINE)
    assert [node.op for node in nest.blocks[0]] == ["builtin.zip", "builtin.enumerate", "for"]
    assert all(value.type.rank == 1 for value in nest.inputs)


def with_print(x):
    for i in range(len(x)):
        print(x[i])


def with_list(x):
    found = []
    for i in range(len(x)):
        found.append(x[i])
    return found


def whole_arrays(x, y):
    for _ in range(10):
        y[1:-1] = x[:-2] + x[2:]


def with_dictionary(x, table):
    for i in range(len(x)):
        x[i] = table["a"]


@pytest.mark.parametrize(
    ("function", "arguments", "words"),
    [
        (with_print, (LINE,), "print"),
        (with_list, (LINE,), "append"),
        (whole_arrays, (LINE, LINE), "nothing in it moves along an array with the loop"),
    ],
)
def test_what_keeps_a_loop_on_the_host(function, arguments, words):
    assert words in reason(function, *arguments)


def test_explain_says_what_each_loop_became():
    def program(x, y):
        for i in range(len(x)):
            y[i] = x[i] * 2
        for i in range(len(x)):
            print(y[i])

    explanation = gjit.explain(gjit.script(program, engine="native"), LINE[:2], LINE[:2])
    (nest,) = (region for region in explanation.details if region.is_nest)
    assert "for" in nest.ops
    (loop,) = (each for each in explanation.host if each.kind == "loop")
    assert "no loop nest: `print`" in loop.reason
