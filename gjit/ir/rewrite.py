"""Replace every occurrence of one small graph by another."""

from __future__ import annotations

from collections import deque

from gjit.ir.analysis import adopt_slot
from gjit.ir.clone import clone_block_into
from gjit.ir.graph import Constant, Graph, Node, Value
from gjit.ir.match import Barriers, IsBarrier, Match, Pattern
from gjit.ir.types import UNKNOWN


def rewrite_graph(graph: Graph, pattern: Graph, replacement: Graph, *, is_barrier: IsBarrier) -> int:
    """Replace each match of `pattern` in the graph, nested blocks included, and return how many there were.

    Operands are matched in their order, constants exactly (`1`, `1.0` and `True` differ). Matches are replaced one
    at a time in the order of the program, so of two that overlap the first is. What a replacement brings in is not
    a match by itself, but may be the inside of a later one. The new nodes get the place in the source, and the
    result the type and name, of what they replace.

    Args:
        pattern: straight-line code that returns one value; its parameters stand for any value.
        replacement: any code that ends in one `return`, with as many parameters.
        is_barrier: across which nodes nothing may be moved.

    Raises:
        ValueError: graphs that cannot be a pattern and its replacement.

    >>> from gjit.ir.parser import parse_graph
    >>> graph = parse_graph("graph f(%u, %v) { %0 = numpy.log(%u) %1 = numpy.exp(%0) return %1 }")
    >>> pattern = parse_graph("graph before(%x) { %0 = numpy.log(%x) %1 = numpy.exp(%0) return %1 }")
    >>> after = parse_graph("graph after(%x) { return %x }")
    >>> rewrite_graph(graph, pattern, after, is_barrier=lambda node: False)
    1
    >>> print(graph)
    graph f(%u, %v) {
      return %u
    }
    """
    wanted = Pattern(pattern)
    _check_replacement(pattern, replacement)
    barriers = Barriers(is_barrier)
    work = deque(node for node in graph.all_nodes() if node.op == wanted.root.op)
    originals = set(work)
    count = 0
    while work:
        node = work.popleft()
        if node.block is None:
            continue
        found = wanted.match(node)
        if found is None or not barriers.allow(found):
            continue
        _replace(graph, pattern, replacement, found, barriers, is_barrier)
        count += 1
        work.extend(user for user in _freed(wanted, found) if user in originals)
    return count


def _check_replacement(pattern: Graph, replacement: Graph) -> None:
    if len(pattern.parameters) != len(replacement.parameters):
        raise ValueError(
            f"the pattern {pattern.name!r} has {len(pattern.parameters)} parameters, "
            f"its replacement {replacement.name!r} has {len(replacement.parameters)}"
        )
    for ours, theirs in zip(pattern.block.parameters, replacement.block.parameters, strict=True):
        if theirs.uses and not ours.uses:
            raise ValueError(
                f"the replacement {replacement.name!r} uses {theirs.name!r}, which the pattern does not bind"
            )
    terminator = replacement.block.terminator
    returns = [node for node in replacement.all_nodes() if node.op == "return"]
    if terminator is None or returns != [terminator]:
        raise ValueError(f"the replacement {replacement.name!r} does not end in its one return")


def _replace(
    graph: Graph, pattern: Graph, replacement: Graph, found: Match, barriers: Barriers, is_barrier: IsBarrier
) -> None:
    root = found.root
    block, before = root.block, root.previous
    pairs = zip(pattern.block.parameters, replacement.block.parameters, strict=True)
    mapping: dict[Value, Value] = {ours: found.values[theirs] for theirs, ours in pairs if theirs in found.values}
    clone_block_into(replacement.block, mapping, block, before=root, terminator=False)
    for node in _between(block.first if before is None else before.next, root):
        _settle(graph, replacement, node, root)
        barriers.place(node, root)
        if is_barrier(node):
            barriers.forget(block)
    returned = replacement.block.terminator.inputs[0]
    result = Constant(returned.value) if isinstance(returned, Constant) else mapping[returned]
    if result.type == UNKNOWN:
        result.type = root.result.type
    root.replace_with([result])
    for node in reversed(list(found.nodes.values())):
        if node is not root:
            node.remove()


def _between(first: Node | None, end: Node) -> list[Node]:
    nodes: list[Node] = []
    while first is not None and first is not end:
        nodes.append(first)
        first = first.next
    return nodes


def _settle(graph: Graph, replacement: Graph, node: Node, root: Node) -> None:
    """Give a new node and what is nested in it the root's place in the source and slots of the graph."""
    nodes = [node, *(inner for block in node.blocks for inner in block.all_nodes())]
    for each in nodes:
        each.span = root.span
        if "slot" in each.attributes:
            each.attributes["slot"] = adopt_slot(graph, replacement.captures[each.attributes["slot"]])


def _freed(wanted: Pattern, found: Match) -> list[Node]:
    """Nodes that may be the root of a match now that a value inside it has fewer users."""
    users: dict[Node, None] = {}
    values = list(found.values.values())
    for _ in range(wanted.size):
        level = [user for value in values if len(value.uses) <= wanted.size for user in value.uses]
        users.update(dict.fromkeys(level))
        values = [result for user in level for result in user.results]
    return list(users)
