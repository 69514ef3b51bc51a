"""Patterns replaced in graphs: text in, text out."""

from __future__ import annotations

import textwrap

import pytest

from gjit.ir.parser import parse_graph
from gjit.ir.printer import print_graph
from gjit.ir.rewrite import rewrite_graph as rewrite_with_barriers
from gjit.ir.verify import verify_graph
from gjit.ops.barriers import writes_by_nature

MULTIPLY_ADD = """
graph multiply_add(%a, %b, %c) {
  %0 = operator.mul(%a, %b)
  %1 = operator.add(%0, %c)
  return %1
}
"""
FUSED = """
graph fused(%a, %b, %c) {
  %0 = numpy.fma(%a, %b, %c)
  return %0
}
"""


def rewrite_graph(graph, pattern, replacement):
    return rewrite_with_barriers(graph, pattern, replacement, is_barrier=writes_by_nature)


def rewritten(text: str, pattern: str, replacement: str) -> tuple[int, str]:
    graph = parse_graph(textwrap.dedent(text))
    count = rewrite_graph(graph, parse_graph(pattern), parse_graph(replacement))
    verify_graph(graph)
    return count, print_graph(graph)


def body(text: str) -> list[str]:
    return [line.strip() for line in text.strip().splitlines()[1:-1]]


def test_every_match_is_replaced_also_in_nested_blocks():
    count, text = rewritten(
        """
        graph f(%x, %y, %c) {
          %0 = operator.mul(%x, 2.0)
          %1 = operator.add(%0, %y)
          %2 = if(%c) {
            then {
              %3 = operator.mul(%1, %1)
              %4 = operator.add(%3, 1)
              yield %4
            }
            else { yield %1 }
          }
          return %2
        }
        """,
        MULTIPLY_ADD,
        FUSED,
    )
    assert count == 2
    assert body(text) == [
        "%0 = numpy.fma(%x, 2.0, %y)",
        "%1 = if(%c) {",
        "then {",
        "%2 = numpy.fma(%0, %0, 1)",
        "yield %2",
        "}",
        "else { yield %0 }",
        "}",
        "return %1",
    ]


def test_an_intermediate_value_that_is_used_elsewhere_stays():
    text = """
        graph f(%x, %y) {
          %0 = operator.mul(%x, %y)
          %1 = operator.add(%0, %y)
          %2 = operator.sub(%1, %0)
          return %2
        }
        """
    count, after = rewritten(text, MULTIPLY_ADD, FUSED)
    assert count == 0
    assert body(after) == body(textwrap.dedent(text))


def test_operands_are_not_swapped():
    count, _ = rewritten(
        """
        graph f(%x, %y) {
          %0 = operator.mul(%x, %y)
          %1 = operator.add(%x, %0)
          return %1
        }
        """,
        MULTIPLY_ADD,
        FUSED,
    )
    assert count == 0


def test_one_parameter_is_one_value():
    square = "graph square(%x) {\n %0 = operator.mul(%x, %x)\n return %0\n}"
    squared = "graph squared(%x) {\n %0 = numpy.square(%x)\n return %0\n}"
    count, text = rewritten(
        "graph f(%x, %y) {\n %0 = operator.mul(%x, %y)\n %1 = operator.mul(%0, %0)\n return %1\n}", square, squared
    )
    assert count == 1
    assert body(text) == ["%0 = operator.mul(%x, %y)", "%1 = numpy.square(%0)", "return %1"]


@pytest.mark.parametrize("other", ["1", "True", "1.5", "-0.0"])
def test_constants_match_exactly(other: str):
    plus_one = "graph plus_one(%x) {\n %0 = operator.add(%x, 1.0)\n return %0\n}"
    plain = "graph plain(%x) {\n %0 = numpy.exp(%x)\n return %0\n}"
    count, _ = rewritten(f"graph f(%x) {{\n %0 = operator.add(%x, {other})\n return %0\n}}", plus_one, plain)
    assert count == 0


def test_chains_of_the_same_pattern_collapse_one_by_one():
    twice = "graph twice(%x) {\n %0 = operator.neg(%x)\n %1 = operator.neg(%0)\n return %1\n}"
    nothing = "graph nothing(%x) {\n return %x\n}"
    lines = ["%0 = operator.neg(%x)", *(f"%{i} = operator.neg(%{i - 1})" for i in range(1, 5))]
    count, text = rewritten("graph f(%x) {\n" + "\n".join(lines) + "\n return %4\n}", twice, nothing)
    assert count == 2
    assert body(text) == ["%0 = operator.neg(%x)", "return %0"]


