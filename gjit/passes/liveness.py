"""Which nodes and values of a graph are needed: marked from the effects backwards, each once."""

from __future__ import annotations

from dataclasses import dataclass, field

from gjit.ir.analysis import leaves
from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.structure import CLAUSES
from gjit.ops import Effect, effects_of
from gjit.passes.facts import has_plain_items, has_plain_truth

_SEEN = Effect.RAISES | Effect.WRITES | Effect.ORDERED
_ALWAYS_KEPT = frozenset({"while", "try", "with", "match", "class"}) | CLAUSES


@dataclass(slots=True, eq=False)
class Group:
    """One result of a control node, with the parameters that carry it and the inputs that feed it."""

    members: list[Value]
    feeds: list[tuple[Node, int]] = field(default_factory=list)


class Liveness:
    """The live nodes, values and groups of a graph.

    Attributes:
        nodes: every live node, terminators included.
        controls: the control nodes that have groups.
        groups: for each of them one group per result.
        live_groups: the groups some live node needs.
    """

    def __init__(self, graph: Graph):
        self.graph = graph
        self.nodes: set[Node] = set()
        self.controls: list[Node] = []
        self.groups: dict[Node, list[Group]] = {}
        self.live_groups: set[Group] = set()
        self._group_of: dict[Value, Group] = {}
        self._values: set[Value] = set()
        self._work: list[Node | Value] = []
        self._collect_groups()
        self._find_roots(graph.block)
        while self._work:
            item = self._work.pop()
            if isinstance(item, Node):
                self._visit_node(item)
            else:
                self._visit_value(item)

    # What belongs together

    def _collect_groups(self) -> None:
        for node in self.graph.all_nodes():
            build = _GROUPS.get(node.op)
            if build is not None:
                self.controls.append(node)
                self.groups[node] = build(node)
                for group in self.groups[node]:
                    self._group_of.update(dict.fromkeys(group.members, group))

    # Marking

    def _find_roots(self, block: Block) -> None:
        stack = [block]
        while stack:
            current = stack.pop()
            self._root_terminator(current)
            for node in current:
                if self._is_root(node):
                    self._mark(node)
                if node.op != "function":  # a function's body is only seen when the function is
                    stack.extend(node.blocks)

    def _root_terminator(self, block: Block) -> None:
        terminator = block.terminator
        ends_loop_body = isinstance(block.owner, Node) and block.owner.op in ("for", "while")
        if terminator.op in ("yield", "condition") or (terminator.op == "continue" and ends_loop_body):
            return
        self._mark(terminator)

    def _is_root(self, node: Node) -> bool:
        match node.op:
            case "if" | "and" | "or":
                return not has_plain_truth(node.inputs[0])
            case "for":
                return not has_plain_items(node.inputs[0])
            case "cell" | "function":
                return False
            case "store" | "load" | "delete":
                return True
            case "capture":
                return not self.graph.captures[node.attributes["slot"]].guarded
        return node.op in _ALWAYS_KEPT or bool(node.blocks) or bool(effects_of(node) & _SEEN)

    def _mark(self, item: Node | Value) -> None:
        known = self.nodes if isinstance(item, Node) else self._values
        if item not in known and not isinstance(item, Constant):
            known.add(item)
            self._work.append(item)

    def _visit_node(self, node: Node) -> None:
        if node.block is not None and isinstance(node.block.owner, Node):
            self._mark(node.block.owner)
        if node.op == "function":
            self._find_roots(node.blocks[0])
        for block in node.blocks:
            self._mark(block.terminator)
        for value in self._needed_inputs(node):
            self._mark(value)

    def _needed_inputs(self, node: Node) -> list[Value]:
        """The inputs that a live node needs whatever becomes of its results."""
        match node.op:
            case "for":
                return node.inputs[:1]
            case "while" | "continue" | "break":
                return []
            case "condition":
                return node.inputs[:1]
            case "yield" if _is_fed_by_groups(node):
                return []
        return node.inputs

    def _visit_value(self, value: Value) -> None:
        producer = value.producer
        if isinstance(producer, Node):
            self._mark(producer)
        elif isinstance(producer, Block) and isinstance(producer.owner, Node):
            self._mark(producer.owner)
        group = self._group_of.get(value)
        if group is not None and group not in self.live_groups:
            self.live_groups.add(group)
            for user, position in group.feeds:
                self._mark(user.inputs[position])


def _is_fed_by_groups(terminator: Node) -> bool:
    owner = terminator.block.owner
    if not isinstance(owner, Node) or owner.op not in _GROUPS:
        return False
    return terminator.block in _result_blocks(owner)


def _result_blocks(node: Node) -> list[Block]:
    """The blocks whose `yield` gives the results of the node."""
    match node.op:
        case "for" | "while":
            return node.blocks[-1:]
        case "match":
            return [*node.blocks[1::2], node.blocks[-1]]
    return node.blocks


def _result_groups(node: Node) -> list[Group]:
    groups = [Group([value]) for value in node.results]
    for block in _result_blocks(node):
        _feed(groups, block.terminator, 0, "yield")
    return groups


def _for_groups(node: Node) -> list[Group]:
    body, otherwise = node.blocks
    groups = _result_groups(node)
    for index, group in enumerate(groups):
        group.members += [body.parameters[index + 1], otherwise.parameters[index]]
    _feed(groups, node, 1, "for")
    for terminator in leaves(body):
        _feed(groups, terminator, 0, "continue", "break")
    return groups


def _while_groups(node: Node) -> list[Group]:
    condition, body, _ = node.blocks
    groups = _result_groups(node)
    for index, group in enumerate(groups):
        group.members += [block.parameters[index] for block in node.blocks]
    _feed(groups, node, 0, "while")
    _feed(groups, condition.terminator, 1, "condition")
    for terminator in leaves(body):
        _feed(groups, terminator, 0, "continue", "break")
    return groups


def _feed(groups: list[Group], node: Node, offset: int, *ops: str) -> None:
    if node.op in ops:
        for index, group in enumerate(groups):
            group.feeds.append((node, index + offset))


_GROUPS = {
    "if": _result_groups,
    "with": _result_groups,
    "match": _result_groups,
    "for": _for_groups,
    "while": _while_groups,
}
