"""One pass of a team of threads over a row, in vectors: all are read before the first is used.

#pragma unroll
for (int unit = 0; unit < 8; ++unit) {
    const int32 at = unit * 32 + (int32)threadIdx.x;
    const int32 first = at * 4;
    if (first + 4 <= extent_1) {
        x_held[unit] = *(const Vector<float32, 4> *)(x_row + first);
    } else { ... }
}
#pragma unroll
for (int unit = 0; unit < 8; ++unit) {
    ...
    for (int lane = 0; lane < 4; ++lane) {
        float32 top_term;
        softmax_sweep_0(x_held[unit].lanes[lane], top_term);
        if (first + lane < extent_1) {
            top_sums[lane] = Maximum::combine(top_sums[lane], top_term);
        }
    }
}
"""

from __future__ import annotations

from dataclasses import dataclass

from gjit.cuda_kernels.device_element import Element
from gjit.cuda_kernels.device_layout import is_vector
from gjit.cuda_kernels.device_lines import ROLL, UNROLL
from gjit.cuda_kernels.device_reductions import lanes_joined, parts_joined, parts_of, sums_of, taken
from gjit.cuda_kernels.device_row_plan import RowPlan, Storage
from gjit.cuda_kernels.element import indented, place
from gjit.cuda_kernels.program import Array
from gjit.ops.kernels import c_type

TURNS = 64
"""So many tiles are added up before they join those before."""


@dataclass(frozen=True, slots=True)
class RowSweep:
    """One pass.

    element  what is done for each element
    held     the names of what waits for other sweeps
    known    those of them that an earlier sweep has read or computed
    plan     how threads share the row
    index    the type of indices
    vector   how many elements lie in one vector
    aligned  whether vectors of contiguous arrays may be read whole
    extent   how far the row goes, as text
    """

    element: Element
    held: frozenset[str]
    known: frozenset[str]
    plan: RowPlan
    index: str
    vector: int
    aligned: bool
    extent: str

    def sums(self) -> list[str]:
        """What the elements of a thread have together, `NAME_sums`, before the first."""
        return sums_of(self.element.reductions, self.vector)

    def text(self) -> list[str]:
        """The pass itself."""
        reductions, body = self.element.reductions, [*self._reads(), *self._work()]
        parts, joined = parts_of(reductions, self.vector), parts_joined(reductions, self.vector)
        if self.plan.storage is Storage.REGISTERS:
            return [*parts, *body, *joined]
        tile = self.plan.team * self.plan.units
        begin, step = "0", f"start += {tile}"
        if self.plan.split:
            begin, step = f"({self.index})blockIdx.y * {tile}", f"start += ({self.index})gridDim.y * {tile}"
        ahead = f"start * {self.vector} < {self.extent}" if self.vector > 1 else f"start < {self.extent}"
        if not parts:
            return [ROLL, f"for ({self.index} start = {begin}; {ahead}; {step}) {{", *indented(body, 1), "}"]
        turns = [ROLL, f"for (int turn = 0; turn < {TURNS} && {ahead}; ++turn, {step}) {{", *indented(body, 1), "}"]
        inner = [*parts, *turns, *joined]
        return [ROLL, f"for ({self.index} start = {begin}; {ahead};) {{", *indented(inner, 1), "}"]

    def joined_lanes(self) -> list[str]:
        """The sums of all lanes into those of the first."""
        return [line for step in self.element.reductions for line in lanes_joined(step, self.vector)]

    # Reading

    def _reads(self) -> list[str]:
        loads = [array for array in self.element.loads if array.name not in self.known]
        own = [array for array in loads if array.name not in self.held]
        lines = [f"{self._type(array)} {array.name}_vectors[{self.plan.units}];" for array in own]
        if loads:
            lines += self._units([line for array in loads for line in self._read(array)])
        return lines

    def _read(self, array: Array) -> list[str]:
        """What is not there is read from the beginning of the row, and counts for nothing."""
        name = self._vector_of(array.name)
        single = self._each_lane([f"{name}.lanes[lane] = {self._place(array, self._inside)};"])
        if not self._is_whole(array):
            return single
        whole = f"{name} = *(const {self._type(array)} *)({array.source}_row + first);"
        return [f"if ({self._fits}) {{", *indented([whole], 1), "} else {", *indented(single, 1), "}"]

    # Computing and writing

    def _work(self) -> list[str]:
        element = self.element
        lines = [f"{self._type(output.array)} {output.array.name}_vector;" for output in element.outputs]
        body = [
            *element.terms(),
            *element.call(
                lambda name: f"{self._vector_of(name)}.lanes[lane]",
                lambda name: f"{name}_vector.lanes[lane]",
                lambda name: f"{self._vector_of(name)}.lanes[lane]",
            ),
        ]
        taking = [taken(step, self.vector, "lane", self._at) for step in element.reductions]
        if taking:
            body += [f"if ({self._is_there}) {{", *indented(taking, 1), "}"]
        lines += self._each_lane(body)
        for output in element.outputs:
            lines += self._written(output.array)
        return self._units(lines)

    def _written(self, array: Array) -> list[str]:
        vector = f"{array.name}_vector"
        store = f"{self._place(array, self._at)} = {vector}.lanes[lane];"
        single = self._each_lane([f"if ({self._may_write}) {store}"])
        if not self._is_whole(array):
            return single
        whole = f"*({self._type(array)} *)({array.source}_row + first) = {vector};"
        return [f"if ({self._fits}) {{", *indented([whole], 1), "} else {", *indented(single, 1), "}"]

    # Places

    def _units(self, body: list[str]) -> list[str]:
        start = "" if self.plan.storage is Storage.REGISTERS else "start + "
        head = [
            UNROLL,
            f"for (int unit = 0; unit < {self.plan.units}; ++unit) {{",
            f"    const {self.index} at = {start}unit * {self.plan.team} + ({self.index})threadIdx.{self._axis};",
            f"    const {self.index} first = at{f' * {self.vector}' if self.vector > 1 else ''};",
        ]
        return [*head, *indented(body, 1), "}"]

    def _place(self, array: Array, index: str) -> str:
        return place(array, index, "row")

    def _each_lane(self, body: list[str]) -> list[str]:
        """Lines for each lane."""
        if self.vector == 1:
            return [line.replace("[lane]", "[0]") for line in body]
        return [UNROLL, f"for (int lane = 0; lane < {self.vector}; ++lane) {{", *indented(body, 1), "}"]

    def _vector_of(self, name: str) -> str:
        if name not in self.held:
            return f"{name}_vectors[unit]"
        return f"{name}_held[{'unit' if self.plan.storage is Storage.REGISTERS else 'at'}]"

    @property
    def _axis(self) -> str:
        """The axis of the block along which a team lies."""
        return "x"

    @property
    def _fits(self) -> str:
        return f"first + {self.vector} <= {self.extent}"

    @property
    def _at(self) -> str:
        return "first" if self.vector == 1 else "first + lane"

    @property
    def _is_there(self) -> str:
        """Whether there is an element for a lane."""
        return f"first < {self.extent}" if self.vector == 1 else f"first + lane < {self.extent}"

    @property
    def _may_write(self) -> str:
        """Whether the thread writes the element of a lane."""
        return self._is_there

    @property
    def _inside(self) -> str:
        """A place in the row, whatever the lane."""
        return f"{self._is_there} ? {self._at} : 0"

    def _is_whole(self, array: Array) -> bool:
        return is_vector(array) and self.aligned and self.vector > 1

    def _type(self, array: Array) -> str:
        return f"Vector<{c_type(array.dtype)}, {self.vector}>"
