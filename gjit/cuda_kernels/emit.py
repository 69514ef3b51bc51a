"""Which kernel shape a program has."""

from __future__ import annotations

from gjit.cuda_kernels.checked import checked_kernel
from gjit.cuda_kernels.columns import columns_kernel
from gjit.cuda_kernels.delayed import delayed_kernel
from gjit.cuda_kernels.flat import flat_kernel
from gjit.cuda_kernels.program import Kernel, KernelProgram
from gjit.cuda_kernels.rows import rows_kernel
from gjit.cuda_kernels.strided import strided_kernel
from gjit.cuda_kernels.totals import totals_kernel


def emit(program: KernelProgram) -> Kernel:
    """The kernel of a program; a program has reductions of rows, or to totals, or none; a checked one has none."""
    if program.checked:
        return checked_kernel(program)
    if program.delayed:
        return delayed_kernel(program)
    if program.totals:
        return totals_kernel(program)
    if program.reductions:
        return columns_kernel(program) if program.is_columns else rows_kernel(program)
    return flat_kernel(program) if program.rank == 1 else strided_kernel(program)
