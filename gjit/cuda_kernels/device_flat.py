"""Kernels over one axis: contiguous arrays of any rank, walked as one line, or one-dimensional views.

A block takes one tile. Of the tiles only the last is not whole; its elements go one by one.

extern "C" __global__ void __launch_bounds__(256) scaled(const float64 *x_data, float64 *y_data, int32 extent_0) {
    const int32 start = (int32)blockIdx.x * 1024;
    if (start + 1024 <= extent_0) {
        Vector<float64, 2> x_vectors[2];
        #pragma unroll
        for (int unit = 0; unit < 2; ++unit) {
            const int32 first = start + (int32)(unit * 256 + threadIdx.x) * 2;
            x_vectors[unit] = *(const Vector<float64, 2> *)(x_data + first);
        }
        #pragma unroll
        for (int unit = 0; unit < 2; ++unit) {
            const int32 first = start + (int32)(unit * 256 + threadIdx.x) * 2;
            Vector<float64, 2> y_vector;
            #pragma unroll
            for (int lane = 0; lane < 2; ++lane) {
                scaled_element(x_vectors[unit].lanes[lane], y_vector.lanes[lane]);
            }
            *(Vector<float64, 2> *)(y_data + first) = y_vector;
        }
    } else {
        #pragma unroll 1
        for (int32 i = start + (int32)threadIdx.x; i < extent_0; i += 256) {
            const float64 x = x_data[i];
            float64 y;
            scaled_element(x, y);
            y_data[i] = y;
        }
    }
}
"""

from __future__ import annotations

from functools import partial

from gjit.cuda_kernels.device_element import Element
from gjit.cuda_kernels.device_kernel import DeviceKernel
from gjit.cuda_kernels.device_layout import Layout, vector_width
from gjit.cuda_kernels.device_lines import THREADS, Line, units_of
from gjit.cuda_kernels.device_nest import row_loads
from gjit.cuda_kernels.device_parameters import fields_of, head_text, index_type
from gjit.cuda_kernels.device_shapes import line_shape
from gjit.cuda_kernels.element import Texts, indented
from gjit.cuda_kernels.flat import uniform, varying
from gjit.cuda_kernels.program import KernelProgram, Level


def flat_kernel(program: KernelProgram, layout: Layout) -> DeviceKernel:
    """A block for each tile of the line."""
    fields = fields_of(program, layout)
    line = line_of(program, layout)
    kind = index_type(layout)
    body = [*row_loads(program, "data"), *line.element.texts.operations(uniform(program.steps))]
    body.append(f"const {kind} start = ({kind})blockIdx.x * {line.tile};")
    lines = [*line.element.text(), *head_text(program.name, line.bounds, fields)]
    lines += [*indented([*body, *line.block_text("extent_0")], 1), "}"]
    shape = partial(line_shape, tile=line.tile, threads=THREADS)
    return DeviceKernel(program.name, "\n".join(lines) + "\n", fields, shape)


def line_of(program: KernelProgram, layout: Layout) -> Line:
    """How the elements of a line are shared. Those with loops are work enough for a thread each."""
    loads = [array for array in program.arrays if array.level is Level.ELEMENT]
    element = Element(
        f"{program.name}_element",
        Texts(program),
        varying(program.steps),
        loads,
        list(program.outputs),
        program.totals,
        loop=program.loop,
        after=program.after,
    )
    kind = index_type(layout)
    if program.loop is not None:
        return Line(element, kind, 1)
    vector = vector_width(program) if layout.aligned or program.reductions else 1
    return Line(element, kind, vector, units_of(program, loads, vector), aligned=layout.aligned)
