"""Built-in functions of the language, and the row of every NumPy function that has no row of its own."""

from __future__ import annotations

import builtins
from collections.abc import Callable

import numpy as np

from gjit.ir.graph import Node
from gjit.ir.types import (
    BOOL,
    BYTES,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    PYTHON_NUMBERS,
    RANGE,
    SLICE,
    STR,
    UNKNOWN,
    ArrayType,
    DictType,
    ListType,
    ScalarType,
    SetType,
    TupleType,
    Type,
)
from gjit.ops.arguments import constant, is_array, is_number, unknown
from gjit.ops.effects import all_plain, is_immutable
from gjit.ops.row import ALL_INPUTS, OPAQUE, Effect, EffectRule, Kind, Op, TypeRule, table
from gjit.ops.rules import fixed, python_types
from gjit.ops.rules_operator import unary_types

_SIZED = ArrayType | ListType | DictType | SetType | TupleType


def counted(node: Node) -> Effect:
    """`len`: exact containers know it at once; a user's class has a `__len__`."""
    type_ = node.inputs[0].type if len(node.inputs) == 1 else UNKNOWN
    if isinstance(type_, TupleType) or type_ in (STR, BYTES, RANGE):
        return Effect.NONE
    if isinstance(type_, _SIZED):
        return Effect.READS if not isinstance(type_, ArrayType) or is_array(type_) else Effect.RAISES | Effect.READS
    return OPAQUE


def on_plain(node: Node) -> Effect:
    """A built-in function on numbers, strings and arrays of numbers: reads, may raise."""
    if not all_plain(node):
        return OPAQUE
    effect = Effect.RAISES | Effect.ALLOCATES
    if node.results and is_immutable(node.results[0].type):
        effect = Effect.RAISES
    return effect if all(is_immutable(value.type) for value in node.inputs) else effect | Effect.READS


def on_numbers(function: Callable) -> TypeRule:
    """Tries the function on Python's numbers; NumPy's go by `unknown`."""

    def rule(node: Node) -> list[Type]:
        types = tuple(value.type for value in node.inputs)
        if any(node.labels) or not all(type_ in PYTHON_NUMBERS for type_ in types) or not types:
            return unknown(node)
        return [python_types(function, types)]

    return rule


def extreme(node: Node) -> list[Type]:
    """`min` and `max` of two or more operands of one immutable type give that type."""
    types = {value.type for value in node.inputs}
    plain = len(node.inputs) > 1 and not any(node.labels) and len(types) == 1
    (type_,) = types if plain else (UNKNOWN,)
    return [type_ if type_ in (*PYTHON_NUMBERS, STR) or isinstance(type_, ScalarType) else UNKNOWN]


def text(node: Node) -> list[Type]:
    """`str(x)`: exactly a `str`, unless a class of the user's says otherwise."""
    return [STR if all(is_number(value.type) or value.type == STR for value in node.inputs) else UNKNOWN]


def isinstance_effect(node: Node) -> Effect:
    """`isinstance` with built-in or NumPy classes asks nobody; a user's metaclass may define the answer."""
    known = len(node.inputs) == 2 and isinstance(constant(node.inputs[1]), type)
    return Effect.NONE if known and is_number(node.inputs[0].type) else OPAQUE


def _row(name: str, types: TypeRule | None = None, effects: Effect | EffectRule = OPAQUE, **rest) -> None:
    function = getattr(builtins, name)
    table.add(Op(name=f"builtin.{name}", kind=Kind.HOST, function=function, types=types, effects=effects, **rest))


_row("len", fixed(INT), counted)
_row("range", fixed(RANGE), on_plain)
_row("abs", unary_types(abs, np.absolute), on_plain, ufunc="numpy.absolute")
_row("int", fixed(INT), on_plain)
_row("float", fixed(FLOAT), on_plain)
_row("complex", fixed(COMPLEX), on_plain)
_row("bool", fixed(BOOL), on_plain)
_row("str", text, on_plain)
_row("repr", text, on_plain)
_row("format", text, on_plain)
_row("min", extreme, on_plain, views=ALL_INPUTS)
_row("max", extreme, on_plain, views=ALL_INPUTS)
_row("round", on_numbers(round), on_plain)
_row("pow", None, on_plain)
_row("divmod", on_numbers(divmod), on_plain)
_row("sum", None, on_plain, views=(1,))
_row("any", fixed(BOOL), on_plain)
_row("all", fixed(BOOL), on_plain)
_row("sorted", fixed(ListType(UNKNOWN)))
_row("tuple", fixed(TupleType(None)))
_row("list", fixed(ListType(UNKNOWN)))
_row("set", fixed(SetType(UNKNOWN)))
_row("dict", fixed(DictType(UNKNOWN, UNKNOWN)))
_row("slice", fixed(SLICE), Effect.RAISES)
_row("isinstance", fixed(BOOL), isinstance_effect)
_row("issubclass", fixed(BOOL))
_row("callable", fixed(BOOL), Effect.RAISES)
_row("hasattr", fixed(BOOL))
_row("id", fixed(INT), Effect.RAISES)
_row("hash", fixed(INT), on_plain)
_row("ord", fixed(INT), on_plain)
_row("chr", fixed(STR), on_plain)
_row("bin", fixed(STR), on_plain)
_row("hex", fixed(STR), on_plain)
_row("oct", fixed(STR), on_plain)
_row("print", fixed(NONE))
for _name in (
    *("zip", "enumerate", "reversed", "map", "filter", "iter", "next", "getattr", "setattr", "delattr", "type"),
    *("super", "bytes", "bytearray", "memoryview", "frozenset", "object", "vars", "dir", "ascii", "input", "open"),
):
    _row(_name)

table.add(Op(name="library", kind=Kind.LIBRARY))
