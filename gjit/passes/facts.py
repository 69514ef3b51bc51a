"""What types prove about values: truth, identity with None, class membership, the items of an iterable."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import (
    BOOL,
    BYTES,
    CELL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    RANGE,
    SLICE,
    STR,
    UNKNOWN,
    ArrayType,
    DictType,
    ListType,
    OptionalType,
    PythonType,
    ScalarType,
    SetType,
    TupleType,
    Type,
    join,
)


@dataclass(frozen=True, slots=True)
class UnreachedType(Type):
    """The type of a value that inference has not come to yet: below every other type. Never in a finished graph."""

    def __str__(self) -> str:
        return "unreached"


UNREACHED = UnreachedType()

_CLASSES = {BOOL: bool, INT: int, FLOAT: float, COMPLEX: complex, STR: str, BYTES: bytes, SLICE: slice, RANGE: range}
_CLASSES[NONE] = type(None)
_PLAIN_TRUTH = frozenset({BOOL, INT, FLOAT, COMPLEX, STR, BYTES, NONE, RANGE})
_ITERABLES = (ArrayType, TupleType, ListType, SetType, DictType)


def exact_class(type: Type) -> type | None:
    """The class that every value of this type has exactly, or None where that is not known.

    >>> exact_class(INT)
    <class 'int'>
    """
    match type:
        case PythonType():
            return _CLASSES.get(type)
        case ArrayType():
            return np.ndarray
        case ScalarType(dtype=np.dtype()):
            return type.dtype.type
        case TupleType():
            return tuple
        case ListType():
            return list
        case SetType():
            return set
        case DictType():
            return dict
    return None


def known_is(left: Value, right: Value) -> bool | None:
    """Whether one operand is None and the other is, or cannot be; None where types do not say."""
    if NONE not in (left.type, right.type):
        return None
    if left.type == right.type:
        return True
    other = right.type if left.type == NONE else left.type
    return None if may_be_none(other) else False


def known_isinstance(value: Value, classes: Value) -> bool | None:
    """The result of `isinstance(value, classes)` where the value's class and plain classes are known."""
    kind = exact_class(value.type)
    if kind is None or not isinstance(classes, Constant):
        return None
    wanted = classes.value if isinstance(classes.value, tuple) else (classes.value,)
    if not all(isinstance(each, type) and type(each) is type for each in wanted):
        return None
    return issubclass(kind, wanted)


def _constant_truth(value: object) -> bool | None:
    plain = (bool, int, float, complex, str, bytes, type(None), tuple, np.bool_, np.number)
    return bool(value) if isinstance(value, plain) else None


def known_truth(value: Value) -> bool | None:
    """The truth of a value where a constant or its type decides it."""
    if isinstance(value, Constant):
        return _constant_truth(value.value)
    if value.type == NONE:
        return False
    node = value.producer
    if not isinstance(node, Node):
        return None
    match node.op:
        case "operator.is":
            return known_is(*node.inputs)
        case "operator.is_not":
            answer = known_is(*node.inputs)
            return None if answer is None else not answer
        case "operator.not" if node.inputs[0].producer is not value.producer:
            answer = known_truth(node.inputs[0]) if isinstance(node.inputs[0], Constant) else None
            return None if answer is None else not answer
        case "builtin.isinstance" if len(node.inputs) == 2 and not node.labels:
            return known_isinstance(*node.inputs)
    return None


def has_plain_truth(value: Value) -> bool:
    """Whether `bool(value)` runs no user code and cannot raise."""
    if isinstance(value, Constant) or value.type in _PLAIN_TRUTH:
        return True
    return isinstance(value.type, (ScalarType, TupleType, ListType, SetType, DictType))


def has_plain_items(value: Value) -> bool:
    """Whether iterating over the value runs no user code and cannot raise."""
    type_ = value.type
    if isinstance(type_, ArrayType):
        return type_.rank is not None and type_.rank > 0
    return type_ in (RANGE, STR, BYTES) or isinstance(type_, _ITERABLES)


def item_type(iterable: Value) -> Type:
    """The type of what a `for` over the value gives."""
    node = iterable.producer
    if isinstance(node, Node) and not node.labels:
        if node.op == "builtin.enumerate" and node.inputs:
            return TupleType((INT, item_type_of(node.inputs[0].type)))
        if node.op == "builtin.zip":
            return TupleType(tuple(item_type_of(value.type) for value in node.inputs))
        if node.op == "builtin.reversed" and len(node.inputs) == 1:
            return item_type_of(node.inputs[0].type)
    return item_type_of(iterable.type)


def item_type_of(type: Type) -> Type:
    """The type of the items of a container type; UNKNOWN where it does not say.

    >>> str(item_type_of(ArrayType(np.dtype("f4"), 2)))
    'array<float32, 1>'
    >>> str(item_type_of(ArrayType(np.dtype("f4"), 1)))
    'scalar<float32>'
    """
    match type:
        case PythonType():
            return {RANGE: INT, STR: STR, BYTES: INT}.get(type, UNKNOWN)
        case ArrayType(rank=int(rank)) if rank > 1:
            return ArrayType(type.dtype, rank - 1)
        case ArrayType(dtype=np.dtype(), rank=1) if type.dtype.kind in "biufc":
            return ScalarType(type.dtype.newbyteorder("="))
        case ListType(element=element) | SetType(element=element):
            return element
        case DictType(key=key):
            return key
        case TupleType(elements=(first, *rest)):
            for element in rest:
                first = join(first, element)
            return first
    return UNKNOWN


def may_be_none(type: Type) -> bool:
    """Whether a value of this type may be None."""
    return type in (UNKNOWN, NONE, CELL, UNREACHED) or isinstance(type, OptionalType)
