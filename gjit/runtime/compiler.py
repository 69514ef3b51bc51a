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
from dataclasses import dataclass, replace
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
        log = target.with_suffix(".log")
        try:
            code = _run(command, log)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise CompileError(f"{shlex.join(command)}: {error}") from error
        if code != 0:
            raise CompileError(f"{shlex.join(command)}\n{log.read_text(errors='replace')}")

    @property
    def keeps_flags(self) -> bool:
        """Whether it can be told to raise the floating-point flags that the program as written raises."""
        return "clang" not in self.version and platform.machine() in ("x86_64", "AMD64", "aarch64", "arm64")

    def keeping_flags(self) -> Compiler:
        """The same compiler, told so."""
        return replace(self, options=tuple(option for option in self.options if option != _NO_FLAGS))


_NO_FLAGS = "-fno-trapping-math"
_running: set[subprocess.Popen] = set()


def _run(command: list[str], log: Path) -> int:
    """The exit status of a command that `end_compilations` can end; what it says goes to `log`.

    No pipe leads to it: a child that another thread forks meanwhile would hold it open.
    """
    program = shutil.which(command[0]) or command[0]
    with log.open("wb") as file:
        streams = {"stdin": subprocess.DEVNULL, "stdout": file, "stderr": file}
        process = subprocess.Popen([program, *command[1:]], **streams, close_fds=False)
    _running.add(process)
    try:
        return process.wait(timeout=_SECONDS)
    except BaseException:
        process.kill()
        process.wait()
        raise
    finally:
        _running.discard(process)


def end_compilations() -> None:
    """Kill the compilers that run: nobody waits for them any more."""
    for process in list(_running):
        process.kill()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_running.clear)  # they are the parent's


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


@functools.cache
def may_find_compiler() -> bool:
    """Whether a command that could be a compiler is there; none is started."""
    named = shlex.split(os.environ.get("CXX", ""))
    return any(shutil.which(name) for name in (named[:1] or _CANDIDATES))


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
