"""Deep copies of arguments in which arrays keep their layout and go on sharing memory.

`copy.deepcopy` makes every array a contiguous one of its own. Here arrays that share memory become views of one copied
buffer, with the same strides, alignment, byte order and flags.
"""

from __future__ import annotations

import copy
import types
from collections import deque
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from gjit.testing.comparison import state

_CACHE_LINE = 64


def copy_arguments(roots: tuple) -> tuple:
    """An equal copy of `roots`, a tuple of any objects.

    Modules and compiled functions (and everything else with `__wrapped__`) stay the same objects, as plain
    functions do.

    Raises:
        TypeError: an object that cannot be copied (a running generator, an open file).

    >>> base = np.arange(4.0)
    >>> copied, view = copy_arguments((base, base[::-1]))
    >>> copied[0] = 9.0
    >>> view
    array([3., 2., 1., 9.])
    """
    arrays, kept = _reachable(roots)
    memo: dict[int, Any] = {id(value): value for value in kept}
    for group in _sharing_groups(arrays):
        _copy_group(group, memo)
    for array in arrays:
        if array.dtype == object:
            _copy_elements(array, memo)
    copied = copy.deepcopy(roots, memo)
    for array in arrays:
        if not array.flags.writeable:
            memo[id(array)].flags.writeable = False
    return copied


def _reachable(roots: tuple) -> tuple[list[np.ndarray], list[object]]:
    """Every plain array under `roots` with the arrays that they are views of, and what is not to be copied."""
    seen: dict[int, object] = {}
    waiting: deque[object] = deque([roots])
    while waiting:
        value = waiting.popleft()
        if id(value) not in seen:
            seen[id(value)] = value
            waiting.extend(_children(value))
    values = list(seen.values())
    kept = [value for value in values if _is_kept(value)]
    return [value for value in values if type(value) is np.ndarray and not _is_opaque(value)], kept


def _children(value: object) -> list[object]:
    if type(value) is np.ndarray:
        elements = list(value.flat) if value.dtype == object else []
        return [*elements, _owner(value)]
    if isinstance(value, dict):
        return [*value.keys(), *value.values(), *_attributes(value)]
    if isinstance(value, (list, tuple, set, frozenset, deque)):
        return [*value, *_attributes(value)]
    return _attributes(value)


def _attributes(value: object) -> list[object]:
    if isinstance(value, type) or _is_kept(value):
        return []
    return list(state(value).values())


def _is_kept(value: object) -> bool:
    return isinstance(value, types.ModuleType) or (callable(value) and hasattr(value, "__wrapped__"))


def _owner(array: np.ndarray) -> object:
    """The last array in the chain of bases; helpers that only carry an array interface are passed through."""
    owner, base = array, array.base
    while base is not None:
        if type(base) is np.ndarray:
            owner = base
        base = getattr(base, "base", None)
    return owner


def _is_opaque(array: np.ndarray) -> bool:
    """Records that hold objects are left to `copy.deepcopy`."""
    return array.dtype.hasobject and array.dtype != object


def _sharing_groups(arrays: list[np.ndarray]) -> list[list[np.ndarray]]:
    """The arrays, grouped by the stretches of memory that they cover together."""
    groups: list[list[np.ndarray]] = []
    end = -1
    for array in sorted((array for array in arrays if array.size), key=_bounds):
        start, stop = _bounds(array)
        if not groups or start >= end:
            groups.append([])
        groups[-1].append(array)
        end = max(end, stop)
    return groups + [[array] for array in arrays if not array.size]


def _bounds(array: np.ndarray) -> tuple[int, int]:
    return byte_bounds(array) if array.size else (array.__array_interface__["data"][0],) * 2


def _copy_group(group: list[np.ndarray], memo: dict[int, Any]) -> None:
    """Copy the memory under a group once and lay every array of the group out in it."""
    start = min(_bounds(array)[0] for array in group)
    stop = max(_bounds(array)[1] for array in group)
    owner = next((array for array in group if array.flags.owndata and _bounds(array) == (start, stop)), None)
    if owner is not None and owner.copy(order="K").strides != owner.strides:
        owner = None
    copied = _copy_memory(start, stop, group[0].dtype == object) if owner is None else owner.copy(order="K")
    for array in group:
        if array is owner:
            memo[id(array)] = copied
        else:
            offset = array.__array_interface__["data"][0] - start if array.size else 0
            memo[id(array)] = np.ndarray(array.shape, array.dtype, copied, offset, array.strides)


def _copy_memory(start: int, stop: int, holds_objects: bool) -> np.ndarray:
    """The bytes (or object references) from `start` to `stop`, at an address of the same alignment."""
    if holds_objects:
        return np.empty((stop - start) // np.dtype(object).itemsize or 1, object)
    room = np.empty(stop - start + _CACHE_LINE, np.uint8)
    shift = (start - room.__array_interface__["data"][0]) % _CACHE_LINE
    memory = room[shift : shift + max(stop - start, 1)]
    if stop > start:
        memory[:] = np.asarray(_Memory(start, stop))
    return memory


class _Memory:
    """Raw memory as an array of bytes, through NumPy's array interface."""

    def __init__(self, start: int, stop: int):
        self.__array_interface__ = {"data": (start, True), "shape": (stop - start,), "typestr": "|u1", "version": 3}


def _copy_elements(array: np.ndarray, memo: dict[int, Any]) -> None:
    """Put copies of the elements into the copy of an object array."""
    copied = memo[id(array)]
    for index in np.ndindex(array.shape):
        copied[index] = copy.deepcopy(array[index], memo)
