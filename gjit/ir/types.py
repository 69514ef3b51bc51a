"""The types of graph values.

Types make a program faster; they never decide what is right. `UNKNOWN` is the top of the lattice and
always a correct answer: what is unknown runs as Python would run it. Extents are never part of a type.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gjit.ir import dtypes
from gjit.ir.lexer import word


@dataclass(frozen=True, slots=True)
class Type:
    """Base class; `str()` of a type is its text form, which `parse_type` reads back."""


@dataclass(frozen=True, slots=True)
class UnknownType(Type):
    """The top of the lattice: nothing is known."""

    def __str__(self) -> str:
        return "unknown"


@dataclass(frozen=True, slots=True)
class ArrayType(Type):
    """An exact `numpy.ndarray` (never a scalar, never a subclass); None stands for not known."""

    dtype: np.dtype | None = None
    rank: int | None = None

    def __str__(self) -> str:
        rank = "?" if self.rank is None else str(self.rank)
        return f"array<{dtype_text(self.dtype)}, {rank}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ArrayType) and _same_dtype(self.dtype, other.dtype) and self.rank == other.rank

    def __hash__(self) -> int:
        return hash(("array", self.dtype, self.rank))


@dataclass(frozen=True, slots=True)
class ScalarType(Type):
    """A NumPy scalar (`numpy.float64(2)`): strong in promotion."""

    dtype: np.dtype | None = None

    def __str__(self) -> str:
        return f"scalar<{dtype_text(self.dtype)}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ScalarType) and _same_dtype(self.dtype, other.dtype)

    def __hash__(self) -> int:
        return hash(("scalar", self.dtype))


@dataclass(frozen=True, slots=True)
class PythonType(Type):
    """An exact built-in type that needs no parameters; its numbers are weak in promotion."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class TupleType(Type):
    """A tuple; `elements` is None where its length is not known."""

    elements: tuple[Type, ...] | None = None

    def __str__(self) -> str:
        if self.elements is None:
            return "tuple"
        return f"tuple<{', '.join(map(str, self.elements))}>"


@dataclass(frozen=True, slots=True)
class ListType(Type):
    """A list whose elements all have one type."""

    element: Type

    def __str__(self) -> str:
        return f"list<{self.element}>"


@dataclass(frozen=True, slots=True)
class SetType(Type):
    """A set whose elements all have one type."""

    element: Type

    def __str__(self) -> str:
        return f"set<{self.element}>"


@dataclass(frozen=True, slots=True)
class DictType(Type):
    """A dict whose keys, and whose values, have one type each."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"dict<{self.key}, {self.value}>"


@dataclass(frozen=True, slots=True)
class OptionalType(Type):
    """The inner type or None."""

    inner: Type

    def __str__(self) -> str:
        return f"optional<{self.inner}>"


@dataclass(frozen=True, slots=True)
class InstanceType(Type):
    """An object whose exact class is a user's class of this qualified name."""

    name: str

    def __str__(self) -> str:
        return f"instance<{word(self.name)}>"


@dataclass(frozen=True, slots=True)
class CellType(Type):
    """A variable that is loaded and stored: see `cell` in the grammar."""

    def __str__(self) -> str:
        return "cell"


UNKNOWN = UnknownType()
CELL = CellType()
BOOL, INT, FLOAT, COMPLEX = (PythonType(name) for name in ("bool", "int", "float", "complex"))
STR, BYTES, NONE, SLICE, RANGE = (PythonType(name) for name in ("str", "bytes", "none", "slice", "range"))
ELLIPSIS, DTYPE, FUNCTION, CLASS, MODULE = (
    PythonType(name) for name in ("ellipsis", "dtype", "function", "class", "module")
)
GENERATOR = PythonType("generator")

PYTHON_TYPES = {
    type_.name: type_
    for type_ in (
        *(BOOL, INT, FLOAT, COMPLEX, STR, BYTES, NONE, SLICE, RANGE),
        *(ELLIPSIS, DTYPE, FUNCTION, CLASS, MODULE, GENERATOR),
    )
}
PYTHON_NUMBERS = (BOOL, INT, FLOAT, COMPLEX)
_EXACT = {
    bool: BOOL,
    int: INT,
    float: FLOAT,
    complex: COMPLEX,
    str: STR,
    bytes: BYTES,
    type(None): NONE,
    slice: SLICE,
    range: RANGE,
    type(Ellipsis): ELLIPSIS,
    type: CLASS,
}


def dtype_text(dtype: np.dtype | None) -> str:
    """The name of a dtype in type texts: `float64`, `'>f8'` `?` for None or where no text can say it."""
    try:
        return "?" if dtype is None else dtypes.dtype_text(dtype)
    except ValueError:
        return "?"


def type_of(value: object) -> Type:
    """The exact type of a live object, without looking at extents or into mutable containers."""
    kind = type(value)
    if kind is np.ndarray:
        return ArrayType(value.dtype, value.ndim)
    if kind in _EXACT:
        return _EXACT[kind]
    if kind is tuple:
        return TupleType(tuple(type_of(element) for element in value))
    if kind is list:
        return ListType(UNKNOWN)
    if kind is set:
        return SetType(UNKNOWN)
    if kind is dict:
        return DictType(UNKNOWN, UNKNOWN)
    if isinstance(value, np.generic) and kind is value.dtype.type:
        return ScalarType(value.dtype)
    if isinstance(value, np.dtype):
        return DTYPE
    return UNKNOWN


def join(left: Type, right: Type) -> Type:
    """The smallest type that holds both.

    >>> str(join(ArrayType(np.dtype("f4"), 2), ArrayType(np.dtype("f8"), 2)))
    'array<?, 2>'
    >>> str(join(INT, FLOAT))
    'unknown'
    """
    if left == right:
        return left
    match left, right:
        case ArrayType(), ArrayType():
            return ArrayType(_agree_dtype(left.dtype, right.dtype), _agree(left.rank, right.rank))
        case ScalarType(), ScalarType():
            return ScalarType(_agree_dtype(left.dtype, right.dtype))
        case TupleType(elements=None), TupleType():
            return left
        case TupleType(), TupleType():
            if right.elements is None or len(left.elements) != len(right.elements):
                return TupleType(None)
            return TupleType(tuple(join(a, b) for a, b in zip(left.elements, right.elements, strict=True)))
        case ListType(), ListType():
            return ListType(join(left.element, right.element))
        case SetType(), SetType():
            return SetType(join(left.element, right.element))
        case DictType(), DictType():
            return DictType(join(left.key, right.key), join(left.value, right.value))
        case OptionalType(), _:
            inner = left.inner if right == NONE else join(left.inner, getattr(right, "inner", right))
            return UNKNOWN if inner == UNKNOWN else OptionalType(inner)
        case _, OptionalType():
            return join(right, left)
        case _ if NONE in (left, right) and UNKNOWN not in (left, right):
            return OptionalType(right if left == NONE else left)
    return UNKNOWN


def _same_dtype(left: np.dtype | None, right: np.dtype | None) -> bool:
    """Equality with None kept apart: NumPy takes None for float64 in comparisons of dtypes."""
    return left is right or (left is not None and right is not None and left == right)


def _agree_dtype(left: np.dtype | None, right: np.dtype | None) -> np.dtype | None:
    return left if _same_dtype(left, right) else None


def _agree(left: int | None, right: int | None) -> int | None:
    return left if left == right else None
