from __future__ import annotations

import pytest

from gjit.ir import Builder, Graph, known_names, parse_graph
from gjit.ir.protocols import KnownNames
from gjit.ir.structure import block_names, block_rules, bound_names, names_of_blocks


@pytest.mark.parametrize(
    ("op", "count", "names"),
    [
        ("if", 2, ["then", "else"]),
        ("if", 1, ["block"]),
        ("while", 3, ["condition", "body", "else"]),
        ("try", 3, ["body", "else", "finally"]),
        ("try", 7, ["body", "else", "finally", "type", "handler", "type", "handler"]),
        ("try", 4, ["block"] * 4),
        ("match", 1, ["otherwise"]),
        ("match", 3, ["guard", "body", "otherwise"]),
        ("user.op", 2, ["block", "block"]),
    ],
)
def test_blocks_are_named_by_op_and_count(op, count, names):
    assert names_of_blocks(op, count) == names


def test_rules_and_names_agree():
    graph = parse_graph(
        """graph f(%x) {
          %a = for(%x, %x) { body(%i, %c) { continue %c } else(%c.1) { yield %c.1 } }
          try() { body { yield } else { yield } finally { yield } type { yield } handler(%e) { yield } }
          return %a
        }"""
    )
    for node in graph.block:
        assert [rule.name for rule in block_rules(node)] == block_names(node)
        assert [rule.parameters for rule in block_rules(node)] == [len(block.parameters) for block in node.blocks]


def test_an_op_of_a_user_has_no_rules():
    assert block_rules(Builder(Graph("f")).node("user.op")) is None


@pytest.mark.parametrize(
    ("pattern", "names"),
    [
        ("_", []),
        ("x", ["x"]),
        ("[a, *b, _]", ["a", "b"]),
        ("{'k': v, **rest}", ["v", "rest"]),
        ("_0(a, key=b) as c", ["a", "b", "c"]),
        ("(x, 1) | (1, x)", ["x"]),
        ("_1.attribute", []),
    ],
)
def test_names_that_a_pattern_binds(pattern, names):
    assert bound_names(pattern) == names


@pytest.mark.parametrize("pattern", ["1 +", "x: pass\n case y", "", "f("])
def test_what_is_no_pattern(pattern):
    with pytest.raises(SyntaxError):
        bound_names(pattern)


def test_names_of_objects_are_asked_in_order_and_checked():
    registry = KnownNames()
    marker, lost = object(), object()
    table = {"mine.marker": marker, "mine.int": int}

    registry.register(
        table.__getitem__, lambda value: {id(marker): "mine.marker", id(lost): "mine.lost"}.get(id(value))
    )
    assert registry.name_of(marker) == "mine.marker"
    assert registry.lookup("mine.marker") is marker
    assert registry.name_of(lost) is None
    assert registry.name_of(int) == "builtin.int"
    with pytest.raises(LookupError):
        registry.lookup("mine.nothing")


def test_builtin_and_numpy_classes_are_known_without_ops():
    for name in ("builtin.int", "builtin.ValueError", "numpy.float64", "numpy.longlong", "numpy.bool"):
        assert known_names.name_of(known_names.lookup(name)) == name
