"""The arguments of a launch as `struct` packs them."""

from __future__ import annotations

import numpy as np

from gjit.cuda_kernels.program import Field, Meaning
from gjit.runtime.native_space import Space
from gjit.runtime.scalars import loop_scalar

_FORMATS = {"?": "?", "e": "e", "f": "f", "d": "d", "F": "ff", "D": "dd"}
_INTEGERS = {1: "b", 2: "h", 4: "i", 8: "q"}

Slot = int | str | tuple[str, np.dtype]
"""What an argument is: a stride or extent, the name of an array, or the name and dtype of a number."""


def format_of(field: Field) -> str:
    """How `struct` packs one argument."""
    if field.meaning in (Meaning.ARRAY, Meaning.PARTIALS, Meaning.ROUTE, Meaning.TURNS):
        return "P"
    if field.meaning is not Meaning.NUMBER:
        return "q"
    if field.dtype.kind in "iu":
        letter = _INTEGERS[field.dtype.itemsize]
        return letter.upper() if field.dtype.kind == "u" else letter
    return _FORMATS[field.dtype.char]


def slot_of(field: Field, space: Space) -> Slot:
    """What one argument is for launches over this space."""
    match field.meaning:
        case Meaning.STRIDE:
            is_apart = field.axis == space.rank
            return space.apart[field.name] if is_apart else space.strides[field.name][field.axis]
        case Meaning.EXTENT:
            return space.extents[field.axis]
        case Meaning.NUMBER:
            return field.name, field.dtype
        case Meaning.DELAY:
            return "delay", np.dtype("i8")
        case Meaning.PARTIALS:
            return f"{field.name}_partials"
        case Meaning.COUNT:
            return "turns", np.dtype("i8")
        case Meaning.TURNS:
            return f"{field.name}_turns"
    return field.name


def number(value: object, dtype: np.dtype) -> tuple[object, ...]:
    """A number as `struct` takes it, converted as a ufunc converts its scalar operands; Fallback where NumPy warns."""
    kind = type(value)
    if kind is float and dtype.kind == "f":
        return (value,)
    if kind is int and (dtype.kind in "iu" or (dtype.kind == "f" and abs(value) <= 1 << 53)):
        return (value,)
    if kind in (bool, int, float, complex):
        value = loop_scalar(value, dtype)
    number = value.item()
    return (number.real, number.imag) if dtype.kind == "c" else (number,)
