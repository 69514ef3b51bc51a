"""Kernels with reductions along axes that are not the last: sums of columns, softmax along the first axis.

Neighbours along the last axis are reduced side by side, a tile of them at a time; what belongs to a whole column
has a place in a small array for each of them.

extern "C" void centred(const Arguments *arguments, char *scratch, int64 begin, int64 end) {
    const int64 extent_0 = arguments->extent_0;
    const int64 extent_1 = arguments->extent_1;
    const int64 tiles = (extent_1 + 255) / 256;
    const int64 lines = extent_0;
    for (int64 unit = begin; unit < end; ++unit) {
        const int64 row = unit / tiles;
        const int64 first = unit % tiles * 256;
        const int64 count = smaller(256, extent_1 - first);
        const float64 *x_base = (const float64 *)arguments->x->data + first;
        alignas(64) float64 total_lane[256];
        INDEPENDENT
        for (int64 i = 0; i < count; ++i) {
            total_lane[i] = (float64)0x0.0p+0;
        }
        for (int64 start = 0; start < lines; start += 128) {
            ...
            for (int64 line = start; line < stop; ++line) {
                const float64 *x_data = x_base + line * arguments->x_stride_0;
                INDEPENDENT
                for (int64 i = 0; i < count; ++i) {
                    const float64 x = x_data[i];
                    total_part[i] = Sum::combine(total_part[i], x);
                }
            }
            ...
"""

from __future__ import annotations

import numpy as np

from gjit.cuda_kernels.arguments import fields_of, head, locals_text, pointers_text, row_indices, struct_text
from gjit.cuda_kernels.blocks import Sweep
from gjit.cuda_kernels.element import Texts, indented, literal, load
from gjit.cuda_kernels.flat import loop
from gjit.cuda_kernels.program import (
    Access,
    Array,
    Kernel,
    KernelProgram,
    Level,
    Literal,
    Operand,
    Operation,
    Reduction,
)
from gjit.cuda_kernels.rows import buffers_text, row_length, total_text
from gjit.cuda_kernels.sweeps import Sweeps, plan_sweeps
from gjit.ops.kernels import c_type

TILE = 256
"""How many columns lie side by side in one unit of work."""
LINES = 128
"""Partial results of so many lines are added up before they are added to those of the lines before."""


def columns_kernel(program: KernelProgram) -> Kernel:
    """One loop over the tiles of columns from `begin` up to `end`."""
    writer = _Writer(program)
    return Kernel(program.name, writer.text(), writer.fields, writer.buffers, TILE)


