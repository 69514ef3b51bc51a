"""Print the patterns of `match` nodes."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from dataclasses import dataclass, field

_NUMBERED = re.compile(r"_(\d+)")


@dataclass(slots=True)
class Patterns:
    """Turns pattern texts into syntax trees.

    Python allows literals and attributes as values in a pattern, and names and attributes as classes. A value that
    prints as something else is read as an attribute of `holder`; `held` tells which of them have to be put there.
    """

    values: list[ast.expr]
    holder: str
    held: set[int] = field(default_factory=set)

    def pattern(self, text: str, names: list[str | None]) -> ast.pattern:
        """The pattern of a case: `_0`, `_1`, ... become values, other names take those given, in order of appearance.

        A name that is None is not needed and becomes a wildcard.

        >>> patterns = Patterns([ast.parse("Color.RED", mode="eval").body, ast.Name("x")], "values")
        >>> ast.unparse(patterns.pattern("[x, _0, {_1: None}]", ["first"]))
        '[first, Color.RED, {values._1: None}]'
        """
        (case,) = ast.parse(f"match _:\n case {_with_attributes(text)}: pass").body[0].cases
        for node in ast.walk(case.pattern):
            for attribute in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
                node.__dict__.pop(attribute, None)
        return _Substitute(self, names).visit(case.pattern)

    def value(self, index: int, allowed: type | tuple[type, ...]) -> ast.expr:
        """A value as an expression that Python allows at its place."""
        value = self.values[index]
        if isinstance(value, allowed):
            return value
        self.held.add(index)
        return ast.Attribute(ast.Name(self.holder, ast.Load()), f"_{index}", ast.Load())


def _with_attributes(text: str) -> str:
    """The text with `at._0` for `_0`: an attribute stands wherever a value or a class may."""
    tokens = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        is_value = token.type == tokenize.NAME and _NUMBERED.fullmatch(token.string)
        tokens.append((token.type, f"at.{token.string}" if is_value else token.string))
    return tokenize.untokenize(tokens).strip()


class _Substitute(ast.NodeTransformer):
    def __init__(self, patterns: Patterns, names: list[str | None]):
        self.patterns, self.names = patterns, names
        self.known: dict[str, str | None] = {}

    def visit_MatchValue(self, node: ast.MatchValue) -> ast.pattern:
        value = self._value(node.value)
        if isinstance(value, ast.Constant) and (value.value is None or isinstance(value.value, bool)):
            return ast.MatchSingleton(value.value)
        return ast.MatchValue(value)

    def visit_MatchClass(self, node: ast.MatchClass) -> ast.pattern:
        class_ = node.cls
        if isinstance(class_, ast.Attribute):
            class_ = self.patterns.value(int(class_.attr[1:]), (ast.Name, ast.Attribute))
        positional = [self.visit(inner) for inner in node.patterns]
        return ast.MatchClass(class_, positional, node.kwd_attrs, [self.visit(inner) for inner in node.kwd_patterns])

    def visit_MatchAs(self, node: ast.MatchAs) -> ast.pattern:
        inner = None if node.pattern is None else self.visit(node.pattern)
        name = self._named(node.name)
        return inner if inner is not None and name is None else ast.MatchAs(inner, name)

    def visit_MatchStar(self, node: ast.MatchStar) -> ast.pattern:
        return ast.MatchStar(self._named(node.name))

    def visit_MatchMapping(self, node: ast.MatchMapping) -> ast.pattern:
        keys = [self._value(key) for key in node.keys]
        patterns = [self.visit(inner) for inner in node.patterns]
        return ast.MatchMapping(keys, patterns, self._named(node.rest))

    def _value(self, node: ast.expr) -> ast.expr:
        if isinstance(node, ast.Attribute):
            return self.patterns.value(int(node.attr[1:]), (ast.Attribute, ast.Constant))
        return node

    def _named(self, name: str | None) -> str | None:
        if name is None:
            return None
        if name not in self.known:
            self.known[name] = self.names[len(self.known)]
        return self.known[name]
