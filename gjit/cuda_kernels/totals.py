"""Kernels that reduce all elements, with whatever makes the elements, and arrays that are written on the way.

Each block of a line, or each row, gives one partial result; `combine` makes one of them all.

    extern "C" void energy(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
        const int64 extent_0 = arguments->extent_0;
        const float64 *x_data = (const float64 *)arguments->x->data;
        for (int64 block = begin; block < end; ++block) {
            const int64 start = block * 1024;
            const int64 stop = smaller(start + 1024, extent_0);
            alignas(64) float64 total_block[1024];
            INDEPENDENT
            for (int64 i = start; i < stop; ++i) {
                const float64 x = x_data[i];
                // return (x * x).sum()
                const float64 t0 = np_multiply(x, x);
                total_block[i - start] = t0;
            }
            ((float64 *)arguments->total_partials->data)[block] = reduce_block<Sum>(total_block, stop - start);
        }
    }

    extern "C" void energy_combine(const Arguments *arguments, int64 count) {
        combine<Sum, float64>(arguments->total_partials, count);
    }
"""

from __future__ import annotations

from gjit.cuda_kernels.arguments import fields_of, head, locals_text, pointers_text, row_indices, struct_text
from gjit.cuda_kernels.blocks import Sweep, block_text, blocks_text, kind_of, partial_type, parts_text, results
from gjit.cuda_kernels.element import Texts, indented, load
from gjit.cuda_kernels.flat import uniform, varying
from gjit.cuda_kernels.program import BLOCK, Kernel, KernelProgram, Level, Reduction


def totals_kernel(program: KernelProgram) -> Kernel:
    """A loop over blocks where there is one axis, over rows where there are several."""
    fields = fields_of(program)
    texts = Texts(program)
    arrays = [array for array in program.arrays if array.level is Level.ELEMENT]
    sweep = Sweep(arrays, varying(program.steps), program.totals, list(program.outputs))
    first = [load(array, "0") for array in program.arrays if array.level is not Level.ELEMENT]
    first += texts.operations(uniform(program.steps))
    lines = [*struct_text(fields), head(program), *indented(locals_text(program), 1)]
    if program.rank == 1:
        lines += indented([*pointers_text(program, {}), *first, *_blocks(sweep, texts)], 1)
    else:
        lines += indented(_rows(program, sweep, texts, first), 1)
    lines += ["}", "", *_combine(program)]
    return Kernel(program.name, "\n".join(lines) + "\n", fields)


def _blocks(sweep: Sweep, texts: Texts) -> list[str]:
    lines = [f"const int64 start = block * {BLOCK};", f"const int64 stop = smaller(start + {BLOCK}, extent_0);"]
    lines += block_text(sweep, texts)
    lines += [f"{_partial(step, 'block')} = {reduced};" for step, reduced in results(sweep, texts)]
    return ["for (int64 block = begin; block < end; ++block) {", *indented(lines, 1), "}"]


def _rows(program: KernelProgram, sweep: Sweep, texts: Texts, first: list[str]) -> list[str]:
    indices, names = row_indices(tuple(range(program.rank - 1)))
    length = f"extent_{program.rank - 1}"
    lines = [*indices, *pointers_text(program, names), *first, *parts_text(sweep.reductions)]
    lines += blocks_text(sweep, texts, length, f"row * {length} + start")
    lines += [f"{_partial(step, 'row')} = {step.result}_parts.total();" for step in sweep.reductions]
    return ["for (int64 row = begin; row < end; ++row) {", *indented(lines, 1), "}"]


def _partial(step: Reduction, index: str) -> str:
    return f"(({partial_type(step)} *)arguments->{step.result}_partials->data)[{index}]"


def _combine(program: KernelProgram) -> list[str]:
    first = f'extern "C" void {program.name}_combine(const Arguments *arguments, int64 count) {{'
    calls = [f"combine<{kind_of(step)}>(arguments->{step.result}_partials, count);" for step in program.totals]
    return [first, *indented(calls, 1), "}"]
