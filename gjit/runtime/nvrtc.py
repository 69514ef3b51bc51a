"""CUDA C++ as machine code: by NVRTC, which CuPy brings, and from the cache on disk."""

from __future__ import annotations

import functools
import logging
import threading
from dataclasses import dataclass
from typing import Any

from gjit import settings
from gjit.errors import CompileError, require
from gjit.runtime import kernel_cache

OPTIONS = ("-std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true")
"""The values that IEEE arithmetic gives: nothing is contracted, subnormal numbers are kept."""
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class DeviceCompiler:
    """NVRTC for devices of one kind; `architecture` is that of CUDA: `90` for compute capability 9.0."""

    architecture: str

    @property
    def target(self) -> str:
        """The newest target that this NVRTC knows and such a device runs."""
        known = [each for each in architectures() if each <= int(self.architecture)]
        if not known:
            raise CompileError(f"NVRTC {version()} compiles nothing for compute capability {self.architecture}")
        return f"sm_{known[-1]}" if known[-1] == int(self.architecture) else f"compute_{known[-1]}"

    @property
    def options(self) -> tuple[str, ...]:
        """Of each compilation."""
        return (*OPTIONS, f"-arch={self.target}")

    @property
    def identity(self) -> str:
        """What its results depend on, besides the source."""
        return "\n".join(("nvrtc", version(), *self.options))

    def compiled(self, source: str) -> tuple[bytes, bool]:
        """The machine code of a unit, and whether it had to be compiled; CompileError with the compiler's log."""
        key = kernel_cache.key_of(source, self)
        with _lock:
            kept = kernel_cache.load(key)
            if kept is not None:
                return kept, False
            made = self._compile(source)
            kernel_cache.store(key, made)
        return made, True

    def _compile(self, source: str) -> bytes:
        _dump(source)
        nvrtc = _nvrtc()
        program = nvrtc.createProgram(source, "gjit.cu", (), ())
        try:
            nvrtc.compileProgram(program, self.options)
            if self.target.startswith("compute"):
                return nvrtc.getPTX(program)
            return nvrtc.getCUBIN(program) + b"\0"  # the binding leaves out the last byte, without which no file loads
        except nvrtc.NVRTCError as error:
            raise CompileError(f"NVRTC: {error}\n{nvrtc.getProgramLog(program)}") from None
        finally:
            nvrtc.destroyProgram(program)


def version() -> str:
    """The version of NVRTC."""
    return ".".join(map(str, _nvrtc().getVersion()))


@functools.cache
def architectures() -> tuple[int, ...]:
    """What this NVRTC compiles for, the oldest first."""
    return tuple(sorted(_nvrtc().getSupportedArchs()))


@functools.cache
def _nvrtc() -> Any:
    return require("cupy_backends.cuda.libs.nvrtc", extra="cuda")


def _dump(source: str) -> None:
    folder = settings.dump_folder()
    if folder is not None:
        (folder / f"{sum(1 for _ in folder.iterdir()):04d}_kernel.cu").write_text(source)
    settings.log(logging.DEBUG, "compiling %d characters of CUDA C++", len(source))
