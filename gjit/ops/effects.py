"""Effect rules that several families share."""

from __future__ import annotations

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import (
    BOOL,
    BYTES,
    COMPLEX,
    DTYPE,
    ELLIPSIS,
    FLOAT,
    INT,
    NONE,
    RANGE,
    SLICE,
    STR,
    UNKNOWN,
    ArrayType,
    ScalarType,
    TupleType,
    Type,
)
from gjit.ops.arguments import elements_of, names_in_call
from gjit.ops.row import OPAQUE, Effect, table

_PLAIN = frozenset({BOOL, INT, FLOAT, COMPLEX, STR, BYTES, NONE, SLICE, ELLIPSIS, DTYPE, RANGE})


def is_plain(type_: Type) -> bool:
    """Whether NumPy runs no code of the user's on such a value: numbers, arrays of numbers, strings, and
    tuples of those. Arrays of objects and unknown values may."""
    if isinstance(type_, TupleType):
        return type_.elements is not None and all(map(is_plain, type_.elements))
    if isinstance(type_, ArrayType | ScalarType):
        return type_.dtype is not None and not type_.dtype.hasobject
    return type_ in _PLAIN


def all_plain(node: Node) -> bool:
    """Whether every input of the node is plain, or a fresh display of plain values."""
    return all(_plain_operand(value) for value in node.inputs)


def _plain_operand(value: Value) -> bool:
    if isinstance(value, Constant):
        return not callable(value.value) or isinstance(value.value, type)
    if is_plain(value.type):
        return True
    elements = elements_of(value)
    return elements is not None and all(map(_plain_operand, elements))


def is_immutable(type_: Type) -> bool:
    """Whether a value of the type holds no memory that something could write, and has no identity to speak of."""
    if isinstance(type_, TupleType):
        return type_.elements is not None and all(map(is_immutable, type_.elements))
    return isinstance(type_, ScalarType) or type_ in _PLAIN


def computes(node: Node) -> Effect:
    """A NumPy function on plain operands reads them, may raise or warn, and makes a new object."""
    if not all_plain(node) or any(label.startswith("*") for label in node.labels):
        return OPAQUE
    effect = Effect.RAISES
    if not all(is_immutable(value.type) for value in node.inputs):
        effect |= Effect.READS
    if not all(is_immutable(value.type) for value in node.results):
        effect |= Effect.ALLOCATES
    outputs = output_inputs(node)
    if outputs is None:
        return OPAQUE
    return effect | Effect.WRITES if outputs else effect


def output_inputs(node: Node) -> list[int] | None:
    """Which inputs are passed as `out`, by name or by position; None where that cannot be told."""
    op = table.get(node.op)
    function = None if op is None else op.function
    if function is None or node.op.startswith("operator."):
        return []
    if isinstance(function, np.ufunc):
        given = range(len(node.inputs))
        return [
            index for index in given if node.label(index) == "out=" or (not node.label(index) and index >= function.nin)
        ]
    names = names_in_call(node, function)
    return None if names is None else [index for index, name in enumerate(names) if name == "out"]


def computes_quietly(node: Node) -> Effect:
    """As `computes`, for functions of one operand that cannot fail once the types fit."""
    effect = computes(node)
    if effect is OPAQUE or len(node.inputs) != 1 or UNKNOWN in (value.type for value in node.results):
        return effect
    return effect & ~Effect.RAISES


def viewing(node: Node) -> Effect:
    """A view of an array is a new object; the metadata may not fit, but no element is read."""
    if not all_plain(node) or not isinstance(node.inputs[0].type, ArrayType):
        return OPAQUE
    return Effect.RAISES | Effect.ALLOCATES


def writing(node: Node) -> Effect:
    """Writes its first operand, an array, from plain operands."""
    if not all_plain(node) or not isinstance(node.inputs[0].type, ArrayType):
        return OPAQUE
    return Effect.RAISES | Effect.READS | Effect.WRITES
