"""Patterns of `match`, as text in which values are numbered inputs of the node."""

from __future__ import annotations

import ast
import copy
from collections.abc import Callable

from gjit.ir.graph import Value


class Pattern:
    """One pattern: its text, the values that it refers to and the names that it binds.

    `case Point(x=0) | scale.UNIT` becomes the text `_0(x=0) | _1`: classes and dotted names are inputs of the node,
    numbered from `first` on.
    """

    def __init__(self, pattern: ast.pattern, first: int, lower: Callable[[ast.expr], Value]):
        self.first, self.lower = first, lower
        self.values: list[Value] = []
        self.names: list[str] = []
        self.text = ast.unparse(self._numbered(copy.deepcopy(pattern)))

    def _numbered(self, node: ast.pattern) -> ast.pattern:
        match node:
            case ast.MatchValue() if not _is_literal(node.value):
                node.value = self._input(node.value)
            case ast.MatchSequence() | ast.MatchOr():
                node.patterns = [self._numbered(part) for part in node.patterns]
            case ast.MatchMapping():
                node.keys = [key if _is_literal(key) else self._input(key) for key in node.keys]
                node.patterns = [self._numbered(part) for part in node.patterns]
                self._bind(node.rest)
            case ast.MatchClass():
                node.cls = self._input(node.cls)
                node.patterns = [self._numbered(part) for part in node.patterns]
                node.kwd_patterns = [self._numbered(part) for part in node.kwd_patterns]
            case ast.MatchAs():
                if node.pattern is not None:
                    node.pattern = self._numbered(node.pattern)
                self._bind(node.name)
            case ast.MatchStar():
                self._bind(node.name)
        return node

    def _bind(self, name: str | None) -> None:
        if name is not None and name not in self.names:
            self.names.append(name)

    def _input(self, node: ast.expr) -> ast.expr:
        self.values.append(self.lower(node))
        return ast.Name(f"_{self.first + len(self.values) - 1}", ast.Load())


def _is_literal(node: ast.expr) -> bool:
    return not any(isinstance(part, ast.Name | ast.Attribute) for part in ast.walk(node))
