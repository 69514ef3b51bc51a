"""Which names of a function are its locals, and which of those must be cells.

A local becomes an SSA value where Python's rules allow it. It stays a variable (a *cell*) when it is deleted, assigned
in a `try` or a `with` that may suppress exceptions, possibly unbound where it is read, shared with an inner function
that could see it change, or bound by `:=` in a part of an expression that may not run.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


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
    scope = Scope(parameter_names(function.args))
    body = function.body if isinstance(function.body, list) else [ast.Return(function.body)]
    _declarations(body, scope)
    bindings = Counter(scope.parameters)
    bindings.update(name for name, _ in _bindings(body))
    scope.bound = set(bindings) - scope.globals - scope.nonlocals
    scope.cells = (
        _deleted(body)
        | _guarded(body, keeps_exceptions)
        | _conditional_walrus(body)
        | _Flow(scope, bindings).run(body)
    ) & scope.bound
    return scope


def parameter_names(arguments: ast.arguments) -> list[str]:
    """All parameter names in the order of the signature."""
    named = [*arguments.posonlyargs, *arguments.args]
    if arguments.vararg:
        named.append(arguments.vararg)
    named.extend(arguments.kwonlyargs)
    if arguments.kwarg:
        named.append(arguments.kwarg)
    return [argument.arg for argument in named]


def free_names(node: ast.AST) -> set[str]:
    """Names that an inner function or generator expression reads or writes from around it, later than it is made."""
    if isinstance(node, ast.GeneratorExp):
        read = {name for part in _parts(node)[1:] for name in loads(part, inside=True)}
        return read - comprehension_names(node)
    body = node.body if isinstance(node.body, list) else [node.body]
    scope = Scope(parameter_names(node.args))
    _declarations(body, scope)
    own = {*scope.parameters, *bound_names(body)} - scope.nonlocals
    used = {name for statement in body for name in loads(statement, inside=True)}
    return (used | bound_names(body) | scope.nonlocals) - own


def bound_names(body: Iterable[ast.AST]) -> set[str]:
    """Every local that the statements and expressions in `body` bind."""
    return {name for name, _ in _bindings(list(body))}


def written_names(node: ast.AST) -> set[str]:
    """Names around an inner function that it, or a function in it, declares `nonlocal`."""
    return {name for inner in ast.walk(node) if isinstance(inner, ast.Nonlocal) for name in inner.names}


def target_names(target: ast.expr) -> Iterator[str]:
    """The names that assigning to `target` binds."""
    for node in ast.walk(target):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id


def comprehension_names(node: ast.AST) -> set[str]:
    """The targets of a comprehension, which are names of its own."""
    return {name for generator in node.generators for name in target_names(generator.target)}


def walk_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """All nodes of one scope: inner functions and classes are given but not entered (their defaults and
    decorators are), comprehensions are entered."""
    stack = list(nodes)[::-1]
    while stack:
        node = stack.pop()
        yield node
        if isinstance(node, ast.Name | ast.Constant):
            continue
        stack.extend(reversed(_evaluated(node)))


def _evaluated(node: ast.AST) -> list[ast.AST]:
    """The parts of `node` that are evaluated where it stands."""
    if isinstance(node, FUNCTIONS):
        return [*node.args.defaults, *filter(None, node.args.kw_defaults), *getattr(node, "decorator_list", ())]
    if isinstance(node, ast.ClassDef):
        return [*node.bases, *node.keywords, *node.decorator_list]
    return _children(node)


def _children(node: ast.AST) -> list[ast.AST]:
    """The children in order; contexts and operators, which hold no names, are left out."""
    found: list[ast.AST] = []
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            found.extend(part for part in value if isinstance(part, ast.AST))
        elif isinstance(value, ast.AST) and not isinstance(value, _NAMELESS):
            found.append(value)
    return found


_NAMELESS = (ast.expr_context, ast.operator, ast.unaryop, ast.boolop)


def loads(node: ast.AST, *, inside: bool = False) -> Iterator[str]:
    """Names that evaluating `node` reads, those of a comprehension itself left out.

    `inside` adds what inner functions read or write from around them when they are called.
    """
    if isinstance(node, FUNCTIONS) and inside:
        yield from free_names(node)
    if isinstance(node, COMPREHENSIONS):
        first, *rest = _parts(node)
        yield from loads(first, inside=inside)  # evaluated outside, so it may read a name that the target hides
        read = {name for part in rest for name in loads(part, inside=inside)}
        yield from read - comprehension_names(node)
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
        yield node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
        yield "__class__"
    for child in _evaluated(node):
        yield from loads(child, inside=inside)


def _parts(node: ast.AST) -> list[ast.AST]:
    """The parts of a comprehension, the iterable that is evaluated outside of it first."""
    generators = node.generators
    parts = [generators[0].iter, *generators[0].ifs]
    for generator in generators[1:]:
        parts += [generator.iter, *generator.ifs]
    parts += [generator.target for generator in generators]
    return parts + ([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])


def _declarations(body: list, scope: Scope) -> None:
    for node in walk_scope(body):
        if isinstance(node, ast.Global):
            scope.globals.update(node.names)
        elif isinstance(node, ast.Nonlocal):
            scope.nonlocals.update(node.names)


def _bindings(body: list) -> Iterator[tuple[str, ast.AST]]:
    """Every binding of a local, with the node that binds it; comprehension targets are not locals."""
    nodes = list(walk_scope(body))
    hidden = _comprehension_targets(nodes)
    for node in nodes:
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load) and id(node) not in hidden:
            yield node.id, node
        elif isinstance(node, ast.FunctionDef | ast.ClassDef | ast.AsyncFunctionDef):
            yield node.name, node
        elif isinstance(node, ast.Import | ast.ImportFrom):
            for alias in node.names:
                yield (alias.asname or alias.name.split(".")[0]), node
        elif isinstance(node, ast.ExceptHandler) and node.name:
            yield node.name, node
        elif isinstance(node, ast.MatchAs | ast.MatchStar) and node.name:
            yield node.name, node
        elif isinstance(node, ast.MatchMapping) and node.rest:
            yield node.rest, node


def _comprehension_targets(nodes: list[ast.AST]) -> set[int]:
    return {
        id(name)
        for node in nodes
        if isinstance(node, COMPREHENSIONS)
        for generator in node.generators
        for name in ast.walk(generator.target)
    }


def _deleted(body: list) -> set[str]:
    return {node.id for node in walk_scope(body) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Del)}


def _guarded(body: list, keeps_exceptions: Callable[[ast.expr], bool]) -> set[str]:
    """Names bound where an exception may leave the block half way and the function goes on."""
    names: set[str] = set()
    for node in walk_scope(body):
        suppresses = isinstance(node, ast.With) and not all(keeps_exceptions(item.context_expr) for item in node.items)
        if isinstance(node, ast.Try | ast.TryStar) or suppresses:
            names.update(name for name, _ in _bindings([node]))
    return names


def _conditional_walrus(body: list) -> set[str]:
    names: set[str] = set()
    for node in walk_scope(body):
        match node:
            case ast.BoolOp():
                parts = node.values[1:]
            case ast.IfExp():
                parts = [node.body, node.orelse]
            case ast.Compare():
                parts = node.comparators[1:]
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                parts = [node]
            case _:
                continue
        names.update(
            inner.target.id for part in parts for inner in walk_scope([part]) if isinstance(inner, ast.NamedExpr)
        )
    return names


class _Flow:
    """Definite assignment: one walk in program order with the set of names that are surely bound.

    A name bound in a loop and not before it counts as unbound after the loop, even where a `while True`
    proves otherwise: an SSA value would need an initial value that does not exist.
    """

    def __init__(self, scope: Scope, bindings: Counter[str]):
        self.scope = scope
        self.bindings = bindings
        self.cells: set[str] = set()
        self.loop_depth = 0

    def run(self, body: list) -> set[str]:
        self.block(body, set(self.scope.parameters))
        return self.cells

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
        return bound

    def load(self, name: str, bound: set[str]) -> None:
        if name not in bound:
            self.cells.add(name)

    def share(self, names: set[str], bound: set[str]) -> None:
        """Names seen by an inner function stay values only when they were bound once, before, and outside loops."""
        for name in names:
            if name not in bound or self.bindings[name] > 1 or (self.loop_depth and name not in self.scope.parameters):
                self.cells.add(name)


def _both(left: set[str] | None, right: set[str] | None) -> set[str] | None:
    if left is None:
        return right
    if right is None:
        return left
    return left & right
