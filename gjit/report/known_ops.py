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


def known_shape(op: str, inputs: Sequence[object], labels: Sequence[str] = ()) -> tuple[int, ...] | None:
    """The shape of the new array that an operation makes; None where it is not followed.

    >>> known_shape("numpy.zeros", [(4, 3), np.dtype("f4")], ["", "dtype="]), known_shape("numpy.zeros", [UNKNOWN])
    ((4, 3), None)
    """
    rule = _SHAPES.get(op.removeprefix("numpy.").removeprefix("ndarray."))
    plain = [each for place, each in enumerate(inputs) if not labels or labels[place] == ""]
    if rule is None or any(label not in ("", *_HARMLESS_LABELS) for label in labels):
        return None
    try:
        return rule(*plain)
    except (TypeError, ValueError, IndexError, AttributeError):
        return None


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


def _on_integers(function: Callable) -> Callable:
    def result(*operands: object) -> object:
        return function(*operands) if all(type(each) is int for each in operands) else UNKNOWN

    return result


def _length(value: object) -> object:
    return len(value) if isinstance(value, (np.ndarray, tuple)) else UNKNOWN


def _given(shape: object, *_: object) -> tuple[int, ...] | None:
    parts = shape if type(shape) is tuple else (shape,)
    return tuple(map(operator.index, parts)) if not _has_unknown(parts) else None


def _product(left: np.ndarray, right: np.ndarray) -> tuple[int, ...] | None:
    if left.ndim > 2 or right.ndim > 2 or not left.ndim or not right.ndim:
        return None
    return (*left.shape[:-1], *right.shape[1:])


_HARMLESS_LABELS = ("dtype=", "axis=", "k=", "order=", "kind=", "copy=")
"""Arguments that change no shape, for the operations of `_SHAPES`."""

_SHAPES: dict[str, Callable[..., tuple[int, ...] | None]] = {
    **dict.fromkeys(("empty", "zeros", "ones", "full"), _given),
    **dict.fromkeys(("empty_like", "zeros_like", "ones_like", "full_like", "copy"), lambda array, *_: array.shape),
    **dict.fromkeys(("roll", "triu", "tril", "sort", "flip", "cumsum", "cumprod"), lambda array, *_: array.shape),
    **dict.fromkeys(("conj", "ascontiguousarray", "angle"), lambda array, *_: array.shape),
    "linspace": lambda start, stop, count=50, *_: (operator.index(count),),
    "outer": lambda left, right: (left.size, right.size),
    "operator.matmul": _product,
}
"""The shapes of new arrays. What a rule tells is dropped where its rank is not that of the type of the result."""

_RULES: dict[str, Callable] = {
    "getitem": _item,
    "slice": slice,
    "tuple": lambda *parts: parts,
    "builtin.len": _length,
    **{f"operator.{name}": _on_integers(getattr(operator, name)) for name in ("add", "sub", "mul", "floordiv", "mod")},
    "operator.neg": _on_integers(operator.neg),
    "transpose": lambda array, *axes: array.transpose(*axes),
    "swapaxes": lambda array, *axes: array.swapaxes(*axes),
}
