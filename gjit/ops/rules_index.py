"""Types and effects of `getitem`, `setitem` and `delitem`.

A basic index (ints, slices, None, `...`) gives a view, or a scalar where ints take every axis. Boolean and integer
arrays give copies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import (
    BOOL,
    BYTES,
    ELLIPSIS,
    INT,
    NONE,
    RANGE,
    SLICE,
    STR,
    UNKNOWN,
    ArrayType,
    DictType,
    ListType,
    ScalarType,
    TupleType,
    Type,
    type_of,
)
from gjit.ops.arguments import NOT_CONSTANT, constant
from gjit.ops.effects import all_plain, is_plain
from gjit.ops.row import OPAQUE, Effect

_PLAIN_KEYS = (STR, INT, BYTES, BOOL)


@dataclass(slots=True)
class IndexShape:
    """What an index does to the axes of an array.

    `taken` axes are used up, `made` new ones come before advanced indices are counted; `advanced` holds the ranks
    of the index arrays (ints beside them count as rank 0); `integers` counts the ints.
    """

    taken: int = 0
    made: int = 0
    integers: int = 0
    slices: int = 0
    ellipsis: bool = False
    advanced: list[int] = field(default_factory=list)
    may_fail: bool = False

    def rank(self, rank: int) -> int | None:
        """The rank of the result for an operand of this rank; None where the index does not fit."""
        if self.taken > rank:
            return None
        return rank - self.taken + self.made + self.slices + max(self.advanced, default=0)

    @property
    def is_basic(self) -> bool:
        """Whether no array chooses elements."""
        return not self.advanced


def index_elements(index: Value) -> list[tuple[Type, Value | None]] | None:
    """The types of the parts of an index, with their values where they are operands of the graph."""
    if isinstance(index, Constant) and isinstance(index.value, tuple):
        return [(type_of(part), Constant(part)) for part in index.value]
    node = index.producer
    if isinstance(node, Node) and node.op == "tuple":
        return None if any(node.labels) else [(value.type, value) for value in node.inputs]
    if isinstance(index.type, TupleType):
        return None if index.type.elements is None else [(type_, None) for type_ in index.type.elements]
    return [(index.type, index)]


def index_shape(index: Value) -> IndexShape | None:
    """What the index does, or None where that depends on more than types."""
    elements = index_elements(index)
    if elements is None:
        return None
    shape = IndexShape()
    for type_, value in elements:
        if not _count(shape, type_, value):
            return None
    return shape


def _count(shape: IndexShape, type_: Type, value: Value | None) -> bool:
    """Count one part of an index; False where it is of an unknown kind."""
    if type_ == NONE:
        shape.made += 1
    elif type_ == ELLIPSIS:
        shape.may_fail |= shape.ellipsis  # an index has one `...`
        shape.ellipsis = True
    elif type_ == SLICE:
        shape.taken, shape.slices = shape.taken + 1, shape.slices + 1
        shape.may_fail |= not is_safe_slice(value)
    elif type_ == INT or (isinstance(type_, ScalarType) and type_.dtype is not None and type_.dtype.kind in "iu"):
        shape.taken, shape.integers, shape.may_fail = shape.taken + 1, shape.integers + 1, True
    elif isinstance(type_, ArrayType) and type_.dtype is not None and type_.rank:
        return _count_array(shape, type_.dtype, type_.rank)
    else:
        return False
    return True


def _count_array(shape: IndexShape, dtype: np.dtype, rank: int) -> bool:
    shape.may_fail = True
    if dtype.kind == "b":
        shape.taken += rank
        shape.advanced.append(1)
        return True
    shape.taken += 1
    shape.advanced.append(rank)
    return dtype.kind in "iu"


def is_safe_slice(value: Value | None) -> bool:
    """Whether using the slice cannot fail: its bounds are ints or None, its step is not zero."""
    if isinstance(value, Constant):
        part = value.value
        return all(type(bound) in (int, type(None)) for bound in (part.start, part.stop, part.step)) and part.step != 0
    node = None if value is None else value.producer
    if not isinstance(node, Node) or node.op != "slice" or len(node.inputs) != 3:
        return False
    start, stop, step = node.inputs
    return start.type in (INT, NONE) and stop.type in (INT, NONE) and constant(step) not in (NOT_CONSTANT, 0)


def getitem_types(node: Node) -> list[Type]:
    """The type of `a[index]`."""
    container, index = node.inputs
    type_ = container.type
    if isinstance(type_, ArrayType):
        return [array_item(type_, index)]
    if isinstance(type_, TupleType):
        return [_tuple_item(type_, index)]
    if type_ in (STR, BYTES):
        return [type_ if type_ == STR or index.type == SLICE else INT if index.type in (INT, BOOL) else UNKNOWN]
    if type_ == RANGE:
        return [RANGE if index.type == SLICE else INT if index.type in (INT, BOOL) else UNKNOWN]
    if isinstance(type_, ListType):
        return [type_ if index.type == SLICE else type_.element if index.type in (INT, BOOL) else UNKNOWN]
    return [type_.value if isinstance(type_, DictType) else UNKNOWN]


def array_item(type_: ArrayType, index: Value) -> Type:
    """The type of an array's item: the rank from the parts of the index, a scalar where nothing but ints is left."""
    shape = index_shape(index)
    if shape is None:
        return UNKNOWN
    if type_.rank is None:
        stays = shape.slices or shape.ellipsis or shape.made or shape.advanced
        return ArrayType(type_.dtype, None) if stays else UNKNOWN
    rank = shape.rank(type_.rank)
    if rank is None:
        return UNKNOWN
    if rank == 0 and not shape.ellipsis:
        return ScalarType(type_.dtype) if type_.dtype is not None and type_.dtype.kind in "biufcmM" else UNKNOWN
    return ArrayType(type_.dtype, rank)


