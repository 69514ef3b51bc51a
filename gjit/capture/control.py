"""Lowering of control flow: nodes with blocks, and the values that leave them."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

import numpy as np

from gjit.capture.assignments import Assignments
from gjit.capture.names import bound_names
from gjit.capture.patterns import Pattern
from gjit.ir.graph import Block, Constant, Node, Value
from gjit.ir.types import CELL

_KEEPS_EXCEPTIONS = (np.errstate, np.printoptions)


class Control(Assignments):
    """Branches, loops, `try`, `with` and `match`."""

    loops: list[list[str]]  # the carried names of the loops around, innermost last

    def statements(self, body: Iterable[ast.stmt]) -> None:
        """Lower a suite; what follows a `return` or `break` is dead and left out."""
        for statement in body:
            if self.builder.ended:
                return
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        """Lower one statement of any kind."""
        method = getattr(self, "lower_" + type(node).__name__, None)
        if method is None:
            self.refuse_statement(node)
        with self.at(node):
            method(node)

    def refuse_statement(self, node: ast.stmt) -> None:
        """Say what cannot be scripted, and what to write instead."""
        match node:
            case ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith():
                self.refuse(node, "`async` cannot be scripted", "use gjit.fork and gjit.wait, or plain code")
        self.refuse(node, f"this statement ({type(node).__name__}) cannot be scripted", "write it as plain statements")

    # Branches

    def lower_If(self, node: ast.If) -> None:
        branch = self.builder.node("if", [self.expression(node.test)], results=0)
        bodies = (node.body, node.orelse)
        self.branches(branch, [(branch.add_block(), lambda body=body: self.statements(body)) for body in bodies])

    def branches(
        self, node: Node, bodies: list[tuple[Block, Callable[[], None]]], *, falls_through: bool = False
    ) -> None:
        """Lower alternative blocks; what any of them assigned becomes a result of the node.

        `falls_through` says that the code after the node may run although no block ends.
        """
        before = self.environment
        ends: list[tuple[Block, dict[str, Value]]] = []
        for block, lower in bodies:
            with self.inside(block):
                lower()
                if not self.builder.ended:
                    ends.append((block, self.environment))
        if not ends:
            if not falls_through:
                self.builder.end("unreachable")
            return
        names = _merged_names(before, [environment for _, environment in ends])
        for block, environment in ends:
            with self.builder.at(block):
                self.builder.end("yield", [environment[name] for name in names])
        self._give_results(node, names)

    def _give_results(self, node: Node, names: list[str]) -> None:
        node.results = [Value(producer=node, name=name) for name in names]
        self.environment.update(zip(names, node.results, strict=True))

    # Loops

    def lower_For(self, node: ast.For) -> None:
        iterable = self.expression(node.iter)
        names = self._carried_names([node.target, *node.body, *node.orelse])
        loop = self.builder.node("for", [iterable, *(self.environment[name] for name in names)], results=0)
        with self._loop(loop, names, 1) as block:
            self.assign(node.target, block.parameters[0])
            self.statements(node.body)
            if not self.builder.ended:
                self.builder.end("continue", self.carried_values())
        self._loop_else(loop, names, node.orelse)

    def lower_While(self, node: ast.While) -> None:
        names = self._carried_names([node.test, *node.body, *node.orelse])
        loop = self.builder.node("while", [self.environment[name] for name in names], results=0)
        with self._loop(loop, names, 0):
            self.builder.end("condition", [self.expression(node.test), *self.carried_values()])
        with self._loop(loop, names, 0):
            self.statements(node.body)
            if not self.builder.ended:
                self.builder.end("continue", self.carried_values())
        self._loop_else(loop, names, node.orelse)

    def _carried_names(self, parts: list[ast.AST]) -> list[str]:
        """Names that the loop assigns and that have a value before it."""
        assigned = bound_names(parts)
        carried = [name for name, value in self.environment.items() if name in assigned and value.type is not CELL]
        return [name for name in carried if not self.is_class_name(name)]

    def _loop(self, loop: Node, names: list[str], extra: int):
        """A context for a block of a loop, whose parameters are the current values of the carried names."""
        return _LoopBlock(self, loop.add_block(extra + len(names)), names, extra)

    def _loop_else(self, loop: Node, names: list[str], body: list[ast.stmt]) -> None:
        block = loop.add_block(len(names))
        with self.inside(block):
            self.environment.update(_named(names, block.parameters))
            self.statements(body)
            if not self.builder.ended:
                self.builder.end("yield", [self.environment[name] for name in names])
        self._give_results(loop, names)

    def carried_values(self) -> list[Value]:
        return [self.environment[name] for name in self.loops[-1]]

    # Exceptions and managers

    def lower_TryStar(self, node: ast.TryStar) -> None:
        self._attempt(node, groups=True)

    def lower_Try(self, node: ast.Try) -> None:
        self._attempt(node)

    def _attempt(self, node: ast.Try | ast.TryStar, **attributes: bool) -> None:
        attempt = self.builder.node("try", results=0, **attributes)
        for body in (node.body, node.orelse, node.finalbody):
            self._effects_only(attempt.add_block(), body)
        for handler in node.handlers:
            kinds = attempt.add_block()
            with self.inside(kinds):
                self.builder.end("yield", [] if handler.type is None else [self.expression(handler.type)])
            self._handler(attempt.add_block(1), handler)

    def _handler(self, block: Block, handler: ast.ExceptHandler) -> None:
        with self.inside(block):
            if handler.name is not None:
                block.parameters[0].name = handler.name
                self.bind(handler.name, block.parameters[0])
            self.statements(handler.body)
            if not self.builder.ended:
                if handler.name is not None:
                    self.bind(handler.name, Constant(None))
                    self.unbind(handler.name)
                self.builder.end("yield")

    def _effects_only(self, block: Block, body: list[ast.stmt]) -> None:
        with self.inside(block):
            self.statements(body)
            if not self.builder.ended:
                self.builder.end("yield")

    def lower_With(self, node: ast.With) -> None:
        self._manage(node, node.items)

    def _manage(self, node: ast.With, items: list[ast.withitem]) -> None:
        item = items[0]
        manager = self.builder.node("with", [self.expression(item.context_expr)], results=0)
        block = manager.add_block(1)

        def body() -> None:
            if item.optional_vars is not None:
                self.assign(item.optional_vars, block.parameters[0])
            if len(items) > 1:
                self._manage(node, items[1:])
            else:
                self.statements(node.body)

        self.branches(manager, [(block, body)], falls_through=not self.keeps_exceptions(item.context_expr))

    def keeps_exceptions(self, manager: ast.expr) -> bool:
        """Whether a `with` manager is known never to suppress an exception."""
        resolved = self.static(manager.func) if isinstance(manager, ast.Call) else None
        return resolved is not None and resolved.value in _KEEPS_EXCEPTIONS

    # Patterns

    def lower_Match(self, node: ast.Match) -> None:
        subject = self.expression(node.subject)
        patterns: list[Pattern] = []
        values: list[Value] = []
        for case in node.cases:
            patterns.append(Pattern(case.pattern, len(values), self.expression))
            values.extend(patterns[-1].values)
        texts = tuple(pattern.text for pattern in patterns)
        choice = self.builder.node("match", [subject, *values], results=0, patterns=texts)
        bodies = []
        for case, pattern in zip(node.cases, patterns, strict=True):
            self._guard(choice.add_block(len(pattern.names)), case.guard, pattern.names)
            block = choice.add_block(len(pattern.names))
            bodies.append((block, lambda block=block, case=case, names=pattern.names: self._case(block, case, names)))
        bodies.append((choice.add_block(), lambda: None))
        self.branches(choice, bodies)

    def _guard(self, block: Block, guard: ast.expr | None, names: list[str]) -> None:
        with self.inside(block):
            self.environment.update(_named(names, block.parameters))
            for name, value in zip(names, block.parameters, strict=True):
                if self.is_class_name(name):  # Python binds it before it asks the guard
                    self.bind(name, value)
            self.builder.end("yield", [] if guard is None else [self.expression(guard)])

    def _case(self, block: Block, case: ast.match_case, names: list[str]) -> None:
        for name, value in _named(names, block.parameters).items():
            if not self.is_class_name(name):
                self.bind(name, value)
        self.statements(case.body)


class _LoopBlock:
    """Enters a block of a loop: its carried names, and `break` and `continue` that speak of it."""

    def __init__(self, capture: Control, block: Block, names: list[str], extra: int):
        self.capture, self.block, self.names, self.extra = capture, block, names, extra
        self.inside = capture.inside(block)

    def __enter__(self) -> Block:
        self.inside.__enter__()
        self.capture.environment.update(_named(self.names, self.block.parameters[self.extra :]))
        self.capture.loops.append(self.names)
        return self.block

    def __exit__(self, *exception: object) -> None:
        self.capture.loops.pop()
        self.inside.__exit__(*exception)


def _named(names: list[str], values: list[Value]) -> dict[str, Value]:
    for name, value in zip(names, values, strict=True):
        value.name = name
    return dict(zip(names, values, strict=True))


def _merged_names(before: dict[str, Value], ends: list[dict[str, Value]]) -> list[str]:
    """Names whose value after the branches is not the one before them, and that every branch leaves bound."""
    common = [name for name in ends[0] if all(name in end for end in ends)]
    return [name for name in common if any(end[name] is not before.get(name) for end in ends)]
