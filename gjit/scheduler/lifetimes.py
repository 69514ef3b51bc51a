"""Delete temporary arrays after their last use, so that they do not live longer than in the user's program."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from gjit.scheduler.syntax import parts_of

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
    if temporaries:
        _Lifetimes(temporaries).release(body, temporaries)


class _Lifetimes:
    """Knows which temporaries each statement mentions."""

    def __init__(self, temporaries: set[str]):
        self.temporaries = temporaries
        self._known: dict[ast.AST, set[str]] = {}

    def names(self, tree: ast.AST) -> set[str]:
        found = self._known.get(tree)
        if found is None:
            found = self._known[tree] = set()
            waiting = [tree]
            while waiting:
                part = waiting.pop()
                if isinstance(part, ast.Name):
                    found.add(part.id)
                elif part is not tree and isinstance(part, ast.stmt):
                    found |= self.names(part)
                else:
                    waiting += parts_of(part)
            found &= self.temporaries
        return found

    def all_names(self, trees: Iterable[ast.AST]) -> set[str]:
        return set().union(*map(self.names, trees))

    def release(self, body: list[ast.stmt], temporaries: set[str]) -> None:
        mentions = [self.names(statement) & temporaries for statement in body]
        places = {name: [at for at, names in enumerate(mentions) if name in names] for name in set().union(*mentions)}
        ends: dict[int, list[str]] = {}
        inner: dict[int, set[str]] = {}
        for name, indices in places.items():
            first, *others = indices
            if not others:
                inner.setdefault(first, set()).add(name)
            elif _always_assigns(body[first], name) and not any(_assigns(body[at], name) for at in others):
                ends.setdefault(others[-1], []).append(name)
        for index, names in inner.items():
            self._release_inside(body[index], names)
        for index in sorted(ends, reverse=True):
            if not _ends_soon(body, index):
                body.insert(index + 1, _deletion(sorted(ends[index]), body[index]))

    def _release_inside(self, statement: ast.stmt, names: set[str]) -> None:
        """Release names that only one of the lists in a compound statement mentions, and nothing else of it."""
        lists = list(_lists(statement))
        if not lists:
            return
        headers = self.all_names(part for part in ast.iter_child_nodes(statement) if isinstance(part, ast.expr))
        per_list = list(map(self.all_names, lists))
        for index, inner in enumerate(lists):
            others = set().union(*(found for at, found in enumerate(per_list) if at != index))
            self.release(inner, names - headers - others)


def _lists(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    if isinstance(statement, ast.FunctionDef):
        return
    for name in ("body", "orelse", "finalbody"):
        if isinstance(getattr(statement, name, None), list):
            yield getattr(statement, name)
    for part in [*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())]:
        yield part.body


def _names(tree: ast.AST) -> Iterator[ast.Name]:
    waiting = [tree]
    while waiting:
        tree = waiting.pop()
        if isinstance(tree, ast.Name):
            yield tree
        else:
            waiting += parts_of(tree)


def _assigns(tree: ast.AST, name: str) -> bool:
    return any(node.id == name and not isinstance(node.ctx, ast.Load) for node in _names(tree))


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
