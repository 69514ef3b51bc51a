"""What is done for one element, as a function: kernels call it for the lanes of vectors and for what is left.

static __device__ __forceinline__ void region_element(const float64 x, const float64 a, float64 &out, float64 &y_term) {
    // y = x * a
    const float64 y = np_multiply(x, a);
    out = y;
    y_term = y;
}
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from gjit.cuda_kernels.device_parameters import spread
from gjit.cuda_kernels.element import Texts, indented
from gjit.cuda_kernels.loops import loop_text
from gjit.cuda_kernels.program import Array, Literal, Loop, Operand, Operation, Output, Reduction
from gjit.ops.kernels import c_type


@dataclass(slots=True)
class Element:
    """The function for one element, and its calls.

    operations  in their order
    loads       the arrays of which an element is read for each call
    outputs     those of which an element is written
    reductions  those that each element gives a term to
    kept        values that outlive the call
    buffered    values that an earlier call has kept
    loop        what runs behind the operations, and the operations behind it
    """

    name: str
    texts: Texts
    operations: list[Operation]
    loads: list[Array]
    outputs: list[Output] = field(default_factory=list)
    reductions: list[Reduction] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    buffered: list[str] = field(default_factory=list)
    loop: Loop | None = None
    after: tuple[Operation, ...] = ()

    @property
    def given(self) -> list[str]:
        """The values from outside that are no element of an array that is loaded."""
        own = {step.result for step in self._steps()} | {array.name for array in self.loads} | {*self.buffered}
        if self.loop is not None:
            own.update(each.name for each in self.loop.variables)
            own.update(each.name for each in self.loop.numbers)
        return [name for name in self._used() if name not in own]

    def _steps(self) -> list[Operation]:
        return [*self.operations, *([] if self.loop is None else self.loop.steps), *self.after]

    def _used(self) -> list[str]:
        operands: list[Operand] = [value for step in self._steps() for value in step.operands]
        if self.loop is not None:
            operands += [each.initial for each in self.loop.variables]
            operands += [value for piece in self.loop.pieces for _, value in piece.assignments]
        operands += [output.value for output in self.outputs]
        operands += [step.operand for step in self.reductions]
        operands += self.kept
        return list(dict.fromkeys(value for value in operands if not isinstance(value, Literal)))

    def _turns(self) -> list[tuple[str, str]]:
        """What the loop reads: type and name."""
        if self.loop is None:
            return []
        route = [("const uint8 *", "route")] if self.loop.has_route else []
        arrays = [(f"const {c_type(number.dtype)} *", f"{number.name}_turns") for number in self.loop.numbers]
        return [("const int64 ", "turns"), *route, *arrays]

    def text(self) -> list[str]:
        """The definition."""
        taken = [*(array.name for array in self.loads), *self.buffered, *self.given]
        parameters = [f"const {self.kind(name)} {name}" for name in taken]
        parameters += [f"{kind}{name}" for kind, name in self._turns()]
        parameters += [f"{c_type(output.array.dtype)} &{output.array.name}" for output in self.outputs]
        parameters += [f"{c_type(step.accumulator)} &{step.result}_term" for step in self.reductions]
        parameters += [f"{self.kind(name)} &{name}_kept" for name in self.kept]
        lines = spread(f"static __device__ __forceinline__ void {self.name}", parameters, " {")
        return [*lines, *indented(self._body(), 1), "}", ""]

    def _body(self) -> Iterator[str]:
        yield from self.texts.operations(self.operations)
        if self.loop is not None:
            yield from loop_text(self.loop, self.texts)
        yield from self.texts.operations(self.after)
        for output in self.outputs:
            yield f"{output.array.name} = {self.texts.operand(output.value, output.array.dtype)};"
        for step in self.reductions:
            yield f"{step.result}_term = {self.texts.operand(step.operand, step.accumulator)};"
        for name in self.kept:
            yield f"{name}_kept = {name};"

    def call(
        self, loaded: Callable[[str], str], written: Callable[[str], str], kept: Callable[[str], str]
    ) -> list[str]:
        """The call.

        Args:
            loaded: the text of an element that is read or was kept, by its name.
            written: where an element that is written goes.
            kept: where a kept value goes.
        """
        items = [loaded(name) for name in (*(array.name for array in self.loads), *self.buffered)] + self.given
        items += [name for _, name in self._turns()]
        items += [written(output.array.name) for output in self.outputs]
        items += [f"{step.result}_term" for step in self.reductions]
        items += [kept(name) for name in self.kept]
        return spread(self.name, items, ";")

    def terms(self) -> list[str]:
        """The variables that take the terms of reductions."""
        return [f"{c_type(step.accumulator)} {step.result}_term;" for step in self.reductions]

    def kind(self, name: str) -> str:
        """The type of a value."""
        return c_type(self.texts.dtypes[name])
