"""The emulated device for tests: with as much memory as a test gives it, and with faults on demand."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gjit import settings
from gjit.runtime.emulated.memory import Pool, faults, pool


@contextmanager
def emulated_device(
    *, memory: int | None = None, allocations: int | None = None, launches: int | None = None
) -> Iterator[Pool]:
    """Run compiled functions on the emulated device, for a `with` block; it works again afterwards.

    Args:
        memory: the bytes that its arrays may hold together.
        allocations: how many allocations succeed before one fails, and all after it; None: all.
        launches: how many kernels run before one is lost, and the device with it; None: all.

    Returns:
        The memory of the device: `used_bytes()` tells what arrays hold.

    >>> import numpy as np
    >>> from gjit import script
    >>> with emulated_device(memory=1000) as pool:
    ...     try:
    ...         script(lambda x: x * 2.0 + 1.0)(np.ones(1000))
    ...     except MemoryError:
    ...         print("too little")
    too little
    """
    limit = pool.limit
    pool.limit = limit if memory is None else memory
    faults.allocations, faults.launches = allocations, launches
    try:
        with settings.config(device="emulated"):
            yield pool
    finally:
        pool.limit = limit
        faults.reset()
