"""Small pieces of Python's syntax tree: names, constants, operators, positions."""

from __future__ import annotations

import ast
from typing import TypeVar

from gjit.ir.graph import Value
from gjit.ir.types import PYTHON_NUMBERS, STR, ScalarType, TupleType
from gjit.source import Span

BINARY: dict[str, type[ast.operator]] = {
    "operator.add": ast.Add,
    "operator.sub": ast.Sub,
    "operator.mul": ast.Mult,
    "operator.matmul": ast.MatMult,
    "operator.truediv": ast.Div,
    "operator.floordiv": ast.FloorDiv,
    "operator.mod": ast.Mod,
    "operator.pow": ast.Pow,
    "operator.lshift": ast.LShift,
    "operator.rshift": ast.RShift,
    "operator.and": ast.BitAnd,
    "operator.or": ast.BitOr,
    "operator.xor": ast.BitXor,
}
IN_PLACE = {name.replace(".", ".i"): operator for name, operator in BINARY.items()}
UNARY: dict[str, type[ast.unaryop]] = {
    "operator.neg": ast.USub,
    "operator.pos": ast.UAdd,
    "operator.invert": ast.Invert,
    "operator.not": ast.Not,
}
COMPARE: dict[str, type[ast.cmpop]] = {
    "operator.eq": ast.Eq,
    "operator.ne": ast.NotEq,
    "operator.lt": ast.Lt,
    "operator.le": ast.LtE,
    "operator.gt": ast.Gt,
    "operator.ge": ast.GtE,
    "operator.is": ast.Is,
    "operator.is_not": ast.IsNot,
    "operator.in": ast.In,
    "operator.not_in": ast.NotIn,
}


LOAD = ast.Load()
Tree = TypeVar("Tree", bound=ast.AST)
_NOWHERE = Span("<gjit>", 1)


def has_weak_type(value: Value) -> bool:
    """Whether a value is an exact immutable number, text or tuple, on which `x += y` is `x = x + y`."""
    return value.type in PYTHON_NUMBERS or value.type == STR or isinstance(value.type, ScalarType | TupleType)


def load(name: str) -> ast.Name:
    """A name that is read."""
    return ast.Name(name, LOAD)


def store(name: str) -> ast.Name:
    """A name that is assigned."""
    return ast.Name(name, ast.Store())


def call(function: ast.expr, *arguments: ast.expr) -> ast.Call:
    """A call with positional arguments."""
    return ast.Call(function, list(arguments), [])


def assign(target: ast.expr, value: ast.expr) -> ast.Assign:
    """`target = value`."""
    return ast.Assign([target], value)


def negated(condition: ast.expr) -> ast.expr:
    """`not condition`."""
    return ast.UnaryOp(ast.Not(), condition)


def located(tree: Tree, span: Span | None) -> Tree:
    """Give the tree, and all in it that has no position yet, the position of a span.

    >>> ast.dump(located(load("x"), Span("a.py", 3, 1, 3, 2)), include_attributes=True)
    "Name(id='x', ctx=Load(), lineno=3, col_offset=1, end_lineno=3, end_col_offset=2)"
    """
    if "lineno" in tree.__dict__:
        return tree
    place = span or _NOWHERE
    last_line, last_column = max(place.end_line, place.line), place.end_column
    if last_line == place.line:
        last_column = max(last_column, place.column)
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        if "lineno" in node.__dict__:
            continue
        waiting.extend(parts_of(node))
        if node._attributes:
            node.lineno, node.col_offset = place.line, place.column
            node.end_lineno, node.end_col_offset = last_line, last_column
    return tree


def parts_of(tree: ast.AST) -> list[ast.AST]:
    """The trees right inside a tree that was made here; faster than `ast.iter_child_nodes`."""
    parts: list[ast.AST] = []
    for part in tree.__dict__.values():
        if part.__class__ is list:
            parts += [item for item in part if isinstance(item, ast.AST)]
        elif isinstance(part, ast.AST) and part is not LOAD:
            parts.append(part)
    return parts


def number(value: int | float) -> ast.expr:
    """A number; a negative one as the negation that Python's own text is, so that `(-1) ** 2` prints right."""
    is_negative = str(value).startswith("-")
    return ast.UnaryOp(ast.USub(), ast.Constant(-value)) if is_negative else ast.Constant(value)
