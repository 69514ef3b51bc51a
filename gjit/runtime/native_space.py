"""The iteration space of a kernel: as few axes as the strides of all arrays allow."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

from gjit.cuda_kernels.program import Access
from gjit.runtime.layout import Shape

Strides = tuple[int, ...]
"""In elements along each axis of the space; 0 where an array repeats."""


@dataclass(frozen=True, slots=True)
class Space:
    """Extents and strides of the arrays by name, the fastest axis last.

    apart       the distance between the elements of a short axis that is not looped over, by name
    reduced     how many axes the reductions of rows run along
    is_columns  these are not the last ones, but those before the last
    """

    extents: Shape
    strides: dict[str, Strides]
    apart: dict[str, int]
    reduced: int = 1
    is_columns: bool = False

    @property
    def rank(self) -> int:
        return len(self.extents)

    @property
    def size(self) -> int:
        return math.prod(self.extents)

    @property
    def rows(self) -> int:
        """How many rows there are to loop over from outside; of columns, rows of tiles."""
        return math.prod(self.extents[: self.rank - self.reduced - self.is_columns])

    @property
    def row_length(self) -> int:
        """How many elements are reduced to one."""
        return math.prod(self.extents[self.rank - self.reduced - self.is_columns : self.rank - self.is_columns])

    def access(self, name: str) -> Access:
        """How an array moves along the last axis."""
        step = self.strides[name][-1]
        if step == 1:
            return Access.CONTIGUOUS
        return Access.REPEATED if step == 0 else Access.STRIDED


def collapse(
    shape: Shape,
    strides: dict[str, Strides],
    *,
    is_reversed: bool = False,
    reduced: Iterable[int] = (),
    short: int | None = None,
) -> Space:
    """Join axes that all arrays walk as one, and leave out those of extent 1.

    Args:
        shape: of the space.
        strides: of each array.
        is_reversed: whether the first axis is the fastest.
        reduced: the axes that reductions of rows run along; they stay by themselves.
        short: the last axis, where it is not looped over.

    >>> collapse((4, 5, 6), {"x": (30, 6, 1), "y": (0, 6, 1)})
    Space(extents=(4, 30), strides={'x': (30, 1), 'y': (0, 1)}, apart={}, reduced=1, is_columns=False)
    >>> [collapse((4, 5, 6), {"x": (30, 6, 1)}, reduced=reduced).extents for reduced in ({0}, {2}, {1, 2})]
    [(4, 30), (20, 6), (4, 30)]
    """
    axes = [axis for axis in range(len(shape)) if shape[axis] > 1 and axis != short][:: -1 if is_reversed else 1]
    along = [axis for axis in axes if axis in set(reduced)]
    kept = _joined([axis for axis in axes if axis not in along], shape, strides)
    lines = _joined(along, shape, strides)
    is_columns = bool(along) and axes[-1] not in along
    groups = [*kept[:-1], *lines, *kept[-1:]] if is_columns else [*kept, *lines]
    found = {name: tuple(each[group[-1]] for group in groups) for name, each in strides.items()}
    extents = tuple(math.prod(shape[axis] for axis in group) for group in groups)
    if not extents or (along and not kept):
        extents = (1, *extents)
        found = {name: (0 if along else _last(strides[name]), *each) for name, each in found.items()}
    apart = {} if short is None else {name: each[short] for name, each in strides.items()}
    return Space(extents, found, apart, max(len(lines), 1), is_columns)


def _last(strides: Strides) -> int:
    """Along an extent of 1 every array counts as contiguous, or as repeated where it has no axes."""
    return 1 if strides else 0


def _joined(axes: list[int], shape: Shape, strides: dict[str, Strides]) -> list[list[int]]:
    groups: list[list[int]] = []
    for axis in axes:
        if groups and _joins(groups[-1][-1], axis, shape, strides):
            groups[-1].append(axis)
        else:
            groups.append([axis])
    return groups


def _joins(left: int, right: int, shape: Shape, strides: dict[str, Strides]) -> bool:
    return all(each[left] == each[right] * shape[right] for each in strides.values())
