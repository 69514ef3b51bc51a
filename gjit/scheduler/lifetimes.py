"""Delete temporary arrays after their last use, so that they do not live longer than in the user's program."""

from __future__ import annotations

import ast
from collections.abc import Iterator

_LEAVING = ast.Return | ast.Raise | ast.Break | ast.Continue


def release(body: list[ast.stmt], temporaries: set[str]) -> None:
    """Insert `del` behind the last statement that mentions each of the temporaries.

    Only a name that one statement of a list assigns on every path, and that is mentioned nowhere but in that list, is
    deleted: then it is bound there for certain.

    >>> tree = ast.parse("t = f(x); y = g(t, t); h(y); z = y")
    >>> release(tree.body, {"t"})
    >>> print(ast.unparse(tree))
    t = f(x)
    y = g(t, t)
    del t
    h(y)
    z = y
    """
    if not temporaries:
        return
    mentions = [_names(statement) & temporaries for statement in body]
    places = {name: [at for at, names in enumerate(mentions) if name in names] for name in set().union(*mentions)}
    ends: dict[int, list[str]] = {}
    for name, indices in places.items():
        first, *others = indices
        if others and _always_assigns(body[first], name) and not any(_assigns(body[at], name) for at in others):
            ends.setdefault(others[-1], []).append(name)
    for index, statement in enumerate(list(body)):
        inner = [name for name, indices in places.items() if indices == [index]]
        _release_inside(statement, set(inner))
    for index in sorted(ends, reverse=True):
        if not _ends_soon(body, index):
            body.insert(index + 1, _deletion(sorted(ends[index]), body[index]))


def _release_inside(statement: ast.stmt, names: set[str]) -> None:
    """Release names that only one of the lists in a compound statement mentions, and nothing else of it."""
    lists = list(_lists(statement))
    if not names or not lists:
        return
    headers = set().union(*(_names(part) for part in ast.iter_child_nodes(statement) if isinstance(part, ast.expr)))
    per_list = [set().union(*map(_names, inner)) for inner in lists]
    for index, inner in enumerate(lists):
        others = set().union(*(found for at, found in enumerate(per_list) if at != index))
        release(inner, names - headers - others)


def _lists(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, ast.FunctionDef):
        return
    for name in ("body", "orelse", "finalbody"):
        if isinstance(getattr(statement, name, None), list):
            yield getattr(statement, name)
    for part in [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
        yield part.body


def _names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def _assigns(tree: ast.AST, name: str) -> bool:
    return any(
        isinstance(node, ast.Name) and node.id == name and not isinstance(node.ctx, ast.Load) for node in ast.walk(tree)
    )


def _always_assigns(statement: ast.stmt, name: str) -> bool:
    """Whether a statement binds a name whenever it ends normally: an assignment, or both branches of an `if`."""
    if isinstance(statement, ast.If):
        return all(
            any(_always_assigns(inner, name) for inner in branch) for branch in (statement.body, statement.orelse)
        )
    return isinstance(statement, ast.Assign) and _assigns(statement, name)


def _ends_soon(body: list[ast.stmt], index: int) -> bool:
    """Whether the names die by themselves: the list leaves here, or next."""
    following = body[index + 1] if index + 1 < len(body) else None
    if isinstance(body[index], _LEAVING):
        return True
    return isinstance(following, ast.Return) and isinstance(following.value, ast.Name | ast.Constant)


def _deletion(names: list[str], after: ast.stmt) -> ast.stmt:
    targets = [ast.copy_location(ast.Name(name, ast.Del()), after) for name in names]
    return ast.copy_location(ast.Delete(list(targets)), after)
