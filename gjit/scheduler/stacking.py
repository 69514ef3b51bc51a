"""Which values are printed inside the expression that uses them, and which become variables.

Nodes run in order. A value that is used once waits on a stack; a consumer whose operands are the top of that stack, in
the order in which Python evaluates them, prints them inside its own expression. A statement first turns everything that
still waits into variables. So the evaluation order of the printed text is the node order, without knowing any effect.
"""

from __future__ import annotations

from collections.abc import Callable

from gjit.ir.graph import Block, Graph, Node, Value
from gjit.scheduler.flow import Flow, is_inside, passed
from gjit.scheduler.folding import BINDINGS, STATEMENTS, WRITES, Folding, is_atom
from gjit.scheduler.stack import Broken, Spilled
from gjit.scheduler.syntax import BINARY, IN_PLACE, has_weak_type
from gjit.scheduler.targets import Targets, first_node


def fold(block: Block, graph: Graph, flow: Flow) -> Folding:
    """Decide for every value in `block`, nested functions included, whether it is printed inside its consumer."""
    disabled: set[Node] = set()
    while True:
        stacker = _Stacker(graph, flow, disabled)
        try:
            stacker.statements(block)
            return stacker.folding
        except Broken as broken:
            disabled.add(broken.args[0])


class _Stacker(Targets):
    """Walks the blocks of a function."""

    def __init__(self, graph: Graph, flow: Flow, disabled: set[Node]):
        super().__init__(graph, flow, disabled)
        self._failed: set[Block] = set()  # blocks that cannot be one expression
        self._in_class = False  # where Python allows no `:=` in a comprehension
        self._nested_of: dict[str, Callable[[Node], bool]] = {
            "if": self._nested_if,
            "and": self._nested_boolean,
            "or": self._nested_boolean,
            "while": self._nested_while,
            "for": self._nested_for,
            "with": self._nested_with,
            "try": self._nested_try,
            "match": self._nested_match,
            "region": self._nested_region,
            "function": self._nested_function,
            "class": self._nested_class,
            "class.load": self._nested_class_load,
            "comprehension": self._nested_comprehension,
        }

    # Blocks

    def statements(self, block: Block) -> None:
        """Fold a block that may hold statements."""
        self._block(block, False)

    def expression(self, block: Block, *, sharing: bool = True) -> bool:
        """Try to fold a block into its yielded values alone; nothing has changed when that fails."""
        if block in self._failed:
            return False
        before, outer = self.snapshot(), self.sharing
        self.sharing = self.sharing and sharing
        try:
            self._block(block, True)
        except Spilled:
            self.restore(before)
            self._failed.add(block)
            return False
        finally:
            self.sharing = outer
        return True

    def _block(self, block: Block, single: bool) -> None:
        stack: list[Value] = []
        self.find_updates(block)
        for node in block:
            if node not in self.folding.absorbed and node not in self.folding.visited and node.op != "cell":
                self.visit(node, stack, single)
        end = block.terminator
        if end is not None:
            if single and end.op not in ("yield", "condition", "return"):
                raise Spilled
            self.consume(end, stack, single)
        if single and (stack or self._passes_expression(end)):
            raise Spilled

    def _passes_expression(self, end: Node | None) -> bool:
        return end is not None and end.op == "condition" and any(value in self.folding.folded for value in passed(end))

    # Nodes

    def visit(self, node: Node, stack: list[Value], single: bool) -> None:
        if is_atom(node, self.graph):
            return
        if node.op in WRITES and not single and self.store_together(node, stack):
            return
        if node.op == "store" and single and self.name(node, stack):
            return
        inline = self._nested(node)
        if node.blocks:
            used = self.flow.free.get(node, ())
            first = stack[-1:] if node.op in ("if", "and", "or") and stack[-1:] == node.inputs[:1] else []
            self.spill(stack, single, [value for value in stack if value in used and value not in first])
        if node.op in ("function", "class") and not inline and not single:
            self.decorate(node)
        self.consume(node, stack, single)
        if node.op in ("comprehension.for", "comprehension.if"):
            self._clause(node, stack)
            return
        if inline and (self.waits(node, single) or self.shares(node, stack)):
            stack.append(node.result)
            return
        self.check_update(node)
        self.spill(stack, single, stack)
        if single:
            raise Spilled
        if node.op == "unpack":
            self.absorb_results(node, node.next)
        elif node.op in ("function", "class"):
            self.absorb_definition(node)

    def _nested(self, node: Node) -> bool:
        """Fold the blocks of a node; whether the node can be printed as an expression."""
        handler = self._nested_of.get(node.op)
        if handler is not None:
            inline = handler(node)
            if inline:
                self.folding.inline.add(node)
            return inline and (node.op not in STATEMENTS or node.op == "region")
        for block in node.blocks:
            if node.op not in ("comprehension.for", "comprehension.if"):
                self.statements(block)
        if node in self.folding.updates:
            return node is not self.folding.updates[node].write
        return len(node.results) == 1 and node.op not in STATEMENTS and not _is_in_place(node)

    def _nested_if(self, node: Node) -> bool:
        before, (then, otherwise) = self.snapshot(), node.blocks
        is_choice = _is_choice(node) and node.result in self.flow.needed
        if is_choice and self.expression(then) and self.expression(otherwise):
            return True
        self.restore(before)
        for block in node.blocks:
            self.statements(block)
        return False

    def _nested_boolean(self, node: Node) -> bool:
        if self.expression(node.blocks[0]):
            return True
        self.statements(node.blocks[0])
        return False

    def _nested_while(self, node: Node) -> bool:
        condition, body, otherwise = node.blocks
        inline = self.expression(condition)
        for block in (body, otherwise) if inline else node.blocks:
            self.statements(block)
        return inline

    def _nested_for(self, node: Node) -> bool:
        body = node.blocks[0]
        self.absorb(body.parameters[0], first_node(body), (*BINDINGS, "unpack"))
        for block in node.blocks:
            self.statements(block)
        return False

    def _nested_with(self, node: Node) -> bool:
        body = node.blocks[0]
        self.absorb(body.parameters[0], first_node(body), (*BINDINGS, "unpack"))
        self.statements(body)
        return False

    def _nested_try(self, node: Node) -> bool:
        for index, block in enumerate(node.blocks):
            is_type = index >= 3 and index % 2 == 1
            if is_type and self.expression(block):
                continue
            if index >= 3 and not is_type:
                self.absorb_exception(block)
            self.statements(block)
        return False

    def _nested_match(self, node: Node) -> bool:
        for index, block in enumerate(node.blocks):
            is_guard = index % 2 == 0 and block is not node.blocks[-1]
            if is_guard:
                self.absorb_captures(block)
            if not is_guard or not self.expression(block):
                self.statements(block)
        return False

    def _nested_region(self, node: Node) -> bool:
        """One result without a name is a choice between the twin and a call, inside the expression that reads it.

        With names inside, that is hard to read, and only done where NumPy may compute into the result.
        """
        body = node.blocks[0]
        if len(node.results) == 1 and self.waits(node, False):
            is_operand = any(user.op in BINARY for user in node.result.uses)
            has_names = any(self.keeps_name(value) for inner in body for value in inner.results)
            if (is_operand or not has_names) and self.expression(body):
                return True
        self.statements(body)
        return False

    def _nested_function(self, node: Node) -> bool:
        if node.attributes["name"] == "<lambda>" and self._is_lambda(node.blocks[0]):
            return True
        self._body(node.blocks[0], False)
        return False

    def _is_lambda(self, block: Block) -> bool:
        outer, self._in_class = self._in_class, False
        try:
            return self.expression(block)
        finally:
            self._in_class = outer

    def _nested_class(self, node: Node) -> bool:
        self._body(node.blocks[0], True)
        return False

    def _body(self, block: Block, is_class: bool) -> None:
        """Fold the body of an inner function or class."""
        outer, self._in_class = self._in_class, is_class
        self.statements(block)
        self._in_class = outer

    def _nested_class_load(self, node: Node) -> bool:
        return all(map(self.expression, node.blocks))

    def _nested_comprehension(self, node: Node) -> bool:
        clause = node.blocks[0]
        before = self.snapshot()
        if clause not in self._failed:
            self._absorb_item(clause)
            if self.expression(clause, sharing=self._may_share(clause)):
                return True
        self.restore(before)
        self._statement_clauses(clause)
        return False

    def _statement_clauses(self, clause: Block) -> None:
        """Fold the clauses of a comprehension that is printed as a loop."""
        self._absorb_item(clause)
        self.statements(clause)

    def _absorb_item(self, clause: Block) -> None:
        """Print the first node of a clause as the target of its `for`, where only its own variables may stand."""
        node = first_node(clause)
        if clause.parameters and node is not None:
            is_outside = node.op == "store" and not is_inside(self.flow.resolve(node.inputs[0]).producer, clause)
            self.absorb(clause.parameters[0], node, ("unpack",) if is_outside else ("store", "unpack"))

    def _clause(self, node: Node, stack: list[Value]) -> None:
        clause = node.blocks[0]
        self._absorb_item(clause)
        self.spill(stack, self._in_expression(node), stack)
        if not self._in_expression(node):
            self.statements(clause)
        elif not self.expression(clause, sharing=self._may_share(clause)):
            raise Spilled

    def _may_share(self, clause: Block) -> bool:
        return _last_op(clause) != "comprehension.for" and not self._in_class

    def _in_expression(self, node: Node) -> bool:
        """Whether the comprehension around a clause is being folded into one expression."""
        owner = node.block.owner
        while owner.op != "comprehension":
            owner = owner.block.owner
        return owner.blocks[0] not in self._failed


def _is_in_place(node: Node) -> bool:
    """Whether an augmented operation has to stay a statement: on numbers it is the plain operation."""
    return node.op in IN_PLACE and not has_weak_type(node.inputs[0])


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
