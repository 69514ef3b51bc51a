"""How many elements a region works on, told from its inputs without broadcasting them.

The size of one input stands for the region's, but for outer operations: of `x[:, None] - x` and `x.T - x` both operands
are small and the result is large. Which axes have extent one is read off the graph there.
"""

from __future__ import annotations

from collections.abc import Callable

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import UNKNOWN, ArrayType
from gjit.scheduler.movable import parts_of_index

_MOST_UNKNOWN = 2
Resolve = Callable[[Value], Value]


def leaders(inputs: list[Value]) -> list[Value]:
    """The inputs whose sizes stand for the region's: an array of the highest rank, or the first that may be one."""
    arrays = [value for value in inputs if isinstance(value.type, ArrayType)]
    if arrays:
        return [max(arrays, key=lambda value: -1 if value.type.rank is None else value.type.rank)]
    return [value for value in inputs if value.type == UNKNOWN and not isinstance(value, Constant)][:_MOST_UNKNOWN]


def outer_extents(leader: Value, inputs: list[Value], resolve: Resolve) -> list[tuple[Value, int]]:
    """The inputs and their axes whose extents multiply the size of the leader: those along which it has extent one.

    Args:
        leader: an array of the highest rank among the inputs.
        inputs: of the region.
        resolve: gives the value behind another name of it.
    """
    found = []
    for axis in sorted(_single_axes(leader, resolve)):
        for value in inputs:
            rank = value.type.rank if isinstance(value.type, ArrayType) else None
            if rank is not None and rank + axis >= 0 and axis not in _single_axes(value, resolve):
                found.append((value, rank + axis))
                break
    return found


def _single_axes(value: Value, resolve: Resolve) -> frozenset[int]:
    """The axes, counted from the last one, that surely have an extent of at most one."""
    maker = value.producer
    rank = value.type.rank if isinstance(value.type, ArrayType) else None
    if rank is None or not isinstance(maker, Node):
        return frozenset()
    if maker.op == "unpack":
        return frozenset(axis for axis in _single_axes(resolve(maker.inputs[0]), resolve) if axis >= -rank)
    if maker.op == "getattr" and maker.attributes.get("name") == "T":
        return frozenset(-1 - rank - axis for axis in _single_axes(resolve(maker.inputs[0]), resolve))
    return _single_axes_of_index(maker, rank) if maker.op == "getitem" else frozenset()


def _single_axes_of_index(maker: Node, rank: int) -> frozenset[int]:
    parts = parts_of_index(maker.inputs[1])
    if parts is None or not isinstance(maker.inputs[0].type, ArrayType):
        return frozenset()
    if not all(part is None or part is Ellipsis or isinstance(part, slice) for part in parts):
        return frozenset()
    start = parts.index(...) if ... in parts else len(parts)
    before = {place - rank for place, part in enumerate(parts[:start]) if _is_single(part)}
    after = {place - len(parts) for place, part in enumerate(parts) if place > start and _is_single(part)}
    return frozenset(before | after)


def _is_single(part: object) -> bool:
    if not isinstance(part, slice):
        return part is None
    begin, end = part.start or 0, part.stop
    return part.step in (None, 1) and type(begin) is type(end) is int and 0 <= begin == end - 1
