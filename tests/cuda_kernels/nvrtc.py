"""NVRTC through ctypes, where one of its packages is installed: no driver and no device are needed."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import re
from dataclasses import dataclass
from pathlib import Path

OPTIONS = ("-std=c++17", "--fmad=false", "--ftz=false", "--prec-div=true", "--prec-sqrt=true", "--ptxas-options=-v")
_PACKAGES = ("nvidia.cu13", "nvidia.cuda_nvrtc")


@dataclass(frozen=True)
class Usage:
    """What one kernel takes of a device."""

    registers: int
    spilled: int


@functools.cache
def library() -> ctypes.CDLL | None:
    """The library, or None."""
    for folder in _folders():
        for path in sorted(folder.rglob("libnvrtc.so*")):
            try:
                return ctypes.CDLL(str(path))
            except OSError:
                continue
    return None


def _folders() -> list[Path]:
    found = []
    for package in _PACKAGES:
        try:
            spec = importlib.util.find_spec(package)
        except ModuleNotFoundError:
            continue
        found += [Path(place) for place in (spec.submodule_search_locations or [])] if spec is not None else []
    return found


@functools.cache
def architectures() -> tuple[int, ...]:
    """The architectures that the library compiles for."""
    count = ctypes.c_int()
    library().nvrtcGetNumSupportedArchs(ctypes.byref(count))
    numbers = (ctypes.c_int * count.value)()
    library().nvrtcGetSupportedArchs(numbers)
    return tuple(numbers)


def compile_unit(source: str, architecture: int, options: tuple[str, ...] = OPTIONS) -> dict[str, Usage]:
    """What each kernel of a unit takes; AssertionError with the compiler's words where it refuses or warns."""
    nvrtc, program = library(), ctypes.c_void_p()
    assert nvrtc.nvrtcCreateProgram(ctypes.byref(program), source.encode(), b"unit.cu", 0, None, None) == 0
    words = [option.encode() for option in (f"--gpu-architecture=sm_{architecture}", *options)]
    status = nvrtc.nvrtcCompileProgram(program, len(words), (ctypes.c_char_p * len(words))(*words))
    size = ctypes.c_size_t()
    nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
    log = ctypes.create_string_buffer(size.value)
    nvrtc.nvrtcGetProgramLog(program, log)
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    text = log.value.decode()
    assert status == 0, text[:3000]
    assert "warning #" not in text, text[:3000]
    return _usages(text)


def _usages(log: str) -> dict[str, Usage]:
    found = {}
    for part in log.split("Compiling entry function '")[1:]:
        name = part.partition("'")[0]
        spilled = sum(int(count) for count in re.findall(r"(\d+) bytes spill", part))
        found[name] = Usage(int(re.search(r"Used (\d+) registers", part)[1]), spilled)
    return found
