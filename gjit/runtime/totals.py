"""Sums in parts, with NumPy's own bits.

`numpy.add.reduce` over contiguous floats is a pairwise sum: it halves the range (the left half rounded down to a
multiple of 8) until at most 128 elements are left. The sum of a subtree is `add.reduce` of its range, so
parts that are subtrees may be summed apart and added along the tree.
"""

from __future__ import annotations

import numpy as np

Leaf = tuple[int, int]


def leaves_of(size: int, most: int) -> list[Leaf]:
    """The ranges of the subtrees with at most `most` elements (never fewer than 128), from left to right.

    >>> leaves_of(1000, 300)
    [(0, 248), (248, 496), (496, 744), (744, 1000)]
    """
    found: list[Leaf] = []
    stack = [(0, size)]
    while stack:
        start, stop = stack.pop()
        if stop - start <= max(most, 128):
            found.append((start, stop))
            continue
        middle = start + _left_half(stop - start)
        stack += [(middle, stop), (start, middle)]
    return found


def add_along_tree(parts: np.ndarray, leaves: list[Leaf]) -> np.generic:
    """The whole sum from the sums of the leaves.

    >>> values = np.random.default_rng(0).random(1000)
    >>> leaves = leaves_of(1000, 300)
    >>> parts = np.array([np.add.reduce(values[start:stop]) for start, stop in leaves])
    >>> bool(add_along_tree(parts, leaves) == values.sum())
    True
    """
    sums = {leaf: parts[index : index + 1] for index, leaf in enumerate(leaves)}

    def add(start: int, stop: int) -> np.ndarray:
        if (start, stop) in sums:
            return sums[start, stop]
        middle = start + _left_half(stop - start)
        return np.add(add(start, middle), add(middle, stop))

    return add(0, leaves[-1][1])[0]


def _left_half(size: int) -> int:
    half = size // 2
    return half - half % 8
