"""Effects of Python's operators: what may raise, and where a user's method could run."""

from __future__ import annotations

from gjit.ir.graph import Constant, Node
from gjit.ir.types import (
    BOOL,
    BYTES,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    PYTHON_NUMBERS,
    RANGE,
    STR,
    UNKNOWN,
    ArrayType,
    DictType,
    ListType,
    ScalarType,
    SetType,
    TupleType,
)
from gjit.ops.effects import all_plain, computes, is_plain
from gjit.ops.row import OPAQUE, Effect

_TOTAL = {
    frozenset({BOOL}),
    frozenset({INT}),
    frozenset({FLOAT}),
    frozenset({COMPLEX}),
    frozenset({BOOL, INT}),
    frozenset({BOOL, FLOAT}),
    frozenset({BOOL, COMPLEX}),
    frozenset({FLOAT, COMPLEX}),
}
"""Pairs that add, subtract, multiply and compare without fail. An int beside a float may be too large for it."""


def total(node: Node) -> Effect:
    """Operators that cannot fail on Python's numbers: sums, products, comparisons, bit operations."""
    types = frozenset(value.type for value in node.inputs)
    if types in _TOTAL and node.results[0].type != UNKNOWN:
        return Effect.NONE
    if types in ({STR}, {BYTES}) and node.results[0].type != UNKNOWN:
        return Effect.NONE
    if types != {INT} and all(isinstance(type_, TupleType | ListType) or type_ == INT for type_ in types):
        return _sequence_effects(node)
    return partial(node)


def _sequence_effects(node: Node) -> Effect:
    """Concatenation and repetition copy references; comparisons and subtractions ask the elements, or fail."""
    if node.op not in ("operator.add", "operator.mul"):
        return partial(node)
    return Effect.RAISES | Effect.READS | Effect.ALLOCATES


def partial(node: Node) -> Effect:
    """Operators that may fail on Python's numbers too: division, powers, shifts."""
    return computes(node) if all(_has_own_operators(value) for value in node.inputs) else OPAQUE


def _has_own_operators(value) -> bool:
    return is_plain(value.type) or (isinstance(value, Constant) and not callable(value.value))


def in_place(node: Node) -> Effect:
    """An augmented assignment writes an array; on numbers it is the plain operator."""
    left = node.inputs[0].type
    if isinstance(left, ArrayType):
        return Effect.RAISES | Effect.READS | Effect.WRITES if all_plain(node) else OPAQUE
    return partial(node)


def truth(node: Node) -> Effect:
    """`not x`, and every other place where a truth value is asked for."""
    type_ = node.inputs[0].type
    if type_ in (*PYTHON_NUMBERS, STR, BYTES, NONE, RANGE) or isinstance(type_, TupleType):
        return Effect.NONE
    if isinstance(type_, ScalarType) and is_plain(type_):
        return Effect.NONE
    if isinstance(type_, ListType | DictType | SetType):
        return Effect.READS
    return Effect.RAISES | Effect.READS if is_plain(type_) else OPAQUE


def contains(node: Node) -> Effect:
    """`item in container` compares: only plain operands have no methods of the user's."""
    return computes(node) & ~Effect.ALLOCATES if all_plain(node) else OPAQUE