class _Writer:
    def __init__(self, program: KernelProgram):
        self.program = program
        self.fields = fields_of(program)
        self.texts = Texts(program)
        self.sweeps: Sweeps = plan_sweeps(program)
        self.buffers = tuple(self.texts.dtypes[name] for name in self.sweeps.kept)
        self.rows = {array.name: array for array in program.arrays if array.level is Level.ROW}
        self.lanes: set[str] = set()

    def text(self) -> str:
        program, last = self.program, f"extent_{self.program.rank - 1}"
        lines = [*struct_text(self.fields), head(program), *indented(locals_text(program), 1)]
        sizes = [
            f"const int64 tiles = ({last} + {TILE - 1}) / {TILE};",
            f"const int64 lines = {row_length(program)};",
            *buffers_text(program, self.sweeps, self.texts, f"lines * {TILE}"),
            "for (int64 unit = begin; unit < end; ++unit) {",
            *indented(self._unit(last), 1),
            "}",
        ]
        return "\n".join([*lines, *indented(sizes, 1), "}"]) + "\n"

    def _unit(self, last: str) -> list[str]:
        lines = [
            *(["const int64 row = unit / tiles;"] if self.program.kept else []),
            f"const int64 first = unit % tiles * {TILE};",
            f"const int64 count = smaller({TILE}, {last} - first);",
        ]
        indices, names = row_indices(self.program.kept)
        lines += [*indices, *self._pointers(names)]
        for depth, sweep in enumerate(self.sweeps.sweeps):
            lines += self._between(self.sweeps.between[depth])
            if sweep.reductions or sweep.stores:
                lines += self._sweep(sweep)
        stores = [output for output in self.program.outputs if output.array.level is Level.ROW]
        if stores:
            body = self._loads([output.value for output in stores])
            lines += loop(body + [self.texts.store(output, "i") for output in stores], "0", "count")
        return lines

    def _pointers(self, names: dict[int, str]) -> list[str]:
        rows = pointers_text(self.program, names, level=Level.ROW)
        lines = rows + pointers_text(self.program, names, "base", level=Level.ELEMENT)
        arrays = {array.source: array for array in self.program.arrays}
        arrays.update((output.array.source, output.array) for output in self.program.outputs)
        return [self._moved(line, arrays) for line in lines]

    def _moved(self, line: str, arrays: dict[str, Array]) -> str:
        """A pointer moved on to the first column of the tile."""
        name = line.partition(" = ")[0].split("*")[-1].rpartition("_")[0]
        array = arrays[name]
        if array.access is Access.REPEATED:
            return line
        step = f"{name}_step" if array.access is Access.STRIDED else ""
        if array.part is not None and array.part.width:
            step = str(array.part.width)
        return f"{line[:-1]} + first{f' * {step}' if step else ''};"

    # What belongs to whole columns

    def _loads(self, operands: list[Operand]) -> list[str]:
        """Values of columns that lines at `i` need."""
        names = dict.fromkeys(name for name in operands if not isinstance(name, Literal))
        lines = [load(self.rows[name], "i") for name in names if name in self.rows]
        dtypes = self.texts.dtypes
        return lines + [
            f"const {c_type(dtypes[name])} {name} = {name}_lane[i];" for name in names if name in self.lanes
        ]

    def _between(self, operations: list[Operation]) -> list[str]:
        """Ops on values of columns, kept for what comes later."""
        if not operations:
            return []
        own = {step.result for step in operations}
        needed = [name for step in operations for name in step.operands if name not in own]
        body = [*self._loads(needed), *self.texts.operations(operations)]
        body += [f"{step.result}_lane[i] = {step.result};" for step in operations]
        lines = [_lane(f"{step.result}_lane", step.dtype) for step in operations]
        self.lanes |= own
        return lines + loop(body, "0", "count")

    # Sweeps

    def _sweep(self, sweep: Sweep) -> list[str]:
        if not sweep.reductions:
            return self._lines(sweep, "0", "lines", "")
        lines = []
        for step in sweep.reductions:
            lines.append(_lane(f"{step.result}_total", step.accumulator))
            lines.append(_lane(f"{step.result}_part", step.accumulator))
            if step.combine.is_place:
                lines.append(_lane(f"{step.result}_place", np.dtype("i8")))
        lines += loop([text for step in sweep.reductions for text in _starts(step, "total")], "0", "count")
        ends = [
            f"{step.result}_total[i] = {_combined(step)};" for step in sweep.reductions if not step.combine.is_place
        ]
        block = [f"const int64 stop = smaller(start + {LINES}, lines);"]
        starts = [_starts(step, "part")[0] for step in sweep.reductions if not step.combine.is_place]
        block += loop(starts, "0", "count") if starts else []
        block += self._lines(sweep, "start", "stop", "part")
        block += loop(ends, "0", "count") if ends else []
        lines += [f"for (int64 start = 0; start < lines; start += {LINES}) {{", *indented(block, 1), "}"]
        return lines + self._results(sweep.reductions)

    def _lines(self, sweep: Sweep, start: str, stop: str, part: str) -> list[str]:
        """The loop over lines, and the one along each."""
        indices, names = row_indices(self.program.lines, "line")
        lines = [*indices, *pointers_text(self.program, names, start="base", level=Level.ELEMENT)]
        dtypes = self.texts.dtypes
        buffers = dict.fromkeys([*sweep.kept, *sweep.buffered])
        lines += [f"{c_type(dtypes[name])} *{name}_row = {name}_rows + line * {TILE};" for name in buffers]
        needed = [name for step in sweep.operations for name in step.operands]
        needed += [step.operand for step in sweep.reductions] + [output.value for output in sweep.stores]
        body = [*self._loads(needed), *sweep.body(self.texts)]
        body += [text for step in sweep.reductions for text in self._taken(step)]
        return [
            f"for (int64 line = {start}; line < {stop}; ++line) {{",
            *indented([*lines, *loop(body, "0", "count")], 1),
            "}",
        ]

    def _taken(self, step: Reduction) -> list[str]:
        """One element into the reduction of its column."""
        value, name = self.texts.operand(step.operand, step.accumulator), step.result
        if not step.combine.is_place:
            return [f"{name}_part[i] = {step.combine.value}::combine({name}_part[i], {value});"]
        return [
            f"const bool {name}_beats = {step.combine.value}::beats({value}, {name}_total[i]);",
            f"{name}_total[i] = {name}_beats ? {value} : {name}_total[i];",
            f"{name}_place[i] = {name}_beats ? line : {name}_place[i];",
        ]

    def _results(self, reductions: list[Reduction]) -> list[str]:
        lines = [_lane(f"{step.result}_lane", step.dtype) for step in reductions]
        body = []
        for step in reductions:
            total = f"{step.result}_total[i]"
            if step.combine.is_place:
                total = f"Place<{c_type(step.accumulator)}>{{{total}, {step.result}_place[i]}}"
            body += [total_text(step, total, "lines"), f"{step.result}_lane[i] = {step.result};"]
        self.lanes.update(step.result for step in reductions)
        return lines + loop(body, "0", "count")


def _lane(name: str, dtype: np.dtype) -> str:
    return f"alignas(64) {c_type(dtype)} {name}[{TILE}];"


def _starts(step: Reduction, ending: str) -> list[str]:
    lines = [f"{step.result}_{ending}[i] = {literal(step.neutral)};"]
    return [*lines, f"{step.result}_place[i] = 0;"] if step.combine.is_place else lines


def _combined(step: Reduction) -> str:
    return f"{step.combine.value}::combine({step.result}_total[i], {step.result}_part[i])"
