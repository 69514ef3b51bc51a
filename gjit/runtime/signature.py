"""What a call's arguments must be for a plan: dtype, rank and layout of arrays, exact types of everything else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gjit.ir.types import UNKNOWN, InstanceType, TupleType, Type, type_of

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ArrayKey:
    """An exact ndarray: `layout` is `C`, `F`, `S` (strided), or empty for 0-d arrays."""

    dtype: np.dtype
    rank: int
    layout: str


def key_of(values: list[object]) -> Key:
    """The signature of the arguments; extents and values are no part of it."""
    return tuple(_key(value) for value in values)


def _key(value: object) -> object:
    if type(value) is not np.ndarray:
        return type(value)
    return ArrayKey(value.dtype, value.ndim, layout_of(value))


def layout_of(array: np.ndarray) -> str:
    """The layout class of an array."""
    if array.ndim == 0:
        return ""
    flags = array.flags
    return "C" if flags.c_contiguous else "F" if flags.f_contiguous else "S"


def types_of(values: list[object]) -> list[Type]:
    """Graph types of the arguments, as far as the key fixes them: nothing that is inside a container."""
    return [_type(value) for value in values]


def _type(value: object) -> Type:
    kind = type(value)
    if kind is tuple:
        return TupleType(None)
    known = type_of(value)
    if known == UNKNOWN and kind.__flags__ & _HEAP_TYPE and not isinstance(value, type):
        return InstanceType(f"{kind.__module__}.{kind.__qualname__}")
    return known


_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a `class` statement


def describe(key: Key) -> str:
    """A signature for readers: `float64[2]C, int`."""
    parts = []
    for element in key:
        if isinstance(element, ArrayKey):
            parts.append(f"{element.dtype}[{element.rank}]{element.layout}")
        else:
            parts.append(element.__name__)
    return ", ".join(parts)
