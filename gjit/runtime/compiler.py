"""The system's C++ compiler: finding it, what it can do, and making shared objects with it."""

from __future__ import annotations

import ctypes
import functools
import logging
import os
import platform
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from gjit import settings
from gjit.cuda_kernels.dialect import NATIVE, Dialect, with_vector_math
from gjit.errors import CompileError

_WORDS = "-std=c++17 -O3 -march=native -ffp-contract=off -fno-math-errno -fno-trapping-math -shared -fPIC"
OPTIONS = tuple(_WORDS.split())
"""Vector code for this processor, with the values that IEEE arithmetic gives: nothing is contracted or reassociated."""
_ONE_WAY = ("--param", "vect-max-peeling-for-alignment=0")
"""Elements go into the same registers wherever their array begins, so that a call gives the same bits each time."""
_CANDIDATES = ("c++", "g++", "clang++")
_SECONDS = 120


@dataclass(frozen=True, slots=True)
class Compiler:
    """One compiler.

    command   how it is called
    version   what it says of itself
    options   of each compilation
    dialect   the meaning of kernels for it
    """

    command: tuple[str, ...]
    version: str
    options: tuple[str, ...]
    dialect: Dialect

    @property
    def identity(self) -> str:
        """What its results depend on, besides the source."""
        return "\n".join((*self.command, self.version, *self.options, processor()))

    def compile(self, source: Path, target: Path) -> None:
        """Make the shared object `target`; CompileError with the compiler's log where it refuses the source."""
        command = [*self.command, *self.options, str(source), "-o", str(target), "-lm"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, errors="replace", timeout=_SECONDS)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompileError(f"{shlex.join(command)}: {error}") from error
        if done.returncode != 0:
            raise CompileError(f"{shlex.join(command)}\n{done.stderr}")


@functools.cache
def find_compiler() -> Compiler | None:
    """$CXX, else the first of c++, g++ and clang++ that answers; None, said in the log, where there is none."""
    named = shlex.split(os.environ.get("CXX", ""))
    for command in [named] if named else [[name] for name in _CANDIDATES]:
        version = _version(command)
        if version is not None:
            is_clang = "clang" in version
            options = OPTIONS if is_clang else (*OPTIONS, *_ONE_WAY)
            return Compiler(tuple(command), version, options, NATIVE if is_clang else _dialect())
    wanted = shlex.join(named) if named else ", ".join(_CANDIDATES)
    settings.log(logging.WARNING, "no C++ compiler (%s): regions run on NumPy", wanted)
    return None


def _version(command: list[str]) -> str | None:
    if shutil.which(command[0]) is None:
        return None
    try:
        done = subprocess.run([*command, "--version"], capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def _dialect() -> Dialect:
    """With the vector math library that comes with glibc on x86-64."""
    if sys.platform != "linux" or platform.machine() != "x86_64":
        return NATIVE
    name, _, version = (os.confstr("CS_GNU_LIBC_VERSION") or "").partition(" ")
    has_library = name == "glibc" and version.startswith("2.") and _loads("libmvec.so.1")
    return with_vector_math(int(version.split(".")[1])) if has_library else NATIVE


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


@functools.cache
def processor() -> str:
    """The features of this processor, which `-march=native` builds for."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    words = ("model name", "flags", "Features", "CPU part")
    return "\n".join(dict.fromkeys(line for line in lines if line.startswith(words)))
