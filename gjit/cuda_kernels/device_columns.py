"""Kernels with reductions along axes that are not the last: sums of columns, softmax along the first axis.

Threads with neighbouring `threadIdx.x` have neighbouring columns; those of one column share its lines and meet in
shared memory. Threads behind the last column do what the last one does, and write nothing.

extern "C" __global__ void __launch_bounds__(256, 1) centred(...) {
    const int32 tiles = (extent_1 + 31) / 32;
    const int32 row = (int32)blockIdx.x / tiles;
    const int32 own = ((int32)blockIdx.x - row * tiles) * 32 + (int32)threadIdx.x;
    const bool is_inside = own < extent_1;
    const int32 column = is_inside ? own : extent_1 - 1;
    const int32 lines = extent_0;
    ...
    for (int unit = 0; unit < 4; ++unit) {
        const int32 at = start + unit * 8 + (int32)threadIdx.y;
        const int32 first = at;
        const int32 line = first < lines ? first : 0;
        const int32 index_0 = line;
        const float64 *x_row = x_base + index_0 * x_stride_0;
        x_vectors[unit].lanes[0] = x_row[column];
    }
    ...
    const float64 total_all = of_column<Sum, 8>(total_sums[0]);
}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from gjit.cuda_kernels.device_element import Element
from gjit.cuda_kernels.device_kernel import DeviceKernel
from gjit.cuda_kernels.device_layout import Extents, Layout
from gjit.cuda_kernels.device_nest import load, needed, pointers
from gjit.cuda_kernels.device_reductions import of_column
from gjit.cuda_kernels.device_rows import RowsWriter, indices
from gjit.cuda_kernels.device_shapes import LaunchShape, columns_shape, split_columns_shape
from gjit.cuda_kernels.device_sweeps import RowSweep
from gjit.cuda_kernels.element import place
from gjit.cuda_kernels.program import Array, KernelProgram, Level, Reduction
from gjit.cuda_kernels.rows import row_length


def columns_kernel(program: KernelProgram, layout: Layout) -> DeviceKernel:
    """A block for each few columns side by side."""
    return _ColumnsWriter(program, layout).kernel()


@dataclass(frozen=True, slots=True)
class _ColumnSweep(RowSweep):
    """A pass over columns: its elements lie one line apart; `pointers` lead to the line at `first`."""

    pointers: tuple[str, ...] = ()

    def _place(self, array: Array, index: str) -> str:
        return place(array, "column", "row")

    def _units(self, body: list[str]) -> list[str]:
        return super(_ColumnSweep, self)._units([*needed(self.pointers, body), *body])

    @property
    def _may_write(self) -> str:
        return f"{self._is_there} && is_inside"

    def _is_whole(self, array: Array) -> bool:
        return False

    @property
    def _axis(self) -> str:
        return "y"


class _ColumnsWriter(RowsWriter):
    def __init__(self, program: KernelProgram, layout: Layout):
        super().__init__(program, layout)
        self.vector = 1

    def _row(self) -> list[str]:
        kind, side, program = self.index, self.plan.rows, self.program
        last = f"extent_{program.rank - 1}"
        return [
            f"const {kind} tiles = ({last} + {side - 1}) / {side};",
            f"const {kind} row = ({kind})blockIdx.x / tiles;",
            f"const {kind} own = (({kind})blockIdx.x - row * tiles) * {side} + ({kind})threadIdx.x;",
            f"const bool is_inside = own < {last};",
            f"const {kind} column = is_inside ? own : {last} - 1;",
            f"const {kind} lines = {row_length(program)};",
            *indices("row", program.kept, kind),
            *pointers(program, program.kept, "data", "row", Level.ROW),
            *pointers(program, program.kept, "data", "base", Level.ELEMENT),
        ]

    def _row_values(self) -> list[str]:
        return [load(array, "column", "row") for array in self.program.arrays if array.level is Level.ROW]

    def _row_sweep(self, element: Element, known: frozenset[str]) -> RowSweep:
        axes = self.program.lines
        inside = f"const {self.index} line = first < lines ? first : 0;"
        lines = [
            inside,
            *indices("line", axes, self.index),
            *pointers(self.program, axes, "base", "row", Level.ELEMENT),
        ]
        held, aligned = frozenset(self.held), self.layout.aligned
        return _ColumnSweep(
            element, held, known, self.plan, self.index, self.vector, aligned, "lines", pointers=tuple(lines)
        )

    def _passes(self, text: list[str]) -> list[str]:
        return text

    def _together(self, step: Reduction) -> str:
        return of_column(step, f"{step.result}_sums[0]", self.plan.team)

    def _shape(self) -> Callable[[Extents], LaunchShape]:
        slot = max(step.partial.itemsize for step in self.program.reductions)
        kept, plan = len(self.program.kept), self.plan
        whole = partial(columns_shape, kept=kept, team=plan.team, side=plan.rows, slot=slot)
        if not plan.split:
            return whole
        return partial(split_columns_shape, whole=whole, kept=kept, tile=plan.team * plan.units)

    # What split columns share

    @property
    def _result_axes(self) -> tuple[int, ...]:
        return (*self.program.kept, self.program.rank - 1)

    @property
    def _own_partial(self) -> str:
        return f"({self.index})blockIdx.y * results + row * extent_{self.program.rank - 1} + own"

    @property
    def _sharing(self) -> tuple[int, str, str, int]:
        return self.plan.rows, "threadIdx.x", "threadIdx.y", self.plan.team

    def _result_place(self, result: str) -> list[str]:
        kind, last = self.index, f"extent_{self.program.rank - 1}"
        lines = [f"const {kind} row = {result} / {last};", f"const {kind} column = {result} - row * {last};"]
        kept = self.program.kept
        return [*lines, *indices("row", kept, kind), *pointers(self.program, kept, "data", "row", Level.ROW)]

    def _together_again(self, step: Reduction, part: str) -> str:
        return of_column(step, part, self.plan.team)

    @property
    def _is_first(self) -> str:
        return "threadIdx.y == 0 && is_inside"

    @property
    def _column(self) -> str:
        return "column"
