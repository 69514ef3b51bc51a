"""Kernels over several axes: views, transposed arrays, broadcast operands.

Threads run along the last axis, in vectors where all contiguous rows are aligned; short rows share a block.

extern "C" __global__ void __launch_bounds__(256) scaled(...) {
    const int32 first = ((int32)blockIdx.x * blockDim.x + threadIdx.x) * 2;
    if (first >= extent_1) return;
    for (int32 index_0 = ...; index_0 < extent_0; index_0 += ...) {
        const float64 *x_row = x_data + index_0 * x_stride_0;
        const float64 *weight_row = weight_data + index_0 * weight_stride_0;
        float64 *result_row = result_data + index_0 * result_stride_0;
        const float64 weight = *weight_row;
        if (first + 2 <= extent_1) {
            const Vector<float64, 2> x_vector = *(const Vector<float64, 2> *)(x_row + first);
            ...
        }
    }
}
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from gjit.cuda_kernels.device_flat import line_of
from gjit.cuda_kernels.device_kernel import DeviceKernel
from gjit.cuda_kernels.device_layout import Layout
from gjit.cuda_kernels.device_lines import THREADS
from gjit.cuda_kernels.device_nest import nested, row_loads
from gjit.cuda_kernels.device_parameters import fields_of, head_text, index_type
from gjit.cuda_kernels.device_shapes import nest_shape
from gjit.cuda_kernels.element import indented
from gjit.cuda_kernels.flat import uniform
from gjit.cuda_kernels.program import KernelProgram


def strided_kernel(program: KernelProgram, layout: Layout) -> DeviceKernel:
    """Threads along the last axis; the grid's other axes go through the rows."""
    fields = fields_of(program, layout)
    line = replace(line_of(program, layout), units=1, pointer="row")
    kind, extent = index_type(layout), f"extent_{program.rank - 1}"
    thread = f"({kind})blockIdx.x * blockDim.x + threadIdx.x"
    thread = f"({thread}){line.scale}" if line.scale else thread
    body = [f"const {kind} first = {thread};", f"if (first >= {extent}) return;"]
    row = [*row_loads(program, "row"), *line.element.texts.operations(uniform(program.steps))]
    body += nested(program, layout, [*row, *line.thread_text(extent)])
    lines = [*line.element.text(), *head_text(program.name, line.bounds, fields), *indented(body, 1), "}"]
    shape = partial(nest_shape, vector=line.vector, threads=THREADS)
    return DeviceKernel(program.name, "\n".join(lines) + "\n", fields, shape)
