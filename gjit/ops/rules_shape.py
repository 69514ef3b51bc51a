"""Type rules of functions that change the shape of an array and keep its elements."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import INT, UNKNOWN, ArrayType, ScalarType, TupleType, Type
from gjit.ops.arguments import NOT_CONSTANT, bind, constant, is_array
from gjit.ops.row import TypeRule


def shape_rank(value: Value | None) -> int | None:
    """How many extents a shape argument gives: an int one, a tuple its length; None where that is not known."""
    if value is None:
        return None
    if isinstance(value, Constant):
        given = value.value
        return len(given) if isinstance(given, tuple) else 1 if isinstance(given, int | np.integer) else None
    if isinstance(value.type, TupleType):
        return None if value.type.elements is None else len(value.type.elements)
    return 1 if is_extent(value.type) else None


def is_extent(type_: Type) -> bool:
    """Whether a value of the type is one integer."""
    return type_ == INT or (isinstance(type_, ScalarType) and type_.dtype is not None and type_.dtype.kind in "iu")


def shaped_by(function: Callable, parameter: str) -> TypeRule:
    """The first operand's elements, an array of the shape in `parameter`."""

    def rule(node: Node) -> list[Type]:
        arguments = bind(node, function)
        first = node.inputs[0].type
        if arguments is None or not isinstance(first, ArrayType):
            return [UNKNOWN]
        return [ArrayType(first.dtype, shape_rank(arguments.get(parameter)))]

    return rule


def reshape_method(node: Node) -> list[Type]:
    """`a.reshape(n, m)` and `a.reshape((n, m))`."""
    first = node.inputs[0].type
    extents = node.positional()[1:]
    if not isinstance(first, ArrayType) or any(label.startswith("*") for label in node.labels):
        return [UNKNOWN if not isinstance(first, ArrayType) else ArrayType(first.dtype, None)]
    if len(extents) == 1:
        return [ArrayType(first.dtype, shape_rank(extents[0]))]
    return [ArrayType(first.dtype, len(extents) or None)]


def same_dtype(rank: int | None) -> TypeRule:
    """The first operand's elements in an array of this rank."""

    def rule(node: Node) -> list[Type]:
        first = node.inputs[0].type
        return [ArrayType(first.dtype, rank) if isinstance(first, ArrayType) else UNKNOWN]

    return rule


def same_type(node: Node) -> list[Type]:
    """The type of the first operand, an array that surely has a dimension."""
    first = node.inputs[0].type
    return [first if is_array(first) else UNKNOWN]


def same_array(node: Node) -> list[Type]:
    """The type of the first operand, an array of any rank."""
    first = node.inputs[0].type if node.inputs else UNKNOWN
    return [first if isinstance(first, ArrayType) else UNKNOWN]


def squeezed(function: Callable) -> TypeRule:
    """`squeeze`: which axes go is decided by extents, unless `axis` names them."""

    def rule(node: Node) -> list[Type]:
        arguments = bind(node, function)
        first = node.inputs[0].type
        if arguments is None or not isinstance(first, ArrayType):
            return [UNKNOWN]
        axis = constant(arguments.get("axis"))
        if axis is None or axis is NOT_CONSTANT or first.rank is None:
            return [ArrayType(first.dtype, None)]
        count = len(axis) if isinstance(axis, tuple) else 1
        return [ArrayType(first.dtype, first.rank - count) if count <= first.rank else UNKNOWN]

    return rule
