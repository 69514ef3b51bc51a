"""Kernels with reductions along rows: sums, softmax, layer norm, variance. A team of threads has a row.

A row is read once where it fits the registers of a team, or shared memory; longer ones are read by each sweep.

extern "C" __global__ void __launch_bounds__(256, 1) softmax(...) {
    const int32 row = (int32)blockIdx.x * 8 + (int32)threadIdx.y;
    if (row >= extent_0) return;
    const int32 index_0 = row;
    const float32 *x_row = x_data + index_0 * x_stride_0;
    float32 *result_row = result_data + index_0 * result_stride_0;
    Vector<float32, 4> x_held[8];
    Vector<float32, 4> e_held[8];
    float32 top_sums[4] = {...};
    ... read x, and its largest ...
    const float32 top_all = of_warp<Maximum, 32>(top_sums[0]);
    const float32 top = top_all;
    ... e, and its sum ...
    ... divide, write ...
}
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

from gjit.cuda_kernels.blocks import Sweep, partial_type
from gjit.cuda_kernels.device_element import Element
from gjit.cuda_kernels.device_kernel import DeviceKernel
from gjit.cuda_kernels.device_layout import Extents, Layout, vector_width
from gjit.cuda_kernels.device_nest import needed, pointers, row_loads
from gjit.cuda_kernels.device_parameters import fields_of, head_text, index_type
from gjit.cuda_kernels.device_reductions import WARP, neutral, of_block, of_warp
from gjit.cuda_kernels.device_row_plan import SLOT_BYTES, Storage, held
from gjit.cuda_kernels.device_shapes import LaunchShape, rows_shape, split_rows_shape
from gjit.cuda_kernels.device_sweeps import RowSweep
from gjit.cuda_kernels.element import Texts, indented, place
from gjit.cuda_kernels.program import KernelProgram, Level, Reduction
from gjit.cuda_kernels.rows import row_length, total_text
from gjit.cuda_kernels.sweeps import plan_sweeps
from gjit.ops.kernels import c_type


def rows_kernel(program: KernelProgram, layout: Layout) -> DeviceKernel:
    """One launch, whatever the number of sweeps."""
    return RowsWriter(program, layout).kernel()


class RowsWriter:
    """Writes one kernel."""

    def __init__(self, program: KernelProgram, layout: Layout):
        assert layout.rows is not None
        self.program, self.layout, self.plan = program, layout, layout.rows
        self.texts = Texts(program)
        self.index = index_type(layout)
        self.is_held = self.plan.storage is not Storage.NONE
        self.sweeps = plan_sweeps(program) if self.is_held else plan_sweeps(program, math.inf)
        self.held = held(program) if self.is_held else {}
        self.vector = vector_width(program) if program.reduced == 1 else 1
        self.elements: list[Element] = []

    def kernel(self) -> DeviceKernel:
        """The kernel."""
        program, plan = self.program, self.plan
        fields = fields_of(program, self.layout)
        body = self._split_body() if plan.split else self._body()
        lines = [line for element in self.elements for line in element.text()]
        bounds = f"{plan.team * plan.rows}, 1"
        lines += [*head_text(program.name, bounds, fields), *indented(body, 1), "}"]
        return DeviceKernel(program.name, "\n".join(lines) + "\n", fields, self._shape())

    def _body(self) -> list[str]:
        body = [*self._row(), *self._row_values(), *self._waiting()]
        for depth, sweep in enumerate(self.sweeps.sweeps):
            body += self.texts.operations(self.sweeps.between[depth])
            if sweep.reductions or sweep.stores:
                body += self._sweep(depth, sweep)
        return body + self._row_stores(self._is_first)

    def _split_body(self) -> list[str]:
        """Partial results of each block; the last block to come combines them, and writes what belongs to rows."""
        sweep = self.sweeps.sweeps[0]
        row = self._row_sweep(self._element(0, sweep), frozenset())
        first = [*row.sums(), *row.text(), *row.joined_lanes()]
        first += [
            f"const {partial_type(step)} {step.result}_all = {self._together(step)};" for step in sweep.reductions
        ]
        stores = [f"{step.result}_partials[{self._own_partial}] = {step.result}_all;" for step in sweep.reductions]
        first += [f"if ({self._is_first}) {{", *indented(stores, 1), "}"]
        last = ["if (!is_last_block(ticket, gridDim.x * gridDim.y)) return;", *self._combined(sweep)]
        results = f"const {self.index} results = {' * '.join(f'extent_{axis}' for axis in self._result_axes)};"
        values = [*self._row(), *self._row_values(), *self.texts.operations(self.sweeps.between[0])]
        first = [*needed(values, first), *first]
        return [results, "{", *indented(first, 1), "}", *last, "if (threadIdx.x + threadIdx.y == 0) *ticket = 0;"]

    def _combined(self, sweep: Sweep) -> list[str]:
        """The partial results of all blocks, for a few rows at a time."""
        side, own, thread, count = self._sharing
        kind = self.index
        place = [
            f"const {kind} own = result + ({kind}){own};",
            "const bool is_inside = own < results;",
            f"const {kind} row_or_last = is_inside ? own : results - 1;",
            *self._result_place("row_or_last"),
            *self._row_values(),
            *self.texts.operations(self.sweeps.between[0]),
        ]
        body = []
        for step in sweep.reductions:
            name, way = step.result, step.combine.value
            body.append(f"{partial_type(step)} {name}_rest = {neutral(step)};")
            body.append(f"for (uint32 part = {thread}; part < gridDim.y; part += {count}) {{")
            body.append(
                f"    {name}_rest = {way}::combine({name}_rest, {name}_partials[part * results + row_or_last]);"
            )
            body.append("}")
            together = self._together_again(step, f"{name}_rest")
            body.append(f"const {partial_type(step)} {name}_all = {together};")
            body.append(total_text(step, f"{name}_all", self._length))
        for operations in self.sweeps.between[1:]:
            body += self.texts.operations(operations)
        body += self._row_stores(f"{thread} == 0 && is_inside")
        body = [*needed(place, body), *body]
        return [f"for ({kind} result = 0; result < results; result += {side}) {{", *indented(body, 1), "}"]

    def _shape(self) -> Callable[[Extents], LaunchShape]:
        plan = self.plan
        waiting = sum(dtype.itemsize for dtype in self.held.values()) if plan.storage is Storage.SHARED else 0
        slots = SLOT_BYTES if plan.team > WARP else 0
        kept, tile = len(self.program.kept), plan.team * plan.units * self.vector
        if plan.split:
            return partial(split_rows_shape, kept=kept, team=plan.team, slots=slots, tile=tile)
        return partial(rows_shape, kept=kept, team=plan.team, rows=plan.rows, slots=slots, held=waiting, tile=tile)

    # What split rows share

    @property
    def _result_axes(self) -> tuple[int, ...]:
        return self.program.kept

    @property
    def _own_partial(self) -> str:
        return f"({self.index})blockIdx.y * results + row"

    @property
    def _sharing(self) -> tuple[int, str, str, int]:
        """How many results a block combines at a time; which is a thread's, its place in the team, the team's size."""
        return self.plan.team // WARP, f"(threadIdx.x / {WARP})", f"(threadIdx.x % {WARP})", WARP

    def _result_place(self, result: str) -> list[str]:
        """Where the results of a row go, from its number."""
        kept = self.program.kept
        return [*indices(result, kept, self.index), *pointers(self.program, kept, "data", "row", Level.ROW)]

    def _together_again(self, step: Reduction, part: str) -> str:
        return of_warp(step, part, WARP)

    # Around the sweeps

    def _row(self) -> list[str]:
        """Which row the team has, and pointers to it."""
        kind, kept, plan = self.index, self.program.kept, self.plan
        number = f"({kind})blockIdx.x"
        if plan.rows > 1:
            number = f"{number} * {plan.rows} + ({kind})threadIdx.y"
        lines = [f"const {kind} row = {number};"]
        if plan.rows > 1:
            lines.append(f"if (row >= {' * '.join(f'extent_{axis}' for axis in kept) or '1'}) return;")
        lines += indices("row", kept, kind)
        if self.program.reduced == 1:
            lines += pointers(self.program, kept, "data", "row")
        else:
            lines += pointers(self.program, kept, "data", "row", Level.ROW)
            lines += pointers(self.program, kept, "data", "base", Level.ELEMENT)
        return lines

    def _row_values(self) -> list[str]:
        return row_loads(self.program, "row")

    def _waiting(self) -> list[str]:
        """The memory of what waits for later sweeps."""
        lines, before = [], f"shared_memory + {SLOT_BYTES}"
        for name, dtype in self.held.items():
            kind = f"Vector<{c_type(dtype)}, {self.vector}>"
            if self.plan.storage is Storage.REGISTERS:
                lines.append(f"{kind} {name}_held[{self.plan.units}];")
                continue
            lines.append(f"{kind} *{name}_held = ({kind} *)({before});")
            tile = self.plan.team * self.plan.units
            vectors = f"({self._extent} + {tile * self.vector - 1}) / {tile * self.vector} * {tile}"
            before = f"(char *)({name}_held + {vectors})"
        return lines

    def _row_stores(self, condition: str) -> list[str]:
        """What belongs to whole rows, written by one thread of the team."""
        outputs = [output for output in self.program.outputs if output.array.level is Level.ROW]
        if not outputs:
            return []
        stores = [
            f"{place(output.array, self._column, 'row')} = {self.texts.operand(output.value, output.array.dtype)};"
            for output in outputs
        ]
        return [f"if ({condition}) {{", *indented(stores, 1), "}"]

    @property
    def _is_first(self) -> str:
        """Whether a thread is the first of its team."""
        return "threadIdx.x == 0"

    @property
    def _column(self) -> str:
        """Where what belongs to a whole row lies along the last axis."""
        return "0"

    # Sweeps

    @property
    def _extent(self) -> str:
        return f"extent_{self.program.lines[-1]}"

    def _element(self, depth: int, sweep: Sweep) -> Element:
        name = f"{self.program.name}_sweep_{depth}"
        stores, reductions, kept = sweep.stores, sweep.reductions, sweep.kept
        element = Element(
            name, self.texts, sweep.operations, sweep.loads, stores, reductions, kept, buffered=sweep.buffered
        )
        self.elements.append(element)
        return element

    def _sweep(self, depth: int, sweep: Sweep) -> list[str]:
        known = frozenset(name for name in self.held if self._first(name) < depth)
        row = self._row_sweep(self._element(depth, sweep), known)
        results = [line for step in sweep.reductions for line in self._result(step)]
        return [*row.sums(), *self._passes(row.text()), *row.joined_lanes(), *results]

    def _row_sweep(self, element: Element, known: frozenset[str]) -> RowSweep:
        held, aligned = frozenset(self.held), self.layout.aligned
        return RowSweep(element, held, known, self.plan, self.index, self.vector, aligned, self._extent)

    def _passes(self, text: list[str]) -> list[str]:
        """The pass over a row; of a row of several axes one over each of its lines."""
        if self.program.reduced == 1:
            return text
        kind, axes = self.index, self.program.lines[:-1]
        count = " * ".join(f"extent_{axis}" for axis in axes)
        lines = [*indices("line", axes, kind), *pointers(self.program, axes, "base", "row", Level.ELEMENT)]
        body = [*needed(lines, text), *text]
        return [f"for ({kind} line = 0; line < {count}; ++line) {{", *indented(body, 1), "}"]

    def _first(self, name: str) -> int:
        """The sweep that reads or computes what waits."""
        return next(
            depth
            for depth, sweep in enumerate(self.sweeps.sweeps)
            if name in sweep.kept or any(array.name == name for array in sweep.loads)
        )

    def _result(self, step: Reduction) -> list[str]:
        """What the team has together, and what becomes of it."""
        part = f"{step.result}_all"
        together = f"const {partial_type(step)} {part} = {self._together(step)};"
        return [together, total_text(step, part, self._length)]

    @property
    def _length(self) -> str:
        return row_length(self.program)

    def _together(self, step: Reduction) -> str:
        team, part = self.plan.team, f"{step.result}_sums[0]"
        return of_block(step, part, team // WARP) if team > WARP else of_warp(step, part, team)


def indices(whole: str, axes: tuple[int, ...], kind: str) -> list[str]:
    """The indices along some axes from a number that counts through all of them, the last axis fastest."""
    if not axes:
        return []
    lines, rest = [], whole
    for axis in axes[:0:-1]:
        lines.append(f"const {kind} rest_{axis} = {rest} / extent_{axis};")
        lines.append(f"const {kind} index_{axis} = {rest} - rest_{axis} * extent_{axis};")
        rest = f"rest_{axis}"
    return [*lines, f"const {kind} index_{axes[0]} = {rest};"]
