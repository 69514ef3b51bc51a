"""Where the elements of NumPy arrays are while a program runs on a device: on the host, on the device, or on both.

The program computes with ordinary NumPy arrays. What a region makes or writes stays on the device, and the memory of
the NumPy array is stale until it is settled: before anything on the host reads it, and when the call ends.
"""

from __future__ import annotations

import contextvars
import ctypes
import threading
import types
import weakref
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from gjit.runtime.device import Device
from gjit.runtime.scalars import Fallback
from gjit.runtime.statistics import Statistics

_ALIGNMENT = 256
_HARMLESS = frozenset(
    (
        int,
        float,
        complex,
        bool,
        str,
        bytes,
        type(None),
        slice,
        range,
        type(Ellipsis),
        types.BuiltinFunctionType,
        np.ufunc,
    )
)
"""Types of values that lead to no array."""
_OWN_MEMORY = frozenset((np.random.Generator, np.random.RandomState, list, dict, set, str, bytes))
"""Objects whose methods touch the elements of no array but their arguments."""
_DEEPEST = 4
_MOST_PENDING = 64
"""With more views of one block written than this, the block is settled."""

Written = tuple[int, tuple[int, ...], tuple[int, ...], np.dtype]
"""A view that a device has written: address, shape, strides, dtype."""


@dataclass(slots=True)
class Block:
    """One piece of host memory with its copy on the device.

    root        the array that owns the memory; the block ends with it
    low, high   the addresses between which it lies
    memory      the copy, `uint8`; the byte at `low` is at `offset`
    is_current  whether the copy holds what the program means
    pending     the views whose elements are on the device alone
    """

    root: weakref.ref[np.ndarray]
    low: int
    high: int
    offset: int
    memory: Any = None
    is_current: bool = False
    pending: dict[Written, None] = field(default_factory=dict)


