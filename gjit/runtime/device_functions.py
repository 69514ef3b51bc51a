"""NumPy's functions in a program on device arrays: on the device where it has them, else on the host and back."""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gjit.ir.capturable import is_ignored
from gjit.ops.names import name_of
from gjit.ops.row import Kind, table
from gjit.runtime.device import Device, device_of
from gjit.runtime.statistics import Statistics
from gjit.scheduler.host_program import HostProgram

_MADE_OF_DATA = frozenset({"numpy.array", "numpy.asarray", "numpy.asanyarray", "numpy.copy"})


def rebound(device: Device, statistics: Statistics, program: HostProgram, bindings: dict[str, object]) -> None:
    """Replace, in the bindings of a host program, NumPy's functions and the way to code that runs on the host."""
    for name, value in program.bindings.items():
        known = name_of(value) if callable(value) and not isinstance(value, type) else None
        if known is not None and known.startswith("numpy.") and not _is_ufunc_of(device, value):
            bindings[name] = DeviceFunction(known, value, device, statistics)
    for name, helper in program.helpers.items():
        if helper == "scripted":
            bindings[name] = _hosting(device, statistics, bindings[name])


def _is_ufunc_of(device: Device, value: object) -> bool:
    return isinstance(value, np.ufunc) and hasattr(device.functions, value.__name__)


class DeviceFunction:
    """One function of NumPy, called with device arrays or with what arrays are made of.

    Results of the host are copied to the device: arrays that a program makes follow its arguments.
    """

    def __init__(self, name: str, function: Any, device: Device, statistics: Statistics):
        self.name, self.function = name, function
        self.device, self.statistics = device, statistics
        self.there = _attribute(device.functions, name.removeprefix("numpy."))
        row = table.get(name)
        self.makes = row is not None and row.kind is Kind.CREATE
        self.__name__ = getattr(function, "__name__", name)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.function, name)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        is_there = any(True for _ in arrays_in((arguments, keywords), self.device.array_type))
        is_random = self.name.startswith("numpy.random.")
        if not is_there and not is_random and (not self.makes or _has_host_array(self.name, arguments)):
            return self.function(*arguments, **keywords)
        if self.there is None or is_random:
            return on_host(self.function, self.device, self.statistics, arguments, keywords)
        try:
            return self.there(*arguments, **keywords)
        except NotImplementedError:
            pass
        except TypeError as error:
            if "unexpected keyword argument" not in str(error):
                raise
        return on_host(self.function, self.device, self.statistics, arguments, keywords)


def _attribute(module: Any, path: str) -> Any:
    for name in path.split("."):
        module = getattr(module, name, None)
        if module is None:
            return None
    return module


def _has_host_array(name: str, arguments: tuple) -> bool:
    """Whether a function is asked to keep an array where it is."""
    is_host = any(isinstance(value, np.ndarray) for value in arguments)
    return is_host and name not in _MADE_OF_DATA


def arrays_in(value: Any, kind: type) -> Iterator[Any]:
    """The device arrays among arguments, and in lists and tuples of them."""
    if type(value) is kind:
        yield value
    elif type(value) in (tuple, list):
        for part in value:
            yield from arrays_in(part, kind)
    elif type(value) is dict:
        for part in value.values():
            yield from arrays_in(part, kind)


def on_host(
    function: Callable, device: Device, statistics: Statistics, arguments: tuple, keywords: dict[str, Any]
) -> Any:
    """A call with NumPy arrays in the place of device arrays; what it writes into them is copied back, and arrays that
    it gives are copied to the device."""
    moved: dict[int, tuple[Any, np.ndarray]] = {}

    def count(size: int) -> None:
        statistics.transfers += 1
        statistics.bytes_moved += size

    def to_host(value: Any) -> Any:
        if type(value) is device.array_type:
            if id(value) not in moved:
                moved[id(value)] = value, value.get()
                count(value.nbytes)
            return moved[id(value)][1]
        if type(value) in (tuple, list):
            return type(value)(map(to_host, value))
        if type(value) is dict:
            return {key: to_host(part) for key, part in value.items()}
        return value

    def to_device(value: Any) -> Any:
        if isinstance(value, np.ndarray) and value.dtype.kind in "biufc":
            for array, copy in moved.values():
                if value is copy:
                    return array
            count(value.nbytes)
            return device.functions.asarray(value)
        if type(value) in (tuple, list):
            return type(value)(map(to_device, value))
        return value

    before = to_host((arguments, keywords))
    kept = {key: copy.copy() for key, (_, copy) in moved.items()}
    result = function(*before[0], **before[1])
    for key, (array, copy) in moved.items():
        if kept[key].tobytes() != copy.tobytes():
            array.set(copy)
            count(copy.nbytes)
    return to_device(result)


def _hosting(device: Device, statistics: Statistics, scripted: Any) -> Callable[[object], Any]:
    """What is called in place of a callee: code that the interpreter runs gets NumPy arrays."""

    def hosted(callee: Any) -> Any:
        found = scripted(callee)
        if not _runs_on_host(callee, found):
            return found

        def call(*arguments: Any, **keywords: Any) -> Any:
            return on_host(found, device, statistics, arguments, keywords)

        return call

    return hosted


def _runs_on_host(callee: Any, found: Any) -> bool:
    """Whether a callee is left to the interpreter, or draws random numbers."""
    if isinstance(getattr(callee, "__self__", None), np.random.Generator | np.random.RandomState):
        return True
    if found is not callee:
        return False
    function = getattr(callee, "__func__", callee)
    return isinstance(function, types.FunctionType) and is_ignored(function)


def element(array: Any, index: Any) -> Any:
    """One element, as an array without axes of its own: later writes of the array do not change it."""
    found = array[index]
    return found.copy() if device_of(found) is not None else found


def check_index(array: Any, index: Any) -> None:
    """Raise NumPy's IndexError where an array of indices is out of range; a device would read another element."""
    if device_of(array) is None:
        return
    parts, axis = index if type(index) is tuple else (index,), 0
    if any(part is Ellipsis for part in parts):
        taken = sum(_axes(part) for part in parts)
    else:
        taken = 0
    for part in parts:
        if part is Ellipsis:
            axis += array.ndim - taken
            continue
        if _is_indices(part) and part.size and axis < array.ndim:
            _check_axis(part, axis, array.shape[axis])
        axis += _axes(part)


def _is_indices(part: Any) -> bool:
    return (device_of(part) is not None or isinstance(part, np.ndarray)) and part.dtype.kind in "iu"


def _axes(part: Any) -> int:
    if part is None or part is Ellipsis:
        return 0
    is_mask = (device_of(part) is not None or isinstance(part, np.ndarray)) and part.dtype.kind == "b"
    return part.ndim if is_mask else 1


def _check_axis(indices: Any, axis: int, extent: int) -> None:
    low, high = int(indices.min()), int(indices.max())
    if low >= -extent and high < extent:
        return
    values = indices.ravel()
    values = values.get() if device_of(values) is not None else values
    first = next(int(value) for value in values if not -extent <= value < extent)
    raise IndexError(f"index {first} is out of bounds for axis {axis} with size {extent}")
