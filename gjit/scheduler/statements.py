"""Print blocks as Python statements."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from gjit.ir.graph import Block, Node, Value
from gjit.scheduler.expressions import Expressions
from gjit.scheduler.flow import destinations, function_of, is_inside, loop_of, passed
from gjit.scheduler.folding import is_atom
from gjit.scheduler.moves import Move, in_order
from gjit.scheduler.syntax import IN_PLACE, LOAD, assign, load, located, negated, store


class Statements(Expressions):
    """Prints the statements of one function into `body`."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.body: list[ast.stmt] = []
        self._last: tuple[ast.stmt, Value] | None = None
        self._statements: dict[str, Callable[[Node], None]] = {
            "if": self._if,
            "and": self._boolean_statement,
            "or": self._boolean_statement,
            "setitem": self._write,
            "setattr": self._write,
            "store": self._write,
            "capture.store": self._write,
            "delitem": self._delete,
            "delattr": self._delete,
            "delete": self._delete,
            "unpack": self._unpack,
            "import": self._import,
        }

    # Blocks

    @contextmanager
    def into(self, body: list[ast.stmt]) -> Iterator[list[ast.stmt]]:
        """Print into another list of statements."""
        outer, self.body, self._last = self.body, body, None
        try:
            yield body
        finally:
            self.body, self._last = outer, None

    def block(self, block: Block, body: list[ast.stmt] | None = None) -> list[ast.stmt]:
        """The statements of a block, after those already in `body`."""
        with self.into([] if body is None else body) as statements:
            for node in block:
                self.statement(node)
            if not (statements and _leaves(statements[-1])):
                self.terminator(block.terminator)
        return statements

    def emit(self, statement: ast.stmt, node: Node) -> None:
        self.body.append(self.locate(statement, node))

    def statement(self, node: Node) -> None:
        """Print a node, unless a later statement holds it."""
        folding = self.folding
        if node.op == "cell" or node in folding.absorbed or any(value in folding.folded for value in node.results):
            return
        if is_atom(node, self.graph):
            return
        update = folding.updates.get(node)
        if update is not None:
            target, operation = self.target_of(update.write), update.operation
            self.emit(ast.AugAssign(target, IN_PLACE[operation.op](), self.value(operation.inputs[1])), node)
            return
        printer = self._statements.get(node.op)
        if printer is None or (node in folding.inline and node.op != "while"):
            self._assign(node)
        else:
            printer(node)

    def _assign(self, node: Node) -> None:
        """`variable = expression`, or the expression alone where nothing reads its value."""
        (result,) = node.results
        name = self.names.variables.get(result)
        if name is not None and node.op in IN_PLACE and self._rebinds(node, name):
            self.emit(ast.AugAssign(store(name), IN_PLACE[node.op](), self.value(node.inputs[1])), node)
            return
        tree = self.node(node)
        if result in self.folding.targets:
            self.emit(assign(self.target(result), tree), node)
        elif name is None:
            self.emit(ast.Expr(tree), node)
        else:
            self.emit(assign(store(name), tree), node)
            self._last = self.body[-1], result

    def _rebinds(self, node: Node, name: str) -> bool:
        target = self.flow.resolve(node.inputs[0])
        return target not in self.folding.folded and self.names.variables.get(target) == name

    # Stores

    def _write(self, node: Node) -> None:
        writes = self.folding.together.get(node)
        if writes is not None:
            values = ast.Tuple([self.value(write.inputs[-1]) for write in writes], LOAD)
            targets = ast.Tuple([self.locate(self.target_of(write), write) for write in writes], ast.Store())
            self.emit(assign(targets, values), node)
            return
        value = self.value(node.inputs[-1])
        target = self.target_of(node)
        is_read_anew = self.flow.resolve(node.inputs[-1]) in self.folding.folded
        if isinstance(value, ast.Name) and isinstance(target, ast.Name) and value.id == target.id and not is_read_anew:
            return
        self.emit(assign(target, value), node)

    def _delete(self, node: Node) -> None:
        target: ast.expr
        match node.op:
            case "delitem":
                target = ast.Subscript(self.value(node.inputs[0]), self.index(node.inputs[1]), ast.Del())
            case "delattr":
                target = ast.Attribute(self.value(node.inputs[0]), node.attributes["name"], ast.Del())
            case "class.delete":
                target = ast.Name(node.attributes["name"], ast.Del())
            case _:
                target = ast.Name(self.variable(node.inputs[0]), ast.Del())
        self.emit(ast.Delete([target]), node)

    def _unpack(self, node: Node) -> None:
        value = self.value(node.inputs[0])
        self.emit(assign(self.target_of(node), value), node)

    def _import(self, node: Node) -> None:
        module, name, level = node.attributes["module"], node.attributes["name"], node.attributes.get("level", 0)
        target = self.names.variables.get(node.result) or self.names.fresh("_")
        if name:
            self.emit(ast.ImportFrom(module or None, [ast.alias(name, target)], level), node)
        else:
            self.emit(ast.Import([ast.alias(module, target)]), node)

    # Moves and terminators

    def move(self, targets: list[Value], sources: list[Value], node: Node) -> None:
        """Assign in parallel."""
        moves: list[Move] = []
        pairs = [(t, self.flow.resolve(s)) for t, s in zip(targets, sources, strict=True) if t in self.flow.needed]
        taken_back = self._take_back(pairs, node)
        for target, source in pairs:
            name = self.names.variables[target]
            if source in taken_back:
                moves.append(Move(name, taken_back[source]))
            elif source in self.folding.folded or self.names.variables.get(source) != name:
                moves.append(Move(name, self.value(source)))
        for statement in in_order(moves, list(taken_back.values())):
            self.emit(statement, node)

    def _take_back(self, pairs: list[tuple[Value, Value]], node: Node) -> dict[Value, ast.expr]:
        """The expression of the last assignment, where it only made a value that is now moved elsewhere."""
        if self._last is None or not self.body or self.body[-1] is not self._last[0]:
            return {}
        statement, value = self._last
        if value.uses != {node: 1}:
            return {}
        for target, source in pairs:
            if source is value and self.names.variables[target] != self.names.variables[value]:
                self.body.pop()
                return {value: statement.value}
        return {}

    def terminator(self, end: Node | None) -> None:
        """Print what ends a block."""
        if end is None:
            return
        match end.op:
            case "yield" | "continue" | "break" if destinations(end):
                (targets,) = destinations(end)
                self.move(targets, passed(end), end)
                if end.op != "yield":
                    self._jump(end)
            case "continue" | "break":
                self._jump(end)
            case "return":
                self.emit(ast.Return(self.value(end.inputs[0])), end)
            case "raise":
                exception, *cause = map(self.value, end.inputs)
                self.emit(ast.Raise(exception, *cause), end)
            case "reraise":
                self.emit(ast.Raise(), end)

    def _jump(self, end: Node) -> None:
        """`continue` at the end of the body of its loop says nothing."""
        if end.op == "continue":
            if end.block is not _body(loop_of(end)):
                self.emit(ast.Continue(), end)
        else:
            self.emit(ast.Break(), end)

    # Branches

    def _if(self, node: Node) -> None:
        condition = self.value(node.inputs[0])
        span = self.span_of(node)
        then, otherwise = [self.block(block) for block in node.blocks]  # a generator would take C's stack
        if not then and otherwise:
            condition, then, otherwise = located(negated(condition), span), otherwise, []
        self._span = span
        self.emit(ast.If(condition, then or [ast.Pass()], otherwise), node)

    def _boolean_statement(self, node: Node) -> None:
        """`and` and `or` whose right operand needs statements: the left operand first, its truth once."""
        result = node.result
        name = self.names.variables.get(result) or self.names.fresh("value")
        self.names.variables[result] = name
        left = self.value(node.inputs[0])
        if not (isinstance(left, ast.Name) and left.id == name):
            self.emit(assign(store(name), left), node)
        right = self.block(node.blocks[0])
        with self.into(right):
            end = node.blocks[0].terminator
            if end.op == "yield":
                value = self.value(end.inputs[0])
                if not (isinstance(value, ast.Name) and value.id == name):
                    self.emit(assign(store(name), value), end)
        condition: ast.expr = load(name)
        if node.op == "or":
            condition = negated(condition)
        if right:
            self.emit(ast.If(condition, right, []), node)

    # Functions made to hold statements

    def condition(self, block: Block, hint: str) -> ast.expr:
        """The value of a block that stands where Python allows only an expression: a guard, the class of an `except`.

        Where the block needs statements they go into a function that is called there.
        """
        statements = self.block(block)
        with self.into(statements):
            value = self.value(block.terminator.inputs[0])
            if not statements:
                return value
            self.emit(ast.Return(value), block.terminator)
        outside = self.assigned_outside(block)
        if outside:
            statements.insert(0, self.locate(ast.Nonlocal(outside), block.terminator))
        name = self.names.fresh(hint)
        parameters = ast.arguments([], [], None, [], [], None, [])
        self.emit(ast.FunctionDef(name, parameters, statements, [], None), block.terminator)
        return self.locate(ast.Call(load(name), [], []), block.terminator)

    def assigned_outside(self, block: Block) -> list[str]:
        """The variables that a block assigns and that do not belong to it, where it is printed as a function."""
        names: dict[str, None] = {}
        scope = function_of(block.first or block.terminator)
        for node in block.all_nodes():
            if node.op not in ("capture.store", "store", "delete") or function_of(node) is not scope:
                continue
            if node.op == "capture.store":
                names[self.bindings.closure_name(node.attributes["slot"])] = None
                continue
            cell = self.flow.resolve(node.inputs[0])
            if not is_inside(cell.producer, block):
                names[self.variable(cell)] = None
        return list(names)


def _body(loop: Node) -> Block:
    return loop.blocks[0] if loop.op == "for" else loop.blocks[1]


def _leaves(statement: ast.stmt) -> bool:
    """Whether nothing after a statement can run."""
    if isinstance(statement, ast.If):
        return bool(statement.orelse) and _leaves(statement.body[-1]) and _leaves(statement.orelse[-1])
    return isinstance(statement, ast.Return | ast.Raise | ast.Break | ast.Continue)
