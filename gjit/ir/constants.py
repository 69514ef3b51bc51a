"""Constants as text, exactly: every bit of a number, every character of a string, every class by its name."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Hashable
from typing import Any

import numpy as np

from gjit.ir.dtypes import NESTING_LIMIT, dtype_text, has_metadata
from gjit.ir.graph import Parameter
from gjit.ir.lexer import DOTTED, quote
from gjit.ir.protocols import known_names
from gjit.ir.types import Type

RESERVED = frozenset({"None", "True", "False", "inf", "nan"})
_QUIET_NAN = 0x7FF8000000000000
_LONG_INT_BITS = 128


def constant_text(value: object) -> str:
    """The text of a constant or of an attribute; `read_constant` gives the same object back.

    Raises:
        ValueError: an object that has no text: a mutable or a user's object, a dtype with metadata.

    >>> constant_text((1, -0.0, slice(None, 2), np.float32(0.5), "a"))
    '(1, -0.0, slice(None, 2, None), float32(0.5), "a")'
    """
    return _text(value, 0)


def is_constant(value: object) -> bool:
    """Whether `value` is immutable and has an exact text, so that it may be a `Constant`."""
    if isinstance(value, np.void) and value.dtype.names is not None:
        return False
    if type(value) is tuple:
        return _depth(value) < NESTING_LIMIT and all(map(is_constant, value))
    if type(value) is slice:
        return is_constant((value.start, value.stop, value.step))
    try:
        constant_text(value)
    except ValueError:
        return False
    return not isinstance(value, Type | Parameter)


def constant_key(value: object) -> Hashable:
    """A key that two constants share only if no program can tell them apart, but by identity.

    >>> constant_key(0.0) == constant_key(-0.0), constant_key(1) == constant_key(True)
    (False, False)
    """
    try:
        return constant_text(value)
    except ValueError:
        return id(value)


def display_text(value: object) -> str:
    """`constant_text`, or for an object without text a note that does not parse."""
    try:
        return constant_text(value)
    except ValueError:
        return f"unprintable({quote(object.__repr__(value))})"


def float_text(value: float) -> str:
    """A Python float with every bit: `repr`, or the bits of an unusual NaN."""
    if not math.isnan(value):
        return repr(value)
    (bits,) = struct.unpack("<Q", struct.pack("<d", value))
    return "nan" if bits == _QUIET_NAN else f"nan({bits:#x})"


def _text(value: object, depth: int) -> str:
    writer = _WRITERS.get(type(value))
    if depth > NESTING_LIMIT:
        raise ValueError(f"constants nest at most {NESTING_LIMIT} deep")
    if writer is not None:
        return writer(value, depth + 1)
    if isinstance(value, np.generic) and type(value) is value.dtype.type:
        return _scalar_text(value)
    if isinstance(value, np.dtype):
        return _dtype_text(value)
    if isinstance(value, Type):
        return f"type({value})"
    name = known_names.name_of(value)
    if name is None:
        raise ValueError(f"{object.__repr__(value)} has no text")
    return name if DOTTED.fullmatch(name) and name not in RESERVED else f"named({quote(name)})"


def _int_text(value: int, depth: int) -> str:
    # Hexadecimal is exempt from Python's limit on the digits of an int.
    return str(value) if value.bit_length() <= _LONG_INT_BITS else hex(value)


def _complex_text(value: complex, depth: int) -> str:
    return f"complex({float_text(value.real)}, {float_text(value.imag)})"


def _bytes_text(value: bytes, depth: int = 0) -> str:
    return repr(value)


def _tuple_text(value: tuple, depth: int) -> str:
    inner = ", ".join(_text(element, depth) for element in value)
    return f"({inner},)" if len(value) == 1 else f"({inner})"


def _slice_text(value: slice, depth: int) -> str:
    return f"slice({', '.join(_text(part, depth) for part in (value.start, value.stop, value.step))})"


def _parameter_text(value: Parameter, depth: int) -> str:
    default = ", True" if value.has_default else ""
    return f"parameter({quote(value.name)}, {quote(value.kind.value)}{default})"


_WRITERS: dict[type, Callable[[Any, int], str]] = {
    type(None): lambda value, depth: "None",
    bool: lambda value, depth: str(value),
    int: _int_text,
    float: lambda value, depth: float_text(value),
    complex: _complex_text,
    str: lambda value, depth: quote(value),
    bytes: _bytes_text,
    type(...): lambda value, depth: "...",
    tuple: _tuple_text,
    slice: _slice_text,
    Parameter: _parameter_text,
}


def _dtype_text(dtype: np.dtype) -> str:
    if has_metadata(dtype):
        raise ValueError(f"{dtype!r} has no text: it carries metadata")
    return f"dtype({dtype_text(dtype)})"


def _scalar_text(value: np.generic) -> str:
    """`float64(1.5)` where that gives the bits back, else `scalar(dtype, ...)` with a count or the bytes."""
    if type(value) is np.str_:
        return f"str_({quote(str.__str__(value))})"
    if type(value) is np.bytes_:
        return f"bytes_({bytes(value)!r})"
    readable = _readable_number(value)
    if readable is not None and scalar_bits(SCALAR_CLASSES[type(value).__name__](readable)) == scalar_bits(value):
        return f"{type(value).__name__}({_text(readable, 0)})"
    if value.dtype.hasobject or has_metadata(value.dtype):
        raise ValueError(f"{value!r} has no text")
    if value.dtype.kind in "mM":
        return f"scalar({dtype_text(value.dtype)}, {int(value.view('i8'))})"
    return f"scalar({dtype_text(value.dtype)}, {scalar_bits(value)!r})"


def _readable_number(value: np.generic) -> bool | int | float | complex | None:
    """The Python number that NumPy makes this scalar of, if there may be one."""
    if value.dtype.kind not in "biufc" or value.dtype.name in ("longdouble", "clongdouble"):
        return None
    with np.errstate(all="ignore"):
        number = {"b": bool, "i": int, "u": int, "f": float, "c": complex}[value.dtype.kind](value)
    return number if type(value).__name__ in SCALAR_CLASSES else None


def scalar_bits(value: np.generic) -> bytes:
    """The bytes of a NumPy scalar; the padding of extended precision is zero."""
    data = bytearray(value.tobytes())
    if value.dtype.char in "gG" and np.finfo(np.longdouble).nmant == 63:
        width = np.dtype("g").itemsize
        for start in range(0, len(data), width):
            data[start + 10 : start + width] = bytes(width - 10)
    return bytes(data)


SCALAR_CLASSES: dict[str, type[np.generic]] = {
    kind.__name__: kind for kind in (np.dtype(char).type for char in "?bBhHiIlLqQefdFD")
}
"""The NumPy scalars that a Python number writes: `float32(0.5)`."""


def _depth(value: tuple) -> int:
    """How deep a tuple nests, up to one more than the limit."""
    level, depth = [value], 0
    while level and depth <= NESTING_LIMIT:
        level = [element for outer in level for element in outer if type(element) is tuple]
        depth += 1
    return depth
