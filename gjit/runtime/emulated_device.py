"""Units of CUDA C++ on a CPU: the very text that a device would run, compiled by the system's compiler.

Memory is the host's. It is slow and meant for tests and for machines without a device.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Sequence
from dataclasses import dataclass, replace

from gjit.cuda_kernels.emulation import emulated_text, kernel_names, waiting_kernels
from gjit.errors import CompileError, DeviceError
from gjit.runtime.compiler import find_compiler
from gjit.runtime.native import load_unit

_WORDS = "-std=c++17 -O1 -ffp-contract=off -fno-strict-aliasing -fvisibility=hidden -shared -fPIC"
_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class EmulatedUnit:
    """A unit that can be launched.

    source   the CUDA C++
    names    its kernels
    waiting  those whose threads wait for each other
    """

    source: str
    names: tuple[str, ...]
    waiting: frozenset[str]
    _library: ctypes.CDLL

    def launch(
        self,
        name: str,
        grid: Sequence[int],
        block: Sequence[int],
        shared: int,
        arguments: Sequence[int],
        order: int = 0,
    ) -> None:
        """Run a kernel to its end.

        Args:
            name: of the kernel.
            grid: blocks along up to three axes.
            block: threads along up to three axes.
            shared: bytes of shared memory for each block.
            arguments: the address of the value of each parameter.
            order: of blocks and threads: 0 forward, 1 backward, others shuffle by it.

        Raises:
            DeviceError: the shape is beyond what a device can do, threads of a block wait at different barriers, or
                something was written behind shared memory.
        """
        shape = (ctypes.c_uint * 6)(*_three(grid), *_three(block))
        pointers = (ctypes.c_void_p * max(1, len(arguments)))(*arguments)
        entry = getattr(self._library, f"emulated_{name}")
        entry.restype = ctypes.c_char_p
        with _lock:
            message = entry(pointers, shape, ctypes.c_size_t(shared), ctypes.c_int(order), int(name in self.waiting))
        if message:
            raise DeviceError(f"{name}: {message.decode()}")


def emulated_unit(source: str) -> EmulatedUnit:
    """Compile and load a unit, or take it from the cache; CompileError where there is no compiler or it refuses."""
    compiler = find_compiler()
    if compiler is None:
        raise CompileError("there is no C++ compiler")
    library = load_unit(emulated_text(source), replace(compiler, options=tuple(_WORDS.split())))
    return EmulatedUnit(source, tuple(kernel_names(source)), waiting_kernels(source), library)


def _three(counts: Sequence[int]) -> tuple[int, int, int]:
    return (*counts, 1, 1, 1)[:3]