class Residency:
    """The blocks of one call; as a context manager it is the current one, and settles everything at the end.

    Args:
        device: where regions run.
        statistics: counts transfers.
        arguments: the arrays that came from outside: those that share memory get one block, as long as they reach.
    """

    def __init__(self, device: Device, statistics: Statistics, arguments: Iterable[object] = ()):
        self.device, self.statistics = device, statistics
        self.thread = threading.get_ident()
        self._blocks: dict[int, Block] = {}
        self._reach: dict[int, tuple[int, int]] = {}
        for value in arguments:
            if type(value) is np.ndarray and value.size:
                self._extend(value)

    def _extend(self, array: np.ndarray) -> None:
        low, high = byte_bounds(array)
        key = id(root_of(array))
        known = self._reach.get(key, (low, high))
        self._reach[key] = min(low, known[0]), max(high, known[1])

    def __enter__(self) -> Residency:
        self._token = _current.set(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _current.reset(self._token)
        try:
            self.settle_all()
        finally:
            self._blocks.clear()

    # On the device

    def on_device(self, array: np.ndarray) -> Any:
        """An array on the device with the elements of a NumPy array.

        Raises:
            Fallback: it shares memory with another block in a way that cannot be followed.
        """
        block = self._block(array)
        if not block.is_current:
            self._upload(block)
        low, _ = byte_bounds(array) if array.size else (block.low, 0)
        start = array.__array_interface__["data"][0]
        if low < block.low:
            raise Fallback
        return self.device.view(block.memory, block.offset + start - block.low, array)

    def fresh(self, shape: tuple[int, ...], dtype: np.dtype, order: str) -> tuple[np.ndarray, Any]:
        """A new NumPy array whose elements are going to be written on the device, and the array there."""
        return self._made(np.empty(shape, dtype, order))

    def _made(self, array: np.ndarray) -> tuple[np.ndarray, Any]:
        memory = self.device.bytes(array.nbytes)
        low = array.__array_interface__["data"][0]
        block = self._add(array, low, low + array.nbytes, 0)
        block.memory, block.is_current = memory, True
        return array, self.device.view(memory, 0, array)

    def adopt(self, array: Any) -> Any:
        """A NumPy array, or a scalar, for a result that the device has made."""
        if not array.ndim:
            result = np.empty((), array.dtype)
            self.device.download(array, result)
            self.count(result.nbytes)
            return result[()]
        made, there = self._made(np.empty_like(self.device.shadow(array)))
        there[...] = array
        self.wrote(made)
        return made

    def forget(self, *arrays: np.ndarray) -> None:
        """What the device holds of these arrays is no longer what the program means; the host has it."""
        for array in arrays:
            block = self._blocks.get(id(root_of(array)))
            if block is not None:
                block.is_current = False

    def wrote(self, array: np.ndarray) -> None:
        """Note that a region has written the elements of this array on the device."""
        if not array.size:
            return
        block = self._block(array)
        start = array.__array_interface__["data"][0]
        block.pending[start, array.shape, array.strides, array.dtype] = None
        if len(block.pending) > _MOST_PENDING:
            self._settle(block)

    # On the host

    def settle(self, *values: object, depth: int = 0) -> None:
        """Bring the elements of these arrays, and of arrays in lists and tuples, to the host. A value that may lead to
        any other array, such as an object of the user's, brings everything."""
        for value in values:
            kind = type(value)
            if kind is np.ndarray:
                block = self._blocks.get(id(root_of(value)))
                if block is not None and block.pending:
                    self._settle(block)
            elif kind in (tuple, list) and depth < _DEEPEST:
                self.settle(*value, depth=depth + 1)
            elif kind not in _HARMLESS and not isinstance(value, np.generic | np.dtype | type):
                self.settle_all()

    def settle_written(self, *values: object) -> None:
        """As `settle`, for arrays that the host is going to write: their copies are out of date then."""
        self.settle(*values)
        for value in values:
            if type(value) is np.ndarray:
                block = self._blocks.get(id(root_of(value)))
                if block is not None:
                    block.is_current = False

    def settle_all(self) -> None:
        """Bring everything to the host, where anything may read and write it."""
        for block in list(self._blocks.values()):
            if block.pending:
                self._settle(block)
            block.is_current = False

    # Blocks

    def _block(self, array: np.ndarray) -> Block:
        root = root_of(array)
        block = self._blocks.get(id(root))
        if block is None:
            low, high = self._reach.get(id(root)) or byte_bounds(root)
            self._check_apart(root, low, high)
            block = self._add(root, low, high, low % _ALIGNMENT)
        return block

    def _check_apart(self, root: np.ndarray, low: int, high: int) -> None:
        """Two roots over one foreign buffer cannot be told apart by their owner."""
        if root.base is None:
            return
        if any(block.low < high and low < block.high for block in self._blocks.values()):
            raise Fallback

    def _add(self, root: np.ndarray, low: int, high: int, offset: int) -> Block:
        key, blocks = id(root), self._blocks
        block = Block(weakref.ref(root, lambda dead: blocks.pop(key, None)), low, high, offset)
        blocks[key] = block
        return block

    def _upload(self, block: Block) -> None:
        size = block.high - block.low
        if block.memory is None:
            block.memory = self.device.bytes(block.offset + size)
        source = _bytes_at(block.low, size)
        self.device.upload(source, block.memory[block.offset : block.offset + size])
        block.is_current = True
        self.count(size)

    def _settle(self, block: Block) -> None:
        root = block.root()
        if root is None:
            return
        for written in list(block.pending):
            start, shape, strides, dtype = written
            target = array_at(start, shape, strides, dtype)
            array = self.device.view(block.memory, block.offset + start - block.low, target)
            self._download(array, target)
            self.count(target.nbytes)
            del block.pending[written]

    def _download(self, array: Any, target: np.ndarray) -> None:
        if target.flags.c_contiguous or target.flags.f_contiguous:
            self.device.download(array, target)
        else:
            made = np.empty_like(target)
            self.device.download(array, made)
            target[...] = made

    def count(self, size: int) -> None:
        """Count one transfer."""
        self.statistics.transfers += 1
        self.statistics.bytes_moved += size


class _Memory:
    """Memory at an address, as NumPy's protocol describes it."""

    def __init__(self, address: int, shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: np.dtype):
        self.__array_interface__ = {
            "data": (address, False),
            "shape": shape,
            "strides": strides,
            "typestr": dtype.str,
            "version": 3,
        }


def array_at(address: int, shape: tuple[int, ...], strides: tuple[int, ...] | None, dtype: np.dtype) -> np.ndarray:
    """A NumPy array over memory at an address; nothing keeps that memory alive, and it need not be the host's."""
    return np.asarray(_Memory(address, shape, strides, dtype))


def _bytes_at(address: int, size: int) -> np.ndarray:
    return np.frombuffer((ctypes.c_ubyte * size).from_address(address), np.uint8)


def root_of(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of `array`, or that looks at the memory of something else."""
    while type(array.base) is np.ndarray:
        array = array.base
    return array


_current: contextvars.ContextVar[Residency | None] = contextvars.ContextVar("gjit.residency", default=None)


def current() -> Residency | None:
    """That of the innermost call of this thread that runs on a device from NumPy arrays."""
    residency = _current.get()
    return residency if residency is not None and residency.thread == threading.get_ident() else None


def settle(*values: object) -> None:
    """Bring the elements of these arrays to the host; nothing to do outside a call that runs on a device."""
    residency = current()
    if residency is not None:
        residency.settle(*values)


def settle_written(*values: object) -> None:
    """Bring the elements of these arrays to the host, which is going to write them."""
    residency = current()
    if residency is not None:
        residency.settle_written(*values)


def settle_copied(*values: object) -> None:
    """Bring those of these arrays to the host that no other shape can be had of without a copy."""
    residency = current()
    if residency is not None:
        residency.settle(*(value for value in values if type(value) is np.ndarray and not value.flags.c_contiguous))


def settle_all() -> None:
    """Bring everything to the host, where anything may read and write it."""
    residency = current()
    if residency is not None:
        residency.settle_all()


def settle_call(callee: object, *values: object) -> None:
    """Bring to the host what a call may touch: the arguments of known methods, else everything."""
    residency = current()
    if residency is None:
        return
    if type(getattr(callee, "__self__", None)) in _OWN_MEMORY:
        residency.settle_written(*values)
    else:
        residency.settle_all()


def settle_attribute(owner: object, name: str) -> None:
    """Bring everything to the host where an attribute is computed by code of the user's."""
    residency = current()
    if residency is not None and not _is_stored(type(owner), name):
        residency.settle_all()


def _is_stored(kind: type, name: str) -> bool:
    """Whether an attribute of an object is just what was stored there, or a method."""
    if kind is np.ndarray:
        return name in _NUMBERS
    if any(hook in vars(each) for each in kind.__mro__[:-1] for hook in ("__getattribute__", "__getattr__")):
        return kind.__module__.startswith("gjit.") or kind is types.ModuleType
    found = next((vars(each)[name] for each in kind.__mro__ if name in vars(each)), None)
    return not hasattr(type(found), "__get__") or isinstance(found, _METHODS)


_NUMBERS = frozenset(("shape", "ndim", "size", "dtype", "strides", "itemsize", "nbytes", "T", "mT", "real", "imag"))
_METHODS = (types.FunctionType, types.MethodDescriptorType, types.WrapperDescriptorType, types.MemberDescriptorType)

SETTLERS = (
    *("settle", "settle_written", "settle_copied", "settle_all"),
    *("settle_call", "settle_attribute"),
)
"""The functions that host programs call, by name."""
