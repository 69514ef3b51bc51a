"""Which names of a function are its locals, and which of those must be cells.

A local becomes an SSA value where Python's rules allow it. It stays a variable (a *cell*) when it is deleted, assigned
in a `try` or a `with` that may suppress exceptions, possibly unbound where it is read, shared with an inner function
that could see it change, or bound by `:=` in a part of an expression that may not run.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from gjit.capture.definite_assignment import variables
from gjit.capture.names import bindings_in, bound_names, declared, evaluated, parameter_names, walk_scope


@dataclass(slots=True)
class Scope:
    """The names of one function."""

    parameters: list[str]
    bound: set[str] = field(default_factory=set)
    globals: set[str] = field(default_factory=set)
    nonlocals: set[str] = field(default_factory=set)
    cells: set[str] = field(default_factory=set)


def analyse(function: ast.FunctionDef | ast.Lambda, keeps_exceptions: Callable[[ast.expr], bool]) -> Scope:
    """The scope of `function`; `keeps_exceptions` tells a `with` manager that never suppresses one."""
    body = function.body if isinstance(function.body, list) else [ast.Return(function.body)]
    scope = Scope(parameter_names(function.args))
    scope.globals, scope.nonlocals = declared(body, ast.Global), declared(body, ast.Nonlocal)
    bindings = Counter([*scope.parameters, *(name for name, _ in bindings_in(body))])
    scope.bound = set(bindings) - scope.globals - scope.nonlocals
    scope.cells = (
        _deleted(body)
        | _guarded(body, keeps_exceptions)
        | _conditional_walrus(body)
        | variables(body, scope.parameters, bindings)
    ) & scope.bound
    return scope


def _deleted(body: list) -> set[str]:
    return {node.id for node in walk_scope(body) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}


def _guarded(body: list, keeps_exceptions: Callable[[ast.expr], bool]) -> set[str]:
    """Names bound where an exception may leave the block half way and the function goes on."""
    names: set[str] = set()
    for node in walk_scope(body):
        suppresses = isinstance(node, ast.With) and not all(keeps_exceptions(item.context_expr) for item in node.items)
        if isinstance(node, ast.Try | ast.TryStar) or suppresses:
            names |= bound_names([node])
    return names


def _conditional_walrus(body: list) -> set[str]:
    """Names bound by `:=` in a part of an expression, or in a guard, that may not run."""
    names: set[str] = set()
    waiting: list[tuple[ast.AST, bool]] = [(node, False) for node in body]
    while waiting:
        node, is_conditional = waiting.pop()
        if isinstance(node, ast.NamedExpr) and is_conditional:
            names.add(node.target.id)
        if not isinstance(node, ast.Name | ast.Constant):
            parts = set(map(id, _conditional_parts(node)))
            waiting.extend((part, is_conditional or id(part) in parts) for part in evaluated(node))
    return names


def _conditional_parts(node: ast.AST) -> list[ast.AST]:
    match node:
        case ast.BoolOp():
            return node.values[1:]
        case ast.IfExp():
            return [node.body, node.orelse]
        case ast.Compare():
            return node.comparators[1:]
        case ast.match_case():
            return [] if node.guard is None else [node.guard]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return evaluated(node)
    return []
