"""Which values are printed inside the expression that uses them, and which become variables.

Nodes run in order. A value that is used once waits on a stack; a consumer whose operands are the top of that stack, in
the order in which Python evaluates them, prints them inside its own expression. A statement first turns everything that
still waits into variables. So the evaluation order of the printed text is the node order, without knowing any effect.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, fields

from gjit.ir.graph import Block, CaptureKind, Constant, Graph, Node, Value
from gjit.scheduler.flow import Flow, destinations, function_of, is_inside, passed
from gjit.scheduler.syntax import IN_PLACE, has_weak_type

STATEMENTS = frozenset(
    "setitem setattr delitem delattr store delete capture.store unpack for while try with match region import".split()
)
_WRITES = frozenset({"setitem", "setattr", "store"})
_WRITE_OF = {"getitem": "setitem", "getattr": "setattr", "load": "store", "capture": "capture.store"}


@dataclass(frozen=True, slots=True)
class Update:
    """An augmented assignment to an item, an attribute or a variable: `target operation= value`."""

    read: Node
    operation: Node
    write: Node


@dataclass(slots=True)
class Folding:
    """What is printed where.

    folded    values that are printed inside their consumer
    shared    values that are printed as `(name := ...)` inside their first consumer
    named     values that are printed as `(name := ...)` for the store to a cell given here
    inline    nodes with blocks that are printed as expressions, and `while` nodes whose condition is one
    targets   nodes that are printed as the assignment target of a value: an unpacking, a store
    absorbed  those nodes, which print nothing at their own place
    together  for the first of several stores, all of them: `a[i], a[j] = ...`
    updates   augmented assignments, by each of their nodes
    """

    folded: set[Value] = field(default_factory=set)
    shared: set[Value] = field(default_factory=set)
    named: dict[Value, Node] = field(default_factory=dict)
    inline: set[Node] = field(default_factory=set)
    targets: dict[Value, Node] = field(default_factory=dict)
    absorbed: set[Node] = field(default_factory=set)
    together: dict[Node, list[Node]] = field(default_factory=dict)
    updates: dict[Node, Update] = field(default_factory=dict)


class _Spilled(Exception):
    """A block that has to be one expression needs a statement."""


class _Broken(Exception):
    """The parts of an augmented assignment cannot be printed together."""


def fold(block: Block, graph: Graph, flow: Flow) -> Folding:
    """Decide for every value in `block`, nested functions included, whether it is printed inside its consumer."""
    disabled: set[Node] = set()
    while True:
        stacker = _Stacker(graph, flow, disabled)
        try:
            stacker.statements(block)
            return stacker.folding
        except _Broken as broken:
            disabled.add(broken.args[0])


def is_atom(node: Node, graph: Graph) -> bool:
    """Whether a node is printed anew at each use: the read of an object that cannot change during a call."""
    if node.op != "capture":
        return False
    slot = graph.captures[node.attributes["slot"]]
    return slot.guarded or slot.kind is CaptureKind.OBJECT


def evaluation_order(node: Node, flow: Flow) -> list[Value]:
    """The inputs that a printed node may hold as expressions, in the order in which Python evaluates them."""
    inputs = node.inputs
    match node.op:
        case "setitem" | "setattr":
            return [inputs[-1], *inputs[:-1]]
        case "region":
            return []
        case "for":
            return inputs[:1]
        case "while":
            return []
        case "match":
            return [inputs[0], *(value for value in inputs[1:] if _is_attribute(value))]
        case "condition":
            return inputs[:1]
        case "yield" | "continue" | "break" if destinations(node):
            (targets,) = destinations(node)
            return [value for target, value in zip(targets, passed(node), strict=True) if target in flow.needed]
    if any("=" in label or label == "**" for label in node.labels) and node.op != "dict":
        keywords = [value for value, label in zip(inputs, node.labels, strict=True) if label not in ("", "*")]
        return [value for value, label in zip(inputs, node.labels, strict=True) if label in ("", "*")] + keywords
    return inputs


def _is_attribute(value: Value) -> bool:
    return isinstance(value.producer, Node) and value.producer.op == "getattr"


class _Stacker:
    def __init__(self, graph: Graph, flow: Flow, disabled: set[Node]):
        self.graph, self.flow, self.disabled = graph, flow, disabled
        self.folding = Folding()
        self._failed: set[Block] = set()
        self._sharing = True
        self._visited: set[Node] = set()

    # Blocks

    def statements(self, block: Block) -> None:
        """Fold a block that may hold statements."""
        self._block(block, False)

    def expression(self, block: Block, *, sharing: bool = True) -> bool:
        """Try to fold a block into its yielded values alone; nothing has changed when that fails."""
        if block in self._failed:
            return False
        before, outer = self._snapshot(), self._sharing
        self._sharing = self._sharing and sharing
        try:
            self._block(block, True)
        except _Spilled:
            self._restore(before)
            self._failed.add(block)
            return False
        finally:
            self._sharing = outer
        return True

    def _snapshot(self) -> tuple:
        folding = self.folding
        return tuple(getattr(folding, part.name).copy() for part in fields(folding))

    def _restore(self, parts: tuple) -> None:
        self.folding = Folding(*parts)

    def _block(self, block: Block, single: bool) -> None:
        stack: list[Value] = []
        self._find_updates(block)
        for node in block:
            if node not in self.folding.absorbed and node not in self._visited and node.op != "cell":
                self._visit(node, stack, single)
        end = block.terminator
        if end is not None:
            if single and end.op not in ("yield", "condition", "return"):
                raise _Spilled
            self._consume(end, stack, single)
        if single and (stack or self._passes_expression(end)):
            raise _Spilled

    def _passes_expression(self, end: Node | None) -> bool:
        return end is not None and end.op == "condition" and any(value in self.folding.folded for value in passed(end))

    # Nodes

    def _visit(self, node: Node, stack: list[Value], single: bool) -> None:
        if is_atom(node, self.graph):
            return
        if node.op in _WRITES and not single and self._store_together(node, stack):
            return
        if node.op == "store" and single and self._name(node, stack):
            return
        inline = self._nested(node)
        if node.blocks:
            used = self.flow.free.get(node, ())
            self._spill(stack, single, [value for value in stack if value in used])
        self._consume(node, stack, single)
        if node.op in ("comprehension.for", "comprehension.if"):
            self._clause(node, stack)
            return
        if inline and self._waits(node, single):
            stack.append(node.result)
            return
        self._check_update(node)
        self._spill(stack, single, stack)
        if single:
            raise _Spilled
        if node.op == "unpack":
            self._absorb_results(node, node.next)
        elif node.op == "function" and node.result.uses:
            self._absorb(node.result, node.next, ("store",))

    def _nested(self, node: Node) -> bool:
        """Fold the blocks of a node; whether the node can be printed as an expression."""
        handler = getattr(self, f"_nested_{node.op}", None)
        if handler is not None:
            inline = handler(node)
            if inline:
                self.folding.inline.add(node)
            return inline and node.op not in STATEMENTS
        for block in node.blocks:
            if node.op not in ("comprehension.for", "comprehension.if"):
                self.statements(block)
        if node in self.folding.updates:
            return node is not self.folding.updates[node].write
        return len(node.results) == 1 and node.op not in STATEMENTS and not _is_in_place(node)

    def _nested_if(self, node: Node) -> bool:
        if _is_choice(node) and all([self.expression(block) for block in node.blocks]):
            return True
        for block in node.blocks:
            self.statements(block)
        return False

    def _nested_and(self, node: Node) -> bool:
        if self.expression(node.blocks[0]):
            return True
        self.statements(node.blocks[0])
        return False

    _nested_or = _nested_and

    def _nested_while(self, node: Node) -> bool:
        condition, body, otherwise = node.blocks
        inline = self.expression(condition)
        for block in (body, otherwise) if inline else node.blocks:
            self.statements(block)
        return inline

    def _nested_for(self, node: Node) -> bool:
        body = node.blocks[0]
        self._absorb(body.parameters[0], _first(body), ("store", "unpack"))
        for block in node.blocks:
            self.statements(block)
        return False

    def _nested_with(self, node: Node) -> bool:
        body = node.blocks[0]
        self._absorb(body.parameters[0], _first(body), ("store", "unpack"))
        self.statements(body)
        return False

    def _nested_try(self, node: Node) -> bool:
        for index, block in enumerate(node.blocks):
            is_type = index >= 3 and index % 2 == 1
            if is_type and self.expression(block):
                continue
            if index >= 3 and not is_type:
                self._absorb_exception(block)
            self.statements(block)
        return False

    def _absorb_exception(self, handler: Block) -> None:
        """Print the variable of an exception as `as name`; Python then deletes it at the end by itself."""
        exception = handler.parameters[0]
        if not self._absorb(exception, _first(handler), ("store",)):
            return
        cell, last = self.folding.targets[exception].inputs[0], handler.last
        if last.op == "delete" and last.inputs[0] is cell and last.previous.op == "store":
            if last.previous.inputs[0] is cell and is_same(last.previous.inputs[1], Constant(None)):
                self.folding.absorbed.update((last, last.previous))

    def _nested_match(self, node: Node) -> bool:
        for index, block in enumerate(node.blocks):
            is_guard = index % 2 == 0 and block is not node.blocks[-1]
            if not is_guard or not self.expression(block):
                self.statements(block)
        return False

    def _nested_function(self, node: Node) -> bool:
        if node.attributes["name"] == "<lambda>" and self.expression(node.blocks[0]):
            return True
        self.statements(node.blocks[0])
        return False

    def _nested_comprehension(self, node: Node) -> bool:
        clause = node.blocks[0]
        before = self._snapshot()
        if clause not in self._failed:
            self._absorb_item(clause)
            if self.expression(clause, sharing=_last_op(clause) != "comprehension.for"):
                return True
        self._restore(before)
        self._statement_clauses(clause)
        return False

    def _statement_clauses(self, clause: Block) -> None:
        """Fold the clauses of a comprehension that is printed as a loop."""
        self._absorb_item(clause)
        self.statements(clause)

    def _absorb_item(self, clause: Block) -> None:
        """Print the first node of a clause as the target of its `for`; only variables of the comprehension may stand there."""
        node = _first(clause)
        if clause.parameters and node is not None:
            is_outside = node.op == "store" and not is_inside(self.flow.resolve(node.inputs[0]).producer, clause)
            self._absorb(clause.parameters[0], node, ("unpack",) if is_outside else ("store", "unpack"))

    def _clause(self, node: Node, stack: list[Value]) -> None:
        clause = node.blocks[0]
        self._absorb_item(clause)
        self._spill(stack, self._in_expression(node), stack)
        if not self._in_expression(node):
            self.statements(clause)
        elif not self.expression(clause, sharing=_last_op(clause) != "comprehension.for"):
            raise _Spilled

    def _in_expression(self, node: Node) -> bool:
        """Whether the comprehension around a clause is being folded into one expression."""
        owner = node.block.owner
        while owner.op != "comprehension":
            owner = owner.block.owner
        return owner.blocks[0] not in self._failed

    # The stack

    def _consume(self, node: Node, stack: list[Value], single: bool) -> None:
        """Fold the operands that are the top of the stack, in order; the other operands there become variables."""
        wanted = list(dict.fromkeys(self._operands(node)))
        while stack and stack[-1] in wanted and self._may_stand_in(node, stack[-1]):
            value = stack.pop()
            del wanted[wanted.index(value) :]
            self.folding.folded.add(value)
            if self._use_count(value) > 1:
                self.folding.shared.add(value)
        used = set(node.inputs)
        self._spill(stack, single, [value for value in stack if value in used])

    def _operands(self, node: Node) -> list[Value]:
        update = self.folding.updates.get(node)
        if update is not None and node is update.write:
            return [update.operation.result]
        return evaluation_order(node, self.flow)

    def _may_stand_in(self, node: Node, value: Value) -> bool:
        """Python allows no `:=` in the iterable of a comprehension."""
        return node.op not in ("comprehension", "comprehension.for") or not self._holds_shared(value)

    def _holds_shared(self, value: Value) -> bool:
        if self._use_count(value) > 1 or value in self.folding.named:
            return True
        nodes = [value.producer, *(inner for block in value.producer.blocks for inner in block.all_nodes())]
        return any(
            operand in self.folding.folded and self._holds_shared(operand) for node in nodes for operand in node.inputs
        )

    def _spill(self, stack: list[Value], single: bool, values: list[Value]) -> None:
        """Turn the given waiting values, and all that run before them, into variables."""
        if not values:
            return
        if single:
            raise _Spilled
        last = max(stack.index(value) for value in values)
        for value in stack[: last + 1]:
            self._check_update(value.producer)
        del stack[: last + 1]

    def _waits(self, node: Node, single: bool) -> bool:
        """Whether the result of a node may wait for its consumer."""
        value = node.result
        if not value.uses or value not in self.flow.needed:
            return False
        here = any(user.block is node.block for user in value.uses)
        if self._use_count(value) > 1:
            return here and single and self._sharing
        is_read = node.op in ("load", "capture")
        return here and (single or is_read or not value.name or node in self.folding.updates)

    def _use_count(self, value: Value) -> int:
        """How often a value is printed: an augmented assignment names its target once."""
        count = sum(value.uses.values())
        for user, uses in value.uses.items():
            update = self.folding.updates.get(user)
            if (update is not None and update.write is user) or self.folding.named.get(value) is user:
                count -= uses
        return count

    def _store_together(self, first: Node, stack: list[Value]) -> bool:
        """Fold the last values of the stack into the stores that follow each other and take them in order.

        `a[i], a[j + 1] = x, y` runs `x`, `y`, the first store, `j + 1`, the second store: as Python does it.
        """
        places = [value for value in first.inputs[:-1] if value in stack]
        split = len(stack) - len(places)
        values = stack[:split]
        if stack[split:] != places or first.inputs[-1] not in values[:-1]:
            return False
        values = values[values.index(first.inputs[-1]) :]
        before = self._snapshot()
        try:
            writes = self._matching_writes(first, values)
        except _Spilled:
            self._restore(before)
            self._visited -= set(_after(first))
            return False
        del stack[split - len(values) :]
        self._spill(stack, False, stack)
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
            while node is not None and (node.op not in _WRITES or node.inputs[-1] is not value):
                if node.op in STATEMENTS or node.op == "cell":
                    raise _Spilled
                self._visit(node, places, True)
                self._visited.add(node)
                node = node.next
            if node is None or node in self.folding.updates or self._use_count(value) > 1:
                raise _Spilled
            if node is not first and [place for place in node.inputs[:-1] if place in places] != places:
                raise _Spilled
            self.folding.folded.update(places)
            writes.append(node)
            places, node = [], node.next
        return writes

    def _name(self, node: Node, stack: list[Value]) -> bool:
        """Print a store inside an expression as `:=` around its value."""
        cell, value = node.inputs
        if not self._sharing or not stack or stack[-1] is not value or value in self.folding.named:
            return False
        if function_of(self.flow.resolve(cell).producer) is not function_of(node) or self._use_count(value) != 2:
            return False
        self.folding.named[value] = node
        self.folding.absorbed.add(node)
        return True

    # Augmented assignments

    def _find_updates(self, block: Block) -> None:
        for node in block:
            if node.op in IN_PLACE and node not in self.disabled:
                update = _update_of(node)
                if update is not None:
                    for part in (update.read, update.operation, update.write):
                        self.folding.updates[part] = update

    def _check_update(self, node: Node) -> None:
        """An augmented assignment whose parts do not stay together is printed part by part."""
        update = self.folding.updates.get(node)
        if update is None:
            return
        if node is not update.write or update.operation.result not in self.folding.folded:
            raise _Broken(update.operation)
        if update.read.result not in self.folding.folded:
            raise _Broken(update.operation)

    # Assignment targets

    def _absorb(self, value: Value, node: Node | None, ops: tuple[str, ...]) -> bool:
        """Print `node`, which comes next and alone uses `value`, as the assignment target of the value."""
        if node is None or node.op not in ops or value.uses != {node: 1} or node in self.folding.updates:
            return False
        if node.inputs[-1 if node.op != "unpack" else 0] is not value:
            return False
        self.folding.targets[value] = node
        self.folding.absorbed.add(node)
        if node.op == "unpack":
            self._absorb_results(node, node.next)
        return True

    def _absorb_results(self, unpack: Node, following: Node | None) -> Node | None:
        """Print the nodes after an unpacking that store its results, in order, as targets of it."""
        for value in unpack.results:
            if following is None or not self._is_target_of(following, value, unpack):
                continue
            if self._absorb(value, following, ("store", "unpack", "setitem", "setattr")):
                following = self._after(following)
        return following

    def _after(self, node: Node) -> Node | None:
        following = node.next
        while following is not None and following in self.folding.absorbed:
            following = following.next
        return following

    def _is_target_of(self, node: Node, value: Value, unpack: Node) -> bool:
        return not any(operand in unpack.results for operand in node.inputs if operand is not value)


def _after(node: Node) -> Iterator[Node]:
    """The nodes behind a node in its block."""
    while node.next is not None:
        node = node.next
        yield node


def _is_in_place(node: Node) -> bool:
    """Whether an augmented operation has to stay a statement: on numbers it is the plain operation."""
    return node.op in IN_PLACE and not has_weak_type(node.inputs[0])


def _first(block: Block) -> Node | None:
    """The first node that prints something."""
    node = block.first
    while node is not None and node.op == "cell":
        node = node.next
    return node


def _last_op(block: Block) -> str:
    return "" if block.last is None else block.last.op


def _is_choice(node: Node) -> bool:
    """Whether an `if` node chooses between two expressions, rather than assigning a variable on some path."""
    if len(node.results) != 1 or not node.result.uses:
        return False
    for block in node.blocks:
        end = block.terminator
        if end is None or end.op != "yield":
            return False
        (value,) = end.inputs
        inside = isinstance(value.producer, Node) and value.producer.block is block
        if node.result.name and value.name and (inside or value.name == node.result.name):
            return False
    return True


def _update_of(operation: Node) -> Update | None:
    """The augmented assignment that an in-place operation is the middle of."""
    target, result = operation.inputs[0], operation.result
    read = target.producer
    if not isinstance(read, Node) or read.op not in _WRITE_OF or target.uses != {operation: 1}:
        return None
    if sum(result.uses.values()) != 1:
        return None
    write = next(iter(result.uses))
    if write.op != _WRITE_OF[read.op] or write.inputs[-1] is not result or write.attributes != read.attributes:
        return None
    together = read.block is operation.block is write.block
    same = len(read.inputs) == len(write.inputs) - 1 and all(map(is_same, read.inputs, write.inputs))
    return Update(read, operation, write) if together and same else None


def is_same(left: Value, right: Value) -> bool:
    """Whether two operands are one value, or equal constants."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        return type(left.value) is type(right.value) and repr(left.value) == repr(right.value)
    return left is right
