"""Exact structural equality of graphs: all but names of values, identity, and the objects in capture slots."""

from __future__ import annotations

from gjit.ir.constants import constant_key
from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.printer import called_graphs


def graphs_equal(left: Graph, right: Graph, *, spans: bool = False) -> bool:
    """Whether two graphs are the same over text and capture table, and the graphs that they call too.

    Constants are told apart bit by bit: 0.0, -0.0, 0, False. Types, labels, attributes and order count.

    Args:
        spans: source positions count too.
    """
    lefts, rights = called_graphs(left), called_graphs(right)
    if [key for _, key in lefts] != [key for _, key in rights]:
        return False
    return all(_Comparison(spans).graphs(a, b) for (a, _), (b, _) in zip(lefts, rights, strict=True))


def constants_equal(left: object, right: object) -> bool:
    """Whether no program can tell two constants apart, but by identity."""
    return left is right or constant_key(left) == constant_key(right)


class _Comparison:
    """Compares two graphs: first their shape, which says which values stand for each other, then the operands."""

    def __init__(self, spans: bool):
        self._spans = spans
        self._other: dict[Value, Value] = {}
        self._nodes: list[tuple[Node, Node]] = []

    def graphs(self, left: Graph, right: Graph) -> bool:
        return (
            left.name == right.name
            and left.parameters == right.parameters
            and _slots(left) == _slots(right)
            and (not self._spans or left.span == right.span)
            and self._shapes(left.block, right.block)
            and all(self._operands(a, b) for a, b in self._nodes)
        )

    def _shapes(self, left: Block, right: Block) -> bool:
        stack = [(left, right)]
        while stack:
            left, right = stack.pop()
            lefts, rights = [*left, left.terminator], [*right, right.terminator]
            if len(lefts) != len(rights) or not self._match(left.parameters, right.parameters):
                return False
            for a, b in zip(lefts, rights, strict=True):
                if a is None or b is None:
                    if a is not b:
                        return False
                elif not self._same_node(a, b):
                    return False
                else:
                    self._nodes.append((a, b))
                    stack.extend(zip(a.blocks, b.blocks, strict=True))
        return True

    def _same_node(self, left: Node, right: Node) -> bool:
        return (
            (left.op, left.labels, len(left.inputs), len(left.blocks))
            == (right.op, right.labels, len(right.inputs), len(right.blocks))
            and (not self._spans or left.span == right.span)
            and left.attributes.keys() == right.attributes.keys()
            and all(constants_equal(value, right.attributes[key]) for key, value in left.attributes.items())
            and self._match(left.results, right.results)
        )

    def _match(self, lefts: list[Value], rights: list[Value]) -> bool:
        if [value.type for value in lefts] != [value.type for value in rights]:
            return False
        self._other.update(zip(lefts, rights, strict=True))
        return True

    def _operands(self, left: Node, right: Node) -> bool:
        return all(map(self._same_operand, left.inputs, right.inputs))

    def _same_operand(self, left: Value, right: Value) -> bool:
        if isinstance(left, Constant):
            return isinstance(right, Constant) and constants_equal(left.value, right.value)
        return self._other.get(left) is right


def _slots(graph: Graph) -> list[tuple]:
    return [(slot.name, slot.kind, slot.guarded) for slot in graph.captures]
