"""Devices: what there is, what a name means, and whose an array is.

CuPy is imported when a GPU is first used, never to find out that there is none.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import os
import sys
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from gjit import settings
from gjit.errors import DeviceError
from gjit.runtime.device_arguments import Arguments


class Device(Protocol):
    """One device that runs regions.

    name        `cuda:0`, `emulated:0`
    functions   its NumPy: the module `cupy`, or what stands in for it
    array_type  the class of its arrays
    index       its number
    is_numpy    whether an op on it gives NumPy's bits and layouts
    shared_bytes  how much memory the threads of a block can share
    """

    name: str
    functions: Any
    array_type: type
    index: int
    is_numpy: bool
    shared_bytes: int

    def bytes(self, size: int) -> Any:
        """Fresh memory: an array of `uint8`, aligned to 256 bytes."""

    def empty(self, shape: tuple[int, ...], dtype: np.dtype, order: str) -> Any:
        """A fresh array."""

    def view(self, memory: Any, offset: int, like: np.ndarray) -> Any:
        """An array in memory that `bytes` gave, with the shape, dtype and strides of a NumPy array."""

    def upload(self, source: np.ndarray, memory: Any) -> None:
        """Copy bytes from the host."""

    def download(self, array: Any, target: np.ndarray) -> None:
        """Copy an array to a NumPy array of the same shape and dtype, and wait for it."""

    def address(self, array: Any) -> int:
        """Where the first element lies."""

    def launcher(self, source: str, name: str, arguments: Arguments) -> Callable[..., None]:
        """What launches a kernel: called with the shape of the launch and the values of the arguments."""

    def shadow(self, array: Any) -> np.ndarray:
        """A NumPy array with the shape, strides and address of an array; nobody may look at its elements."""

    def ticket(self) -> int:
        """The address of a counter that is 0 between launches of the current stream."""

    def describe(self) -> str:
        """What it is, in a line."""

    def active(self) -> Any:
        """A context in which it is the device of the thread."""

    def synchronize(self) -> None:
        """Wait for all its work."""

    def free_memory(self) -> None:
        """Give back memory that is kept for later."""

    def failure(self, error: BaseException) -> BaseException | None:
        """What an error of the device means: MemoryError, DeviceError or DeviceLostError; None for other errors."""


_MODULES = {"cuda": "gjit.runtime.cuda", "emulated": "gjit.runtime.emulated.backend"}
FREEST = "cuda:free"
"""The GPU with the most free memory."""
_array_types: dict[type, Callable[[Any], Device]] = {}


def parse_name(name: str) -> tuple[str, int | None]:
    """Kind and number of a device.

    >>> parse_name("cuda:1"), parse_name("emulated")
    (('cuda', 1), ('emulated', None))
    """
    kind, _, number = name.partition(":")
    return kind, int(number) if number.isdigit() else None


@functools.cache
def device_named(name: str) -> Device:
    """The device `cuda`, `cuda:1`, `emulated`, ...

    Raises:
        DeviceError: there is no such device.
        ImportError: there may be a GPU, but not the packages that it needs.
    """
    kind, index = parse_name(name)
    if kind == "cuda" and not may_have_gpu():
        raise DeviceError(
            f"the device {name!r}: this machine has no GPU that CUDA can use; set GJIT_DEVICE=cpu or auto"
        )
    module = importlib.import_module(_MODULES[kind])
    device = module.freest_device() if name == FREEST else module.open_device(index)
    _array_types.setdefault(device.array_type, module.device_of)
    return device


def may_have_gpu() -> bool:
    """Whether CUDA's driver is installed and devices are not hidden; says nothing of whether a device works."""
    if os.environ.get("CUDA_VISIBLE_DEVICES") in ("", "-1", "NoDevFiles"):
        return False
    return _has_driver()


@functools.cache
def _has_driver() -> bool:
    try:
        ctypes.CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return False
    return True


@functools.cache
def has_gpu() -> bool:
    """Whether a GPU works; said in the log, once, where a driver is there and no device."""
    if not may_have_gpu():
        return False
    try:
        device_named("cuda")
    except (DeviceError, ImportError) as error:
        settings.log(30, "programs run on the CPU: %s", error)
        return False
    return True


def accelerator() -> str | None:
    """The device that `auto` may choose for NumPy arrays: a GPU, where one works."""
    return "cuda" if has_gpu() else None


def device_of(value: object) -> Device | None:
    """The device that an array lies on; None for everything else."""
    kind = type(value)
    find = _array_types.get(kind)
    if find is None and kind.__module__.startswith("cupy") and kind.__name__ == "ndarray":
        device_named("cuda")
        find = _array_types.get(kind)
    return None if find is None else find(value)


