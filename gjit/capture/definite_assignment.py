"""Which locals may be unbound where they are read, or are shared with an inner function that could see them change."""

from __future__ import annotations

import ast
from collections import Counter

from gjit.capture.names import (
    FUNCTIONS,
    bound_names,
    free_names,
    loads,
    target_names,
    walk_scope,
    written_names,
)


def variables(body: list[ast.stmt], parameters: list[str], bindings: Counter[str]) -> set[str]:
    """The names that an SSA value cannot stand for; `bindings` counts the places that bind each name."""
    flow = _Flow(parameters, bindings)
    flow.block(body, set(parameters))
    return flow.cells


class _Flow:
    """Definite assignment: one walk in program order with the set of names that are surely bound.

    A name bound in a loop and not before it counts as unbound after the loop, even where a `while True`
    proves otherwise: an SSA value would need an initial value that does not exist.
    """

    def __init__(self, parameters: list[str], bindings: Counter[str]):
        self.parameters, self.bindings = parameters, bindings
        self.cells: set[str] = set()
        self.loop_depth = 0

    def block(self, body: list, bound: set[str] | None) -> set[str] | None:
        """The names surely bound after `body`, or None where its end is not reached."""
        for statement in body:
            if bound is None:
                bound = set()  # dead code: what it reads must still be a variable
            bound = self.statement(statement, bound)
        return bound

    def statement(self, node: ast.stmt, bound: set[str]) -> set[str] | None:
        match node:
            case ast.If():
                bound = self.read(node.test, bound)
                return _both(self.block(node.body, set(bound)), self.block(node.orelse, set(bound)))
            case ast.For() | ast.While():
                return self.loop(node, bound)
            case ast.Try() | ast.TryStar():
                return self.attempt(node, bound)
            case ast.With():
                return self.manage(node, bound)
            case ast.Match():
                return self.choose(node, bound)
            case ast.Return() | ast.Raise():
                self.read(node, bound)
                return None
            case ast.Break() | ast.Continue():
                return None
            case ast.FunctionDef() | ast.ClassDef():
                bound = self.read(node, bound)
                return bound | {node.name}
            case ast.Import() | ast.ImportFrom():
                return bound | bound_names([node])
            case ast.AugAssign() if isinstance(node.target, ast.Name):
                self.load(node.target.id, bound)
                return self.read(node.value, bound) | {node.target.id}
            case ast.Assign():
                bound = self.read(node.value, bound)
                for target in node.targets:
                    bound = self.read(target, bound) | set(target_names(target))
                return bound
            case ast.AnnAssign():
                if node.value is None:
                    return bound
                return self.read(node.target, self.read(node.value, bound)) | set(target_names(node.target))
        return self.read(node, bound)

    def loop(self, node: ast.For | ast.While, bound: set[str]) -> set[str]:
        if isinstance(node, ast.While):  # the test is part of the loop, so what it binds is bound in the loop
            self.cells.update(inner.target.id for inner in walk_scope([node.test]) if isinstance(inner, ast.NamedExpr))
        bound = self.read(node.iter if isinstance(node, ast.For) else node.test, bound)
        self.loop_depth += 1
        inside = set(bound)
        if isinstance(node, ast.For):
            inside = self.read(node.target, inside) | set(target_names(node.target))
        self.block(node.body, inside)
        self.loop_depth -= 1
        self.block(node.orelse, set(bound))
        return bound

    def attempt(self, node: ast.Try, bound: set[str]) -> set[str] | None:
        body = self.block(node.body, set(bound))
        ends = [self.block(node.orelse, set(body) if body is not None else set(bound)) if body is not None else None]
        for handler in node.handlers:
            if handler.type is not None:
                self.read(handler.type, bound)
            ends.append(self.block(handler.body, bound | ({handler.name} if handler.name else set())))
        after = ends[0]
        for end in ends[1:]:
            after = _both(after, end)
        final = self.block(node.finalbody, set(bound))
        if after is None or final is None:
            return None
        return after | final

    def manage(self, node: ast.With, bound: set[str]) -> set[str] | None:
        for item in node.items:
            bound = self.read(item.context_expr, bound)
            if item.optional_vars is not None:
                bound = self.read(item.optional_vars, bound) | set(target_names(item.optional_vars))
        inside = self.block(node.body, set(bound))
        return bound if inside is None else inside

    def choose(self, node: ast.Match, bound: set[str]) -> set[str] | None:
        bound = self.read(node.subject, bound)
        after: set[str] | None = set(bound)
        for case in node.cases:
            inside = bound | bound_names([case.pattern])
            self.read(case.pattern, bound)
            if case.guard is not None:
                inside = self.read(case.guard, inside)
            after = _both(after, self.block(case.body, inside))
        return after

    def read(self, node: ast.AST, bound: set[str]) -> set[str]:
        """Check every load in an expression, and add what `:=` binds."""
        for name in loads(node):
            self.load(name, bound)
        for inner in walk_scope([node]):
            if isinstance(inner, ast.NamedExpr):
                bound = bound | {inner.target.id}
            elif isinstance(inner, (*FUNCTIONS, ast.GeneratorExp)):
                self.share(free_names(inner), bound)
                self.cells |= written_names(inner)
            elif isinstance(inner, ast.ClassDef):
                self.share(set(loads(inner, inside=True)), bound)
                self.cells |= written_names(inner)
        return bound

    def load(self, name: str, bound: set[str]) -> None:
        if name not in bound:
            self.cells.add(name)

    def share(self, names: set[str], bound: set[str]) -> None:
        """Names seen by an inner function stay values only when they were bound once, before, and outside loops."""
        for name in names:
            if name not in bound or self.bindings[name] > 1 or (self.loop_depth and name not in self.parameters):
                self.cells.add(name)


def _both(left: set[str] | None, right: set[str] | None) -> set[str] | None:
    if left is None:
        return right
    if right is None:
        return left
    return left & right
