"""Private names inside classes: `__x` in `class Point` is `_Point__x`."""

from __future__ import annotations

import ast
import copy
from collections.abc import Iterator

_FIELDS = ("id", "attr", "name", "arg", "asname", "rest")
_Class = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def is_private(name: str) -> bool:
    """Whether a class mangles a name: it begins with two underscores and does not end with two."""
    return name.startswith("__") and not name.endswith("__") and "." not in name


def mangled(name: str, owner: str) -> str:
    """What a name written in the class `owner` means.

    >>> mangled("__x", "_Point"), mangled("__x__", "Point"), mangled("__x", "__")
    ('_Point__x', '__x__', '__x')
    """
    owner = owner.lstrip("_")
    return f"_{owner}{name}" if owner and is_private(name) else name


def owner_of(qualified_name: str) -> str:
    """The class that a function was written in, by its qualified name; empty where there is none.

    >>> owner_of("make.<locals>.Point.move.<locals>.step"), owner_of("make.<locals>.step")
    ('Point', '')
    """
    *parts, _ = qualified_name.split(".")
    while parts and parts[-1] == "<locals>":
        parts = parts[:-2]
    return parts[-1] if parts else ""


def written_name(node: _Class) -> str:
    """The name of a definition as it is written: what its `__name__` is."""
    return getattr(node, "written_name", node.name)


def with_mangled_names(node: ast.AST, owner: str) -> ast.AST:
    """The same definition, which stands in the class `owner` (or in none), with the names that the private ones mean.

    The names of functions and classes as they are written are kept aside, for `written_name`.
    """
    if not any(is_private(name) for name in _names(node)):
        return node
    return _Mangler(owner).visit(copy.deepcopy(node))


def _names(node: ast.AST) -> Iterator[str]:
    for inner in ast.walk(node):
        for field in _FIELDS:
            name = getattr(inner, field, None)
            if type(name) is str:
                yield name
        if isinstance(inner, ast.Global | ast.Nonlocal):
            yield from inner.names


class _Mangler(ast.NodeTransformer):
    """Renames in place; a class inside has its own way with names, but where it is defined."""

    def __init__(self, owner: str):
        self.owner = owner

    def visit(self, node: ast.AST) -> ast.AST:
        if isinstance(node, _Class):
            node.written_name = node.name  # type: ignore[union-attr]
        if not isinstance(node, ast.keyword):
            for field in _FIELDS:
                name = getattr(node, field, None)
                if type(name) is str:
                    setattr(node, field, mangled(name, self.owner))
        if isinstance(node, ast.Global | ast.Nonlocal):
            node.names = [mangled(name, self.owner) for name in node.names]
        if isinstance(node, ast.ClassDef):
            return self._class(node)
        return self.generic_visit(node)

    def _class(self, node: ast.ClassDef) -> ast.ClassDef:
        for part in (*node.bases, *node.keywords, *node.decorator_list):
            self.visit(part)
        inner = _Mangler(getattr(node, "written_name", node.name))
        for statement in node.body:
            inner.visit(statement)
        return node
