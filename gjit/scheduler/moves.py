"""Parallel moves as Python assignments."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from gjit.scheduler.syntax import assign, store


@dataclass(slots=True, eq=False)
class Move:
    """One assignment of a parallel move: a variable and the expression that it takes."""

    name: str
    value: ast.expr

    @property
    def reads(self) -> set[str]:
        return {node.id for node in ast.walk(self.value) if isinstance(node, ast.Name)}

    @property
    def is_simple(self) -> bool:
        return isinstance(self.value, ast.Name | ast.Constant)


def in_order(moves: list[Move], early: list[ast.expr] | None = None) -> list[ast.stmt]:
    """Assignments one by one where no variable is overwritten before it is read, else one tuple assignment.

    Expressions other than names and constants keep their order, those in `early` first.

    >>> swap = [Move("a", ast.Name("b")), Move("b", ast.Name("a"))]
    >>> [ast.unparse(ast.fix_missing_locations(statement)) for statement in in_order(swap)]
    ['a, b = (b, a)']
    """
    first = early or []
    complex_moves = sorted((move for move in moves if not move.is_simple), key=lambda move: move.value not in first)
    replaced = iter(complex_moves)
    waiting = [move if move.is_simple else next(replaced) for move in moves]
    statements: list[ast.stmt] = []
    while waiting:
        move = next((move for move in waiting if _is_free(move, waiting)), None)
        if move is None:
            statements.append(_together(waiting))
            break
        waiting.remove(move)
        statements.append(assign(store(move.name), move.value))
    return statements


def _is_free(move: Move, waiting: list[Move]) -> bool:
    if any(move.name in other.reads for other in waiting if other is not move):
        return False
    return move.is_simple or next(other for other in waiting if not other.is_simple) is move


def _together(moves: list[Move]) -> ast.stmt:
    names = [store(move.name) for move in moves]
    values = [move.value for move in moves]
    return assign(ast.Tuple(names, ast.Store()), ast.Tuple(values, ast.Load()))
