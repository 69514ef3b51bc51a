"""The few operations outside regions whose result `Sizes` follows: views, shapes, sizes, arrays of a known shape."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np


class _Unknown:
    """The class of `UNKNOWN`."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN: Final = _Unknown()
"""Stands for a value of which nothing is known."""

_PLAIN = (int, bool, str, type(None), type(Ellipsis), np.dtype, type)


def stand_in(value: object) -> object:
    """What is known of an argument: an array without memory for an array, an integer, tuple or slice as it is.

    >>> stand_in(np.ones((2, 3))).strides, stand_in({})
    ((0, 0), unknown)
    """
    if type(value) is np.ndarray:
        return np.broadcast_to(np.empty((), value.dtype), value.shape)
    if type(value) is tuple:
        return tuple(map(stand_in, value))
    return value if isinstance(value, _PLAIN) else UNKNOWN if type(value) not in (float, complex) else 0.0


def known_result(
    op: str, inputs: Sequence[object], attributes: Mapping[str, object] | None = None, labels: Sequence[str] = ()
) -> object:
    """The result of an operation on known inputs; UNKNOWN where it is not followed.

    >>> known_result("getitem", [stand_in(np.ones((4, 3))), slice(1, None)]).shape
    (3, 3)
    >>> known_result("numpy.fft.fft", [1])
    unknown
    """
    if any(labels) or any(_has_unknown(each) for each in inputs):
        return UNKNOWN
    name = op.removeprefix("numpy.").removeprefix("ndarray.")
    try:
        if op == "getattr" and attributes:
            return _attribute(inputs[0], str(attributes["name"]))
        if name in _RULES:
            return _followed(_RULES[name](*inputs))
    except (TypeError, ValueError, IndexError, ArithmeticError, MemoryError):
        return UNKNOWN
    return UNKNOWN


def _followed(found: object) -> object:
    if isinstance(found, np.ndarray):
        # views of an array without memory have none; anything else has copied, and is small enough to be asked again
        return stand_in(found)
    return found if isinstance(found, (int, tuple, slice)) else UNKNOWN


def _has_unknown(value: object) -> bool:
    return value is UNKNOWN or (type(value) is tuple and any(map(_has_unknown, value)))


def _item(owner: object, index: Any) -> object:
    basic = index if type(index) is tuple else (index,)
    if isinstance(owner, np.ndarray) and all(isinstance(part, (int, slice, type(None), type(...))) for part in basic):
        return owner[index]
    return owner[index] if type(owner) is tuple else UNKNOWN


def _attribute(owner: object, name: str) -> object:
    if isinstance(owner, np.ndarray) and name in ("shape", "ndim", "size", "T", "dtype"):
        found = getattr(owner, name)
        return found if name == "dtype" else _followed(found)
    return UNKNOWN


def _new(shape: Any, dtype: Any = np.float64) -> object:
    return np.broadcast_to(np.empty((), dtype), shape)


def _like(array: object) -> object:
    return array if isinstance(array, np.ndarray) else UNKNOWN


def _on_integers(function: Callable) -> Callable:
    def result(*operands: object) -> object:
        return function(*operands) if all(type(each) is int for each in operands) else UNKNOWN

    return result


def _length(value: object) -> object:
    return len(value) if isinstance(value, (np.ndarray, tuple)) else UNKNOWN


_RULES: dict[str, Callable] = {
    "getitem": _item,
    "slice": slice,
    "tuple": lambda *parts: parts,
    "builtin.len": _length,
    **dict.fromkeys(("empty", "zeros", "ones"), _new),
    **dict.fromkeys(("empty_like", "zeros_like", "ones_like", "copy", "ascontiguousarray"), _like),
    **{f"operator.{name}": _on_integers(getattr(operator, name)) for name in ("add", "sub", "mul", "floordiv", "mod")},
    "operator.neg": _on_integers(operator.neg),
    "transpose": lambda array, *axes: array.transpose(*axes),
    "swapaxes": lambda array, *axes: array.swapaxes(*axes),
}
