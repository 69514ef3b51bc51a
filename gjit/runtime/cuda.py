"""A GPU through CuPy: memory, copies, launches, what its errors mean."""

from __future__ import annotations

import contextlib
import functools
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from gjit.cuda_kernels.device_shapes import LaunchShape
from gjit.errors import CompileError, DeviceError, DeviceLostError, require
from gjit.runtime import gpu_facts
from gjit.runtime.device import opened_device, remember
from gjit.runtime.device_arguments import Arguments
from gjit.runtime.nvrtc import DeviceCompiler
from gjit.runtime.residency import array_at

_LASTING = frozenset({214, 220, 700, 701, 702, 709, 710, 714, 715, 716, 717, 718, 719, 720, 999})
"""Errors after which the process cannot use the device any more: illegal addresses, failed launches."""
_STATIC_SHARED = 48 << 10
"""A kernel that is given more shared memory has to say so."""


@functools.cache
def _cupy() -> Any:
    return require("cupy", extra="cuda")


class CudaDevice:
    """One GPU; see `gjit.runtime.device.Device`."""

    is_numpy = False

    def __init__(self, index: int):
        cupy = _cupy()
        self.index, self.name = index, f"cuda:{index}"
        self.functions, self.array_type = cupy, cupy.ndarray
        self._device = cupy.cuda.Device(index)
        self._current = cupy.cuda.runtime.getDevice
        self._stream = cupy.cuda.get_current_stream
        self._tickets: dict[int, Any] = {}
        self.compiler = DeviceCompiler(self._device.compute_capability)
        self.shared_bytes = int(self._device.attributes.get("MaxSharedMemoryPerBlockOptin", _STATIC_SHARED))

    def bytes(self, size: int) -> Any:
        return self.functions.empty(max(size, 1), np.uint8)

    def empty(self, shape: tuple[int, ...], dtype: np.dtype, order: str) -> Any:
        return self.functions.empty(shape, dtype, order)

    def view(self, memory: Any, offset: int, like: np.ndarray) -> Any:
        return self.array_type(like.shape, like.dtype, memory.data + offset, like.strides)

    def shadow(self, array: Any) -> np.ndarray:
        return array_at(array.data.ptr, array.shape, array.strides, array.dtype)

    def upload(self, source: np.ndarray, memory: Any) -> None:
        memory.set(source)

    def download(self, array: Any, target: np.ndarray) -> None:
        array.get(out=target)

    def address(self, array: Any) -> int:
        return array.data.ptr

    def launcher(self, source: str, name: str, arguments: Arguments) -> Callable[..., None]:
        cubin, _ = self.compiler.compiled(source)
        return _Launcher(self, cubin, name, arguments)

    def ticket(self) -> int:
        stream = self._stream().ptr
        word = self._tickets.get(stream)
        if word is None:
            word = self._tickets[stream] = self.functions.zeros(1, np.uint32)
        return word.data.ptr

    def active(self) -> contextlib.AbstractContextManager[Any]:
        return contextlib.nullcontext() if self._current() == self.index else self.functions.cuda.Device(self.index)

    def synchronize(self) -> None:
        with self.active():
            self._device.synchronize()

    def free_memory(self) -> None:
        self.functions.get_default_memory_pool().free_all_blocks()

    def failure(self, error: BaseException) -> BaseException | None:
        cupy = self.functions
        if isinstance(error, cupy.cuda.memory.OutOfMemoryError):
            return MemoryError(f"{self.name}: {error}")
        if not isinstance(error, cupy.cuda.runtime.CUDARuntimeError | cupy.cuda.driver.CUDADriverError):
            return None
        if getattr(error, "status", None) in _LASTING:
            return DeviceLostError(f"{self.name}: {error}; only a new process can use it again")
        return DeviceError(f"{self.name}: {error}")

    def describe(self) -> str:
        """Its name, memory and compute capability."""
        properties = self.functions.cuda.runtime.getDeviceProperties(self.index)
        gigabytes = properties["totalGlobalMem"] / 2**30
        capability = f"{properties['major']}.{properties['minor']}"
        return f"{properties['name'].decode()}, {gigabytes:.0f} GiB, compute capability {capability}"

    @property
    def bus(self) -> str:
        """The PCI address, by which NVIDIA's management library knows the device."""
        return self.functions.cuda.runtime.deviceGetPCIBusId(self.index)


class _Launcher:
    """Launches one kernel on the current stream. The arguments of a thread lie in one buffer, whose addresses CuPy is
    given once; the driver copies what is there at each launch."""

    def __init__(self, device: CudaDevice, cubin: bytes, name: str, arguments: Arguments):
        self._device, self._arguments = device, arguments
        self._raw = _loaded(device, cubin, name)
        self._function = self._raw.kernel
        self._local = threading.local()
        self._shared = _STATIC_SHARED

    def __call__(self, shape: LaunchShape, *values: object) -> None:
        try:
            pointers = self._local.pointers
        except AttributeError:
            pointer = require("cupy.cuda.function", extra="cuda").CPointer
            pointers = self._local.pointers = tuple(map(pointer, self._arguments.buffer[1]))
        self._arguments.fill(values)
        if shape.shared > self._shared:
            self._raw.max_dynamic_shared_size_bytes = self._shared = shape.shared
        self._function(shape.grid, shape.block, pointers, shape.shared)


def _loaded(device: CudaDevice, cubin: bytes, name: str) -> Any:
    """The kernel of a module that is loaded from a file of its own."""
    with tempfile.TemporaryDirectory(prefix="gjit-") as folder, device.active():
        path = Path(folder, "unit.cubin")
        path.write_bytes(cubin)
        try:
            kernel = device.functions.RawModule(path=str(path)).get_function(name)
            kernel.compile()
        except device.functions.cuda.driver.CUDADriverError as error:
            raise CompileError(f"{device.name} does not load a kernel: {error}") from None
    return kernel


def open_device(index: int | None) -> CudaDevice:
    """The GPU of this number; by default the one that CuPy uses.

    Raises:
        DeviceError: there is none that works.
    """
    cupy = _cupy()
    if not cupy.cuda.is_available():
        raise DeviceError("CUDA finds no device that works; set GJIT_DEVICE=cpu or auto")
    number = cupy.cuda.runtime.getDevice() if index is None else index
    if number >= device_count():
        raise DeviceError(f"the device 'cuda:{number}': there are {device_count()} GPUs")
    return opened_device(f"cuda:{number}") or remember(CudaDevice(number))  # type: ignore[return-value]


def freest_device() -> CudaDevice:
    """The GPU with the most free memory that no other process uses, as far as NVIDIA's management library tells."""
    found = [open_device(index) for index in range(device_count())]
    return found[gpu_facts.freest([each.bus for each in found])]


def device_of(array: Any) -> CudaDevice:
    """The GPU that an array lies on."""
    return open_device(array.device.id)


def device_count() -> int:
    """How many GPUs there are."""
    return _cupy().cuda.runtime.getDeviceCount()