def is_foreign(value: object) -> bool:
    """Whether a value is an array of another library that lies on a GPU."""
    kind = type(value)
    if kind is np.ndarray or kind in _array_types or kind.__module__ in ("builtins", "numpy"):
        return False
    if hasattr(kind, "__cuda_array_interface__"):
        return not kind.__module__.startswith("cupy") and hasattr(value, "__cuda_array_interface__")
    find = getattr(kind, "__dlpack_device__", None)
    return find is not None and not isinstance(value, np.ndarray) and int(find(value)[0]) == _DLPACK_CUDA


_DLPACK_CUDA = 2


def adopted(value: Any) -> Any:
    """An array of another library as an array of the device that it lies on, without a copy; others as they are."""
    if not is_foreign(value):
        return value
    functions = device_named("cuda").functions
    if hasattr(type(value), "__cuda_array_interface__"):
        return functions.asarray(value)
    return functions.from_dlpack(value)


def chosen_device(chosen: str | None, *, lasting: bool = False) -> str:
    """The name of the device that NumPy arrays go to.

    Args:
        chosen: by the decorator, if it says so.
        lasting: leave out what a `with` block of this thread says.
    """
    return str((settings.lasting if lasting else settings.get)("device", chosen))


class device:  # noqa: N801 - called like a function
    """Say where compiled functions run, for a `with` block, in this thread and task alone.

    NumPy arrays go to the device and come back; arrays that lie on a device already stay there.

    Args:
        name: `auto`, `cpu`, `cuda`, `cuda:1`, `emulated`.

    Raises:
        ValueError: a name that no device has.

    >>> with device("emulated"):
    ...     settings.get("device")
    'emulated'
    """

    def __init__(self, name: str):
        self.name = str(settings.checked("device", name))

    def __enter__(self) -> device:
        self._config = settings.config(device=self.name).__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        self._config.__exit__(*exception)

    def __repr__(self) -> str:
        return f"gjit.device({self.name!r})"


def devices() -> list[str]:
    """The names of the devices of this machine that programs can run on, `cpu` first.

    >>> devices()[0]
    'cpu'
    """
    found = ["cpu"]
    if has_gpu():
        count = importlib.import_module(_MODULES["cuda"]).device_count()
        found += [f"cuda:{index}" for index in range(count)]
    return [*found, "emulated"]


def asarray(x: Any, device: str | None = None) -> Any:
    """An array on a device: the same object where it lies there already, a copy otherwise.

    Args:
        x: a NumPy array, a device array, or whatever `numpy.asarray` takes.
        device: by default that of the innermost `with gjit.device(...)`, else of GJIT_DEVICE; on `cpu`, or on `auto`
            without a GPU, a NumPy array comes back.

    Raises:
        DeviceError: there is no such device.

    >>> type(asarray([1.0, 2.0], device="cpu")).__name__
    'ndarray'
    """
    name = str(settings.checked("device", device)) if device is not None else chosen_device(None)
    x = adopted(x)
    if name == "auto":
        name = "cuda" if has_gpu() else "cpu"
    if name == "cpu":
        return to_numpy(x)
    target = device_named(name)
    there = device_of(x)
    if there is not None:
        if there is target:
            return x
        x = to_numpy(x)
    with target.active():
        return target.functions.asarray(np.asarray(x))


def to_numpy(x: Any) -> np.ndarray:
    """A NumPy array with the elements of a device array; what is no device array goes through `numpy.asarray`.

    >>> to_numpy([1, 2])
    array([1, 2])
    """
    x = adopted(x)
    there = device_of(x)
    if there is None:
        return np.asarray(x)
    with there.active():
        return x.get()


def synchronize(device: str | None = None) -> None:
    """Wait until a device has done all its work; the CPU has nothing to wait for.

    Args:
        device: its name; by default every device that has been used.

    Raises:
        DeviceLostError: a kernel has failed.
    """
    if device is not None:
        name = str(settings.checked("device", device))
        opened = [] if name in ("auto", "cpu") else [device_named(name)]
    else:
        opened = list(_opened.values())
    for each in opened:
        try:
            each.synchronize()
        except Exception as error:
            failure = each.failure(error)
            if failure is None:
                raise
            raise failure from error


_opened: dict[str, Device] = {}


def remember(opened: Device) -> Device:
    """Note a device that has been opened; there is one object for each."""
    return _opened.setdefault(opened.name, opened)


def opened_device(name: str) -> Device | None:
    """The device of this full name, if it has been opened."""
    return _opened.get(name)