def test_a_replacement_is_not_a_match_by_itself():
    swap = "graph swap(%x, %y) {\n %0 = operator.add(%x, %y)\n return %0\n}"
    swapped = "graph swapped(%x, %y) {\n %0 = operator.add(%y, %x)\n return %0\n}"
    count, text = rewritten("graph f(%x, %y) {\n %0 = operator.add(%x, %y)\n return %0\n}", swap, swapped)
    assert count == 1
    assert body(text) == ["%0 = operator.add(%y, %x)", "return %0"]


def test_a_write_between_the_nodes_of_a_match_keeps_them():
    count, _ = rewritten(
        """
        graph f(%x, %y) {
          %0 = operator.mul(%x, %y)
          setitem(%x, 0, 5.0)
          %1 = operator.add(%0, %y)
          return %1
        }
        """,
        MULTIPLY_ADD,
        FUSED,
    )
    assert count == 0


def test_a_read_between_the_nodes_of_a_match_does_no_harm():
    count, _ = rewritten(
        """
        graph f(%x, %y) {
          %0 = operator.mul(%x, %y)
          %1 = numpy.sqrt(%x)
          %2 = operator.add(%0, %1)
          return %2
        }
        """,
        MULTIPLY_ADD,
        FUSED,
    )
    assert count == 1


def test_a_match_that_opens_when_another_is_replaced_is_found():
    # The product has two users until the second sum, which forgets it, is replaced.
    forget = "graph forget(%x, %y) {\n %0 = operator.sub(%x, %y)\n return %0\n}"
    left = "graph left(%x, %y) {\n return %x\n}"
    graph = parse_graph(
        textwrap.dedent(
            """
            graph f(%x, %y) {
              %0 = operator.mul(%x, %y)
              %1 = operator.sub(%y, %0)
              %2 = operator.add(%0, %1)
              return %2
            }
            """
        )
    )
    assert rewrite_graph(graph, parse_graph(forget), parse_graph(left)) == 1
    assert rewrite_graph(graph, parse_graph(MULTIPLY_ADD), parse_graph(FUSED)) == 1
    verify_graph(graph)


def test_spans_types_and_names_stay():
    graph = parse_graph(
        'file 0 "a.py"\n\ngraph f(%x: float) {\n'
        "  %0 = operator.mul(%x, %x) : float @1:0\n  %y = operator.add(%0, 1) : float @2:4-9\n  return %y\n}"
    )
    rewrite_graph(graph, parse_graph(MULTIPLY_ADD), parse_graph(FUSED))
    assert "%y = numpy.fma(%x, %x, 1) : float @2:4-9" in print_graph(graph)


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("graph p(%x) {\n return %x\n}", "returns no result"),
        ("graph p(%x) {\n %0 = operator.neg(%x)\n %1 = operator.neg(%x)\n return %1\n}", "does not use it"),
        (
            "graph p(%x) {\n %0 = if(%x) {\n then { yield 1 }\n else { yield 2 }\n }\n return %0\n}",
            "straight-line",
        ),
    ],
)
def test_what_cannot_be_a_pattern_is_refused(pattern: str, message: str):
    graph = parse_graph("graph f(%x) {\n return %x\n}")
    with pytest.raises(ValueError, match=message):
        rewrite_graph(graph, parse_graph(pattern), parse_graph("graph r(%x) {\n return %x\n}"))


def test_parameters_must_agree():
    graph = parse_graph("graph f(%x) {\n return %x\n}")
    pattern = parse_graph("graph p(%x, %y) {\n %0 = operator.neg(%x)\n return %0\n}")
    with pytest.raises(ValueError, match="does not bind"):
        rewrite_graph(graph, pattern, parse_graph("graph r(%x, %y) {\n return %y\n}"))
    with pytest.raises(ValueError, match="parameters"):
        rewrite_graph(graph, pattern, parse_graph("graph r(%x) {\n return %x\n}"))


def test_ten_thousand_nodes():
    lines = ["%0 = operator.mul(%x, %x)", "%1 = operator.add(%0, %x)"]
    for index in range(2, 10_000, 2):
        lines += [f"%{index} = operator.mul(%{index - 1}, %x)", f"%{index + 1} = operator.add(%{index}, %x)"]
    count, _ = rewritten("graph f(%x) {\n" + "\n".join(lines) + "\n return %9999\n}", MULTIPLY_ADD, FUSED)
    assert count == 5000
