"""The module of functions of the emulated device: what `cupy` is for a GPU."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.runtime.emulated import streams
from gjit.runtime.emulated.array import ABSENT, EmulatedArray, allocated, placed, run, unwrap, wrap
from gjit.runtime.emulated.memory import check_alive, pool

_HOST = frozenset(("result_type", "promote_types", "can_cast", "broadcast_shapes", "issubdtype", "ndim", "shape"))


class Library(types.SimpleNamespace):
    """Functions of one emulated device by the names that NumPy has for them; AttributeError where CuPy has none."""

    def __init__(self, place: int = 0, prefix: str = ""):
        super().__init__(ndarray=EmulatedArray, place=place, prefix=prefix)

    def __getattr__(self, name: str) -> Any:
        qualified = f"{self.prefix}{name}"
        if qualified in ABSENT or name.startswith("_"):
            raise AttributeError(f"module 'emulated' has no attribute {qualified!r}")
        if name in ("linalg", "fft") and not self.prefix:
            return Library(self.place, f"{name}.")
        owner = getattr(np, self.prefix[:-1]) if self.prefix else np
        value = getattr(owner, name)
        if isinstance(value, type) or not callable(value) or name in _HOST:
            return value
        return self._function(value)

    def _function(self, function: Callable) -> Callable:
        def call(*arguments: Any, **keywords: Any) -> Any:
            result = run(function, *arguments, **keywords)
            if isinstance(result, EmulatedArray) and result.place != self.place and not _has_array(arguments, keywords):
                result.place = self.place
            return result

        return call

    def empty(self, shape: Any, dtype: Any = float, order: str = "C") -> EmulatedArray:
        """An array that holds junk."""
        shape = tuple(shape) if isinstance(shape, tuple | list) else (int(shape),)
        strides = np.empty((1,) * len(shape), dtype).strides if 0 in shape else None
        if order == "F" and strides is None:
            strides = _fortran_strides(shape, np.dtype(dtype).itemsize)
        return allocated(shape, dtype, self.place, strides)

    def array(
        self, object: Any, dtype: Any = None, copy: bool = True, order: str = "K", ndmin: int = 0
    ) -> EmulatedArray:
        """A new array on the device, from the host or from the device."""
        check_alive()
        if isinstance(object, EmulatedArray):
            return wrap(np.array(object.cells, dtype, copy=copy, order=order, ndmin=ndmin), self.place, object.cells)
        if isinstance(object, list | tuple):
            object = _stacked(object)
        return placed(np.array(object, dtype, order=order, ndmin=ndmin), self.place)

    def asarray(self, object: Any, dtype: Any = None, order: str | None = None) -> EmulatedArray:
        """An array on the device; the same object where it lies there already."""
        if isinstance(object, EmulatedArray) and dtype in (None, object.dtype) and order in (None, "K", "A"):
            return object
        return self.array(object, dtype, copy=not (isinstance(object, EmulatedArray) and dtype is None))

    def asnumpy(self, array: Any, order: str = "C") -> np.ndarray:
        """A copy on the host."""
        return array.get(order=order) if isinstance(array, EmulatedArray) else np.asarray(array, order=order)

    @staticmethod
    def synchronize() -> None:
        """Wait for all work."""
        streams.get_current_stream().synchronize()

    pool = pool
    Stream, Event = streams.Stream, streams.Event
    get_elapsed_time = staticmethod(streams.get_elapsed_time)


def _stacked(value: Any) -> Any:
    """A list, with the device arrays in it as what NumPy can join."""
    return [_stacked(part) if isinstance(part, list | tuple) else unwrap(part) for part in value]


def _has_array(arguments: tuple, keywords: dict[str, Any]) -> bool:
    return any(isinstance(value, EmulatedArray) for value in (*arguments, *keywords.values()))


def _fortran_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    strides, step = [], itemsize
    for extent in shape:
        strides.append(step)
        step *= extent
    return tuple(strides)
