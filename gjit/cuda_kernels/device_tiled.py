"""Kernels over arrays whose fastest axes differ: a transposed array next to one that is not.

A block takes 32 x 32 elements. What lies along the other axis goes through shared memory, so that neighbouring threads
read and write neighbouring elements of every array.

extern "C" __global__ void __launch_bounds__(256) sum_of_both(...) {
    float64 (*y_tile)[33] = (float64 (*)[33])(shared_memory + 0);
    const int32 across = (int32)blockIdx.y * 32;
    const int32 along = (int32)blockIdx.x * 32;
    #pragma unroll
    for (int unit = 0; unit < 32; unit += 8) {
        const int32 index_0 = across + (int32)threadIdx.x;
        const int32 index_1 = along + unit + (int32)threadIdx.y;
        if (index_0 < extent_0 && index_1 < extent_1) {
            const float64 *y_row = y_data + index_0 * y_stride_0;
            y_tile[unit + threadIdx.y][threadIdx.x] = y_row[index_1 * y_step];
        }
    }
    __syncthreads();
    #pragma unroll
    for (int unit = 0; unit < 32; unit += 8) {
        const int32 index_0 = across + unit + (int32)threadIdx.y;
        const int32 index_1 = along + (int32)threadIdx.x;
        if (index_0 < extent_0 && index_1 < extent_1) {
            ...
            const float64 y = y_tile[threadIdx.x][unit + threadIdx.y];
            ...
        }
    }
}
"""

from __future__ import annotations

from functools import partial

from gjit.cuda_kernels.arguments import all_arrays
from gjit.cuda_kernels.device_flat import line_of
from gjit.cuda_kernels.device_kernel import DeviceKernel
from gjit.cuda_kernels.device_layout import TILE, TILE_BYTES, Layout
from gjit.cuda_kernels.device_lines import ROLL, UNROLL
from gjit.cuda_kernels.device_nest import load, needed, pointers, row_loads
from gjit.cuda_kernels.device_parameters import fields_of, head_text, index_type
from gjit.cuda_kernels.device_rows import indices
from gjit.cuda_kernels.device_shapes import tiled_shape
from gjit.cuda_kernels.element import indented, place
from gjit.cuda_kernels.flat import uniform
from gjit.cuda_kernels.program import Array, KernelProgram
from gjit.ops.kernels import c_type

_LINES = 8
_OWN = "[threadIdx.x][unit + threadIdx.y]"
_TURNED = "[unit + threadIdx.y][threadIdx.x]"


def tiled_kernel(program: KernelProgram, layout: Layout) -> DeviceKernel:
    """A block for each tile; the grid's third axis goes through the other axes."""
    return _Writer(program, layout).kernel()


class _Writer:
    def __init__(self, program: KernelProgram, layout: Layout):
        assert layout.turned is not None
        self.program, self.layout = program, layout
        self.axis, self.names = layout.turned
        self.index = index_type(layout)
        self.element = line_of(program, layout).element
        self.outer = tuple(axis for axis in range(program.rank - 1) if axis != self.axis)
        self.turned = [array for array in all_arrays(program) if array.name in self.names]

    def kernel(self) -> DeviceKernel:
        program = self.program
        fields = fields_of(program, self.layout)
        kind = self.index
        body = self._tiles()
        body += [
            f"const {kind} across = ({kind})blockIdx.y * {TILE};",
            f"const {kind} along = ({kind})blockIdx.x * {TILE};",
        ]
        body += self._over_outer([*self._read(), *self._work(), *self._write()])
        lines = [*self.element.text(), *head_text(program.name, str(TILE * _LINES), fields), *indented(body, 1), "}"]
        shared = sum(array.dtype.itemsize for array in self.turned) * TILE_BYTES
        shape = partial(tiled_shape, axis=self.axis, tile=TILE, lines=_LINES, shared=shared)
        return DeviceKernel(program.name, "\n".join(lines) + "\n", fields, shape)

    def _tiles(self) -> list[str]:
        lines, offset = [], 0
        for array in self.turned:
            kind = f"{c_type(array.dtype)} (*)[{TILE + 1}]"
            name = f"{c_type(array.dtype)} (*{array.name}_tile)[{TILE + 1}]"
            lines.append(f"{name} = ({kind})(shared_memory + {offset});")
            offset += array.dtype.itemsize * TILE_BYTES
        return lines

    def _over_outer(self, body: list[str]) -> list[str]:
        """For each place along the axes that the tile has no part in."""
        kind, axes = self.index, self.outer
        if not axes:
            return body
        count = " * ".join(f"extent_{axis}" for axis in axes)
        head = f"for ({kind} outer = ({kind})blockIdx.z; outer < {count}; outer += ({kind})gridDim.z) {{"
        return [ROLL, head, *indented([*indices("outer", axes, kind), "__syncthreads();", *body], 1), "}"]

    def _units(self, across: str, along: str, body: list[str]) -> list[str]:
        """The body for four elements of each thread."""
        kind, last = self.index, self.program.rank - 1
        own, other = f"index_{self.axis}", f"index_{last}"
        head = [
            f"const {kind} {own} = across + {across};",
            f"const {kind} {other} = along + {along};",
            f"if ({own} < extent_{self.axis} && {other} < extent_{last}) {{",
        ]
        rows = pointers(self.program, range(last), "data", "row")
        inner = [*head, *indented([*needed(rows, body), *body], 1), "}"]
        return [UNROLL, f"for (int unit = 0; unit < {TILE}; unit += {_LINES}) {{", *indented(inner, 1), "}"]

    @property
    def _thread(self) -> tuple[str, str]:
        return f"({self.index})threadIdx.x", f"unit + ({self.index})threadIdx.y"

    def _place(self, array: Array) -> str:
        return place(array, f"index_{self.program.rank - 1}", "row")

    def _read(self) -> list[str]:
        loads = [array for array in self.element.loads if array.name in self.names]
        if not loads:
            return []
        body = [f"{array.name}_tile{_TURNED} = {self._place(array)};" for array in loads]
        return [*self._units(*self._thread, body), "__syncthreads();"]

    def _work(self) -> list[str]:
        element, body = self.element, row_loads(self.program, "row")
        body += element.texts.operations(uniform(self.program.steps))
        for array in element.loads:
            if array.name in self.names:
                body.append(f"const {c_type(array.dtype)} {array.name} = {array.name}_tile{_OWN};")
            else:
                body.append(load(array, f"index_{self.program.rank - 1}", "row"))
        body += [f"{c_type(output.array.dtype)} {output.array.name};" for output in element.outputs]
        body += element.call(str, str, str)
        for output in element.outputs:
            array = output.array
            target = f"{array.name}_tile{_OWN}" if array.name in self.names else self._place(array)
            body.append(f"{target} = {array.name};")
        across, along = reversed(self._thread)
        return self._units(across, along, body)

    def _write(self) -> list[str]:
        outputs = [output.array for output in self.element.outputs if output.array.name in self.names]
        if not outputs:
            return []
        body = [f"{self._place(array)} = {array.name}_tile{_TURNED};" for array in outputs]
        return ["__syncthreads();", *self._units(*self._thread, body)]
