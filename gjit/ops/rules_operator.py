"""Type rules of Python's operators: Python's rules on Python's numbers, the ufunc's on NumPy operands."""

from __future__ import annotations

import operator
from collections.abc import Callable

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import (
    BOOL,
    BYTES,
    FLOAT,
    INT,
    PYTHON_NUMBERS,
    STR,
    UNKNOWN,
    ArrayType,
    ListType,
    ScalarType,
    TupleType,
    Type,
)
from gjit.ops.arguments import is_numeric
from gjit.ops.probe import result_type_of, sample_array
from gjit.ops.row import TypeRule
from gjit.ops.rules import like_elementwise, python_types, rank_of, ufunc_dtypes


def binary_types(function: Callable, ufunc: np.ufunc) -> TypeRule:
    """The rule of a binary operator that is `ufunc` on arrays."""

    def rule(node: Node) -> list[Type]:
        left, right = (value.type for value in node.inputs)
        if left in PYTHON_NUMBERS and right in PYTHON_NUMBERS:
            return [python_types(function, (left, right))]
        if is_numeric(left) and is_numeric(right):
            return [elementwise_type(ufunc, (left, right))]
        return [sequence_type(function, left, right)]

    return rule


def elementwise_type(ufunc: np.ufunc, types: tuple[Type, ...]) -> Type:
    """The result of a one-output ufunc on operands of which at least one is NumPy's."""
    dtypes = ufunc_dtypes(ufunc, types)
    return UNKNOWN if dtypes is None else like_elementwise(types, dtypes[-1])


def sequence_type(function: Callable, left: Type, right: Type) -> Type:
    """Concatenation and repetition of strings and tuples; comparisons of strings."""
    if left in (STR, BYTES) and right == left:
        if function is operator.add:
            return left
        return BOOL if function in _COMPARISONS else UNKNOWN
    if function is operator.mod and left == STR:
        return STR if right in PYTHON_NUMBERS or right == STR else UNKNOWN
    if function is operator.mul and {left, right} in ({STR, INT}, {BYTES, INT}):
        return left if right == INT else right
    if function is operator.add and isinstance(left, TupleType) and isinstance(right, TupleType):
        if left.elements is None or right.elements is None:
            return TupleType(None)
        return TupleType((*left.elements, *right.elements))
    lists = isinstance(left, ListType), isinstance(right, ListType)
    if (function is operator.add and all(lists)) or (function is operator.mul and any(lists) and INT in (left, right)):
        return ListType(UNKNOWN)
    return UNKNOWN


_COMPARISONS = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)


def matmul_types(node: Node) -> list[Type]:
    """`a @ b` of numeric arrays: both have a dimension, or NumPy raises."""
    left, right = (value.type for value in node.inputs)
    if not (isinstance(left, ArrayType) and isinstance(right, ArrayType)):
        return [UNKNOWN]
    dtypes = ufunc_dtypes(np.matmul, (left, right))
    if dtypes is None or left.rank is None or right.rank is None or 0 in (left.rank, right.rank):
        return [UNKNOWN]
    if left.rank == right.rank == 1:
        return [ScalarType(dtypes[-1])]
    if 1 in (left.rank, right.rank):
        return [ArrayType(dtypes[-1], max(left.rank, right.rank) - 1)]
    return [ArrayType(dtypes[-1], max(left.rank, right.rank))]


def power_types(node: Node) -> list[Type]:
    """`a ** b`: NumPy has short cuts for constant exponents, and Python's result type depends on signs."""
    base, exponent = node.inputs
    types = base.type, exponent.type
    if base.type in PYTHON_NUMBERS and exponent.type in PYTHON_NUMBERS:
        return [_python_power(base.type, exponent)]
    if not (is_numeric(base.type) and is_numeric(exponent.type)):
        return [UNKNOWN]
    if exponent.type in PYTHON_NUMBERS and isinstance(base.type, ArrayType):
        return [_array_power(base.type, exponent)]
    return [elementwise_type(np.power, types)]


def _python_power(base: Type, exponent: Value) -> Type:
    if not isinstance(exponent, Constant):
        return FLOAT if base == FLOAT and exponent.type in (INT, BOOL) else UNKNOWN
    if isinstance(exponent.value, float) and not exponent.value.is_integer() and base != FLOAT:
        return UNKNOWN
    if isinstance(exponent.value, float) and not exponent.value.is_integer():
        return UNKNOWN
    if isinstance(exponent.value, int) and abs(exponent.value) > 64:
        return UNKNOWN
    return python_types(lambda value: value**exponent.value, (base,))


def _array_power(base: ArrayType, exponent: Value) -> Type:
    """The short cuts look at the value of a Python exponent, so one that is not constant decides only floats."""
    if not isinstance(exponent, Constant):
        return elementwise_type(np.power, (base, exponent.type)) if base.dtype.kind in "fc" else UNKNOWN
    try:
        with np.errstate(all="ignore"):
            found = result_type_of(sample_array(base.dtype, 1) ** exponent.value)
    except (TypeError, ValueError, OverflowError):
        return UNKNOWN
    return like_elementwise((base,), found.dtype) if isinstance(found, ArrayType) else UNKNOWN


def unary_types(function: Callable, ufunc: np.ufunc) -> TypeRule:
    """The rule of a unary operator that is `ufunc` on arrays."""

    def rule(node: Node) -> list[Type]:
        type_ = node.inputs[0].type if node.inputs else UNKNOWN
        if type_ in PYTHON_NUMBERS:
            return [python_types(function, (type_,))] if (function, type_) != (operator.invert, BOOL) else [INT]
        return [elementwise_type(ufunc, (type_,))] if is_numeric(type_) else [UNKNOWN]

    return rule


def in_place_types(rule: TypeRule) -> TypeRule:
    """An augmented assignment keeps an array that it writes; on immutable numbers it is the plain operator."""

    def in_place(node: Node) -> list[Type]:
        left, right = (value.type for value in node.inputs)
        if isinstance(left, ArrayType):
            return [left if is_numeric(right) and rank_of((left, right)) is not None else UNKNOWN]
        if isinstance(left, ListType):
            return [left]
        return rule(node)

    return in_place
