"""Kernels for a device: which shape a program has, and whole units of CUDA C++."""

from __future__ import annotations

from collections.abc import Iterable

from gjit.cuda_kernels.device_columns import columns_kernel
from gjit.cuda_kernels.device_flat import flat_kernel
from gjit.cuda_kernels.device_kernel import DeviceKernel
from gjit.cuda_kernels.device_layout import Layout
from gjit.cuda_kernels.device_rows import rows_kernel
from gjit.cuda_kernels.device_strided import strided_kernel
from gjit.cuda_kernels.device_support import device_support
from gjit.cuda_kernels.device_tiled import tiled_kernel
from gjit.cuda_kernels.device_totals import totals_kernel
from gjit.cuda_kernels.dialect import CUDA
from gjit.cuda_kernels.prelude import prelude
from gjit.cuda_kernels.program import KernelProgram


def emit_device(program: KernelProgram, layout: Layout) -> DeviceKernel:
    """The kernel of a program for launches of such a layout; names of kernels in one unit have to differ."""
    if program.totals:
        return totals_kernel(program, layout)
    if program.reductions:
        return columns_kernel(program, layout) if program.is_columns else rows_kernel(program, layout)
    if layout.turned is not None:
        return tiled_kernel(program, layout)
    return flat_kernel(program, layout) if program.rank == 1 else strided_kernel(program, layout)


def unit_text(kernels: Iterable[DeviceKernel]) -> str:
    """One translation unit with several kernels: it includes nothing."""
    text = "\n".join(kernel.text for kernel in kernels)
    support = device_support(text)
    return f"{prelude(support + text, CUDA)}{support}\n{text}"
