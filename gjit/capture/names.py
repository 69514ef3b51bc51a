"""Names in Python syntax: what a piece of code binds, reads, declares and captures."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

FUNCTIONS = (ast.FunctionDef, ast.Lambda, ast.AsyncFunctionDef)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


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
    bound, outside = bound_names(body), declared(body, ast.Nonlocal)
    own = {*parameter_names(node.args), *bound} - outside
    used = {name for statement in body for name in loads(statement, inside=True)}
    return (used | bound | outside) - own


def class_names(node: ast.ClassDef) -> set[str]:
    """The names that a class body binds or annotates, and that only code right in it sees."""
    return bound_names(node.body) - declared(node.body, ast.Global) - declared(node.body, ast.Nonlocal)


def bound_names(body: Iterable[ast.AST]) -> set[str]:
    """Every local that the statements and expressions in `body` bind."""
    return {name for name, _ in bindings_in(list(body))}


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
        stack.extend(reversed(evaluated(node)))


def evaluated(node: ast.AST) -> list[ast.AST]:
    """The parts of `node` that are evaluated where it stands."""
    if isinstance(node, FUNCTIONS):
        annotations = [argument.annotation for argument in ast.walk(node.args) if isinstance(argument, ast.arg)]
        optional = filter(None, [*node.args.kw_defaults, *annotations, getattr(node, "returns", None)])
        return [*node.args.defaults, *optional, *getattr(node, "decorator_list", ())]
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


def loads(node: ast.AST, *, inside: bool = False, hidden: frozenset[str] = frozenset()) -> Iterator[str]:
    """Names that evaluating `node` reads, those of a comprehension itself left out.

    `inside` adds what inner functions read or write from around them when they are called. `hidden` are the names of
    the class whose body `node` stands in: functions and comprehensions in it do not see them.
    """
    if isinstance(node, FUNCTIONS) and inside:
        yield from free_names(node)
    if isinstance(node, ast.ClassDef):
        own = frozenset(class_names(node))
        yield from declared(node.body, ast.Nonlocal)
        for statement in node.body:
            yield from loads(statement, inside=inside, hidden=own)
    if isinstance(node, COMPREHENSIONS):
        first, *rest = _parts(node)
        # the first part is evaluated outside, so it may read a name that the target hides
        yield from loads(first, inside=inside, hidden=hidden)
        read = {name for part in rest for name in loads(part, inside=inside)}
        yield from read - comprehension_names(node)
        return
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id not in hidden:
        yield node.id
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "super":
        yield "__class__"
    for child in evaluated(node):
        yield from loads(child, inside=inside, hidden=hidden)


def _parts(node: ast.AST) -> list[ast.AST]:
    """The parts of a comprehension, the iterable that is evaluated outside of it first."""
    generators = node.generators
    parts = [generators[0].iter, *generators[0].ifs]
    for generator in generators[1:]:
        parts += [generator.iter, *generator.ifs]
    parts += [generator.target for generator in generators]
    return parts + ([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])


def declared(body: list, kind: type[ast.Global] | type[ast.Nonlocal]) -> set[str]:
    """The names that `global` or `nonlocal` statements declare."""
    return {name for node in walk_scope(body) if isinstance(node, kind) for name in node.names}


def bindings_in(body: list) -> Iterator[tuple[str, ast.AST]]:
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
        elif isinstance(node, ast.ExceptHandler | ast.MatchAs | ast.MatchStar) and node.name:
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
