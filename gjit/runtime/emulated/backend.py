"""The emulated device as the runtime sees it."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.cuda_kernels.device_shapes import LaunchShape
from gjit.errors import DeviceError, DeviceLostError
from gjit.runtime.device import opened_device, remember
from gjit.runtime.device_arguments import Arguments
from gjit.runtime.emulated.array import EmulatedArray, allocated
from gjit.runtime.emulated.functions import Library
from gjit.runtime.emulated.memory import DeviceFault, OutOfMemoryError, begin_launch, check_alive
from gjit.runtime.emulated_device import emulated_unit

COUNT = 4
"""How many emulated devices there are."""


class EmulatedDevice:
    """One emulated device; see `gjit.runtime.device.Device`."""

    array_type = EmulatedArray
    is_numpy = True
    shared_bytes = 48 << 10

    def __init__(self, index: int):
        self.index = index
        self.name = f"emulated:{index}"
        self.functions = Library(index)

    def bytes(self, size: int) -> EmulatedArray:
        return allocated((size,), np.uint8, self.index)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype, order: str) -> EmulatedArray:
        return self.functions.empty(shape, dtype, order)

    def view(self, memory: EmulatedArray, offset: int, like: np.ndarray) -> EmulatedArray:
        cells = np.ndarray(like.shape, like.dtype, memory.cells, offset, like.strides)
        return EmulatedArray(cells, self.index)

    def shadow(self, array: EmulatedArray) -> np.ndarray:
        return array.cells

    def upload(self, source: np.ndarray, memory: EmulatedArray) -> None:
        memory.set(source)

    def download(self, array: EmulatedArray, target: np.ndarray) -> None:
        array.get(out=target)

    def address(self, array: EmulatedArray) -> int:
        return array.cells.__array_interface__["data"][0]

    def launcher(self, source: str, name: str, arguments: Arguments) -> Callable[..., None]:
        unit = emulated_unit(source)

        def launch(shape: LaunchShape, *values: object) -> None:
            begin_launch()
            addresses = arguments.fill(values)
            unit.launch(name, shape.grid, shape.block, shape.shared, addresses)
            check_alive()

        return launch

    def ticket(self) -> int:
        """The address of a counter that is 0 between launches."""
        return _ticket.ctypes.data

    def active(self) -> contextlib.AbstractContextManager[None]:
        return contextlib.nullcontext()

    def synchronize(self) -> None:
        check_alive()

    def free_memory(self) -> None:
        """Nothing is kept."""

    def failure(self, error: BaseException) -> BaseException | None:
        if isinstance(error, OutOfMemoryError):
            return MemoryError(f"{self.name}: {error}")
        if isinstance(error, DeviceFault):
            return DeviceLostError(f"{self.name}: {error}; only a new process can use it again")
        return None

    def describe(self) -> str:
        """What it is, in a line."""
        return "arrays in host memory; CUDA kernels run on the CPU"


_ticket = np.zeros(1, np.uint32)


def open_device(index: int | None) -> EmulatedDevice:
    """The emulated device of this number, 0 by default; DeviceError where there are less."""
    number = index or 0
    if number >= COUNT:
        raise DeviceError(f"the device 'emulated:{number}': there are {COUNT} emulated devices")
    return opened_device(f"emulated:{number}") or remember(EmulatedDevice(number))  # type: ignore[return-value]


def device_of(array: Any) -> EmulatedDevice:
    """The device that an array lies on."""
    return open_device(array.place)


def device_count() -> int:
    """How many emulated devices there are."""
    return COUNT
