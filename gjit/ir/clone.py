"""Copy graphs, blocks and nodes; inlining and specialising start with a copy. Time is linear, depth is free."""

from __future__ import annotations

from dataclasses import replace

from gjit.ir.graph import Block, Constant, Graph, Node, Value

Mapping = dict[Value, Value]
"""What stands for each value of the original in the copy; a value that is not in it stands for itself."""


def clone_graph(graph: Graph, *, functions: bool = False) -> Graph:
    """A copy that shares no node, block, value or slot with the original.

    Args:
        functions: copy the called graphs too, into a new shared table; else the copy shares the table.

    The objects in the capture slots are shared.
    """
    if not functions:
        return _clone_one(graph, graph.functions)
    table: dict[str, Graph] = {}
    copies = {id(called): _clone_one(called, table) for called in (graph, *graph.functions.values())}
    table.update((key, copies[id(called)]) for key, called in graph.functions.items())
    return copies[id(graph)]


def clone_block_into(
    block: Block, mapping: Mapping, target_block: Block, *, before: Node | None = None, terminator: bool = True
) -> None:
    """Append copies of the block's nodes to `target_block`, or insert them before one of its nodes.

    Args:
        mapping: what the block's parameters and outer values become; gets an entry for each value that is copied.
        terminator: copy the terminator too; the target must have none.
    """
    copies = {block: target_block}
    # A list, since the target may be the block itself.
    for node in list(block.all_nodes()):
        if node is block.terminator and not terminator:
            continue
        copy = _clone_one_node(node, mapping, copies)
        place = block if node.block is None else node.block
        if node is place.terminator:
            copies[place].terminate(copy)
        else:
            copies[place].insert(copy, before if place is block else None)


def clone_node(node: Node, mapping: Mapping) -> Node:
    """A detached copy of the node and of its blocks; `mapping` gets its results."""
    copies: dict[Block, Block] = {}
    copy = _clone_one_node(node, mapping, copies)
    for inner in node.blocks:
        clone_block_into(inner, mapping, copies[inner])
    return copy


def _clone_one(graph: Graph, functions: dict[str, Graph]) -> Graph:
    copy = Graph(graph.name, graph.parameters, functions=functions, span=graph.span)
    copy.captures = [replace(slot) for slot in graph.captures]
    mapping: Mapping = {}
    _clone_values(graph.block.parameters, copy.block.parameters, mapping)
    clone_block_into(graph.block, mapping, copy.block)
    return copy


def _clone_one_node(node: Node, mapping: Mapping, copies: dict[Block, Block]) -> Node:
    """A copy of the node with empty blocks, which `copies` gets."""
    copy = Node(
        node.op,
        [_mapped(value, mapping) for value in node.inputs],
        labels=node.labels,
        attributes=dict(node.attributes),
        results=len(node.results),
        span=node.span,
    )
    _clone_values(node.results, copy.results, mapping)
    for inner in node.blocks:
        block = copies[inner] = copy.add_block(len(inner.parameters))
        _clone_values(inner.parameters, block.parameters, mapping)
    return copy


def _clone_values(values: list[Value], copies: list[Value], mapping: Mapping) -> None:
    for value, copy in zip(values, copies, strict=True):
        copy.type, copy.name = value.type, value.name
        mapping[value] = copy


def _mapped(value: Value, mapping: Mapping) -> Value:
    known = mapping.get(value)
    if known is None and isinstance(value, Constant):
        # Another graph may not share a constant: each keeps its own uses.
        known = mapping[value] = Constant(value.value)
        known.type = value.type
    return value if known is None else known
