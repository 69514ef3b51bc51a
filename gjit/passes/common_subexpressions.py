"""Work that was done already is not done again."""

from __future__ import annotations

from collections.abc import Hashable

from gjit.ir.constants import constant_key
from gjit.ir.deep import Walk, drive
from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ops import Effect, Kind, effects_of, table
from gjit.passes.facts import has_plain_items, has_plain_truth

_MERGED_KINDS = frozenset(Kind) - {Kind.CONTROL}
_NEVER_WARNS = frozenset({Kind.INDEX, Kind.VIEW, Kind.CONTAINER})
_READING_KINDS = frozenset({Kind.OPERATOR, Kind.ELEMENTWISE, Kind.REDUCTION})
_OWN_SCOPE = frozenset({"function", "comprehension"})
_CHANGES = Effect.WRITES | Effect.ORDERED


def common_subexpressions(graph: Graph) -> bool:
    """Replace a node by an equal one that has surely run before it.

    Merged are only nodes that give the same result again: no writes, no order, no warning that would be issued
    twice, nothing written between two reads of memory. Two results that could be told apart by identity or by
    writing into one of them stay two.

    >>> from gjit.ir.parser import parse_graph
    >>> graph = parse_graph('''graph f(%n: int) {
    ...   %a = operator.mul(%n, 2) : int
    ...   %b = operator.mul(%n, 2) : int
    ...   %0 = operator.add(%a, %b) : int
    ...   return %0
    ... }''')
    >>> common_subexpressions(graph)
    True
    >>> print(graph)
    graph f(%n: int) {
      %a = operator.mul(%n, 2) : int
      %0 = operator.add(%a, %a) : int
      return %0
    }
    """
    walk = _Merging(graph)
    drive(walk.block(graph.block))
    return walk.changed


class _Merging:
    """A walk in order of execution. `epoch` is a number that changes whenever memory may have changed."""

    def __init__(self, graph: Graph):
        self.changed = False
        self._epoch = self._newest = 0
        self._known: dict[Hashable, Node] = {}
        self._writing = _writing_nodes(graph)

    def block(self, block: Block) -> Walk:
        """Merge within a block; what it finds is forgotten at its end, for it may not run."""
        added: list[Hashable] = []
        for node in block:
            if node.blocks:
                yield self._control(node)
                continue
            effects = effects_of(node)
            if effects & _CHANGES:
                self._next_epoch()
            else:
                self._merge(node, effects, added)
        for key in added:
            del self._known[key]

    def _control(self, node: Node) -> Walk:
        outer = self._known
        if node.op in _OWN_SCOPE:
            self._known = {}
        for block in node.blocks:
            if node in self._writing or node.op in _OWN_SCOPE:
                self._next_epoch()  # a loop may have written in its last turn; a function runs at any time
            yield self.block(block)
        self._known = outer
        if node in self._writing:
            self._next_epoch()

    def _next_epoch(self) -> None:
        self._newest += 1
        self._epoch = self._newest

    def _merge(self, node: Node, effects: Effect, added: list[Hashable]) -> None:
        if not _may_merge(node, effects):
            return
        key = self._key(node, self._epoch if effects & Effect.READS else None)
        if key is None:
            return
        first = self._known.get(key)
        if first is None:
            self._known[key] = node
            added.append(key)
        elif _may_be_one(first.result, node.result, effects):
            node.replace_with([first.result])
            self.changed = True

    def _key(self, node: Node, epoch: int | None) -> Hashable | None:
        inputs = tuple(constant_key(value.value) if isinstance(value, Constant) else value for value in node.inputs)
        key = node.op, inputs, node.labels, tuple(sorted(node.attributes.items())), epoch
        try:
            hash(key)
        except TypeError:
            return None
        return key


def _may_merge(node: Node, effects: Effect) -> bool:
    row = table.get(node.op)
    if row is None or len(node.results) != 1 or row.kind not in _MERGED_KINDS:
        return False
    return not effects & Effect.RAISES or row.kind in _NEVER_WARNS


def _may_be_one(first: Value, second: Value, effects: Effect) -> bool:
    users = [*first.uses, *second.uses]
    if any(user.op in ("operator.is", "operator.is_not") for user in users):
        return False
    return not effects & Effect.ALLOCATES or all(map(_only_reads, users))


def _only_reads(user: Node) -> bool:
    """Whether a node reads the elements of its operands and hands on none of them."""
    row = table.get(user.op)
    if row is None or row.kind not in _READING_KINDS or row.views or row.writes or user.keyword("out") is not None:
        return False
    return not effects_of(user) & (Effect.ORDERED | Effect.WRITES)


def _writing_nodes(graph: Graph) -> set[Node]:
    """Every node with blocks that may write, or in which something may be written."""
    writing: set[Node] = set()
    for node in graph.all_nodes():
        owner = node if node.blocks else node.block.owner
        if not isinstance(owner, Node) or owner in writing or not _changes_memory(node):
            continue
        while isinstance(owner, Node) and owner not in writing:
            writing.add(owner)
            owner = owner.block.owner
    return writing


def _changes_memory(node: Node) -> bool:
    match node.op:
        case "if" | "and" | "or" | "condition":
            return not has_plain_truth(node.inputs[0])
        case "for":
            return not has_plain_items(node.inputs[0])
        case "while" | "function":
            return False
    return not node.is_terminator and bool(effects_of(node) & _CHANGES)
