"""Questions that several transformations ask of a graph, and the moves that they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gjit.ir.graph import Block, CaptureSlot, Graph, Node


def splice(block: Block, node: Node) -> None:
    """Move the nodes of a block of `node` to before it, give what the block yields to the users of the results,
    and remove the node. The block must end in `yield` and have no parameters."""
    target = node.block
    for inner in list(block):
        block.detach(inner)
        target.insert(inner, node)
    node.replace_with(list(block.terminator.inputs))


def leaves(block: Block) -> Iterator[Node]:
    """The terminators that belong to the loop or function whose body `block` is: `continue` and `break` that speak
    of this loop, not of one nested in it, and none in functions made inside."""
    stack = [block]
    while stack:
        current = stack.pop()
        if current.terminator is not None:
            yield current.terminator
        for node in current:
            if node.op == "function":
                continue
            # the `else` of a nested loop still belongs to this one
            stack.extend(node.blocks[-1:] if node.op in ("for", "while") else node.blocks)


def adopt_slot(graph: Graph, wanted: CaptureSlot) -> int:
    """The index of a capture slot of `graph` for the same object as a slot of another graph; made when it is new."""
    for index, slot in enumerate(graph.captures):
        same_place = slot.name == wanted.name and slot.kind == wanted.kind and slot.namespace is wanted.namespace
        if same_place and slot.value is wanted.value and slot.guarded == wanted.guarded:
            return index
    graph.captures.append(replace(wanted))
    return len(graph.captures) - 1
