"""Arrays as views of buffers: arrays that share memory share a buffer, also after loading."""

from __future__ import annotations

import ctypes
import math
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gjit.errors import ArchiveError
from gjit.interchange.archive.container import Reader, Writer, checksum
from gjit.ir.dtypes import dtype_text, read_dtype
from gjit.ir.lexer import Tokens

Record = dict[str, Any]
OWN_BYTES = 1 << 16
"""Smaller arrays that share nothing get memory of their own when they are loaded; larger ones lie in the file."""
_MOST_DIMENSIONS = 64
_LARGEST = 1 << 62


@dataclass(slots=True)
class _Owner:
    """The array that owns the memory of others, and those of them that are saved, with their records."""

    array: np.ndarray
    views: list[tuple[np.ndarray, Record]] = field(default_factory=list)


class Buffers:
    """The memory of the arrays of one archive, while it is written."""

    def __init__(self) -> None:
        self._owners: dict[int, _Owner] = {}

    def mark(self) -> dict[int, int]:
        """How many arrays there are, for `forget`."""
        return {key: len(owner.views) for key, owner in self._owners.items()}

    def forget(self, mark: dict[int, int]) -> None:
        """Drop the arrays that came after a mark."""
        self._owners = {key: owner for key, owner in self._owners.items() if key in mark}
        for key, count in mark.items():
            del self._owners[key].views[count:]

    def add(self, array: np.ndarray) -> Record:
        """The record of an array; its place in a buffer is filled in when the buffers are written."""
        if sys.byteorder != "little":
            raise ArchiveError("archives hold little-endian numbers, which this machine does not compute with")
        owner = array
        while type(owner.base) is np.ndarray:
            owner = owner.base
        record: Record = {"kind": "array", "dtype": dtype_text(array.dtype), "shape": list(array.shape)}
        if not array.flags.writeable:
            record["writeable"] = False
        self._owners.setdefault(id(owner), _Owner(owner)).views.append((array, record))
        return record

    def write(self, writer: Writer) -> list[Record]:
        """Write a member for each owner, and say what they are."""
        return [_write(writer, number, owner.views) for number, owner in enumerate(self._owners.values())]


def _write(writer: Writer, number: int, views: list[tuple[np.ndarray, Record]]) -> Record:
    if len(views) == 1:
        array, record = views[0]
        low, high = _bounds([array])
        if high - low > array.nbytes:  # what lies between its elements is nobody's business
            views = [(np.copy(array, order="K"), record)]
    low, high = _bounds([view for view, _ in views])
    for view, record in views:
        record["buffer"], record["strides"] = number, list(view.strides)
        record["offset"] = view.__array_interface__["data"][0] - low if view.size else 0
    data = memoryview((ctypes.c_char * (high - low)).from_address(low)) if high > low else b""
    writer.add(f"buffers/{number}", data)
    return {"bytes": high - low, "sha256": checksum(data)}


def _bounds(arrays: list[np.ndarray]) -> tuple[int, int]:
    """The first and the last address that arrays use."""
    lows, highs = [], []
    for array in arrays:
        if array.size:
            start = array.__array_interface__["data"][0]
            steps = [(extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True)]
            lows.append(start + sum(step for step in steps if step < 0))
            highs.append(start + sum(step for step in steps if step > 0) + array.itemsize)
    return min(lows, default=0), max(highs, default=0)


class Memory:
    """The buffers of an archive that is read.

    Args:
        reader: the file.
        buffers: what the manifest says of them.
        verify: compare their checksums.

    Raises:
        ArchiveError: a buffer is not as the manifest says.
    """

    def __init__(self, reader: Reader, buffers: Any, *, verify: bool):
        if not isinstance(buffers, list):
            raise ArchiveError("the manifest does not list the buffers")
        self._data = []
        for number, described in enumerate(buffers):
            data = reader.read(f"buffers/{number}")
            if not isinstance(described, dict) or described.get("bytes") != data.nbytes:
                raise ArchiveError(f"the buffer {number} has another size than the manifest says")
            if verify and described.get("sha256") != checksum(data):
                raise ArchiveError(f"the buffer {number} is damaged: its checksum differs")
            self._data.append(np.frombuffer(data, np.uint8))
        self._uses = [0] * len(self._data)

    def count(self, record: Record) -> None:
        """Note a user of a buffer, before any array is made."""
        number = record.get("buffer")
        if type(number) is int and 0 <= number < len(self._uses):
            self._uses[number] += 1

    def array(self, record: Record) -> np.ndarray:
        """The array of a record.

        Raises:
            ArchiveError: it would lie outside its buffer, or its dtype holds objects.
        """
        shape, strides = _whole(record.get("shape")), _whole(record.get("strides"), signed=True)
        dtype = read_dtype_text(record.get("dtype"))
        number, offset = record.get("buffer"), record.get("offset")
        if type(number) is not int or not 0 <= number < len(self._data) or type(offset) is not int or offset < 0:
            raise ArchiveError("an array has no place in a buffer")
        if len(shape) != len(strides) or len(shape) > _MOST_DIMENSIONS or math.prod(shape) * dtype.itemsize > _LARGEST:
            raise ArchiveError("an array has an impossible shape")
        data = self._data[number]
        _check_inside(shape, strides, dtype.itemsize, offset, data.size)
        array = np.ndarray(shape, dtype, data, offset, strides)
        is_small = array.nbytes <= data.size < OWN_BYTES or not array.flags.aligned or not data.size
        if is_small and self._uses[number] == 1:
            array = np.copy(array, order="K")
        if record.get("writeable") is False:
            array.flags.writeable = False
        return array


def read_dtype_text(text: object) -> np.dtype:
    """The dtype that a text names.

    Raises:
        ArchiveError: it names none, or one that holds objects.
    """
    tokens = Tokens(str(text))
    dtype = read_dtype(tokens)
    tokens.take("end", "the end of the dtype")
    if dtype.hasobject:
        raise ArchiveError(f"an array of {text} cannot be read from bytes")
    return dtype


def _whole(numbers: object, *, signed: bool = False) -> tuple[int, ...]:
    if not isinstance(numbers, list) or any(type(each) is not int for each in numbers):
        raise ArchiveError("an array has an impossible shape")
    if any(abs(each) > _LARGEST or (each < 0 and not signed) for each in numbers):
        raise ArchiveError("an array has an impossible shape")
    return tuple(numbers)


def _check_inside(shape: tuple[int, ...], strides: tuple[int, ...], itemsize: int, offset: int, size: int) -> None:
    if 0 in shape:
        inside = offset <= size
    else:
        steps = [(extent - 1) * stride for extent, stride in zip(shape, strides, strict=True)]
        low = offset + sum(step for step in steps if step < 0)
        high = offset + sum(step for step in steps if step > 0) + itemsize
        inside = low >= 0 and high <= size
    if not inside:
        raise ArchiveError("an array reaches outside its buffer")
