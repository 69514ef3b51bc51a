"""What the tests of devices share: an emulated device that works, and regions without a compiler."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from unittest import mock

import numpy as np

from gjit.errors import CompileError
from gjit.runtime import device_kernel
from gjit.runtime.compiler import find_compiler
from gjit.runtime.device import asarray, to_numpy
from gjit.runtime.emulated.memory import faults, pool

NAME = "emulated"
HAS_COMPILER = find_compiler() is not None


@contextlib.contextmanager
def without_kernels() -> Iterator[None]:
    """Regions run op by op on the device: no text is compiled."""

    def refuse(*arguments: object) -> None:
        raise CompileError("kernels are switched off")

    with mock.patch.object(device_kernel, "kernel_of", refuse):
        yield


@contextlib.contextmanager
def faulty(**values: int) -> Iterator[None]:
    """The device fails as `Faults` says, and works again afterwards."""
    for name, value in values.items():
        setattr(faults, name, value)
    try:
        yield
    finally:
        faults.reset()


def there(x) -> object:
    return asarray(np.asarray(x), NAME)


def used() -> int:
    return pool.used_bytes()


__all__ = ["HAS_COMPILER", "NAME", "faulty", "there", "to_numpy", "used", "without_kernels"]
