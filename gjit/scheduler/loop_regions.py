"""Loop regions: a loop whose turns do nothing but elementwise work on whole arrays becomes one region, loop and all.

    for i in range(n):
        x = x + i * dt * (x - y)

An engine may then run all turns for one element, or for one tile that stays in the cache, after the other.
"""

from __future__ import annotations

from gjit.ir.clone import clone_block_into
from gjit.ir.graph import Graph, Node, Value
from gjit.scheduler.flow import LOOPS
from gjit.scheduler.regions import form_regions_in, make_region, statement_blocks_of
from gjit.scheduler.turn_reader import read_turns
from gjit.scheduler.turns import is_loop_region


def form_loop_regions(graph: Graph) -> int:
    """Put the outermost loops over whole arrays into regions; how many there are.

    Such a region has the attribute `loop`. Its body ends with the loop; before that may stand the range that it runs
    over. What is the same in each turn comes before the region, where nobody can tell that it has moved.
    """
    count = 0
    waiting = [graph.block]
    while waiting:
        for node in waiting.pop():
            if _make_loop_region(node, graph, count):
                count += 1
            else:
                waiting.extend(reversed(statement_blocks_of(node)))
    return count


def _make_loop_region(node: Node, graph: Graph, index: int) -> bool:
    turns = read_turns(node, graph) if node.op in LOOPS else None
    if turns is None:
        return False
    members = [node]
    if node.op == "for" and _is_range_of(node, node.previous):
        members.insert(0, node.previous)
    for invariant in turns.invariant:
        node.block.insert(invariant.block.detach(invariant), members[0])
    make_region(members, {"index": index, "loop": True})
    return True


def _is_range_of(loop: Node, node: Node | None) -> bool:
    """Whether a node makes the range that the loop alone runs over."""
    if node is None or node.op != "builtin.range":
        return False
    return node.result is loop.inputs[0] and node.result.uses == {loop: 1}


def with_inner_regions(region: Node, graph: Graph) -> Node:
    """Of a loop region a copy, in whose loop there are ordinary regions; other regions are themselves.

    That is what runs where an engine cannot run the loop as a whole.
    """
    if not is_loop_region(region):
        return region
    body = region.blocks[0]
    copy = Node("region", results=0, span=region.span)
    target = copy.add_block([value.type for value in body.parameters])
    mapping: dict[Value, Value] = dict(zip(body.parameters, target.parameters, strict=True))
    for value, parameter in zip(body.parameters, target.parameters, strict=True):
        parameter.name = value.name
    clone_block_into(body, mapping, target)
    form_regions_in(target, graph)
    return copy
