"""Find where a small straight-line graph occurs in another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gjit.ir.constants import constant_key
from gjit.ir.graph import Block, Constant, Graph, Node, Value

IsBarrier = Callable[[Node], bool]
"""Whether computations may not be moved across a node: it writes, or runs code that may."""


@dataclass(slots=True)
class Match:
    """One place where a pattern occurs: the node of its result, every node, and the value of each parameter."""

    root: Node
    nodes: dict[Node, Node]  # of the pattern, to those found
    values: dict[Value, Value]  # parameters of the pattern, to what they stand for


class Pattern:
    """A graph to be found: its parameters stand for any value, each for one value throughout.

    Args:
        graph: nodes without blocks that all lead to the one value it returns.

    Raises:
        ValueError: a graph that cannot be a pattern.
    """

    def __init__(self, graph: Graph):
        returned = graph.block.terminator
        if returned is None or returned.op != "return" or any(node.blocks for node in graph.block):
            raise ValueError(f"the pattern {graph.name!r} is not straight-line code that ends in a return")
        root = returned.inputs[0].producer
        if not isinstance(root, Node):
            raise ValueError(f"the pattern {graph.name!r} returns no result of an operation")
        self.graph = graph
        self.root = root
        self.size = len(graph.block)
        _check_nodes(graph, root)

    def match(self, node: Node) -> Match | None:
        """The match whose result is the result of `node`, or None.

        Intermediate values of the match are used by nothing else, and stand in the block of `node`.
        """
        if node.op != self.root.op:
            return None
        found = Match(node, {}, {})
        pairs: list[tuple[Value, Value]] = list(zip(self.root.results, node.results, strict=False))
        while pairs:
            wanted, value = pairs.pop()
            if isinstance(wanted, Constant):
                if not (isinstance(value, Constant) and constant_key(wanted.value) == constant_key(value.value)):
                    return None
            elif isinstance(wanted.producer, Node):
                inputs = _match_node(found, wanted, value)
                if inputs is None:
                    return None
                pairs += inputs
            elif not _is_same(found.values.setdefault(wanted, value), value):
                return None
        return found if _is_closed(found) else None


def _check_nodes(graph: Graph, root: Node) -> None:
    reached, stack = set(), [root]
    while stack:
        node = stack.pop()
        if node not in reached:
            reached.add(node)
            stack += [value.producer for value in node.inputs if isinstance(value.producer, Node)]
    for node in graph.block:
        if node not in reached:
            raise ValueError(f"the pattern {graph.name!r} computes {node.op!r} and does not use it")
        if node.op in ("capture", "cell"):
            raise ValueError(f"the pattern {graph.name!r} refers to an object outside of it; make that a parameter")
    if len(root.results) != 1:
        raise ValueError(f"the pattern {graph.name!r} returns one of several results of {root.op!r}")


def _match_node(found: Match, wanted: Value, value: Value) -> list[tuple[Value, Value]] | None:
    """The pairs of inputs that must match too; None where the nodes differ."""
    ours, theirs = wanted.producer, value.producer
    if not isinstance(theirs, Node) or theirs.block is not found.root.block:
        return None
    if ours.results.index(wanted) >= len(theirs.results) or theirs.results[ours.results.index(wanted)] is not value:
        return None
    if found.nodes.setdefault(ours, theirs) is not theirs:
        return None
    same = ours.op == theirs.op and ours.labels == theirs.labels and len(ours.inputs) == len(theirs.inputs)
    if not same or theirs.blocks or ours.attributes != theirs.attributes:
        return None
    return list(zip(ours.inputs, theirs.inputs, strict=True))


def _is_same(left: Value, right: Value) -> bool:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return constant_key(left.value) == constant_key(right.value)
    return left is right


def _is_closed(found: Match) -> bool:
    matched = set(found.nodes.values())
    inner = (value for node in matched if node is not found.root for value in node.results)
    return all(user in matched for value in inner for user in value.uses)


class Barriers:
    """Counts the barriers between nodes of one block in constant time, from one pass over each block."""

    def __init__(self, is_barrier: IsBarrier):
        self._is_barrier = is_barrier
        self._before: dict[Node, int] = {}

    def allow(self, found: Match) -> bool:
        """Whether every node of the match may be moved down to its root."""
        if len(found.nodes) == 1:
            return True
        inner = [node for node in found.nodes.values() if node is not found.root]
        if any(map(self._is_barrier, inner)):
            return _is_contiguous(found)
        return all(self.count_before(node) == self.count_before(found.root) for node in inner)

    def count_before(self, node: Node) -> int:
        """How many barriers stand before the node in its block, when that was first looked at."""
        if node not in self._before:
            self._read(node.block)
        return self._before[node]

    def _read(self, block: Block) -> None:
        count = 0
        for node in block:
            self._before[node] = count
            count += self._is_barrier(node)
        if block.terminator is not None:
            self._before[block.terminator] = count

    def forget(self, block: Block) -> None:
        """Count again in this block: barriers were added to it."""
        for node in block:
            self._before.pop(node, None)

    def place(self, node: Node, like: Node) -> None:
        """Give a new node, which is no barrier, the count of the node that it stands beside."""
        self._before[node] = self.count_before(like)


def _is_contiguous(found: Match) -> bool:
    """Whether nothing else stands between the nodes of a match."""
    matched = set(found.nodes.values())
    node: Node | None = found.root
    for _ in matched:
        if node not in matched:
            return False
        node = node.previous
    return True
