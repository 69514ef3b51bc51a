"""Types by asking NumPy: call the function on small samples of the operand types and look at what comes back.

That is right only where the type of the result depends on nothing but the types of the data arguments and the
constants. A row says which parameters are data and which are sizes (any int will do); every other argument
must be a constant, or the answer is UNKNOWN.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    NONE,
    UNKNOWN,
    ArrayType,
    ListType,
    ScalarType,
    TupleType,
    Type,
    type_of,
)
from gjit.ops.arguments import elements_of, is_numeric, names_in_call
from gjit.ops.row import TypeRule

_PYTHON_SAMPLES: dict[object, object] = {BOOL: True, INT: 1, FLOAT: 1.0, COMPLEX: 1 + 1j, NONE: None}
_LARGEST_RANK = 6


@dataclass(frozen=True, slots=True)
class _Fixed:
    """A constant argument; compared with its type and sign, since `1`, `1.0` and `True` give other dtypes."""

    text: str
    value: object

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Fixed) and self.text == other.text

    def __hash__(self) -> int:
        return hash(self.text)


def probed(function: Callable, data: str = "", sizes: str = "", weak: str = "", shape: str = "") -> TypeRule:
    """The rule that calls `function` on samples.

    Args:
        function: what the row runs.
        data: names of array parameters, separated by blanks: any value of a type gives the same result type.
        sizes: names of parameters where every int, or tuple of ints, gives the same result type.
        weak: names of data parameters where a Python int stays weak beside an array. Elsewhere it may become
            int64, uint64 or object by its value.
        shape: names of parameters for the shape of the result; where one is not known, neither is the rank.
    """
    roles = {
        **dict.fromkeys(sizes.split(), "size"),
        **dict.fromkeys(shape.split(), "shape"),
        **dict.fromkeys(data.split(), "data"),
        **dict.fromkeys(weak.split(), "weak"),
    }

    def rule(node: Node) -> list[Type]:
        names = names_in_call(node, function)
        if names is None or len(node.results) != 1 or "out" in names:
            return [UNKNOWN] * len(node.results)
        described = [describe(value, roles.get(name, "")) for value, name in zip(node.inputs, names, strict=True)]
        if None in described:
            return [UNKNOWN]
        positional = len(node.positional())
        found = _ask(function, tuple(described[:positional]), tuple(names[positional:]), tuple(described[positional:]))
        if UNKNOWN in described:
            found = ArrayType(found.dtype, None) if isinstance(found, ArrayType) else UNKNOWN
        return [found]

    return rule


def describe(value: Value, role: str) -> object | None:
    """A hashable description of an argument: `_Fixed`, a type, or a tuple of descriptions; None if it may matter."""
    if isinstance(value, Constant):
        return _Fixed(f"{type(value.value).__name__} {value.value!r}", value.value)
    dtype = dtype_of_array(value)
    if dtype is not None:
        return _Fixed(str(dtype), dtype)
    if not role:
        return None
    elements = elements_of(value)
    if elements is not None:
        parts = tuple(describe(element, role) for element in elements)
        return None if None in parts else parts
    fits = _is_count(value.type) if role in ("size", "shape") else _is_sample(value.type, role)
    return value.type if fits else UNKNOWN if role == "shape" else None


def dtype_of_array(value: Value) -> np.dtype | None:
    """The dtype that `array.dtype` gives, where the array's type tells it."""
    node = value.producer
    if not isinstance(node, Node) or node.op != "getattr" or node.attributes["name"] != "dtype":
        return None
    return getattr(node.inputs[0].type, "dtype", None)


def _is_count(type_: Type) -> bool:
    if isinstance(type_, TupleType):
        return type_.elements is not None and all(map(_is_count, type_.elements))
    return type_ == INT or (isinstance(type_, ScalarType) and type_.dtype is not None and type_.dtype.kind in "iu")


def _is_sample(type_: Type, role: str) -> bool:
    if isinstance(type_, TupleType):
        return type_.elements is not None and all(_is_sample(element, role) for element in type_.elements)
    if type_ == INT:
        return role == "weak"
    if isinstance(type_, ArrayType) and (type_.rank is None or type_.rank > _LARGEST_RANK):
        return False
    return is_numeric(type_) and not (isinstance(type_, ArrayType | ScalarType) and not type_.dtype.isnative)


def sample(what: object) -> object:
    """A value for a description."""
    if isinstance(what, _Fixed):
        return what.value
    if isinstance(what, tuple):
        return tuple(map(sample, what))
    if isinstance(what, TupleType):
        return tuple(map(sample, what.elements))
    if isinstance(what, ScalarType):
        return what.dtype.type(1)
    if isinstance(what, ArrayType):
        return sample_array(what.dtype, what.rank)
    return (2,) if what is UNKNOWN else _PYTHON_SAMPLES[what]


def sample_array(dtype: np.dtype, rank: int) -> np.ndarray:
    """An array of extents 2; as a matrix it is symmetric, positive definite and has an inverse."""
    array = np.ones((2,) * rank, dtype)
    if rank >= 2:
        array[..., [0, 1], [0, 1]] += np.ones((), dtype)
    return array


@functools.lru_cache(maxsize=4096)
def _ask(function: Callable, positional: tuple, names: tuple[str, ...], keywords: tuple) -> Type:
    values = dict(zip(names, map(sample, keywords), strict=True))
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return result_type_of(function(*map(sample, positional), **values))
    except Exception:  # whatever NumPy raises for the samples, it says nothing about the type
        return UNKNOWN


def result_type_of(value: Any) -> Type:
    """The type of a sample result. Lists and named tuples say no more than that."""
    type_ = type_of(value)
    if isinstance(type_, ListType):
        return ListType(UNKNOWN)
    if isinstance(type_, TupleType):
        return TupleType(tuple(map(result_type_of, value)))
    return type_
