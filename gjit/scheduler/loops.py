"""Print nodes with blocks that are statements: loops, `try`, `with`, `match`."""

from __future__ import annotations

import ast
from types import SimpleNamespace

from gjit.ir.graph import Block, Node, Value
from gjit.scheduler.flow import carried_parameters, cases, loop_of
from gjit.scheduler.patterns import Patterns
from gjit.scheduler.statements import Statements
from gjit.scheduler.syntax import assign, load, negated, store


class ControlFlow(Statements):
    """Statements with blocks inside."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._statements |= {
            "for": self._for,
            "while": self._while,
            "try": self._try,
            "with": self._with,
            "match": self._match,
        }

    # Loops

    def _for(self, node: Node) -> None:
        body, otherwise = node.blocks
        iterable = self.value(node.inputs[0])
        span = self.span_of(node)
        self.move(carried_parameters(node), node.inputs[1:], node)
        target = self.locate(self.target(body.parameters[0]), node)
        statements = self.block(body)
        after = self._exit(otherwise, carried_parameters(node), node)
        inside = after if _can_break(node) else []
        self._span = span
        self.emit(ast.For(target, iterable, statements or [ast.Pass()], inside), node)
        if after is not inside:
            self.body.extend(after)

    def _exit(self, otherwise: Block, sources: list[Value], node: Node) -> list[ast.stmt]:
        """What runs when a loop ends without `break`."""
        with self.into([]) as statements:
            self.move(otherwise.parameters, sources, node)
        return self.block(otherwise, statements)

    def _while(self, node: Node) -> None:
        condition, body, otherwise = node.blocks
        self.move(node.blocks[0].parameters, node.inputs, node)
        truth, *sources = condition.terminator.inputs
        if node not in self.folding.inline:
            self._while_true(node)
            return
        test = self.value(truth)
        span = self.span_of(node)
        with self.into([]) as start:
            self.move(body.parameters, sources, condition.terminator)
        statements = self.block(body, start)
        after = self._exit(otherwise, sources, condition.terminator)
        inside = after if _can_break(node) else []
        self._span = span
        self.emit(ast.While(test, statements or [ast.Pass()], inside), node)
        if after is not inside:
            self.body.extend(after)

    def _while_true(self, node: Node) -> None:
        """A loop whose condition needs statements: they come first in its body."""
        condition, body, otherwise = node.blocks
        truth, *sources = condition.terminator.inputs
        span = self.span_of(node)
        prefix = self.block(condition)
        with self.into(prefix):
            test = self.value(truth)
        after = self._exit(otherwise, sources, condition.terminator)
        is_apart = after and (not _can_break(node) or _jumps_out(otherwise))
        flag = self.names.fresh("finished") if is_apart and _can_break(node) else ""
        leave: list[ast.stmt] = [assign(store(flag), ast.Constant(True))] if flag else []
        leave += [] if is_apart else after
        with self.into(prefix):
            self.emit(ast.If(negated(test), [*leave, ast.Break()], []), condition.terminator)
            self.move(body.parameters, sources, condition.terminator)
        statements = self.block(body, prefix)
        self._span = span
        if flag:
            self.emit(assign(store(flag), ast.Constant(False)), node)
        self.emit(ast.While(ast.Constant(True), statements, []), node)
        if flag:
            self.emit(ast.If(load(flag), after, []), node)
        elif is_apart:
            self.body.extend(after)

    # Exceptions and managers

    def _try(self, node: Node) -> None:
        span = self.span_of(node)
        body, otherwise, final, *handlers = node.blocks
        statements = self.block(body)
        clauses = [self._handler(*pair) for pair in zip(handlers[::2], handlers[1::2], strict=True)]
        after, at_end = self.block(otherwise), self.block(final)
        self._span = span
        if not clauses and not at_end:
            self.body.extend([*statements, *after])
            return
        if not clauses and after:
            statements, after = statements + after, []
        kind = ast.TryStar if node.attributes.get("groups") else ast.Try
        self.emit(kind(statements or [ast.Pass()], clauses, after, at_end), node)

    def _handler(self, type_: Block, handler: Block) -> ast.ExceptHandler:
        kinds = self.condition(type_, "exceptions") if type_.terminator.inputs else None
        exception = handler.parameters[0]
        node = self.folding.targets.get(exception)
        name = self.target_of(node).id if node is not None else self.names.variables.get(exception)
        if name is not None and kinds is None:
            kinds = self.bindings.builtin("BaseException")
        statements = self.block(handler) or [ast.Pass()]
        clause = ast.ExceptHandler(kinds, name, statements)
        return self.locate(clause, type_.terminator)

    def _with(self, node: Node) -> None:
        body = node.blocks[0]
        entered = body.parameters[0]
        manager = self.value(node.inputs[0])
        span = self.span_of(node)
        is_read = entered in self.folding.targets or entered in self.names.variables
        target = self.target(entered) if is_read else None
        statements = self.block(body) or [ast.Pass()]
        self._span = span
        self.emit(ast.With([ast.withitem(manager, target)], statements), node)

    def _match(self, node: Node) -> None:
        subject = self.value(node.inputs[0])
        span = self.span_of(node)
        patterns = Patterns([self.value(value) for value in node.inputs[1:]], self.names.fresh("patterns"))
        clauses = [
            self._case(text, patterns, guard, body, node)
            for text, (guard, body) in zip(node.attributes["patterns"], cases(node), strict=True)
        ]
        otherwise = self.block(node.blocks[-1])
        if otherwise:
            clauses.append(ast.match_case(self.locate(ast.MatchAs(), node), None, otherwise))
        self._span = span
        if patterns.held:
            held = [ast.keyword(f"_{index}", patterns.values[index]) for index in sorted(patterns.held)]
            made = ast.Call(self.bindings.bound(SimpleNamespace, "namespace"), [], held)
            self.emit(assign(store(patterns.holder), made), node)
        self.emit(ast.Match(subject, clauses), node)

    def _case(self, text: str, patterns: Patterns, guard: Block, body: Block, node: Node) -> ast.match_case:
        pairs = zip(guard.parameters, body.parameters, strict=True)
        names = [self._captured_name(*pair) for pair in pairs]
        tree = self.locate(patterns.pattern(text, names), node)
        test = self.condition(guard, "guard") if guard.terminator.inputs else None
        with self.into([]) as start:
            self.move(body.parameters, guard.parameters, node)
        return ast.match_case(tree, test, self.block(body, start) or [ast.Pass()])

    def _captured_name(self, in_guard: Value, in_body: Value) -> str | None:
        """The variable that a name in a pattern is bound to; None where nothing reads it."""
        node = self.folding.targets.get(in_guard)
        if node is not None:
            return self.target_of(node).id
        return self.names.variables.get(in_guard) or self.names.variables.get(in_body)


def _can_break(loop: Node) -> bool:
    return any(node.op == "break" and loop_of(node) is loop for block in loop.blocks[:-1] for node in block.all_nodes())


def _jumps_out(block: Block) -> bool:
    """Whether a block leaves by `break` or `continue` for a loop that is not inside it."""
    inside = {node for node in block.all_nodes() if node.op in ("for", "while")}
    return any(node.op in ("break", "continue") and loop_of(node) not in inside for node in block.all_nodes())
