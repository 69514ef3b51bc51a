"""The file of an archive: a zip whose members are stored as they are, aligned, in a fixed order and without times."""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import re
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

from gjit.errors import ArchiveError

MANIFEST = "manifest.json"
EXTRA = "extra/"
ALIGNMENT = 64
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_PADDING_FIELD = 0xD935  # the field that Android's zipalign pads with
_MEMBER = re.compile(r"manifest\.json|(?:graphs|sources|buffers)/\d{1,9}|extra/[^/\\\0:][^\\\0:]*")
_MOST_MANIFEST_BYTES = 1 << 28

_UNREADABLE = (zipfile.BadZipFile, NotImplementedError, ValueError, struct.error, OverflowError, EOFError)
"""What reading the directory of a damaged file raises."""

Target = str | os.PathLike | IO[bytes]


def checksum(data: Any) -> str:
    """The SHA-256 of bytes, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def extra_name(name: str) -> str:
    """The member that keeps an extra file.

    Raises:
        ArchiveError: a name that is no relative path with `/` between its parts.
    """
    member = EXTRA + name
    if not _MEMBER.fullmatch(member) or any(part in ("", ".", "..") for part in name.split("/")):
        raise ArchiveError(f"{name!r} cannot be the name of an extra file: use a relative path with '/'")
    return member


class Writer:
    """Writes members one after the other."""

    def __init__(self, file: IO[bytes]):
        self._zip = zipfile.ZipFile(file, "w", zipfile.ZIP_STORED)

    def add(self, name: str, data: Any) -> None:
        """Write a member; `data` are bytes, or a contiguous buffer of them."""
        size = memoryview(data).nbytes
        info = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
        info.create_system, info.external_attr = 3, 0o600 << 16
        wide = 20 if size * 1.05 > zipfile.ZIP64_LIMIT else 0
        start = self._zip.start_dir + _LOCAL_HEADER.size + len(name.encode()) + 4 + wide
        padding = -start % ALIGNMENT
        info.extra = struct.pack("<HH", _PADDING_FIELD, padding) + bytes(padding)
        self._zip.writestr(info, data)

    def close(self) -> None:
        """Write the directory of the file."""
        self._zip.close()


@contextlib.contextmanager
def writing(target: Target) -> Iterator[Writer]:
    """A writer for a path, where the file appears whole or not at all, or for an open binary file."""
    if not isinstance(target, str | os.PathLike):
        writer = Writer(target)
        yield writer
        writer.close()
        return
    path = Path(target)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            writer = Writer(file)
            yield writer
            writer.close()
            file.flush()
            os.fsync(file.fileno())
        os.chmod(name, 0o666 & ~_umask())
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current


class Reader:
    """The members of a file, checked: known names, each once, stored plainly, inside the file and apart.

    `data` is private to the process: what is written there does not reach the file.

    Raises:
        ArchiveError: the file is not as `Writer` writes it.
    """

    def __init__(self, source: Target):
        with _opened(source) as file:
            try:
                self.data = _private(file)
                file.seek(0)
                with zipfile.ZipFile(file) as archive:
                    members = archive.infolist()
            except _UNREADABLE as error:
                raise ArchiveError(f"this is no archive of gjit: {error}") from None
        self._places: dict[str, tuple[int, int]] = {}
        for info in members:
            if info.filename in self._places:
                raise ArchiveError(f"the member {info.filename!r} is there twice")
            self._places[info.filename] = self._place(info)
        self._check_apart()
        if any(info.filename == MANIFEST and zlib.crc32(self.read(MANIFEST)) != info.CRC for info in members):
            raise ArchiveError("the manifest is damaged: its checksum differs")

    @property
    def names(self) -> list[str]:
        """The members, in the order of the file's directory."""
        return list(self._places)

    def size(self, name: str) -> int:
        """The bytes of a member."""
        start, stop = self._found(name)
        return stop - start

    def read(self, name: str) -> memoryview:
        """The bytes of a member, writable and without a copy."""
        start, stop = self._found(name)
        return memoryview(self.data)[start:stop]

    def manifest(self) -> dict[str, Any]:
        """The member that describes the others."""
        if self.size(MANIFEST) > _MOST_MANIFEST_BYTES:
            raise ArchiveError("the manifest is too large")
        try:
            found = json.loads(bytes(self.read(MANIFEST)))
        except (ValueError, RecursionError) as error:
            raise ArchiveError(f"the manifest cannot be read: {error}") from None
        if not isinstance(found, dict):
            raise ArchiveError("the manifest is no table")
        return found

    def _found(self, name: str) -> tuple[int, int]:
        if name not in self._places:
            raise ArchiveError(f"the member {name!r} is missing")
        return self._places[name]

    def _place(self, info: zipfile.ZipInfo) -> tuple[int, int]:
        name = info.filename
        if not _MEMBER.fullmatch(name) or any(part in ("", ".", "..") for part in name.split("/")):
            raise ArchiveError(f"the member {name!r} has a name that no archive has")
        kind = info.external_attr >> 16 & 0o170000
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size or info.flag_bits & 0x41:
            raise ArchiveError(f"the member {name!r} is not stored as it is")
        if kind not in (0, 0o100000):
            raise ArchiveError(f"the member {name!r} is no plain file")
        return self._content(info)

    def _content(self, info: zipfile.ZipInfo) -> tuple[int, int]:
        """Where the bytes are, by the header that stands before them."""
        start = info.header_offset
        head = bytes(memoryview(self.data)[start : start + _LOCAL_HEADER.size]) if start >= 0 else b""
        if len(head) != _LOCAL_HEADER.size or not head.startswith(b"PK\3\4"):
            raise ArchiveError(f"the member {info.filename!r} has no header")
        *_, name_bytes, extra_bytes = _LOCAL_HEADER.unpack(head)
        begin = start + _LOCAL_HEADER.size
        name = bytes(memoryview(self.data)[begin : begin + name_bytes])
        begin += name_bytes + extra_bytes
        if name != info.filename.encode() or begin + info.file_size > len(self.data):
            raise ArchiveError(f"the header of the member {info.filename!r} says something else than the directory")
        return begin, begin + info.file_size

    def _check_apart(self) -> None:
        end = 0
        for start, stop in sorted(self._places.values()):
            if start < end:
                raise ArchiveError("two members share bytes of the file")
            end = max(end, stop)


@contextlib.contextmanager
def _opened(source: Target) -> Iterator[IO[bytes]]:
    if isinstance(source, str | os.PathLike):
        with open(source, "rb") as file:
            yield file
    else:
        yield source


def _private(file: IO[bytes]) -> mmap.mmap | bytearray:
    """The whole file as memory that is ours: mapped where there is a file, read where there is none."""
    try:
        return mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    except (OSError, AttributeError, ValueError):
        file.seek(0)
        return bytearray(file.read())
