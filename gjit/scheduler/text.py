"""The text of a syntax tree."""

from __future__ import annotations

import ast
import copy


def text_of(tree: ast.AST) -> str:
    """The text of a tree; f-strings whose parts Python 3.11 cannot quote are shown as `''.join(...)`.

    >>> inner = ast.FormattedValue(ast.Constant(chr(0)), -1, None)
    >>> eval(text_of(ast.JoinedStr([ast.Constant("x"), inner])))
    'x\\x00'
    """
    try:
        return ast.unparse(tree)
    except ValueError:
        return ast.unparse(ast.fix_missing_locations(_Joined().visit(copy.deepcopy(tree))))


class _Joined(ast.NodeTransformer):
    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.expr:
        parts = [self.visit(part) for part in node.values]
        join = ast.Attribute(ast.Constant(""), "join", ast.Load())
        return ast.Call(join, [ast.Tuple(parts, ast.Load())], [])

    def visit_FormattedValue(self, node: ast.FormattedValue) -> ast.expr:
        value = self.visit(node.value)
        converter = {ord("s"): "str", ord("r"): "repr", ord("a"): "ascii"}.get(node.conversion)
        if converter is not None:
            value = ast.Call(ast.Name(converter, ast.Load()), [value], [])
        spec = [] if node.format_spec is None else [self.visit(node.format_spec)]
        return ast.Call(ast.Name("format", ast.Load()), [value, *spec], [])
