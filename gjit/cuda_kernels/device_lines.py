"""Elements side by side along the last axis: whole vectors where arrays allow it, single elements at the end.

if (start + 1024 <= extent_0) {
    Vector<float64, 2> x_vectors[2];
    #pragma unroll
    for (int unit = 0; unit < 2; ++unit) {
        const int32 first = start + (unit * 256 + (int32)threadIdx.x) * 2;
        x_vectors[unit] = *(const Vector<float64, 2> *)(x_data + first);
    }
    ...
}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from gjit.cuda_kernels.device_element import Element
from gjit.cuda_kernels.device_layout import MOST_WORK, is_vector, work_of
from gjit.cuda_kernels.device_nest import load, needed
from gjit.cuda_kernels.device_reductions import taken
from gjit.cuda_kernels.element import indented, place
from gjit.cuda_kernels.program import Access, Array, KernelProgram, Reduction
from gjit.ops.kernels import c_type

THREADS = 256
"""Of a block, unless a kernel says otherwise."""
_BYTES_IN_FLIGHT = 24
"""How much each thread should have asked for before it waits: 2048 threads then keep 48 KiB on their way."""
_MOST_UNITS = 4
UNROLL = "#pragma unroll"
ROLL = "#pragma unroll 1"


@dataclass(frozen=True, slots=True)
class Line:
    """How the elements of one line are shared among the threads of a block.

    element  what is done for each
    index    the type of indices
    vector   how many elements lie in one vector
    units    how many vectors a thread reads before it uses the first
    pointer  what follows an array's name in the name of the pointer to the line
    counted  how many elements come before the line, for reductions that ask for places
    aligned  whether vectors of contiguous arrays may be read whole; a reduction takes elements in one order either way
    """

    element: Element
    index: str
    vector: int
    units: int = 1
    pointer: str = "data"
    counted: str = ""
    aligned: bool = True

    @property
    def bounds(self) -> str:
        """The bounds of a launch; the compiler may take as many registers for a loop as there are."""
        return str(THREADS) if self.element.loop is None else f"{THREADS}, 1"

    @property
    def tile(self) -> int:
        """How many elements a block of `THREADS` threads takes at a time."""
        return THREADS * self.vector * self.units

    def block_text(self, extent: str) -> list[str]:
        """The elements from `start` on that are the block's: a tile, or what is left of the line."""
        if self.vector == self.units == 1:
            first = f"const {self.index} i = start + ({self.index})threadIdx.x;"
            return [first, f"if (i < {extent}) {{", *indented(self.scalar("i"), 1), "}"]
        head = [f"if (start + {self.tile} <= {extent}) {{", *indented(self._tile(), 1), "} else {"]
        step = f"for ({self.index} i = start + ({self.index})threadIdx.x; i < {extent}; i += {THREADS}) {{"
        rest = [ROLL, step, *indented(self.scalar("i"), 1), "}"]
        return [*head, *indented(rest, 1), "}"]

    def thread_text(self, extent: str) -> list[str]:
        """The elements from `first` on that are the thread's: a vector, or what is left of the line."""
        if self.vector == 1:
            return self.scalar("first")
        whole = [*self._loads("{0}_vector", declared=True), *self._vector("{0}_vector", "{0}_vector")]
        head = [f"if (first + {self.vector} <= {extent}) {{", *indented(whole, 1), "} else {"]
        step = f"for ({self.index} i = first; i < {extent}; ++i) {{"
        rest = [ROLL, step, *indented(self.scalar("i"), 1), "}"]
        return [*head, *indented(rest, 1), "}"]

    def scalar(self, index: str) -> list[str]:
        """One element."""
        element = self.element
        lines = [load(array, index, self.pointer) for array in element.loads]
        lines += [f"{c_type(output.array.dtype)} {output.array.name};" for output in element.outputs]
        lines += [*element.terms(), *element.call(str, str, str)]
        for output in element.outputs:
            lines.append(f"{self.place(output.array, index)} = {output.array.name};")
        return lines + [self._taken(step, "0", index) for step in element.reductions]

    def place(self, array: Array, index: str) -> str:
        """The element of an array at `index` of the line."""
        return place(array, index, self.pointer)

    def _tile(self) -> list[str]:
        name = "{0}_vectors[unit]" if self.units > 1 else "{0}_vector"
        if self.units == 1:
            return self._from_first(
                "threadIdx.x", [*self._loads(name, declared=True), *self._vector(name, "{0}_vector")]
            )
        lines = [f"{self._type(array)} {array.name}_vectors[{self.units}];" for array in self.element.loads]
        for body in (self._loads(name, declared=False), self._vector(name, "{0}_vector")):
            lines += [UNROLL, f"for (int unit = 0; unit < {self.units}; ++unit) {{"]
            lines += [*indented(self._from_first(f"(unit * {THREADS} + threadIdx.x)", body), 1), "}"]
        return lines

    def _from_first(self, thread: str, body: list[str]) -> list[str]:
        first = f"const {self.index} first = start + ({self.index}){thread}{self.scale};"
        return [*needed([first], body), *body]

    def _loads(self, form: str, declared: bool) -> list[str]:
        """Read the vectors at `first`; what does not lie side by side is gathered."""
        lines = []
        for array in self.element.loads:
            name = form.format(array.name)
            if self._is_whole(array):
                before = f"const {self._type(array)} " if declared else ""
                place = f"({array.name}_{self.pointer} + first)"
                lines.append(f"{before}{name} = *(const {self._type(array)} *){place};")
            else:
                lines += [f"{self._type(array)} {name};"] if declared else []
                lines += self._lanes([f"{name}.lanes[{self._lane}] = {self.place(array, self._at)};"])
        return lines

    def _vector(self, read: str, written: str) -> list[str]:
        """Compute the lanes of one vector and write the results."""
        element = self.element
        lines = [f"{self._type(output.array)} {written.format(output.array.name)};" for output in element.outputs]

        def lane_of(form: str) -> Callable[[str], str]:
            return lambda name: f"{form.format(name)}.lanes[{self._lane}]"

        body = [*element.terms(), *element.call(lane_of(read), lane_of(written), str)]
        body += [self._taken(step, self._lane, self._at) for step in element.reductions]
        lines += self._lanes(body)
        for output in element.outputs:
            name, array = written.format(output.array.name), output.array
            if self._is_whole(array):
                lines.append(f"*({self._type(array)} *)({array.name}_{self.pointer} + first) = {name};")
            else:
                lines += self._lanes([f"{self.place(array, self._at)} = {name}.lanes[{self._lane}];"])
        return lines

    def _taken(self, step: Reduction, lane: str, index: str) -> str:
        place = f"{self.counted} + {index}" if self.counted else index
        return taken(step, self.vector, lane, place)

    @property
    def scale(self) -> str:
        """What makes the number of a vector the place of its first element."""
        return f" * {self.vector}" if self.vector > 1 else ""

    @property
    def _lane(self) -> str:
        return "lane" if self.vector > 1 else "0"

    @property
    def _at(self) -> str:
        return "first + lane" if self.vector > 1 else "first"

    def _lanes(self, body: list[str]) -> list[str]:
        if self.vector == 1:
            return body
        return [UNROLL, f"for (int lane = 0; lane < {self.vector}; ++lane) {{", *indented(body, 1), "}"]

    def _is_whole(self, array: Array) -> bool:
        return is_vector(array) and (self.aligned or self.vector == 1)

    def _type(self, array: Array) -> str:
        return f"Vector<{c_type(array.dtype)}, {self.vector}>"


def units_of(program: KernelProgram, loads: list[Array], vector: int) -> int:
    """How many vectors each thread reads before it uses the first."""
    count = sum(vector * array.dtype.itemsize for array in loads if array.access is not Access.REPEATED)
    units = max(1, min(_MOST_UNITS, -(-_BYTES_IN_FLIGHT // max(count, 1))))
    while units > 1 and units * vector * work_of(program) > MOST_WORK:
        units -= 1
    return units
