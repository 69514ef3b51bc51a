"""Which temporaries of a region share memory: scratch is assigned by liveness, as a compiler assigns registers."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Request:
    """One temporary: it is made at step `first`, read for the last time at `last`, and takes `size` bytes.

    `replaces` are earlier requests whose memory it may take although they are read at the very step
    that makes it, since every element is read before it is written.
    """

    first: int
    last: int
    size: int
    replaces: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Assignment:
    """The block of each request, and the size of each block."""

    blocks: tuple[int, ...]
    sizes: tuple[int, ...]


def assign_scratch(requests: list[Request]) -> Assignment:
    """Give each request (in the order of `first`) a block that is free as long as it lives.

    >>> assign_scratch([Request(0, 1, 8), Request(1, 2, 8), Request(2, 3, 8)])
    Assignment(blocks=(0, 1, 0), sizes=(8, 8))
    >>> assign_scratch([Request(0, 1, 8), Request(1, 2, 8, replaces=(0,))])
    Assignment(blocks=(0, 0), sizes=(8,))
    """
    blocks: list[int] = []
    sizes: list[int] = []
    busy_until: list[int] = []
    for request in requests:
        block = _replaced(request, requests, blocks, busy_until)
        if block is None:
            free = [index for index, last in enumerate(busy_until) if last < request.first]
            block = _best(free, sizes, request.size)
        if block is None:
            block = len(sizes)
            sizes.append(0)
            busy_until.append(0)
        sizes[block] = max(sizes[block], request.size)
        busy_until[block] = request.last
        blocks.append(block)
    return Assignment(tuple(blocks), tuple(sizes))


def _replaced(request: Request, requests: list[Request], blocks: list[int], busy_until: list[int]) -> int | None:
    for index in request.replaces:
        if requests[index].last == request.first == busy_until[blocks[index]]:
            return blocks[index]
    return None


def _best(free: list[int], sizes: list[int], size: int) -> int | None:
    """The smallest free block that fits, else the largest, which then grows."""
    fitting = [block for block in free if sizes[block] >= size]
    if fitting:
        return min(fitting, key=lambda block: sizes[block])
    return max(free, key=lambda block: sizes[block], default=None)
