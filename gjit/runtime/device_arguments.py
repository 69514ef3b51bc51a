"""The arguments of a launch on a device: one buffer in which each has a place of its own."""

from __future__ import annotations

import ctypes
import struct
import threading
from collections.abc import Iterable

from gjit.cuda_kernels.program import Field, Meaning

_FORMATS = {"?": "?", "e": "e", "f": "f", "d": "d", "F": "ff", "D": "dd"}
_INTEGERS = {1: "b", 2: "h", 4: "i", 8: "q"}
_POINTERS = (
    *(Meaning.ARRAY, Meaning.PARTIALS, Meaning.TOTAL, Meaning.TICKET),
    *(Meaning.ROUTE, Meaning.TURNS),
)
_PLACE = 8


class Arguments:
    """Packs the arguments of one kernel. Each thread has a buffer, whose addresses never change.

    Args:
        fields: the parameters of the kernel in their order.
        is_wide: whether indices have 64 bits.
    """

    def __init__(self, fields: Iterable[Field], is_wide: bool):
        formats = [_format_of(field, is_wide) for field in fields]
        self.offsets: list[int] = []
        size, text = 0, "="
        for each in formats:
            self.offsets.append(size)
            room = -(-struct.calcsize("=" + each) // _PLACE) * _PLACE
            text += f"{each}{room - struct.calcsize('=' + each)}x"
            size += room
        self._struct = struct.Struct(text)
        self._local = threading.local()

    @property
    def buffer(self) -> tuple[bytearray, list[int]]:
        """The buffer of this thread, and the address of each argument in it."""
        try:
            return self._local.buffer
        except AttributeError:
            memory = bytearray(max(self._struct.size, _PLACE))
            address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
            self._local.buffer = memory, [address + offset for offset in self.offsets]
            return self._local.buffer

    def fill(self, values: Iterable[object]) -> list[int]:
        """Pack the values; the address of each.

        Raises:
            struct.error, OverflowError: a value does not fit its field.
        """
        memory, addresses = self.buffer
        self._struct.pack_into(memory, 0, *values)
        return addresses


def _format_of(field: Field, is_wide: bool) -> str:
    if field.meaning in _POINTERS:
        return "Q"
    if field.meaning is Meaning.COUNT:
        return "q"
    if field.dtype is None:
        return "q" if is_wide else "i"
    if field.dtype.kind in "iu":
        letter = _INTEGERS[field.dtype.itemsize]
        return letter.upper() if field.dtype.kind == "u" else letter
    return _FORMATS[field.dtype.char]
