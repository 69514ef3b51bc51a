"""The stack of values that wait for their consumers, and how they fold into them."""

from __future__ import annotations

from dataclasses import fields

from gjit.ir.graph import Block, Graph, Node, Value
from gjit.ops.reuse import REUSING
from gjit.scheduler.flow import Flow
from gjit.scheduler.folding import Folding, evaluation_order, update_of
from gjit.scheduler.syntax import IN_PLACE, has_weak_type

_PARTS = tuple(part.name for part in fields(Folding))
NEVER_FRESH = frozenset({"load", "capture", "getattr"})


class Spilled(Exception):
    """A block that has to be one expression needs a statement."""


class Broken(Exception):
    """The parts of an augmented assignment cannot be printed together."""


class Stack:
    """Folds the operands of one node after the other.

    A stack is a list of values that have been computed, in order, and are not printed yet. In a `single` block a value
    that would have to become a variable raises `Spilled`.
    """

    def __init__(self, graph: Graph, flow: Flow, disabled: set[Node]):
        self.graph, self.flow, self.disabled = graph, flow, disabled
        self.folding = Folding()
        self.sharing = True  # whether `:=` may stand where the current block is printed

    def snapshot(self) -> list:
        """A copy of all decisions, for `restore`."""
        return [getattr(self.folding, name).copy() for name in _PARTS]

    def restore(self, parts: list) -> None:
        """Take back every decision made since a snapshot."""
        self.folding = Folding(*parts)

    def consume(self, node: Node, stack: list[Value], single: bool) -> None:
        """Fold the operands that are the top of the stack, in order; the other operands there become variables."""
        if not stack:
            return
        wanted = list(dict.fromkeys(self._operands(node)))
        while stack and stack[-1] in wanted and self._may_stand_in(node, stack[-1]):
            value = stack.pop()
            del wanted[wanted.index(value) :]
            self.folding.folded.add(value)
            if self.use_count(value) > 1 or self.keeps_name(value):
                self.folding.shared.add(value)
        used = {*node.inputs, *self._decorators(node)}
        self.spill(stack, single, [value for value in stack if value in used])

    def _operands(self, node: Node) -> list[Value]:
        update = self.folding.updates.get(node)
        if update is not None and node is update.write:
            return [update.operation.result]
        return [*self._decorators(node), *evaluation_order(node, self.flow)]

    def _decorators(self, node: Node) -> list[Value]:
        """What is called with an inner function or class, in the order in which it is written above it."""
        return [call.inputs[0] for call in reversed(self.folding.decorators.get(node, ()))]

    def _may_stand_in(self, node: Node, value: Value) -> bool:
        """Python allows no `:=` in the iterable of a comprehension."""
        return node.op not in ("comprehension", "comprehension.for") or not self._holds_shared(value)

    def _holds_shared(self, value: Value) -> bool:
        if self.use_count(value) > 1 or value in self.folding.named or self.keeps_name(value):
            return True
        nodes = [value.producer, *(inner for block in value.producer.blocks for inner in block.all_nodes())]
        return any(
            operand in self.folding.folded and self._holds_shared(operand) for node in nodes for operand in node.inputs
        )

    def spill(self, stack: list[Value], single: bool, values: list[Value]) -> None:
        """Turn the given waiting values, and all that run before them, into variables."""
        if not values:
            return
        if single:
            raise Spilled
        last = max(stack.index(value) for value in values)
        for value in stack[: last + 1]:
            self.check_update(value.producer)
        del stack[: last + 1]

    def waits(self, node: Node, single: bool) -> bool:
        """Whether the result of a node may wait for its consumer."""
        value = node.result
        if not value.uses or value not in self.flow.needed:
            return False
        here = any(user.block is node.block for user in value.uses)
        if self.use_count(value) > 1 or self.keeps_name(value):
            return here and single and self.sharing
        is_read = node.op in ("load", "capture")
        return here and (single or is_read or not value.name or node in self.folding.updates)

    def shares(self, node: Node, stack: list[Value]) -> bool:
        """Whether a value that has to be a variable gets it by `:=`: an assignment before the expression would give
        variables to the values that wait, too, and NumPy may compute into one of those."""
        is_read = node.result in self.flow.needed and any(user.block is node.block for user in node.result.uses)
        return self.sharing and is_read and any(map(self._may_be_reused, stack))

    def _may_be_reused(self, value: Value) -> bool:
        if value.name or has_weak_type(value) or value.producer.op in NEVER_FRESH or sum(value.uses.values()) > 1:
            return False
        return any(user.op in REUSING for user in value.uses)

    def keeps_name(self, value: Value) -> bool:
        """Whether a value has to be a variable: NumPy computes into large operands that have no name."""
        node = value.producer
        if not value.name or node.op in ("load", "capture") or node in self.folding.updates:
            return False
        return value not in self.folding.named and not has_weak_type(value)

    def use_count(self, value: Value) -> int:
        """How often a value is printed: an augmented assignment names its target once."""
        count = sum(value.uses.values())
        for user, uses in value.uses.items():
            update = self.folding.updates.get(user)
            if (update is not None and update.write is user) or self.folding.named.get(value) is user:
                count -= uses
        return count

    # Augmented assignments

    def find_updates(self, block: Block) -> None:
        for node in block:
            if node.op in IN_PLACE and node not in self.disabled:
                update = update_of(node)
                if update is not None:
                    for part in (update.read, update.operation, update.write):
                        self.folding.updates[part] = update

    def check_update(self, node: Node) -> None:
        """An augmented assignment whose parts do not stay together is printed part by part."""
        update = self.folding.updates.get(node)
        if update is None:
            return
        if node is not update.write or update.operation.result not in self.folding.folded:
            raise Broken(update.operation)
        if update.read.result not in self.folding.folded:
            raise Broken(update.operation)
