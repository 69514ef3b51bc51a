"""Compiled kernels on disk: found again by what they were made of, safe against crashes and other processes.

A file holds a SHA-256 checksum and the shared object. What does not match its checksum is made again.
"""

from __future__ import annotations

import hashlib
import logging
import os
import stat
import sys
import tempfile
from pathlib import Path

from gjit import settings
from gjit.runtime.compiler import Compiler

_MAGIC = b"gjit kernel 1\n"


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
    return kernel


def store(key: str, kernel: bytes) -> None:
    """Keep a shared object. Where the folder cannot be written the next process compiles again."""
    folder = cache_folder()
    try:
        _make_private(folder)
        descriptor, name = tempfile.mkstemp(dir=folder, prefix="new-")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_MAGIC + _checksum(key, kernel) + kernel)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, folder / f"{key}.kernel")
        except BaseException:
            os.unlink(name)
            raise
    except OSError as error:
        settings.log(logging.WARNING, "kernels are not kept in %s: %s", folder, error)


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
