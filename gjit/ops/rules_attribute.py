"""Types and effects of attribute access: arrays, NumPy scalars, Python's numbers and dtypes answer by themselves."""

from __future__ import annotations

import numpy as np

from gjit.ir.graph import Node
from gjit.ir.types import (
    BOOL,
    COMPLEX,
    DTYPE,
    FLOAT,
    INT,
    PYTHON_NUMBERS,
    STR,
    UNKNOWN,
    ArrayType,
    PythonType,
    ScalarType,
    TupleType,
    Type,
)
from gjit.ops.effects import is_immutable, is_plain
from gjit.ops.row import OPAQUE, Effect

_NUMBERS = {"ndim": INT, "size": INT, "itemsize": INT, "nbytes": INT, "dtype": DTYPE}
_OF_DTYPE = {"itemsize": INT, "alignment": INT, "num": INT, "kind": STR, "char": STR, "str": STR, "name": STR}


def getattr_types(node: Node) -> list[Type]:
    """The type of an attribute, where the object is of a known exact type."""
    name, type_ = str(node.attributes["name"]), node.inputs[0].type
    if isinstance(type_, ArrayType):
        return [array_attribute(type_, name)]
    if isinstance(type_, ScalarType):
        return [_scalar_attribute(type_, name)]
    if type_ == DTYPE:
        return [_OF_DTYPE.get(name, UNKNOWN)]
    if type_ in PYTHON_NUMBERS and name in ("real", "imag"):
        return [{BOOL: INT, COMPLEX: FLOAT}.get(type_, type_)]
    return [UNKNOWN]


def array_attribute(type_: ArrayType, name: str) -> Type:
    """The type of an attribute of an array."""
    if name in _NUMBERS:
        return _NUMBERS[name]
    if name in ("shape", "strides"):
        return TupleType(None if type_.rank is None else (INT,) * type_.rank)
    if name == "T" or (name == "mT" and type_.rank is not None and type_.rank >= 2):
        return type_
    if name in ("real", "imag"):
        part = part_dtype(type_.dtype)
        return UNKNOWN if part is None else ArrayType(part, type_.rank)
    return UNKNOWN


def part_dtype(dtype: np.dtype | None) -> np.dtype | None:
    """The dtype of the real part of numbers of this dtype."""
    if dtype is None or dtype.kind not in "biufc":
        return None
    return dtype if dtype.kind != "c" else np.empty(0, dtype).real.dtype


def _scalar_attribute(type_: ScalarType, name: str) -> Type:
    if name in _NUMBERS:
        return _NUMBERS[name]
    if name in ("shape", "strides"):
        return TupleType(())
    if name in ("real", "imag"):
        part = part_dtype(type_.dtype)
        return UNKNOWN if part is None else ScalarType(part)
    return UNKNOWN


def getattr_effects(node: Node) -> Effect:
    """Attributes of exact types run no code of the user's."""
    (type_,) = (value.type for value in node.inputs)
    if isinstance(type_, ArrayType):
        result = array_attribute(type_, str(node.attributes["name"]))
        if result == UNKNOWN:
            return Effect.RAISES | Effect.READS | Effect.ALLOCATES
        return Effect.READS if is_immutable(result) or isinstance(result, TupleType) else Effect.ALLOCATES
    if isinstance(type_, ScalarType) or type_ == DTYPE or (isinstance(type_, PythonType) and is_plain(type_)):
        return Effect.RAISES if UNKNOWN in getattr_types(node) else Effect.NONE
    return OPAQUE


def attribute_is_view(node: Node) -> bool:
    """Whether an attribute may share memory with its object: numbers do not."""
    return not is_immutable(node.results[0].type)


def setattr_effects(node: Node) -> Effect:
    """`a.shape = ...` writes the array itself; a user's class may do anything."""
    plain = isinstance(node.inputs[0].type, ArrayType) and is_plain(node.inputs[1].type)
    return Effect.RAISES | Effect.READS | Effect.WRITES if plain else OPAQUE
