from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings

from gjit.ir import (
    TERMINATORS,
    Builder,
    Constant,
    Graph,
    GraphTextError,
    Parameter,
    graphs_equal,
    parse_graph,
    parse_type,
    print_graph,
    verify_graph,
)
from gjit.ir.printer import HEADER
from gjit.ir.types import UNKNOWN, ArrayType
from gjit.source import Span
from tests.ir.strategies import graphs, types

RELAX = """\
file 0 "relax.py"

graph relax(%u: array<float64, 1>, %n: int = default) @4:0-9:12 {
  capture 0 guarded global "np"
  %r = builtin.range(%n) : range @6:13-21
  for(%r) @6:4-7:52 {
    body(%i: int) {
      %x = getitem(%u, slice(None, -2, None)) : array<float64, 1>
      %x.1 = getitem(%u, slice(2, None, None)) : array<float64, 1>
      %0 = operator.add(%x, %x.1)
      %1, %b = unpack(%0) {before=2, star=False, after=0} : unknown, int
      setitem(%u, slice(1, -1, None), %1)
      continue
    }
    else { yield }
  }
  %2 = numpy.sum(%u, axis=0, *%r, **%n, "a b"=1) : array<'>f8', ?> @8:11
  return %2 @8:4-43
}"""


def values_of(graph: Graph) -> list:
    found = [*graph.block.parameters]
    for node in graph.all_nodes():
        found += node.results
        for block in node.blocks:
            found += block.parameters
    return found


@settings(max_examples=60)
@given(graphs())
def test_what_prints_parses_back_to_an_equal_graph(graph):
    verify_graph(graph)
    text = print_graph(graph)
    parsed = parse_graph(text)
    verify_graph(parsed)
    assert graphs_equal(graph, parsed, spans=True)
    assert print_graph(parsed) == text
    assert [value.name for value in values_of(parsed)] == [value.name for value in values_of(graph)]


@settings(max_examples=20)
@given(graphs())
def test_without_spans_everything_else_comes_back(graph):
    text = print_graph(graph, spans=False)
    parsed = parse_graph(text)
    assert graphs_equal(graph, parsed)
    assert all(node.span is None for node in parsed.all_nodes())
    assert print_graph(parsed) == text


@given(types)
def test_types_parse_back(type_):
    assert parse_type(str(type_)) == type_


def test_the_form_of_the_text():
    graph = parse_graph(RELAX)
    assert str(graph) == RELAX
    assert graph.block.parameters[0].type == parse_type("array<float64, 1>")
    assert graph.span == Span("relax.py", 4, 0, 9, 12)
    call = graph.block.last
    assert call.labels == ("", "axis=", "*", "**", "a b=")
    assert call.span == Span("relax.py", 8, 11, 0, 0)
    assert graph.captures[0].value is None


def test_the_version_line_is_optional_and_checked():
    assert graphs_equal(parse_graph(f"{HEADER}\n{RELAX}"), parse_graph(RELAX))
    with pytest.raises(GraphTextError, match="reads graph text of version 1"):
        parse_graph(f"gjit graph text, version 2\n{RELAX}")


def test_called_graphs_print_once_and_share_their_functions():
    text = """\
graph main(%x) {
  %0 = invoke(%x) {function="even"}
  %1 = invoke(%0) {function="even"}
  return %1
}

graph even(%n) {
  %0 = invoke(%n) {function="odd.2"}
  return %0
}

graph odd as "odd.2"(%n) {
  %0 = invoke(%n) {function="even"}
  return %0
}"""
    graph = parse_graph(text)
    assert list(graph.functions) == ["even", "odd.2"]
    assert graph.functions["odd.2"].name == "odd"
    assert graph.functions["even"].functions is graph.functions
    assert print_graph(graph) == text
    assert print_graph(graph.functions["even"]).startswith("graph even as even(%n)")


def test_a_recursive_graph_finds_itself():
    text = 'graph f as f(%n) {\n  %0 = invoke(%n) {function="f"}\n  return %0\n}'
    graph = parse_graph(text)
    assert graph.functions["f"] is graph
    assert print_graph(graph) == text


def test_functions_that_nobody_calls_do_not_print():
    graph = parse_graph("graph f() { return None } graph g() { return None }")
    assert "graph g" not in print_graph(graph)


