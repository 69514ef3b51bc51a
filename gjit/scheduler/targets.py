"""Nodes that are printed as the assignment target of a value: unpacking, stores, `:=`."""

from __future__ import annotations

from abc import ABC, abstractmethod

from gjit.ir.graph import Block, Constant, Node, Value
from gjit.scheduler.class_names import mangled_in
from gjit.scheduler.flow import function_of
from gjit.scheduler.folding import BINDINGS, STATEMENTS, WRITES, is_same
from gjit.scheduler.stack import Spilled, Stack


class Targets(Stack, ABC):
    """Finds nodes that need no statement of their own."""

    @abstractmethod
    def visit(self, node: Node, stack: list[Value], single: bool) -> None:
        """Fold one node."""

    def absorb(self, value: Value, node: Node | None, ops: tuple[str, ...]) -> bool:
        """Print `node`, which comes next and alone uses `value`, as the assignment target of the value."""
        if node is None or node.op not in ops or value.uses != {node: 1} or node in self.folding.updates:
            return False
        if node.inputs[-1 if node.op != "unpack" else 0] is not value:
            return False
        self.folding.targets[value] = node
        self.folding.absorbed.add(node)
        if node.op == "unpack":
            self.absorb_results(node, node.next)
        return True

    def absorb_results(self, unpack: Node, following: Node | None) -> Node | None:
        """Print the nodes after an unpacking that store its results, in order, as targets of it."""
        for value in unpack.results:
            if following is None or any(other in following.inputs for other in unpack.results if other is not value):
                continue
            if self.absorb(value, following, ("unpack", *WRITES)):
                following = self._after(following)
        return following

    def decorate(self, definition: Node) -> None:
        """Print the calls that take a new function or class, one after the other, as its decorators."""
        calls: list[Node] = []
        made = definition
        while (call := made.next) is not None and _decorates(call, made) and _is_above(call, definition):
            calls.append(call)
            made = call
        while calls and not _has_name(calls[-1].result, definition):
            calls.pop()
        if calls:
            self.folding.decorators[definition] = calls
            self.folding.absorbed.update(calls)

    def absorb_definition(self, definition: Node) -> None:
        """Print the store of a new function or class as the name of its definition."""
        value = self.folding.made(definition)
        if value.uses:
            self.absorb(value, value.producer.next, BINDINGS)

    def absorb_exception(self, handler: Block) -> None:
        """Print the variable of an exception as `as name`; Python then deletes it at the end by itself."""
        exception = handler.parameters[0]
        if not self.absorb(exception, first_node(handler), BINDINGS):
            return
        bound, last = self.folding.targets[exception], handler.last
        cleared = last.previous
        is_cleared = cleared is not None and _binds_same(cleared, bound) and is_same(cleared.inputs[1], Constant(None))
        if is_cleared and last.op in ("delete", "class.delete") and _binds_same(last, bound):
            self.folding.absorbed.update((cleared, last))

    def absorb_captures(self, guard: Block) -> None:
        """In a class body, print the names of the class that a pattern binds in the pattern."""
        for node in guard:
            value = node.inputs[-1] if node.inputs else None
            if value not in guard.parameters or not self.absorb(value, node, ("class.store",)):
                break

    def _after(self, node: Node) -> Node | None:
        """The next node that still prints something at its own place."""
        following = node.next
        while following is not None and following in self.folding.absorbed:
            following = following.next
        return following

    def store_together(self, first: Node, stack: list[Value]) -> bool:
        """Fold the last values of the stack into the stores that follow each other and take them in order.

        `a[i], a[j + 1] = x, y` runs `x`, `y`, the first store, `j + 1`, the second store: as Python does it.
        """
        places = [value for value in first.inputs[:-1] if value in stack]
        split = len(stack) - len(places)
        values = stack[:split]
        if stack[split:] != places or first.inputs[-1] not in values[:-1]:
            return False
        values = values[values.index(first.inputs[-1]) :]
        before = self.snapshot()
        try:
            writes = self._matching_writes(first, values)
        except Spilled:
            self.restore(before)
            return False
        del stack[split - len(values) :]
        self.spill(stack, False, stack)
        self.folding.folded.update(values, places)
        self.folding.together[first] = writes
        self.folding.absorbed.update(writes[1:])
        return True

    def _matching_writes(self, first: Node, values: list[Value]) -> list[Node]:
        """The stores that take the values one after the other; between them only what the next target is made of."""
        writes: list[Node] = []
        node: Node | None = first
        places: list[Value] = []
        for value in values:
            while node is not None and (node.op not in WRITES or node.inputs[-1] is not value):
                if node.op in STATEMENTS or node.op == "cell":
                    raise Spilled
                self.visit(node, places, True)
                self.folding.visited.add(node)
                node = node.next
            if node is None or node in self.folding.updates or self.use_count(value) > 1:
                raise Spilled
            if node is not first and [place for place in node.inputs[:-1] if place in places] != places:
                raise Spilled
            self.folding.folded.update(places)
            writes.append(node)
            places, node = [], node.next
        return writes

    def name(self, node: Node, stack: list[Value]) -> bool:
        """Print a store inside an expression as `:=` around its value."""
        cell, value = node.inputs
        if not self.sharing or not stack or stack[-1] is not value or value in self.folding.named:
            return False
        if function_of(self.flow.resolve(cell).producer) is not function_of(node) or self.use_count(value) != 2:
            return False
        self.folding.named[value] = node
        self.folding.absorbed.add(node)
        return True


def _decorates(node: Node, made: Node) -> bool:
    """Whether a node is a call of something with the value that was just made, which nothing else uses."""
    value = made.result
    return node.op == "call" and node.inputs[1:] == [value] and not node.labels and value.uses == {node: 1}


def _is_above(call: Node, definition: Node) -> bool:
    """Whether a call may stand above a definition, as a decorator does: not one that the user wrote below it."""
    return call.span is None or definition.span is None or call.span.line <= definition.span.line


def _has_name(value: Value, definition: Node) -> bool:
    """Whether a value goes to the variable that a definition itself would be bound to."""
    name, following = definition.attributes["name"], value.producer.next
    if following is not None and value.uses == {following: 1} and following.op in BINDINGS:
        variable = following.inputs[0].producer if following.op == "store" else following
        bound = variable.attributes["name"]
        return bound == name or (following.op == "class.store" and bound == mangled_in(following, name))
    return value.name == name


def first_node(block: Block) -> Node | None:
    """The first node that prints something."""
    node = block.first
    while node is not None and node.op == "cell":
        node = node.next
    return node


def _binds_same(node: Node, bound: Node) -> bool:
    """Whether a node binds or deletes the variable that `bound` binds."""
    is_binding = node.op in ("store", "delete", "class.store", "class.delete")
    return is_binding and node.inputs[0] is bound.inputs[0] and node.attributes == bound.attributes
