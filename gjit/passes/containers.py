"""What can be said of the elements of lists, sets and dicts, which anyone who holds them may change."""

from __future__ import annotations

from dataclasses import replace

from gjit.ir.graph import Value
from gjit.ir.types import UNKNOWN, ArrayType, DictType, ListType, OptionalType, SetType, TupleType, Type

_READERS = frozenset(
    {
        "for",
        "getitem",
        "unpack",
        "comprehension",
        "comprehension.for",
        "operator.in",
        "operator.not_in",
        "operator.eq",
        "operator.ne",
        "operator.not",
        "builtin.len",
        "builtin.enumerate",
        "builtin.zip",
        "builtin.reversed",
        "builtin.sum",
        "builtin.min",
        "builtin.max",
        "builtin.sorted",
        "builtin.list",
        "builtin.tuple",
        "builtin.set",
        "builtin.any",
        "builtin.all",
    }
)
"""Ops that read a container and neither keep it nor hand it on to code that could change it."""
_FORGOTTEN = {ListType: ListType(UNKNOWN), SetType: SetType(UNKNOWN), DictType: DictType(UNKNOWN, UNKNOWN)}


def seen_type(value: Value, type: Type) -> Type:
    """The type of a new value: as its row says, but with unknown elements where the container may change later."""
    if isinstance(type, TupleType) and type.elements is not None:
        return TupleType(tuple(map(_forget, type.elements)))
    if isinstance(type, (ListType, SetType, DictType)) and not all(node.op in _READERS for node in value.uses):
        return _forget(type)
    return type


def _forget(type_: Type) -> Type:
    if isinstance(type_, TupleType) and type_.elements is not None:
        return TupleType(tuple(map(_forget, type_.elements)))
    for kind, forgotten in _FORGOTTEN.items():
        if isinstance(type_, kind):
            return forgotten
    return type_


def without_layout(type: Type) -> Type:
    """The type with every array's dtype and rank forgotten: for programs that assign them in place."""
    match type:
        case ArrayType():
            return ArrayType()
        case TupleType(elements=tuple(elements)):
            return TupleType(tuple(map(without_layout, elements)))
        case ListType(element=element) | SetType(element=element):
            return replace(type, element=without_layout(element))
        case DictType():
            return DictType(without_layout(type.key), without_layout(type.value))
        case OptionalType():
            return OptionalType(without_layout(type.inner))
    return type
