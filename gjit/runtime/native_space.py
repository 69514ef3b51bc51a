"""The iteration space of a kernel: as few axes as the strides of all arrays allow."""

from __future__ import annotations

import math
from dataclasses import dataclass

from gjit.cuda_kernels.program import Access
from gjit.runtime.layout import Shape

Strides = tuple[int, ...]
"""In elements along each axis of the space; 0 where an array repeats."""


@dataclass(frozen=True, slots=True)
class Space:
    """Extents and strides of the arrays by name, the fastest axis last."""

    extents: Shape
    strides: dict[str, Strides]

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def size(self) -> int:
        return math.prod(self.extents)

    @property
    def rows(self) -> int:
        return math.prod(self.extents[:-1])

    def access(self, name: str) -> Access:
        """How an array moves along the last axis."""
        step = self.strides[name][-1]
        if step == 1:
            return Access.CONTIGUOUS
        return Access.REPEATED if step == 0 else Access.STRIDED

    @classmethod
    def collapse(cls, shape: Shape, strides: dict[str, Strides], is_reversed: bool, keeps_rows: bool) -> Space:
        """Join axes that all arrays walk as one, and leave out those of extent 1.

        Args:
            shape: of the space.
            strides: of each array.
            is_reversed: whether the first axis is the fastest.
            keeps_rows: whether the last axis stays by itself, behind at least one other.

        >>> Space.collapse((4, 5, 6), {"x": (30, 6, 1), "y": (0, 6, 1)}, is_reversed=False, keeps_rows=False)
        Space(extents=(4, 30), strides={'x': (30, 1), 'y': (0, 1)})
        """
        axes = range(len(shape))[:: -1 if is_reversed else 1]
        inner = [axes[-1]] if keeps_rows else []
        outer = [axis for axis in axes if axis not in inner and shape[axis] > 1]
        groups: list[list[int]] = []
        for axis in outer:
            if groups and _joins(groups[-1][-1], axis, shape, strides):
                groups[-1].append(axis)
            else:
                groups.append([axis])
        found = {name: tuple(each[group[-1]] for group in groups) for name, each in strides.items()}
        extents = tuple(math.prod(shape[axis] for axis in group) for group in groups)
        if inner or not extents:
            extents, found = _with_last(extents, found, shape[axes[-1]], strides, axes[-1])
        if keeps_rows and len(extents) < 2:
            extents, found = (1, *extents), {name: (0, *each) for name, each in found.items()}
        return cls(extents, found)


def _joins(left: int, right: int, shape: Shape, strides: dict[str, Strides]) -> bool:
    return all(each[left] == each[right] * shape[right] for each in strides.values())


def _with_last(extents: Shape, found: dict[str, Strides], extent: int, strides: dict[str, Strides], axis: int):
    """The last axis as it is; along an extent of 1 every array that is not of whole rows counts as contiguous."""
    return (*extents, extent), {name: (*each, strides[name][axis]) for name, each in found.items()}
