"""Units of generated C++ as loaded libraries: compiled once, kept on disk, shared by all regions of the process."""

from __future__ import annotations

import ctypes
import hashlib
import logging
import os
import tempfile
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from gjit import settings
from gjit.cuda_kernels.emit import emit
from gjit.cuda_kernels.prelude import prelude
from gjit.cuda_kernels.program import Kernel, KernelProgram
from gjit.cuda_kernels.support import support_text
from gjit.errors import CompileError
from gjit.runtime import kernel_cache
from gjit.runtime.compiler import Compiler, find_compiler


@dataclass(slots=True)
class Counters:
    """What this process has done: compiler runs, and units that were found on disk."""

    compilations: int = 0
    cache_hits: int = 0

    def count(self, was_compiled: bool) -> None:
        """One more kernel, that was compiled or found."""
        self.compilations += was_compiled
        self.cache_hits += not was_compiled


@dataclass(frozen=True, slots=True)
class NativeKernel:
    """A kernel that can be called.

    kernel    its text and arguments
    source    the whole unit
    run       `run(arguments, scratch, begin, end)`; the GIL is free meanwhile. Of a checked kernel it takes the flags
              that count too, and returns how far it came
    combine   `combine(arguments, count)` of a kernel with totals
    """

    kernel: Kernel
    source: str
    run: Callable[..., None]
    combine: Callable[..., None] | None


counters = Counters()
_libraries: dict[str, ctypes.CDLL | CompileError] = {}
_kernels: dict[KernelProgram, NativeKernel] = {}
_KEPT_KERNELS = 4096
_lock = threading.Lock()
_locks: dict[str, threading.Lock] = {}
"""Held while a unit is made, by its source."""


def is_available() -> bool:
    """Whether there is a compiler, and array objects are laid out as the kernels read them."""
    return _finds_data() and find_compiler() is not None


def native_kernel(program: KernelProgram, counted: Counters | None = None) -> NativeKernel:
    """Emit, compile and load, once in a process; CompileError where the compiler refuses the text.

    `counted` gets one more compilation, or one more hit where the process or the disk has the kernel.
    """
    found, was_compiled = _kernels.get(program), False
    if found is None:
        if len(_kernels) >= _KEPT_KERNELS:
            _kernels.clear()
        found, was_compiled = _made(program)
        _kernels[program] = found
    if counted is not None:
        counted.count(was_compiled)
    return found


def _made(program: KernelProgram) -> tuple[NativeKernel, bool]:
    """A kernel, and whether the compiler had to run."""
    compiler = find_compiler()
    if compiler is None:
        raise CompileError("there is no C++ compiler")
    compiler = compiler.keeping_flags() if program.checked else compiler
    kernel = emit(program)
    source = unit_text(program, kernel, compiler)
    library, was_compiled = _unit(source, compiler)
    run = getattr(library, kernel.name)
    run.argtypes, run.restype = (ctypes.c_void_p, ctypes.c_void_p, ctypes.c_longlong, ctypes.c_longlong), None
    if program.checked:
        run.argtypes, run.restype = (*run.argtypes, ctypes.c_longlong), ctypes.c_longlong
    combine = getattr(library, f"{kernel.name}_combine") if program.totals else None
    if combine is not None:
        combine.argtypes, combine.restype = (ctypes.c_void_p, ctypes.c_longlong), None
    return NativeKernel(kernel, source, run, combine), was_compiled


def unit_text(program: KernelProgram, kernel: Kernel, compiler: Compiler) -> str:
    """A kernel with all that it needs: the whole unit that the compiler reads."""
    return prelude(kernel.text, compiler.dialect) + support_text(program) + "\n" + kernel.text


def load_unit(source: str, compiler: Compiler, counted: Counters | None = None) -> ctypes.CDLL:
    """The library of a unit, from this process, from the disk or from the compiler, which is counted."""
    library, was_compiled = _unit(source, compiler)
    if counted is not None:
        counted.count(was_compiled)
    return library


def _unit(source: str, compiler: Compiler) -> tuple[ctypes.CDLL, bool]:
    """A library, and whether the compiler had to run. One unit is made once; others are made meanwhile."""
    with _lock:
        lock = _locks.setdefault(source, threading.Lock())
    was_compiled = False
    with lock:
        found = _libraries.get(source)
        if found is None:
            try:
                found, was_compiled = _found_or_made(source, compiler)
            except CompileError as error:
                found = error
            except OSError as error:  # no room, or a folder for temporary files that code may not be loaded from
                found = CompileError(str(error))
            _libraries[source] = found
    _locks.pop(source, None)
    if isinstance(found, CompileError):
        raise found
    return found, was_compiled


def _found_or_made(source: str, compiler: Compiler) -> tuple[ctypes.CDLL, bool]:
    key = kernel_cache.key_of(source, compiler)
    kept = kernel_cache.load(key)
    if kept is not None:
        try:
            library = _loaded(kept)
        except OSError as error:
            settings.log(logging.WARNING, "a kept kernel cannot be loaded and is made again: %s", error)
        else:
            counters.cache_hits += 1
            return library, False
    made = _compiled(source, compiler)
    kernel_cache.store(key, made)
    return _loaded(made), True


def _compiled(source: str, compiler: Compiler) -> bytes:
    counters.compilations += 1
    _dump(source)
    with tempfile.TemporaryDirectory(prefix="gjit-") as folder:
        text, target = Path(folder, "unit.cpp"), Path(folder, "unit.so")
        text.write_text(source)
        compiler.compile(text, target)
        return target.read_bytes()


def _loaded(kernel: bytes) -> ctypes.CDLL:
    """Loaded from a file of its own, which nobody can replace meanwhile."""
    with tempfile.TemporaryDirectory(prefix="gjit-") as folder:
        path = Path(folder, hashlib.sha256(kernel).hexdigest()[:16] + ".so")
        path.write_bytes(kernel)
        return ctypes.CDLL(str(path))


def _dump(source: str) -> None:
    folder = settings.dump_folder()
    if folder is not None:
        (folder / f"{sum(1 for _ in folder.iterdir()):04d}_kernel.cpp").write_text(source)


def _finds_data() -> bool:
    """Kernels read the address of an array's data from behind its reference count and its type."""
    sample = np.empty(1)
    if object.__basicsize__ != 16:
        return False
    return ctypes.c_void_p.from_address(id(sample) + 16).value == sample.ctypes.data


def _forget_lock() -> None:
    """A forked child has none of its parent's threads, and one of them may hold a lock."""
    global _lock
    _lock = threading.Lock()
    _locks.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)
