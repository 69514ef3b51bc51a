"""Kernels over several axes: views, transposed arrays, broadcast operands. A row after the other.

extern "C" void scaled(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    for (int64 row = begin; row < end; ++row) {
        const float64 *x_data = (const float64 *)arguments->x->data + row * arguments->x_stride_0;
        const float64 *weight_data = (const float64 *)arguments->weight->data + row * arguments->weight_stride_0;
        float64 *result_data = (float64 *)arguments->result->data + row * arguments->result_stride_0;
        const float64 weight = *weight_data;
        INDEPENDENT
        for (int64 i = 0; i < extent_1; ++i) {
            const float64 x = x_data[i];
            // return x * weight[:, None]
            const float64 t0 = np_multiply(x, weight);
            result_data[i] = t0;
        }
    }
}
"""

from __future__ import annotations

from gjit.cuda_kernels.arguments import (
    fields_of,
    head,
    locals_text,
    pointers_text,
    row_indices,
    struct_text,
    turns_text,
)
from gjit.cuda_kernels.element import indented
from gjit.cuda_kernels.flat import row_text
from gjit.cuda_kernels.program import Kernel, KernelProgram


def strided_kernel(program: KernelProgram) -> Kernel:
    """One loop over the rows from `begin` up to `end`, and one along each row."""
    fields = fields_of(program)
    indices, names = row_indices(tuple(range(program.rank - 1)))
    lines = [*struct_text(fields), head(program), *indented(locals_text(program), 1)]
    lines += indented(turns_text(program), 1)
    lines.append("    for (int64 row = begin; row < end; ++row) {")
    lines += indented(indices, 2)
    lines += indented(pointers_text(program, names), 2)
    lines += indented(row_text(program, "0", f"extent_{program.rank - 1}"), 2)
    lines += ["    }", "}"]
    return Kernel(program.name, "\n".join(lines) + "\n", fields)
