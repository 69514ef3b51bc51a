"""Graphs of another program, brought into one."""

from __future__ import annotations

from gjit.ir.builder import Builder
from gjit.ir.graph import CaptureKind, Graph, Parameter
from gjit.ir.linking import Linker
from gjit.ir.printer import print_graph
from gjit.ir.verify import verify_graph


def calling(name, *called, functions):
    """A graph with one parameter that passes it through `called` in turn."""
    graph = Graph(name, [Parameter("x")], functions=functions)
    builder = Builder(graph)
    value = graph.block.parameters[0]
    for each in called:
        value = builder.add("invoke", [value], function=each)
    builder.end("return", [value])
    functions[name] = graph
    return graph


def test_names_that_are_taken_get_a_number_and_calls_follow():
    first: dict[str, Graph] = {}
    second: dict[str, Graph] = {}
    calling("inner", functions=first)
    calling("inner", functions=second)
    one = calling("step", "inner", functions=first)
    two = calling("step", "inner", "inner", functions=second)
    main = Graph("main", [Parameter("x")])
    linker = Linker(main.functions, {"main"})
    assert [linker.adopt(graph) for graph in (one, two, one)] == ["step", "step_1", "step"]
    assert list(main.functions) == ["step", "inner", "step_1", "inner_1"]
    calls = [node.attributes["function"] for node in main.functions["step_1"].block]
    assert calls == ["inner_1", "inner_1"]
    assert all(graph.functions is main.functions for graph in main.functions.values())
    assert main.functions["step"] is not one


def test_recursion_stays_within_the_copy():
    functions: dict[str, Graph] = {}
    graph = calling("loop", "loop", functions=functions)
    target: dict[str, Graph] = {}
    assert Linker(target, {"loop"}).adopt(graph) == "loop_1"
    (call,) = target["loop_1"].block
    assert call.attributes["function"] == "loop_1"
    verify_graph(target["loop_1"])


def test_the_original_stays_as_it_is():
    functions: dict[str, Graph] = {}
    calling("inner", functions=functions)
    graph = calling("outer", "inner", functions=functions)
    builder = Builder(graph)
    builder.slot("limit", CaptureKind.GLOBAL, 3, guarded=True, namespace={})
    before = print_graph(graph)
    target: dict[str, Graph] = {}
    Linker(target, {"inner", "outer"}).adopt(graph)
    assert print_graph(graph) == before
    assert target["outer_1"].captures == graph.captures
    assert target["outer_1"].captures[0] is not graph.captures[0]
