"""Displays, subscripts, attributes, unpacking and f-strings."""

from __future__ import annotations

import operator

from gjit.ir.graph import Node
from gjit.ir.types import (
    BYTES,
    INT,
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
from gjit.ops.arguments import is_number
from gjit.ops.effects import all_plain, is_plain
from gjit.ops.row import ALL_INPUTS, OPAQUE, Effect, Kind, Op, table
from gjit.ops.rules import fixed
from gjit.ops.rules_attribute import attribute_is_view, getattr_effects, getattr_types, setattr_effects
from gjit.ops.rules_index import getitem_effects, getitem_types, item_is_view, setitem_effects


def tuple_types(node: Node) -> list[Type]:
    """A display without spreads has a known length."""
    return [TupleType(None if any(node.labels) else tuple(value.type for value in node.inputs))]


def display_effects(node: Node) -> Effect:
    """A display makes an object; a spread iterates, a set or dictionary hashes."""
    if any(node.labels):
        return OPAQUE
    return Effect.NONE if node.op in ("tuple", "slice") else Effect.ALLOCATES


def hashing_effects(node: Node) -> Effect:
    """Elements of a set and keys of a dictionary are hashed and compared."""
    hashed = node.inputs if node.op == "set" else node.inputs[::2]
    if any(node.labels) or not all(value.type in (STR, INT, BYTES) for value in hashed):
        return OPAQUE
    return Effect.ALLOCATES


def unpack_types(node: Node) -> list[Type]:
    """The parts of a tuple, or rows of an array; the starred part is a list."""
    before, star, after = (int(node.attributes[name]) for name in ("before", "star", "after"))
    type_ = node.inputs[0].type
    if isinstance(type_, TupleType) and type_.elements is not None:
        elements = type_.elements
        if len(elements) < before + after or (not star and len(elements) != before + after):
            return [UNKNOWN] * len(node.results)
        tail = elements[len(elements) - after :]
        return [*elements[:before], *[ListType(UNKNOWN)] * star, *tail]
    part = item_type(type_)
    return [*[part] * before, *[ListType(UNKNOWN)] * star, *[part] * after]


_ITEMS: dict[Type, Type] = {RANGE: INT, STR: STR, BYTES: INT}


def item_type(type_: Type) -> Type:
    """The type of every item that iterating over a value of this type gives."""
    if isinstance(type_, ArrayType) and type_.rank and type_.dtype is not None and type_.dtype.kind in "biufc":
        return ScalarType(type_.dtype) if type_.rank == 1 else ArrayType(type_.dtype, type_.rank - 1)
    if isinstance(type_, TupleType) and type_.elements and len(set(type_.elements)) == 1:
        return type_.elements[0]
    if isinstance(type_, ListType | SetType):
        return type_.element
    if isinstance(type_, DictType):
        return type_.key
    return _ITEMS.get(type_, UNKNOWN)


def unpack_effects(node: Node) -> Effect:
    """Exact containers are unpacked without code of the user's; a wrong length raises."""
    type_ = node.inputs[0].type
    if isinstance(type_, TupleType):
        fits = type_.elements is not None and UNKNOWN not in unpack_types(node)
        effect = Effect.ALLOCATES if node.attributes["star"] else Effect.NONE
        return effect if fits else effect | Effect.RAISES
    if isinstance(type_, ListType) or is_plain(type_):
        return Effect.RAISES | Effect.READS | Effect.ALLOCATES
    return OPAQUE


def format_effects(node: Node) -> Effect:
    """Formatting numbers and strings runs no code of the user's."""
    if not all_plain(node) or any(isinstance(value.type, ArrayType) for value in node.inputs):
        return OPAQUE
    return Effect.RAISES


def format_types(node: Node) -> list[Type]:
    """`f"{x}"` is exactly a `str` for the types that Python and NumPy define."""
    return [STR if all(is_number(value.type) or value.type == STR for value in node.inputs) else UNKNOWN]


def _row(name: str, **rest) -> None:
    table.add(Op(name=name, kind=Kind.CONTAINER, **rest))


_row("tuple", views=ALL_INPUTS, types=tuple_types, effects=display_effects)
_row("list", views=ALL_INPUTS, types=fixed(ListType(UNKNOWN)), effects=display_effects)
_row("set", views=ALL_INPUTS, types=fixed(SetType(UNKNOWN)), effects=hashing_effects)
_row("dict", views=ALL_INPUTS, types=fixed(DictType(UNKNOWN, UNKNOWN)), effects=hashing_effects)
_row("slice", types=fixed(SLICE), effects=display_effects)
_row("unpack", types=unpack_types, effects=unpack_effects, views=(0,))
_row("format", types=format_types, effects=format_effects, function=None)
_row("join", types=fixed(STR), effects=lambda node: Effect.RAISES if all_plain(node) else OPAQUE)
_row("getattr", types=getattr_types, effects=getattr_effects, views=(0,), is_view=attribute_is_view)
_row("setattr", effects=setattr_effects, writes=(0,))
_row("delattr", writes=(0,))
for _name, _rest in (
    ("getitem", {"types": getitem_types, "effects": getitem_effects, "views": (0,), "is_view": item_is_view}),
    ("setitem", {"effects": setitem_effects, "writes": (0,)}),
    ("delitem", {"writes": (0,)}),
):
    table.add(Op(name=_name, kind=Kind.INDEX, function=getattr(operator, _name), **_rest))
