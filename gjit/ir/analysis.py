"""Questions that several passes ask of a graph, and the moves of nodes that they share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from gjit.ir.graph import Block, CaptureSlot, Constant, Graph, Node, Value


def enclosing_blocks(block: Block) -> Iterator[Block]:
    """The block itself, then the blocks around it, from the inside out."""
    current: Block | None = block
    while current is not None:
        yield current
        owner = current.owner
        current = owner.block if isinstance(owner, Node) else None


def is_inside(block: Block, outer: Block) -> bool:
    """Whether `block` is `outer` or nested in it."""
    return any(each is outer for each in enclosing_blocks(block))


def defining_block(value: Value) -> Block | None:
    """The block in which a value comes to be; None for a constant."""
    if isinstance(value.producer, Block):
        return value.producer
    return value.producer.block if value.producer is not None else None


def values_used_from_outside(block: Block) -> list[Value]:
    """The values that nodes in the block (and in blocks nested there) use and that come from outside it.

    In the order of their first use; constants are not counted.
    """
    inside: set[Value] = set(block.parameters)
    used: dict[Value, None] = {}
    for node in block.all_nodes():
        for value in node.inputs:
            if value not in inside and not isinstance(value, Constant):
                used[value] = None
        inside.update(node.results)
        for nested in node.blocks:
            inside.update(nested.parameters)
    return list(used)


def ancestor_in(node: Node, block: Block) -> Node | None:
    """The node of `block` that is `node` or holds it; None where the node is not inside the block."""
    current: Node | None = node
    while current is not None and current.block is not block:
        owner = current.block.owner if current.block is not None else None
        current = owner if isinstance(owner, Node) else None
    return current


def positions(block: Block) -> dict[Node, int]:
    """The place of each node of the block, its terminator last."""
    order = {node: index for index, node in enumerate(block)}
    if block.terminator is not None:
        order[block.terminator] = len(order)
    return order


def dominates(first: Node, second: Node) -> bool:
    """Whether `first` has always run when `second` does: it stands before it, in its block or in one around it.

    Costs as much as the blocks are long; a pass that asks often walks in order instead.
    """
    if first.block is None:
        return False
    ancestor = ancestor_in(second, first.block)
    if ancestor is None or ancestor is first:
        return False
    order = positions(first.block)
    return order[first] < order[ancestor]


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


def returns(graph: Graph) -> list[Node]:
    """The `return` terminators of the graph itself, not those of functions made inside."""
    found, stack = [], [graph.block]
    while stack:
        current = stack.pop()
        if current.terminator is not None and current.terminator.op == "return":
            found.append(current.terminator)
        for node in current:
            if node.op != "function":
                stack.extend(node.blocks)
    return found


def adopt_slot(graph: Graph, wanted: CaptureSlot) -> int:
    """The index of a capture slot of `graph` for the same object as a slot of another graph; made when it is new."""
    for index, slot in enumerate(graph.captures):
        same_place = slot.name == wanted.name and slot.kind == wanted.kind and slot.namespace is wanted.namespace
        if same_place and slot.value is wanted.value and slot.guarded == wanted.guarded:
            return index
    graph.captures.append(replace(wanted))
    return len(graph.captures) - 1
