"""What a call's arguments must be for a plan: dtype and rank of arrays, exact types of everything else."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gjit.ir.types import UNKNOWN, ArrayType, InstanceType, TupleType, Type, type_of
from gjit.runtime.device import device_of

Key = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class ArrayKey:
    """An exact ndarray. Its layout is no part of the key: the host program holds for every layout, and a region, which
    depends on it, keeps a program for each layout that it meets."""

    dtype: np.dtype
    rank: int


@dataclass(frozen=True, slots=True)
class LocalKey:
    """An instance of a class that a function made. A program may make such classes without end, and what holds for
    one of them holds for the next, so nothing more is known."""


@dataclass(frozen=True, slots=True)
class DeviceKey:
    """An array that lies on a device."""

    device: str
    kind: type
    dtype: np.dtype
    rank: int
    index: int


def key_of(values: list[object]) -> Key:
    """The signature of the arguments; extents and values are no part of it."""
    return tuple(_key(value) for value in values)


def _key(value: object) -> object:
    kind = type(value)
    if kind is np.ndarray:
        return ArrayKey(value.dtype, value.ndim)
    device = device_of(value)
    if device is not None:
        return DeviceKey(device.name, kind, value.dtype, value.ndim, device.index)
    return LocalKey() if _is_local(kind) else kind


def _is_local(kind: type) -> bool:
    return bool(kind.__flags__ & HEAP_TYPE) and "<locals>" in kind.__qualname__


def types_of(values: list[object]) -> list[Type]:
    """Graph types of the arguments, as far as the key fixes them: nothing that is inside a container."""
    return [_type(value) for value in values]


def _type(value: object) -> Type:
    kind = type(value)
    if _is_local(kind):
        return UNKNOWN
    if kind is tuple:
        return TupleType(None)
    if device_of(value) is not None:
        return ArrayType(value.dtype, value.ndim)
    known = type_of(value)
    if known == UNKNOWN and kind.__flags__ & HEAP_TYPE and not isinstance(value, type):
        return InstanceType(f"{kind.__module__}.{kind.__qualname__}")
    return known


HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: made by a `class` statement


def describe(key: Key) -> str:
    """A signature for readers: `float64[2], int`."""
    parts = []
    for element in key:
        if isinstance(element, ArrayKey):
            parts.append(f"{element.dtype}[{element.rank}]")
        elif isinstance(element, LocalKey):
            parts.append("object")
        elif isinstance(element, DeviceKey):
            parts.append(f"{element.dtype}[{element.rank}] on {element.device}")
        else:
            parts.append(element.__name__)
    return ", ".join(parts)
