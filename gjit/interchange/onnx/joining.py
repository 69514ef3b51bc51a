"""Values that come on several paths: one value of the model for them, with one type."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gjit.interchange.onnx.builder import Builder
from gjit.interchange.onnx.values import Tensor, Unwritable, is_number


class Missing:
    """A value that one path does not have, and nobody reads after it."""


MISSING = Missing()


def joined_type(builder: Builder, one: Any, other: Any) -> Tensor:
    """A tensor (without a name) of the type that holds both values."""
    left, right = builder.tensor(one), builder.tensor(other)
    if left.rank != right.rank:
        raise Unwritable(f"a value has {left.rank} axes on one path and {right.rank} on another")
    kinds = {left.kind, right.kind}
    kind = "array" if "array" in kinds else "scalar" if "scalar" in kinds else "python"
    return Tensor(None, _joined_dtype(left, right), left.rank, kind, builder.depth)


def _joined_dtype(left: Tensor, right: Tensor) -> np.dtype:
    if left.dtype == right.dtype:
        return left.dtype
    for one, other in ((left, right), (right, left)):
        if one.kind == "python" and one.constant is not None and "b" not in (one.dtype.kind, other.dtype.kind):
            with np.errstate(all="ignore"):
                cut = one.constant.astype(other.dtype)
            if cut == one.constant or (cut != cut and one.constant != one.constant):
                return other.dtype
    raise Unwritable(f"a value is {left.dtype} on one path and {right.dtype} on another: convert it on both")


@dataclass(slots=True)
class Join:
    """The outputs of two blocks for two values of one structure.

    pairs   what each block gives, by output
    types   of the outputs
    """

    builder: Builder
    pairs: list[tuple[Any, Any]] = field(default_factory=list)
    types: list[Tensor] = field(default_factory=list)

    def value(self, one: Any, other: Any) -> Any:
        """The value behind the blocks; outputs that are needed for it are added."""
        if one is other and not (isinstance(one, Tensor) and one.depth > self.builder.depth):
            return one
        if isinstance(one, Missing) or isinstance(other, Missing):
            return self._with_missing(one, other)
        if type(one) is type(other) and type(one) in (tuple, list) and len(one) == len(other):
            return type(one)(self.value(*pair) for pair in zip(one, other, strict=True))
        if type(one) is dict and type(other) is dict and list(one) == list(other):
            return {key: self.value(one[key], other[key]) for key in one}
        if not isinstance(one, Tensor) and type(one) is type(other) and one == other:
            return one
        if is_number(one) and is_number(other):
            return self._output(one, other, joined_type(self.builder, one, other))
        raise Unwritable(f"a value is {_described(one)} on one path and {_described(other)} on another")

    def _with_missing(self, one: Any, other: Any) -> Any:
        is_first = isinstance(one, Missing)
        there = other if is_first else one
        if type(there) in (tuple, list):
            pairs = [(MISSING, part) if is_first else (part, MISSING) for part in there]
            return type(there)(self._with_missing(*pair) for pair in pairs)
        if type(there) is dict:
            parts = {key: (MISSING, part) if is_first else (part, MISSING) for key, part in there.items()}
            return {key: self._with_missing(*pair) for key, pair in parts.items()}
        if not is_number(there):
            return there
        like = self.builder.tensor(there)
        return self._output(one, other, Tensor(None, like.dtype, like.rank, like.kind, self.builder.depth))

    def _output(self, one: Any, other: Any, made: Tensor) -> Tensor:
        self.pairs.append((one, other))
        self.types.append(made)
        made.name = self.builder.fresh("joined")
        made.bases = [(each, each.version) for each in (one, other) if _is_shared(each, self.builder.depth)]
        return made


def _is_shared(value: Any, depth: int) -> bool:
    return isinstance(value, Tensor) and value.is_array and value.depth <= depth


def output_of(builder: Builder, value: Any, like: Tensor) -> str:
    """A name that the block itself makes, of the type of an output."""
    if isinstance(value, Missing):
        shape = builder.constant(np.ones(like.rank, np.int64))
        return builder.emit("Expand", builder.constant(np.zeros((), like.dtype)), shape)
    return builder.emit("Identity", builder.cast(value, like.dtype))


def flat(value: Any) -> list[Any]:
    """The numbers and tensors in a structure, in order."""
    if type(value) in (tuple, list):
        return [leaf for part in value for leaf in flat(part)]
    if type(value) is dict:
        return [leaf for part in value.values() for leaf in flat(part)]
    return [value] if is_number(value) else []


def rebuilt(value: Any, leaves: list[Any]) -> Any:
    """The structure with other numbers and tensors, taken from the front of the list."""
    if type(value) in (tuple, list):
        return type(value)(rebuilt(part, leaves) for part in value)
    if type(value) is dict:
        return {key: rebuilt(part, leaves) for key, part in value.items()}
    return leaves.pop(0) if is_number(value) else value


def _described(value: Any) -> str:
    return f"an array of {value.dtype}" if isinstance(value, Tensor) else repr(value)
