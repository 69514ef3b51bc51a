"""What is looked at first when a region is entered: sizes, the target of its store, its signature."""

from __future__ import annotations

import itertools
import math

import numpy as np

from gjit.ir.graph import Constant, Node
from gjit.runtime.region_parts import part_of
from gjit.runtime.scalars import Fallback

_INDEX_TYPES = frozenset((int, type(None), type(Ellipsis)))
_END_TYPES = frozenset((int, type(None)))


class RegionInputs:
    """The inputs of one region, by what they are for.

    The index of a store and an array that is only stored into are told apart from what is computed with: a store may
    write a small part of a large array, at another place each time.
    """

    __slots__ = ("_computed", "_owner", "_index", "_constant_index")

    def __init__(self, node: Node):
        body = node.blocks[0]
        stores = [step for step in body if step.op == "setitem"]
        place = {value: position for position, value in enumerate(body.parameters)}
        self._owner = self._index = -1
        self._constant_index: object = None
        apart = set()
        for store in stores:
            owner, index, _ = store.inputs
            self._owner, self._index = place[owner], place.get(index, -1)
            if isinstance(index, Constant):
                self._constant_index = index.value
            apart = {value for value in (owner, index) if value.uses == {store: 1}}
        self._computed = tuple(at for at, value in enumerate(body.parameters) if value not in apart)

    def elements(self, inputs: tuple[object, ...]) -> int:
        """How many elements the arrays have, or broadcast to, that are computed with."""
        shape, size = None, 0
        for position in self._computed:
            value = inputs[position]
            if type(value) is np.ndarray:
                if shape is None:
                    shape, size = value.shape, value.size
                elif value.shape != shape:
                    return self._broadcast(inputs)
        return size

    def _broadcast(self, inputs: tuple[object, ...]) -> int:
        arrays = [inputs[position] for position in self._computed if type(inputs[position]) is np.ndarray]
        shapes = [array.shape[::-1] for array in arrays]
        return math.prod(map(max, itertools.zip_longest(*shapes, fillvalue=1)))

    def target(self, inputs: tuple[object, ...]) -> np.ndarray | None:
        """The view that the store writes; Fallback where that is for the twin to find out."""
        if self._owner < 0:
            return None
        owner = inputs[self._owner]
        index = inputs[self._index] if self._index >= 0 else self._constant_index
        if type(owner) is not np.ndarray or not _is_basic(index):
            raise Fallback
        try:
            target = owner[index]
        except (IndexError, TypeError, ValueError):
            raise Fallback from None
        if type(target) is not np.ndarray:
            raise Fallback
        return target

    def signature(self, inputs: tuple[object, ...], target: np.ndarray | None) -> tuple:
        """What a plan depends on: dtypes, shapes and strides of arrays, types of scalars; Fallback for others."""
        parts: list[object] = [part_of(inputs[position]) for position in self._computed]
        if target is not None:
            parts.append(part_of(target))
        return tuple(parts)


def _is_basic(index: object) -> bool:
    """Whether an index is sure to select a view and to run no code of the user's."""
    if type(index) is tuple:
        return all(map(_is_basic, index)) and not any(type(part) is tuple for part in index)
    if type(index) is slice:
        return all(type(end) in _END_TYPES for end in (index.start, index.stop, index.step))
    return type(index) in _INDEX_TYPES
