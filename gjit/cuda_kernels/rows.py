"""Kernels with reductions along the last axes: softmax, layer norm, variance. Each row is swept several times.

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
from gjit.cuda_kernels.blocks import Sweep, blocks_text, parts_text
from gjit.cuda_kernels.element import Texts, indented, load
from gjit.cuda_kernels.flat import loop
from gjit.cuda_kernels.program import Kernel, KernelProgram, Level, Reduction
from gjit.cuda_kernels.sweeps import Sweeps, plan_sweeps
from gjit.ops.kernels import c_type, cast_text

FLOAT64 = np.dtype("f8")


def rows_kernel(program: KernelProgram) -> Kernel:
    """One loop over the rows from `begin` up to `end`; what is dear to compute again waits in row buffers."""
    fields = fields_of(program)
    texts = Texts(program)
    sweeps = plan_sweeps(program)
    buffers = tuple(texts.dtypes[name] for name in sweeps.kept)
    indices, names = row_indices(program.kept)
    lines = [*struct_text(fields), head(program), *indented(locals_text(program), 1)]
    lines += indented(_sizes_text(program), 1)
    lines += indented(buffers_text(program, sweeps, texts, row_length(program)), 1)
    lines.append("    for (int64 row = begin; row < end; ++row) {")
    lines += indented([*indices, *_pointers_text(program, names), *_row_text(program, sweeps, texts)], 2)
    lines += ["    }", "}"]
    return Kernel(program.name, "\n".join(lines) + "\n", fields, buffers)


def row_length(program: KernelProgram) -> str:
    """How many elements a row has, as text."""
    text = " * ".join(f"extent_{axis}" for axis in program.lines)
    return f"({text})" if program.reduced > 1 else text


def _sizes_text(program: KernelProgram) -> list[str]:
    outer = program.lines[:-1]
    return [f"const int64 lines = {' * '.join(f'extent_{axis}' for axis in outer)};"] if outer else []


def _pointers_text(program: KernelProgram, names: dict[int, str]) -> list[str]:
    if program.reduced == 1:
        return pointers_text(program, names)
    rows = pointers_text(program, names, level=Level.ROW)
    return rows + pointers_text(program, names, "base", level=Level.ELEMENT)


def _row_text(program: KernelProgram, sweeps: Sweeps, texts: Texts) -> list[str]:
    length = row_length(program)
    lines = [load(array, "0") for array in program.arrays if array.level is Level.ROW]
    for depth, sweep in enumerate(sweeps.sweeps):
        lines += texts.operations(sweeps.between[depth])
        if sweep.reductions:
            lines += parts_text(sweep.reductions)
        lines += _sweep_text(program, sweeps, sweep, texts)
        lines += [total_text(step, f"{step.result}_parts.total()", length) for step in sweep.reductions]
    outputs = [output for output in program.outputs if output.array.level is Level.ROW]
    return lines + [texts.store(output, "0") for output in outputs]


def _sweep_text(program: KernelProgram, sweeps: Sweeps, sweep: Sweep, texts: Texts) -> list[str]:
    """One pass over a row: a loop, or one for each line where a row has several axes."""
    length = f"extent_{program.lines[-1]}"
    if sweep.reductions:
        lines = blocks_text(sweep, texts, length)
    elif sweep.stores:
        lines = loop(sweep.body(texts), "0", length)
    else:
        return []
    if program.reduced == 1:
        return lines
    indices, names = row_indices(program.lines[:-1], "line")
    first = [*indices, *pointers_text(program, names, start="base", level=Level.ELEMENT)]
    first += [f"{c_type(texts.dtypes[name])} *{name}_row = {name}_rows + line * {length};" for name in sweeps.kept]
    return ["for (int64 line = 0; line < lines; ++line) {", *indented([*first, *lines], 1), "}"]


def total_text(step: Reduction, total: str, length: str) -> str:
    """The result of a row from what its partial results have given."""
    dtype = step.accumulator
    if step.combine.is_place:
        total, dtype = f"{total}.place", np.dtype("i8")
    if step.is_mean:
        length += f" * {step.width}" if step.width > 1 else ""
        length = f"({length} - {step.ddof})" if step.ddof else f"({length})" if step.width > 1 else length
        total, dtype = f"{cast_text(total, dtype, FLOAT64)} / (float64){length}", FLOAT64
    return f"const {c_type(step.dtype)} {step.result} = {cast_text(total, dtype, step.dtype)};"


def buffers_text(program: KernelProgram, sweeps: Sweeps, texts: Texts, length: str) -> list[str]:
    """The row buffers, one behind the other in the scratch memory of a thread."""
    ending = "row" if program.reduced == 1 and not program.is_columns else "rows"
    lines, start = [], "scratch"
    for name in sweeps.kept:
        kind = c_type(texts.dtypes[name])
        lines.append(f"{kind} *{name}_{ending} = ({kind} *){start};")
        start = f"({name}_{ending} + ({length} + 63) / 64 * 64)"
    return lines