def test_a_parameter_keeps_its_name_when_its_value_has_another():
    graph = Graph("f", [Parameter("x"), Parameter("_ y")])
    graph.block.parameters[0].name = "renamed"
    Builder(graph).end("return", [Constant(None)])
    text = print_graph(graph)
    assert text.splitlines()[0] == 'graph f(%renamed as "x", %"_ y" as "_ y") {'
    assert print_graph(parse_graph(text)) == text


def test_an_object_without_text_prints_but_does_not_parse():
    graph = Graph("f")
    Builder(graph).end("return", [Constant(object())])
    assert "unprintable(" in print_graph(graph)
    with pytest.raises(GraphTextError):
        parse_graph(print_graph(graph))


def test_an_unfinished_graph_prints_and_parses():
    graph = Graph("f")
    node = Builder(graph).node("if", [Constant(True)])
    node.add_block()
    text = print_graph(graph)
    assert "block { }" in text
    assert print_graph(parse_graph(text)) == text


def test_comments_and_white_space_mean_nothing():
    graph = parse_graph("graph f ( %x )\n{ # a comment }\n return\n%x # end\n}")
    assert print_graph(graph) == "graph f(%x) {\n  return %x\n}"


@pytest.mark.parametrize(
    ("text", "line", "column", "problem"),
    [
        ("graph f(%x) {\n  %y = g(%x, )\n}", 2, 14, "expected a constant, found `)`"),
        ("graph f(%x) { return %y }", 1, 22, "`%y` is not defined"),
        ("graph f(%x, %x) { return %x }", 1, 13, "`%x` is defined twice"),
        ("graph f(%x", 1, 11, "expected `,`, found the end of the text"),
        ("graph f() {\n  %a = g() : int, int\n}", 2, 12, "expected 1 types, one for each result, found 2"),
        ("graph f() { if(1) { else { } then { } } }", 1, 13, "`if` with 2 blocks has the blocks then, else"),
        ("graph f() { return 1 return 2 }", 1, 22, "expected `}` after a terminator, found `return`"),
        ("graph f() { g() {a=1, a=2} }", 1, 23, "there are two attributes 'a'"),
        ('graph f() { capture 1 load global "x" }', 1, 21, "this slot has the number 0"),
        ('graph f() { capture 0 load local "x" }', 1, 28, "`local` is malformed: 'local' is not a valid CaptureKind"),
        ("graph f() { return 1 @1:2 }", 1, 22, "the file 0 is not in the table of files"),
        ("file 1 'a'", 1, 6, "this file has the number 0"),
        ("graph f() { return $ }", 1, 20, "no token of the graph text starts with '$'"),
        ("graph f() { return 1 } graph g() { return 1 } graph g() { return 1 }", 1, 47, "there are two functions 'g'"),
        ("", 1, 1, "expected `graph`, found the end of the text"),
    ],
)
def test_errors_name_the_place_and_what_was_expected(text, line, column, problem):
    with pytest.raises(GraphTextError) as caught:
        parse_graph(text)
    assert (caught.value.line, caught.value.column, caught.value.problem) == (line, column, problem)


def test_an_error_shows_the_line_and_a_caret():
    with pytest.raises(GraphTextError) as caught:
        parse_graph("graph f() {\n  return $\n}")
    assert str(caught.value).splitlines()[1:] == ["      return $", "             ^"]


def test_the_window_of_a_long_line_holds_the_caret():
    with pytest.raises(GraphTextError) as caught:
        parse_graph("graph f() { g(" + "1, " * 1000 + "$) }")
    shown, caret = str(caught.value).splitlines()[1:]
    assert shown[len(caret) - 1] == "$"


@settings(max_examples=15)
@given(graphs())
def test_a_cut_text_is_an_error_of_the_text_or_a_shorter_graph(graph):
    text = print_graph(graph)
    for cut in range(0, len(text) - 1, max(len(text) // 10, 1)):
        with pytest.raises(GraphTextError):
            parse_graph(text[:cut])


def test_unknown_types_are_left_out():
    graph = parse_graph("graph f(%x: unknown) { %a, %b = g(%x) : unknown, unknown return %a }")
    assert "unknown" not in print_graph(graph)
    assert graph.block.first.results[0].type == UNKNOWN
    assert str(ArrayType(None, None)) == "array<?, ?>"


def test_the_example_of_the_docs_is_what_prints():
    page = (Path(__file__).parents[2] / "docs" / "graph-text.md").read_text()
    example = page.split("```\n")[1].rstrip("\n")
    assert print_graph(parse_graph(example)) == example
    verify_graph(parse_graph(example))
    assert all(f'"{op}"' in page for op in TERMINATORS)
    assert f"*{HEADER}*" in page
