"""Kernels that reduce all elements in one launch, with whatever makes the elements, and arrays written on the way.

Each thread adds up its elements, 64 tiles of them before they join the tiles before; the threads of a block join in
pairs; the last block to come adds up the partial results of all. No order depends on which block is the last.

extern "C" __global__ void __launch_bounds__(256, 1) energy(...) {
    float32 total_sums[4] = {...};
    for (int32 start = (int32)blockIdx.x * 2048; start < extent_0;) {
        float32 total_parts[4] = {...};
        for (int turn = 0; turn < 64 && start < extent_0; ++turn, start += (int32)gridDim.x * 2048) {
            ...
            total_parts[lane] = Sum::combine(total_parts[lane], total_term);
        }
        total_sums[0] = Sum::combine(total_sums[0], total_parts[0]);
        ...
    }
    ...
    const float32 total_block = of_block<Sum, 8>(total_sums[0]);
    if (thread == 0) total_partials[block] = total_block;
    if (!is_last_block(ticket, blocks)) return;
    float32 total_rest = (float32)0x0.0p+0;
    for (uint32 k = thread; k < blocks; k += 256) {
        total_rest = Sum::combine(total_rest, total_partials[k]);
    }
    const float32 total = of_block<Sum, 8>(total_rest);
    if (thread == 0) {
        *total_result = total;
        *ticket = 0;
    }
}
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from gjit.cuda_kernels.blocks import partial_type
from gjit.cuda_kernels.device_flat import line_of
from gjit.cuda_kernels.device_kernel import DeviceKernel
from gjit.cuda_kernels.device_layout import Finish, Layout
from gjit.cuda_kernels.device_lines import ROLL, THREADS, Line
from gjit.cuda_kernels.device_nest import nested, row_loads
from gjit.cuda_kernels.device_parameters import fields_of, head_text, index_type
from gjit.cuda_kernels.device_reductions import (
    WARP,
    lanes_joined,
    neutral,
    number_of,
    of_block,
    parts_joined,
    parts_of,
    shared_bytes,
    sums_of,
)
from gjit.cuda_kernels.device_shapes import total_shape
from gjit.cuda_kernels.element import indented
from gjit.cuda_kernels.flat import uniform
from gjit.cuda_kernels.program import KernelProgram, Reduction
from gjit.ops.kernels import cast_text

_TURNS = 64
_WARPS = THREADS // WARP
_FLOAT64, _INT64 = np.dtype("f8"), np.dtype("i8")


def totals_kernel(program: KernelProgram, layout: Layout) -> DeviceKernel:
    """One launch, whose last block combines the partial results of all."""
    fields = fields_of(program, layout)
    line = line_of(program, layout)
    if program.rank > 1:
        counted = "counted" if any(step.combine.is_place for step in program.totals) else ""
        line = replace(line, units=1, pointer="row", counted=counted)
    body = sums_of(program.totals, line.vector)
    body += _flat(program, layout, line) if program.rank == 1 else _nest(program, layout, line)
    body += [*_block(program, line.vector), *_last(program, layout)]
    lines = [*line.element.text(), *head_text(program.name, f"{THREADS}, 1", fields), *indented(body, 1), "}"]
    shape = partial(
        total_shape,
        tile=line.tile if program.rank == 1 else 0,
        vector=line.vector,
        threads=THREADS,
        shared=shared_bytes(program.totals, _WARPS),
    )
    return DeviceKernel(program.name, "\n".join(lines) + "\n", fields, shape)


def _flat(program: KernelProgram, layout: Layout, line: Line) -> list[str]:
    kind, totals = index_type(layout), program.totals
    step = f"start += ({kind})gridDim.x * {line.tile}"
    turns = [
        ROLL,
        f"for (int turn = 0; turn < {_TURNS} && start < extent_0; ++turn, {step}) {{",
        *indented(line.block_text("extent_0"), 1),
        "}",
    ]
    body = [*parts_of(totals, line.vector), *turns, *parts_joined(totals, line.vector)]
    before = [*row_loads(program, "data"), *line.element.texts.operations(uniform(program.steps))]
    first = f"for ({kind} start = ({kind})blockIdx.x * {line.tile}; start < extent_0;) {{"
    return [*before, ROLL, first, *indented(body, 1), "}"]


def _nest(program: KernelProgram, layout: Layout, line: Line) -> list[str]:
    kind, totals, extent = index_type(layout), program.totals, f"extent_{program.rank - 1}"
    thread = f"({kind})blockIdx.x * blockDim.x + threadIdx.x"
    before = [
        f"const {kind} line_start = {f'({thread}){line.scale}' if line.scale else thread};",
        f"const {kind} line_step = ({kind})(gridDim.x * blockDim.x){line.scale};",
    ]
    row = [*row_loads(program, "row"), *line.element.texts.operations(uniform(program.steps))]
    if line.counted:
        row.append(f"const int64 counted = {_counted(program)};")
    row += parts_of(totals, line.vector)
    loop = f"for ({kind} first = line_start; first < {extent}; first += line_step) {{"
    row += [ROLL, loop, *indented(line.thread_text(extent), 1), "}", *parts_joined(totals, line.vector)]
    return [*before, *nested(program, layout, row)]


def _counted(program: KernelProgram) -> str:
    """How many elements come before the row, in the order of the axes."""
    text = "(int64)index_0"
    for axis in range(1, program.rank - 1):
        text = f"({text} * extent_{axis} + index_{axis})"
    return f"{text} * extent_{program.rank - 1}"


def _block(program: KernelProgram, vector: int) -> list[str]:
    """What the threads of the block have together, into its place among the partial results."""
    lines = []
    for step in program.totals:
        lines += lanes_joined(step, vector)
        block = of_block(step, f"{step.result}_sums[0]", _WARPS)
        lines.append(f"const {partial_type(step)} {step.result}_block = {block};")
    lines += [
        "const uint32 thread = threadIdx.y * blockDim.x + threadIdx.x;",
        "const uint32 blocks = gridDim.x * gridDim.y * gridDim.z;",
        "const uint32 block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;",
    ]
    return lines + [f"if (thread == 0) {step.result}_partials[block] = {step.result}_block;" for step in program.totals]


def _last(program: KernelProgram, layout: Layout) -> list[str]:
    lines = ["if (!is_last_block(ticket, blocks)) return;"]
    lines += [f"{partial_type(step)} {step.result}_rest = {neutral(step)};" for step in program.totals]
    body = []
    for step in program.totals:
        name = step.result
        body.append(f"{name}_rest = {step.combine.value}::combine({name}_rest, {name}_partials[k]);")
    lines += [f"for (uint32 k = thread; k < blocks; k += {THREADS}) {{", *indented(body, 1), "}"]
    for step in program.totals:
        name = step.result
        lines.append(f"const {partial_type(step)} {name} = {of_block(step, f'{name}_rest', _WARPS)};")
    finishes = dict(layout.finishes)
    ends = [f"*{step.result}_result = {_final(program, step, finishes.get(step.result))};" for step in program.totals]
    return [*lines, "if (thread == 0) {", *indented([*ends, "*ticket = 0;"], 1), "}"]


def _final(program: KernelProgram, step: Reduction, finish: Finish | None) -> str:
    text, dtype = number_of(step, step.result)
    if finish is None:
        return step.result
    if finish.is_mean:
        divisor = f"np_cast_float64({_size(program)} - {finish.lost})"
        text, dtype = f"np_divide({cast_text(text, dtype, _FLOAT64)}, {divisor})", _FLOAT64
    if finish.is_root:
        text = f"np_sqrt({text})"
    return cast_text(text, dtype, finish.dtype)


def _size(program: KernelProgram) -> str:
    return "((int64)" + " * ".join(f"extent_{axis}" for axis in range(program.rank)) + ")"
