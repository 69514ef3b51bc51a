from __future__ import annotations

import pytest
from hypothesis import given, settings

from gjit.ir import graphs_equal, parse_graph
from tests.ir.strategies import graphs

TEXT = """
file 0 "a.py"
graph f(%x: int) @1:0 {
  capture 0 guarded global "np"
  %a = call(%x, 1, k=2) {name="n"} : int @2:0
  %b = operator.sub(%a, %x)
  if(%b) { then { yield } else { yield } }
  %c = invoke(%b) {function="g"}
  return %c
}
graph g(%y) { return 0.0 }
"""


@settings(max_examples=20)
@given(graphs())
def test_a_graph_equals_itself(graph):
    assert graphs_equal(graph, graph, spans=True)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("graph f(", "graph h("),
        ("%x: int", "%x: float"),
        ("(%x: int)", "(/%x: int)"),
        ("guarded", "load"),
        ("global", "object"),
        ('"np"', '"numpy"'),
        (", 1,", ", 1.0,"),
        (", 1,", ", True,"),
        (", 1,", ", %x,"),
        ("k=2", "j=2"),
        ("k=2", "2"),
        ('name="n"', 'name="m"'),
        ('name="n"', 'label="n"'),
        (": int @2", ": bool @2"),
        ("(%a, %x)", "(%x, %a)"),
        ("sub(", "add("),
        ("then { yield }", "then { }"),
        ("then { yield }", "then { yield %a }"),
        ("then { yield } else { yield }", ""),
        ("return 0.0", "return -0.0"),
        ("graph g(%y)", "graph g(%y, %z)"),
        ("return %c", "%d = pos(%c) return %c"),
    ],
)
def test_any_difference_counts(old, new):
    assert TEXT.count(old) >= 1
    assert not graphs_equal(parse_graph(TEXT), parse_graph(TEXT.replace(old, new, 1)))


def test_names_of_values_do_not_count():
    assert graphs_equal(parse_graph(TEXT), parse_graph(TEXT.replace("%a", "%other")), spans=True)


def test_spans_count_when_asked():
    moved = parse_graph(TEXT.replace("@2:0", "@3:0"))
    assert graphs_equal(parse_graph(TEXT), moved)
    assert not graphs_equal(parse_graph(TEXT), moved, spans=True)


def test_values_of_other_blocks_are_told_apart():
    text = "graph f(%x) { %a = g() %b = g() return %a }"
    assert not graphs_equal(parse_graph(text), parse_graph(text.replace("return %a", "return %b")))
