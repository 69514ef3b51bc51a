"""Work that was done already is not done again.

Before: `%a = operator.mul(%n, 2); %b = operator.mul(%n, 2); return (%a, %b)`, with %n an int.
After: `%a = operator.mul(%n, 2)`, and `%a` wherever `%b` was.
"""

from __future__ import annotations

from collections.abc import Hashable

from gjit.ir.constants import constant_key
from gjit.ir.deep import Walk, drive
from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ops import Effect, Kind, Op, effects_of, table

_MERGED_KINDS = frozenset(Kind) - {Kind.CONTROL}
_NEVER_WARNS = frozenset({Kind.INDEX, Kind.VIEW, Kind.CONTAINER})
_READING_KINDS = frozenset({Kind.OPERATOR, Kind.ELEMENTWISE, Kind.REDUCTION})
_OWN_SCOPE = frozenset({"function", "comprehension"})
_LOOPS = frozenset({"for", "while"})


def common_subexpressions(graph: Graph) -> bool:
    """Replace a node by an equal one that has surely run before it.

    Merged are only nodes that give the same result again: no writes, no order, no warning that would be issued
    twice, nothing written between two reads of memory. Two results that could be told apart by identity or by
    writing into one of them stay two.
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
            elif not self._merge(node, added) and effects_of(node) & (Effect.WRITES | Effect.ORDERED):
                self._next_epoch()
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

    def _merge(self, node: Node, added: list[Hashable]) -> bool:
        row = table.get(node.op)
        if row is None or len(node.results) != 1 or not _may_merge(node, row):
            return False
        key = self._key(node)
        if key is None:
            return False
        first = self._known.get(key)
        if first is None:
            self._known[key] = node
            added.append(key)
            return False
        if not _may_be_one(first.result, node.result, effects_of(node)):
            return False
        node.replace_with([first.result])
        self.changed = True
        return True

    def _key(self, node: Node) -> Hashable | None:
        epoch = self._epoch if effects_of(node) & Effect.READS else None
        inputs = tuple(constant_key(value.value) if isinstance(value, Constant) else value for value in node.inputs)
        attributes = tuple(sorted(node.attributes.items()))
        key = node.op, inputs, node.labels, attributes, epoch
        try:
            hash(key)
        except TypeError:
            return None
        return key


def _may_merge(node: Node, row: Op) -> bool:
    effects = effects_of(node)
    if row.kind not in _MERGED_KINDS or effects & (Effect.WRITES | Effect.ORDERED):
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
    """Every node with blocks in which something may be written."""
    writing: set[Node] = set()
    for node in graph.all_nodes():
        if node.is_terminator or node.blocks and node.op in ("if", "and", "or", "for", "while", "function"):
            continue
        if effects_of(node) & (Effect.WRITES | Effect.ORDERED):
            owner: Block | Node | Graph | None = node
            while isinstance(owner, Node) and owner not in writing:
                writing.add(owner)
                owner = owner.block.owner
    return writing
