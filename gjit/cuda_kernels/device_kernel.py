"""The text of one kernel for a device, and how it is launched."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gjit.cuda_kernels.device_layout import Extents
from gjit.cuda_kernels.device_shapes import LaunchShape
from gjit.cuda_kernels.program import Field


@dataclass(frozen=True, slots=True)
class DeviceKernel:
    """One kernel.

    name    of its function
    text    without what it shares with other kernels
    fields  its parameters in their order
    shape   `shape(extents)` gives the launch for such extents; they are those after collapsing
    """

    name: str
    text: str
    fields: tuple[Field, ...]
    shape: Callable[[Extents], LaunchShape]
