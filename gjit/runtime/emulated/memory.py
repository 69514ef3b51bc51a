"""Memory of the emulated device: one counted pool with a limit, and faults on demand."""

from __future__ import annotations

import threading
import weakref
from dataclasses import dataclass

import numpy as np

GRAIN = 512
"""Blocks have a multiple of so many bytes, as in CuPy's pool."""
ALIGNMENT = 256
JUNK = 0xCB
"""What fresh memory is filled with."""
_FILLED = 1 << 22


class DeviceFault(RuntimeError):
    """What the device reports when a kernel fails; every later use of the device reports it again."""


class OutOfMemoryError(MemoryError):
    """The pool has no room left."""


@dataclass(slots=True)
class Faults:
    """What goes wrong, and when: counts go down with each allocation or launch, and at 0 it happens; None: never.

    allocations  how many allocations succeed before one fails
    launches     how many launches succeed before one is lost
    is_lost      whether a launch has been lost: everything fails until `reset`
    """

    allocations: int | None = None
    launches: int | None = None
    is_lost: bool = False

    def reset(self) -> None:
        """A device that works."""
        self.allocations = self.launches = None
        self.is_lost = False


class Pool:
    """The memory of all emulated devices; thread-safe."""

    def __init__(self, limit: int = 1 << 34):
        self.limit = limit
        self.allocations = 0
        self._used = 0
        self._lock = threading.RLock()  # an array may be freed by the collector while the lock is held

    def used_bytes(self) -> int:
        """Bytes that arrays hold."""
        return self._used

    def take(self, size: int) -> np.ndarray:
        """A block of at least so many bytes; they are given back when the array and all its views are gone.

        Raises:
            OutOfMemoryError: the limit, or a fault that was asked for.
        """
        check_alive()
        rounded = -(-max(size, 1) // GRAIN) * GRAIN
        with self._lock:
            self.allocations += 1
            if self._fails() or self._used + rounded > self.limit:
                raise OutOfMemoryError(
                    f"Out of memory allocating {rounded:,} bytes (allocated so far: {self._used:,} bytes, "
                    f"limit set to: {self.limit:,} bytes)."
                )
            self._used += rounded
        block = np.empty(rounded + ALIGNMENT, np.uint8)
        weakref.finalize(block, self._give, rounded).atexit = False
        start = -block.ctypes.data % ALIGNMENT
        memory = block[start : start + rounded]
        memory[:_FILLED] = JUNK
        return memory

    def _fails(self) -> bool:
        if faults.allocations is None:
            return False
        faults.allocations -= 1
        return faults.allocations < 0

    def _give(self, size: int) -> None:
        with self._lock:
            self._used -= size


def check_alive() -> None:
    """Raise DeviceFault where a launch has been lost."""
    if faults.is_lost:
        raise DeviceFault("an illegal memory access was encountered")


def begin_launch() -> None:
    """Count a launch, which may be the one that is lost."""
    check_alive()
    if faults.launches is not None:
        faults.launches -= 1
        if faults.launches < 0:
            faults.is_lost = True


faults = Faults()
pool = Pool()
