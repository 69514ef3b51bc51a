"""What a type says about derivatives."""

from __future__ import annotations

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import (
    BOOL,
    BYTES,
    CLASS,
    COMPLEX,
    DTYPE,
    ELLIPSIS,
    FLOAT,
    INT,
    MODULE,
    NONE,
    RANGE,
    SLICE,
    STR,
    ArrayType,
    DictType,
    ListType,
    ScalarType,
    SetType,
    TupleType,
    Type,
)
from gjit.ops import table
from gjit.ops.gradients import gradient_of
from gjit.ops.row import Kind

_INERT = frozenset({BOOL, INT, STR, BYTES, NONE, SLICE, RANGE, DTYPE, ELLIPSIS, CLASS, MODULE})
NUMERIC_KINDS = frozenset(
    {Kind.ELEMENTWISE, Kind.REDUCTION, Kind.VIEW, Kind.SHAPE, Kind.INDEX, Kind.CREATE, Kind.LINALG}
)


def is_inert(type_: Type) -> bool:
    """Whether no value of the type has a derivative: integers, strings, flags."""
    if isinstance(type_, ArrayType | ScalarType):
        return type_.dtype is not None and type_.dtype.kind not in "fcO"
    if isinstance(type_, TupleType):
        return type_.elements is not None and all(map(is_inert, type_.elements))
    return type_ in _INERT


def is_number(type_: Type) -> bool:
    """Whether the values are inexact numbers: immutable, with a derivative."""
    if isinstance(type_, ScalarType):
        return type_.dtype is not None and type_.dtype.kind in "fc"
    return type_ in (FLOAT, COMPLEX)


def is_array(type_: Type) -> bool:
    """Whether the values are inexact arrays."""
    return isinstance(type_, ArrayType) and type_.dtype is not None and type_.dtype.kind in "fc"


def has_static_shadow(type_: Type) -> bool:
    """Whether the shadow of an active value of the type surely is an array."""
    return is_array(type_) or is_number(type_)


def is_real(type_: Type) -> bool:
    """Whether the values surely are real numbers or arrays of them."""
    if isinstance(type_, ArrayType | ScalarType):
        return type_.dtype is not None and type_.dtype.kind in "fbiu"
    return type_ in (FLOAT, INT, BOOL)


def is_memory(value: Value) -> bool:
    """Whether the value may be an object that can be written or hold others."""
    if isinstance(value, Constant):
        return False
    type_ = value.type
    if isinstance(type_, ScalarType):
        return False
    return not (is_number(type_) or type_ in _INERT)


def is_numeric(node: Node) -> bool:
    """Whether the node is a NumPy function or an operator on data, whose result is an array or a number."""
    row = table.get(node.op)
    if row is None or len(node.results) != 1 or node.op in _ACCESS:
        return False
    if node.op in ("gradient.finished", "gradient.cotangent") and not has_static_shadow(node.result.type):
        return False
    if row.kind is Kind.OPERATOR:
        return bool(row.ufunc) and not any(isinstance(value.type, CONTAINERS) for value in node.inputs)
    return row.kind in NUMERIC_KINDS or (row.kind is not Kind.CONTROL and gradient_of(row) is not None)


_ACCESS = frozenset({"getitem", "setitem", "delitem"})
CONTAINERS = (ListType, DictType, SetType, TupleType)