def _tuple_item(type_: TupleType, index: Value) -> Type:
    if index.type == SLICE:
        if type_.elements is None or not (isinstance(index, Constant) and is_safe_slice(index)):
            return TupleType(None)
        return TupleType(type_.elements[cast(slice, index.value)])
    if type_.elements is None:
        return UNKNOWN
    if isinstance(index, Constant) and type(index.value) is int:
        inside = -len(type_.elements) <= index.value < len(type_.elements)
        return type_.elements[index.value] if inside else UNKNOWN
    same = index.type in (INT, BOOL) and len(set(type_.elements)) == 1
    return type_.elements[0] if same else UNKNOWN


def getitem_effects(node: Node) -> Effect:
    """Views are made without reading elements; exact containers look their item up."""
    container, index = node.inputs
    type_ = container.type
    if isinstance(type_, ArrayType):
        return _array_effects(type_, index, node.results[0].type) if all_plain(node) else OPAQUE
    if isinstance(type_, TupleType) and is_plain(index.type):
        found = node.results[0].type != UNKNOWN and isinstance(index, Constant)
        return Effect.NONE if found else Effect.RAISES
    if type_ in (STR, BYTES, RANGE) and is_plain(index.type):
        return Effect.RAISES
    if isinstance(type_, ListType) and is_plain(index.type):
        return Effect.RAISES | Effect.READS
    if isinstance(type_, DictType) and index.type in _PLAIN_KEYS:
        return Effect.RAISES | Effect.READS
    return OPAQUE


def _array_effects(type_: ArrayType, index: Value, result: Type) -> Effect:
    shape = index_shape(index)
    if shape is None or result == UNKNOWN:
        return Effect.RAISES | Effect.READS | Effect.ALLOCATES
    if isinstance(result, ScalarType):
        return Effect.RAISES | Effect.READS
    if not shape.is_basic:
        return Effect.RAISES | Effect.READS | Effect.ALLOCATES
    return Effect.RAISES | Effect.ALLOCATES if shape.may_fail or type_.rank is None else Effect.ALLOCATES


def item_is_view(node: Node) -> bool:
    """Whether `a[index]` may share memory with `a`: not where arrays choose the elements, or a scalar comes out."""
    container, index = node.inputs
    if not isinstance(container.type, ArrayType):
        return True
    if isinstance(node.results[0].type, ScalarType):
        return False
    shape = index_shape(index)
    return shape is None or shape.is_basic


def setitem_effects(node: Node) -> Effect:
    """Writes the container; a plain value is copied into an array without running code of the user's."""
    container, index = node.inputs[:2]
    if isinstance(container.type, ArrayType):
        return Effect.RAISES | Effect.READS | Effect.WRITES if all_plain(node) else OPAQUE
    in_list = isinstance(container.type, ListType) and index.type in (INT, BOOL)
    if in_list or (isinstance(container.type, DictType) and index.type in _PLAIN_KEYS):
        return Effect.RAISES | Effect.WRITES
    return OPAQUE
