"""What NVIDIA's management library tells of GPUs: which is free, and what a measurement has to record.

Every question may go unanswered, for want of a right or of support: None stands for that.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from gjit.errors import require

_REASONS = {
    0x1: "idle",
    0x2: "application clocks",
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal",
    0x40: "hardware thermal",
    0x80: "power brake",
    0x100: "display clocks",
}
SLOWED = 0x8 | 0x20 | 0x40 | 0x80
"""Reasons of low clocks with which a measurement does not count."""


@contextmanager
def management_library() -> Iterator[Any]:
    """The module `pynvml`, between its start and its end.

    Raises:
        ImportError: it is not installed.
        pynvml.NVMLError: there is no driver.
    """
    library = require("pynvml", extra="cuda")
    library.nvmlInit()
    try:
        yield library
    finally:
        library.nvmlShutdown()


def freest(buses: list[str]) -> int:
    """Which of these devices, by PCI address, has no other process and the most free memory; 0 where nobody tells."""
    try:
        with management_library() as library:
            return max(range(len(buses)), key=lambda place: _freedom(library, buses[place]))
    except Exception:
        return 0


def _freedom(library: Any, bus: str) -> tuple[bool, int]:
    handle = library.nvmlDeviceGetHandleByPciBusId(bus)
    others = [each.pid for each in library.nvmlDeviceGetComputeRunningProcesses(handle) if each.pid != os.getpid()]
    return not others, library.nvmlDeviceGetMemoryInfo(handle).free


def description(bus: str) -> dict[str, object]:
    """What a device is, for the record of a measurement."""
    with management_library() as library:
        handle = library.nvmlDeviceGetHandleByPciBusId(bus)
        return {name: _asked(question, library, handle) for name, question in _CONSTANT.items()}


def state(bus: str) -> dict[str, object]:
    """Clocks, temperature, power and what slows a device down, now."""
    with management_library() as library:
        handle = library.nvmlDeviceGetHandleByPciBusId(bus)
        found = {name: _asked(question, library, handle) for name, question in _CHANGING.items()}
        mask = found["reasons"]
        if isinstance(mask, int):
            found["reasons"] = [text for bit, text in _REASONS.items() if mask & bit]
            found["slowed"] = bool(mask & SLOWED)
        return found


def _asked(question: Callable, library: Any, handle: Any) -> object:
    try:
        answer = question(library, handle)
    except library.NVMLError:
        return None
    return answer.decode() if isinstance(answer, bytes) else answer


_CONSTANT: dict[str, Callable] = {
    "name": lambda library, handle: library.nvmlDeviceGetName(handle),
    "uuid": lambda library, handle: library.nvmlDeviceGetUUID(handle),
    "driver": lambda library, handle: library.nvmlSystemGetDriverVersion(),
    "cuda": lambda library, handle: library.nvmlSystemGetCudaDriverVersion_v2(),
    "memory": lambda library, handle: library.nvmlDeviceGetMemoryInfo(handle).total,
    "bus_width": lambda library, handle: library.nvmlDeviceGetMemoryBusWidth(handle),
    "multi_instance": lambda library, handle: library.nvmlDeviceGetMigMode(handle)[0],
    "error_correction": lambda library, handle: library.nvmlDeviceGetEccMode(handle)[0],
    "power_limit": lambda library, handle: library.nvmlDeviceGetPowerManagementLimit(handle),
    "most_clock": lambda library, handle: library.nvmlDeviceGetMaxClockInfo(handle, library.NVML_CLOCK_SM),
    "most_memory_clock": lambda library, handle: library.nvmlDeviceGetMaxClockInfo(handle, library.NVML_CLOCK_MEM),
    "pcie_generation": lambda library, handle: library.nvmlDeviceGetCurrPcieLinkGeneration(handle),
    "pcie_width": lambda library, handle: library.nvmlDeviceGetCurrPcieLinkWidth(handle),
}
_CHANGING: dict[str, Callable] = {
    "clock": lambda library, handle: library.nvmlDeviceGetClockInfo(handle, library.NVML_CLOCK_SM),
    "memory_clock": lambda library, handle: library.nvmlDeviceGetClockInfo(handle, library.NVML_CLOCK_MEM),
    "temperature": lambda library, handle: library.nvmlDeviceGetTemperature(handle, library.NVML_TEMPERATURE_GPU),
    "power": lambda library, handle: library.nvmlDeviceGetPowerUsage(handle),
    "reasons": lambda library, handle: library.nvmlDeviceGetCurrentClocksEventReasons(handle),
    "processes": lambda library, handle: len(library.nvmlDeviceGetComputeRunningProcesses(handle)),
}
