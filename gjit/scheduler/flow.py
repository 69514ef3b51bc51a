"""How values flow between blocks: which block parameters and results a terminator sets, and what each node needs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gjit.ir.graph import Block, Constant, Graph, Node, Value

LOOPS = frozenset({"for", "while"})
CARRIED = {"for": 1, "while": 0}
"""The first input of a loop that is an initial value of a carried one."""


def loop_of(terminator: Node) -> Node:
    """The loop that a `break` or `continue` speaks of: its `else` block already belongs to the loop outside."""
    block = terminator.block
    while True:
        owner = block.owner
        if owner.op in LOOPS and owner.blocks[-1] is not block:
            return owner
        block = owner.block


def function_of(node: Node) -> Node | None:
    """The inner function that a node belongs to; None for the function of the graph itself."""
    owner = node.block.owner
    while isinstance(owner, Node) and owner.op != "function":
        owner = owner.block.owner
    return owner if isinstance(owner, Node) else None


def is_inside(node: Node, block: Block) -> bool:
    """Whether a node stands in a block or in a block nested there."""
    while node.block is not block:
        if not isinstance(node.block.owner, Node):
            return False
        node = node.block.owner
    return True


def is_of_class(value: Value) -> bool:
    """Whether a value is the namespace of a class body, or `__class__`."""
    block = value.producer
    return isinstance(block, Block) and isinstance(block.owner, Node) and block.owner.op == "class"


def carried_parameters(loop: Node) -> list[Value]:
    """The parameters that stand for the carried values at the head of a loop."""
    parameters = loop.blocks[0].parameters
    return parameters[1:] if loop.op == "for" else parameters


def destinations(terminator: Node) -> list[list[Value]]:
    """The lists of parameters or results that take the operands of a terminator (after the truth of `condition`)."""
    owner = terminator.block.owner
    match terminator.op:
        case "continue":
            return [carried_parameters(loop_of(terminator))]
        case "break":
            return [loop_of(terminator).results]
        case "condition":
            return [owner.blocks[1].parameters, owner.blocks[2].parameters]
        case "yield" if isinstance(owner, Node) and len(owner.results) == len(terminator.inputs):
            is_guard = owner.op == "match" and any(guard is terminator.block for guard, _ in cases(owner))
            if owner.op in ("if", "for", "while", "with", "match", "region") and not is_guard:
                return [owner.results]
    return []


def cases(match: Node) -> list[tuple[Block, Block]]:
    """The guard and the body of each case of a `match`."""
    return list(zip(match.blocks[:-1:2], match.blocks[1:-1:2], strict=True))


def passed(terminator: Node) -> list[Value]:
    """The operands of a terminator that go to its destinations."""
    return terminator.inputs[1:] if terminator.op == "condition" else terminator.inputs


@dataclass(slots=True)
class Flow:
    """The moves of a function and what follows from them.

    moves   pairs of a destination and a value that is moved into it
    needed  values that something other than a move into an unneeded destination reads
    free    for each node with blocks, the values from outside that its blocks read
    aliases parameters of region bodies, which are other names of the region's inputs
    """

    moves: list[tuple[Value, Value]] = field(default_factory=list)
    needed: set[Value] = field(default_factory=set)
    free: dict[Node, set[Value]] = field(default_factory=dict)
    aliases: dict[Value, Value] = field(default_factory=dict)

    def resolve(self, value: Value) -> Value:
        """The value behind parameters of inlined region bodies."""
        while value in self.aliases:
            value = self.aliases[value]
        return value


def analyse(block: Block) -> Flow:
    """The flow of everything in `block`, nested functions included."""
    flow = Flow()
    nodes = list(block.all_nodes())
    for node in nodes:
        if node.op == "region":
            flow.aliases.update(zip(node.blocks[0].parameters, node.inputs, strict=True))
    read = [value for node in nodes for value in _read(node, flow)]
    if block.terminator is not None and block.terminator.op == "yield":
        read.extend(block.terminator.inputs)  # the body of a region by itself: what it yields is returned
    _mark_needed(flow, read)
    for node in nodes:
        _note_free(node, block, flow)
    return flow


def _read(node: Node, flow: Flow) -> Iterator[Value]:
    """The inputs that a node reads by itself; its moves go into the flow."""
    if node.is_terminator:
        lists = destinations(node)
        for targets in lists:
            flow.moves.extend(zip(targets, passed(node), strict=True))
        if lists:
            yield from node.inputs[:1] if node.op == "condition" else ()
            return
    if node.op in LOOPS:
        first = CARRIED[node.op]
        parameters = carried_parameters(node)
        flow.moves.extend(zip(parameters, node.inputs[first:], strict=True))
        if node.op == "for":
            flow.moves.extend(zip(node.blocks[1].parameters, parameters, strict=True))
        yield from node.inputs[:first]
        return
    if node.op == "match":
        for guard, body in cases(node):
            flow.moves.extend(zip(body.parameters, guard.parameters, strict=True))
    yield from node.inputs


def _mark_needed(flow: Flow, read: list[Value]) -> None:
    sources: dict[Value, list[Value]] = {}
    for target, source in flow.moves:
        sources.setdefault(target, []).append(source)
    waiting = [flow.resolve(value) for value in read]
    while waiting:
        value = waiting.pop()
        if value not in flow.needed:
            flow.needed.add(value)
            waiting.extend(flow.resolve(source) for source in sources.get(value, ()))


def _note_free(node: Node, root: Block, flow: Flow) -> None:
    for value in node.inputs:
        value = flow.resolve(value)
        if isinstance(value, Constant) or value.producer is None:
            continue
        home = value.producer if isinstance(value.producer, Block) else value.producer.block
        block = node.block
        while block is not home and block is not root and not isinstance(block.owner, Graph | None):
            known = flow.free.setdefault(block.owner, set())
            if value in known:  # then it is known further out, too
                break
            known.add(value)
            block = block.owner.block
