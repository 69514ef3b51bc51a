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
        if (first + lane < extent_1) {
            float32 top_term;
            softmax_sweep_0(x_held[unit].lanes[lane], top_term);
            top_parts[lane] = Maximum::combine(top_parts[lane], top_term);
        }
    }
}
"""

from __future__ import annotations

from dataclasses import dataclass

from gjit.cuda_kernels.device_element import Element
from gjit.cuda_kernels.device_layout import is_vector
from gjit.cuda_kernels.device_lines import ROLL, UNROLL
from gjit.cuda_kernels.device_reductions import array_of, taken
from gjit.cuda_kernels.device_row_plan import RowPlan, Storage
from gjit.cuda_kernels.element import indented, place
from gjit.cuda_kernels.program import Array, Reduction
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
        return self._array("sums")

    def text(self) -> list[str]:
        """The pass itself."""
        body = [*self._reads(), *self._work()]
        if self.plan.storage is Storage.REGISTERS:
            return body
        step = f"start += {self.plan.team * self.plan.units}"
        ahead = f"start * {self.vector} < {self.extent}" if self.vector > 1 else f"start < {self.extent}"
        if not self.element.reductions:
            return [ROLL, f"for ({self.index} start = 0; {ahead}; {step}) {{", *indented(body, 1), "}"]
        turns = [ROLL, f"for (int turn = 0; turn < {TURNS} && {ahead}; ++turn, {step}) {{", *indented(body, 1), "}"]
        inner = [*self._array("parts"), *turns, *self._parts_joined()]
        return [ROLL, f"for ({self.index} start = 0; {ahead};) {{", *indented(inner, 1), "}"]

    def joined_lanes(self) -> list[str]:
        """The sums of all lanes into those of the first."""
        return [
            joined(step, f"{step.result}_sums[{lane}]", "0")
            for step in self.element.reductions
            for lane in range(1, self.vector)
        ]

    @property
    def _parts(self) -> str:
        return "sums" if self.plan.storage is Storage.REGISTERS else "parts"

    # What the elements of a thread have together

    def _array(self, ending: str) -> list[str]:
        return [line for step in self.element.reductions for line in array_of(step, ending, self.vector)]

    def _parts_joined(self) -> list[str]:
        body = [joined(step, f"{step.result}_parts[lane]") for step in self.element.reductions]
        return [UNROLL, f"for (int lane = 0; lane < {self.vector}; ++lane) {{", *indented(body, 1), "}"]

    # Reading

    def _reads(self) -> list[str]:
        loads = [array for array in self.element.loads if array.name not in self.known]
        own = [array for array in loads if array.name not in self.held]
        lines = [f"{self._type(array)} {array.name}_vectors[{self.plan.units}];" for array in own]
        if loads:
            lines += self._units([line for array in loads for line in self._read(array)])
        return lines

    def _read(self, array: Array) -> list[str]:
        name = self._vector_of(array.name)
        single = self._guarded([f"{name}.lanes[lane] = {self._place(array)};"])
        if not self._is_whole(array):
            return single
        whole = f"{name} = *(const {self._type(array)} *)({array.source}_row + first);"
        if self.vector == 1:
            return [f"if (first < {self.extent}) {whole}"]
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
        body += [
            taken(step, f"{step.result}_{self._parts}[lane]", f"{step.result}_term", self._at)
            for step in element.reductions
        ]
        lines += self._guarded(body)
        for output in element.outputs:
            lines += self._written(output.array)
        return self._units(lines)

    def _written(self, array: Array) -> list[str]:
        vector = f"{array.name}_vector"
        single = self._guarded([f"{self._place(array)} = {vector}.lanes[lane];"], writes=True)
        if not self._is_whole(array) or self.vector == 1:
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

    def _place(self, array: Array) -> str:
        return place(array, self._at, "row")

    def _guarded(self, body: list[str], writes: bool = False) -> list[str]:
        """Lines for each lane whose element is there."""
        if self.vector == 1:
            lines = [line.replace("[lane]", "[0]") for line in body]
            return [f"if (first < {self.extent}) {{", *indented(lines, 1), "}"]
        guard = [f"if (first + lane < {self.extent}) {{", *indented(body, 1), "}"]
        return [UNROLL, f"for (int lane = 0; lane < {self.vector}; ++lane) {{", *indented(guard, 1), "}"]

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
        return "first" if self.vector == 1 else "(first + lane)"

    def _is_whole(self, array: Array) -> bool:
        return is_vector(array) and (self.aligned or self.vector == 1)

    def _type(self, array: Array) -> str:
        return f"Vector<{c_type(array.dtype)}, {self.vector}>"


def joined(step: Reduction, part: str, lane: str = "lane") -> str:
    """The line that joins a part of a reduction with what came before."""
    total = f"{step.result}_sums[{lane}]"
    return f"{total} = {step.combine.value}::combine({total}, {part});"
