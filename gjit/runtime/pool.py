"""Scratch memory that stays warm between calls: fresh pages cost more than the arithmetic done in them."""

from __future__ import annotations

import os
from collections import defaultdict

import numpy as np

ALIGNMENT = 64
KEPT_BYTES = 64 << 20
"""How much free scratch a process keeps."""
_GRAIN = 64 << 10


class ScratchPool:
    """Blocks of bytes, taken and given back; lists give and take in one step, so threads need no lock.

    >>> pool = ScratchPool()
    >>> block = pool.take(1000)
    >>> pool.give(block)
    >>> pool.take(900) is block
    True
    >>> pool.give(block.view(float).base)
    >>> pool.take(1000).nbytes == block.nbytes, pool.kept()
    (True, 0)
    """

    def __init__(self, kept_bytes: int = KEPT_BYTES):
        self._free: defaultdict[int, list[np.ndarray]] = defaultdict(list)
        self._kept_bytes = kept_bytes

    def take(self, size: int) -> np.ndarray:
        """A block of at least `size` bytes (uint8, aligned to 64 bytes) with any contents."""
        size = -(-size // _GRAIN) * _GRAIN
        try:
            return self._free[size].pop()
        except IndexError:
            return _aligned(np.empty(size + ALIGNMENT, np.uint8))

    def give(self, block: np.ndarray) -> None:
        """Give a block back that nobody looks at any more, or the array that owns its memory."""
        if block.nbytes % _GRAIN:
            block = _aligned(block)
        if self.kept() + block.nbytes <= self._kept_bytes:
            self._free[block.nbytes].append(block)

    def kept(self) -> int:
        """How many bytes are free and kept."""
        return sum(size * len(blocks) for size, blocks in list(self._free.items()))

    def clear(self) -> None:
        """Let go of all that is free."""
        self._free.clear()


def _aligned(owner: np.ndarray) -> np.ndarray:
    """The part of an owner of memory that a block is."""
    offset = -owner.ctypes.data % ALIGNMENT
    return owner[offset : offset + owner.nbytes - ALIGNMENT]


scratch = ScratchPool()
os.register_at_fork(after_in_child=scratch.clear)
