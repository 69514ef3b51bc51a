"""Compiled kernels on disk: found again by what they were made of, safe against crashes and other processes.

A file holds a SHA-256 checksum and the shared object. What does not match its checksum is made again. Where the files
take more room than the knob `cache_size` gives them, those go first that were used longest ago.
"""

from __future__ import annotations

import hashlib
import logging
import os
import re
import stat
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from gjit import settings

_MAGIC = b"gjit kernel 1\n"
_KERNEL, _PART = re.compile(r"[0-9a-zA-Z]{64}\.kernel"), re.compile(r"new-\w+\.part")
_SECONDS_OF_A_PART = 3600.0
"""A part that is older was left by a process that died."""


class Compiler(Protocol):
    """What makes machine code of a text."""

    @property
    def identity(self) -> str:
        """What its results depend on, besides the text: version, options, the machine that they are for."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the cache: its path, its bytes, and when it was used last, in seconds since 1970."""

    path: Path
    size: int
    used: float

    @property
    def key(self) -> str:
        """What the kernel is found by."""
        return self.path.stem


def cache_folder() -> Path:
    """The folder of the knob `cache_dir`, or that of the platform; it need not exist."""
    chosen = str(settings.get("cache_dir"))
    if chosen:
        return Path(chosen)
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "gjit"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home())) / "gjit" / "cache"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gjit"


def key_of(source: str, compiler: Compiler) -> str:
    """What a compiled unit is found by: all that its machine code depends on.

    The source is the whole of it, with the structure of the arguments, so that no version of gjit is needed.
    """
    digest = hashlib.sha256()
    for part in (compiler.identity, source):
        data = part.encode()
        digest.update(len(data).to_bytes(8, "little") + data)
    return digest.hexdigest()


def load(key: str) -> bytes | None:
    """The shared object of this key, or None; a damaged file, or one that others may write, is said in the log."""
    path = cache_folder() / f"{key}.kernel"
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            data = file.read()
    except OSError:
        return None
    if _is_foreign(status):
        settings.log(logging.WARNING, "%s belongs to somebody else: it is not used", path)
        return None
    magic, checksum, kernel = data[: len(_MAGIC)], data[len(_MAGIC) : len(_MAGIC) + 32], data[len(_MAGIC) + 32 :]
    if magic != _MAGIC or checksum != _checksum(key, kernel):
        settings.log(logging.WARNING, "%s is damaged: it is made again", path)
        return None
    with suppress(OSError):  # it may be gone by now, or somebody else's to touch
        os.utime(path)
    return kernel


def store(key: str, kernel: bytes) -> None:
    """Keep a shared object. Where the folder cannot be written the next process compiles again."""
    folder = cache_folder()
    try:
        _make_private(folder)
        descriptor, name = tempfile.mkstemp(dir=folder, prefix="new-", suffix=".part")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_MAGIC + _checksum(key, kernel) + kernel)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, folder / f"{key}.kernel")
        except BaseException:
            os.unlink(name)
            raise
        make_room()
    except OSError as error:
        settings.log(logging.WARNING, "kernels are not kept in %s: %s", folder, error)


def entries() -> list[Entry]:
    """The kernels on disk, those that were used last first."""
    return sorted(_files(_KERNEL), key=lambda entry: entry.used, reverse=True)


def make_room(size: int | None = None) -> list[Entry]:
    """Remove kernels until they take at most `size` bytes, that of the knob `cache_size` by default; those removed.

    Other processes may read, write and remove at the same time: a file that is open stays readable to the end, and one
    that is gone is made again when it is needed.
    """
    limit = int(str(settings.get("cache_size"))) if size is None else size
    total, removed = 0, []
    for entry in entries():
        total += entry.size
        if total > limit:
            removed.append(entry)
    oldest = time.time() - _SECONDS_OF_A_PART
    for entry in [*removed, *(part for part in _files(_PART) if part.used < oldest)]:
        with suppress(OSError):
            entry.path.unlink()
    return removed


def _files(name: re.Pattern[str]) -> Iterator[Entry]:
    """The files of the cache with such names; nothing else in the folder is looked at."""
    try:
        found = list(cache_folder().iterdir())
    except OSError:
        return
    for path in found:
        if name.fullmatch(path.name):
            with suppress(OSError):
                status = path.stat()
                yield Entry(path, status.st_size, status.st_mtime)


def _make_private(folder: Path) -> None:
    folder.parent.mkdir(parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    if _is_foreign(folder.stat()):
        raise PermissionError("others may write there")


def _is_foreign(status: os.stat_result) -> bool:
    """Whether somebody else may have written a file or folder."""
    if not hasattr(os, "getuid"):
        return False
    return status.st_uid != os.getuid() or bool(status.st_mode & (stat.S_IWGRP | stat.S_IWOTH))


def _checksum(key: str, kernel: bytes) -> bytes:
    return hashlib.sha256(key.encode() + kernel).digest()
