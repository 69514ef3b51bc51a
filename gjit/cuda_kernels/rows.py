"""Kernels with reductions along the last axis: softmax, layer norm, variance. Each row is swept several times.

extern "C" void softmax(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    float32 *e_row = (float32 *)scratch;
    for (int64 row = begin; row < end; ++row) {
        const float32 *x_data = (const float32 *)arguments->x->data + row * arguments->x_stride_0;
        float32 *result_data = (float32 *)arguments->result->data + row * arguments->result_stride_0;
        Pairwise<Maximum, float32> top_parts;
        for (int64 start = 0; start < extent_1; start += 1024) {
            const int64 stop = smaller(start + 1024, extent_1);
            top_parts.add(reduce_block<Maximum>(x_data + start, stop - start));
        }
        const float32 top = top_parts.total();
        Pairwise<Sum, float32> total_parts;
        for (int64 start = 0; start < extent_1; start += 1024) {
            const int64 stop = smaller(start + 1024, extent_1);
            INDEPENDENT
            for (int64 i = start; i < stop; ++i) {
                const float32 x = x_data[i];
                // e = np.exp(x - top)
                const float32 t0 = np_subtract(x, top);
                const float32 e = np_exp(t0);
                e_row[i] = e;
            }
            total_parts.add(reduce_block<Sum>(e_row + start, stop - start));
        }
        const float32 total = total_parts.total();
        INDEPENDENT
        for (int64 i = 0; i < extent_1; ++i) {
            const float32 e = e_row[i];
            // return e / total
            const float32 t1 = np_divide(e, total);
            result_data[i] = t1;
        }
    }
}
"""

from __future__ import annotations

import numpy as np

from gjit.cuda_kernels.arguments import fields_of, head, locals_text, pointers_text, row_indices, struct_text
from gjit.cuda_kernels.blocks import blocks_text, parts_text
from gjit.cuda_kernels.element import Texts, indented, load
from gjit.cuda_kernels.flat import loop
from gjit.cuda_kernels.program import Access, Kernel, KernelProgram, Level, Reduction
from gjit.cuda_kernels.sweeps import Sweeps, plan_sweeps
from gjit.ops.kernels import c_type, cast_text

FLOAT64 = np.dtype("f8")


def rows_kernel(program: KernelProgram) -> Kernel:
    """One loop over the rows from `begin` up to `end`; what is dear to compute again waits in row buffers."""
    fields = fields_of(program)
    texts = Texts(program)
    sweeps = plan_sweeps(program)
    buffers = tuple(texts.dtypes[name] for name in sweeps.kept)
    indices, names = row_indices(program.rank)
    lines = [*struct_text(fields), head(program), *indented(locals_text(program), 1)]
    lines += indented(_buffers_text(program, sweeps, texts), 1)
    lines.append("    for (int64 row = begin; row < end; ++row) {")
    lines += indented([*indices, *pointers_text(program, names), *_row_text(program, sweeps, texts)], 2)
    lines += ["    }", "}"]
    return Kernel(program.name, "\n".join(lines) + "\n", fields, buffers)


def _row_text(program: KernelProgram, sweeps: Sweeps, texts: Texts) -> list[str]:
    length = f"extent_{program.rank - 1}"
    lines = [load(array, "0") for array in program.arrays if array.access is Access.REPEATED]
    for depth, sweep in enumerate(sweeps.sweeps):
        lines += texts.operations(sweeps.between[depth])
        if sweep.reductions:
            lines += [*parts_text(sweep.reductions), *blocks_text(sweep, texts, length)]
            lines += [_total(step, length) for step in sweep.reductions]
        elif sweep.stores:
            lines += loop(sweep.body(texts), "0", length)
    outputs = [output for output in program.outputs if output.array.level is Level.ROW]
    return lines + [texts.store(output, "0") for output in outputs]


def _total(step: Reduction, length: str) -> str:
    total, dtype = f"{step.result}_parts.total()", step.accumulator
    if step.is_mean:
        total, dtype = f"{cast_text(total, dtype, FLOAT64)} / (float64){length}", FLOAT64
    return f"const {c_type(step.dtype)} {step.result} = {cast_text(total, dtype, step.dtype)};"


def _buffers_text(program: KernelProgram, sweeps: Sweeps, texts: Texts) -> list[str]:
    lines, start = [], "scratch"
    for name in sweeps.kept:
        kind = c_type(texts.dtypes[name])
        lines.append(f"{kind} *{name}_row = ({kind} *){start};")
        start = f"({name}_row + (extent_{program.rank - 1} + 63) / 64 * 64)"
    return lines
