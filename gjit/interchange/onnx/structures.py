"""Functions of Python that look at a structure instead of elements: ranges, lengths, classes."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjit.interchange.onnx import calls
from gjit.interchange.onnx.rules import RULES
from gjit.interchange.onnx.values import Sequence, Tensor, Unwritable, holds_tensor


def _range(walk: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    if not holds_tensor(positional):
        return range(*positional)
    start, stop, step = (0, *positional, 1) if len(positional) == 1 else (*positional, 1)[:3]
    operation = walk.operation
    if isinstance(step, Tensor):
        raise Unwritable("the step of a range has to be known when the model is written")
    gap = operation("operator.sub", [stop, start], {})
    more = operation("operator.sub", [operation("operator.add", [gap, step], {}), 1 if step > 0 else -1], {})
    count = operation("builtin.max", [operation("operator.floordiv", [more, step], {}), 0], {})

    def at(index: Any) -> Any:
        offset = index if step == 1 else operation("operator.mul", [index, step], {})
        return offset if type(start) is int and start == 0 else operation("operator.add", [start, offset], {})

    return Sequence(count, at)


def sequence_of(walk: Any, value: Any) -> Sequence | None:
    """What a loop of the model can go over, or None: its items are known."""
    if isinstance(value, Sequence):
        return value
    if isinstance(value, Tensor):
        if not value.rank:
            raise Unwritable("iteration over a 0-d array")
        return Sequence(RULES["builtin.len"](walk.builder, value), lambda index: calls.item(walk, value, index))
    if isinstance(value, range):
        return Sequence(len(value), _range(walk, [value.start, _later(walk, value.stop), value.step], {}).item)
    return None


def _later(walk: Any, value: int) -> Tensor:
    return walk.builder.array(walk.builder.integer(value), np.int64, 0, "python")


def _enumerate(walk: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    start = keywords.get("start", positional[1] if len(positional) > 1 else 0)
    found = sequence_of(walk, positional[0])
    if found is None:
        return list(enumerate(calls.known_items(walk, positional[0]), start))
    return Sequence(found.length, lambda index: (walk.operation("operator.add", [index, start], {}), found.item(index)))


def _zip(walk: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    found = [sequence_of(walk, value) for value in positional]
    if all(each is None for each in found):
        return list(zip(*(calls.known_items(walk, value) for value in positional), strict=bool(keywords.get("strict"))))
    if keywords or any(each is None for each in found):
        raise Unwritable("zip of these has no form in a model")
    sequences = [each for each in found if each is not None]
    length = sequences[0].length
    for each in sequences[1:]:
        length = walk.operation("builtin.min", [length, each.length], {})
    return Sequence(length, lambda index: tuple(each.item(index) for each in sequences))


def _copies(kind: type) -> Any:
    def make(walk: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
        if len(positional) != 1 or not holds_tensor(positional[0]):
            return NotImplemented
        made = kind(calls.known_items(walk, positional[0]))
        walk.lists[id(made)] = walk.builder.depth
        walk.kept.append(made)
        return made

    return make


def _type_of(walk: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    value = positional[0]
    if len(positional) != 1 or not isinstance(value, Tensor):
        return NotImplemented
    if value.is_array:
        return np.ndarray
    return type(value.dtype.type(1).item()) if value.kind == "python" else value.dtype.type


def _isinstance(walk: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    if not isinstance(positional[0], Tensor):
        return NotImplemented
    return issubclass(_type_of(walk, positional[:1], {}), positional[1])


def _length(walk: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    return len(positional[0]) if isinstance(positional[0], tuple | list | dict) else NotImplemented


def _shape(walk: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    return calls.extents(walk, positional[0]) if isinstance(positional[0], Tensor) else NotImplemented


def _getattr_call(walk: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    if len(positional) == 2 and isinstance(positional[1], str):
        return calls.attribute(walk, *positional)
    return NotImplemented


BUILTINS: dict[str, Any] = {
    "builtin.range": _range,
    "builtin.enumerate": _enumerate,
    "builtin.zip": _zip,
    "builtin.tuple": _copies(tuple),
    "builtin.list": _copies(list),
    "builtin.type": _type_of,
    "builtin.isinstance": _isinstance,
    "builtin.len": _length,
    "builtin.getattr": _getattr_call,
    "numpy.shape": _shape,
    "numpy.ndim": lambda walk, positional, keywords: getattr(positional[0], "rank", NotImplemented),
}
"""Functions that look at a structure instead of elements."""
