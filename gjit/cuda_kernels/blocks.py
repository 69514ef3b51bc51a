"""Loops that reduce: the elements of up to `BLOCK` places go into a small array, which is then reduced as a whole.

for (int64 start = 0; start < extent_1; start += 1024) {
    const int64 stop = smaller(start + 1024, extent_1);
    INDEPENDENT
    for (int64 i = start; i < stop; ++i) {
        const float64 x = x_data[i];
        const float64 t0 = np_square(x);
        t0_block[i - start] = t0;
    }
    total_parts.add(reduce_block<Sum>(t0_block, stop - start));
}
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from gjit.cuda_kernels.element import Texts, indented, load
from gjit.cuda_kernels.flat import loop
from gjit.cuda_kernels.program import BLOCK, Access, Array, Combine, Literal, Operation, Output, Reduction
from gjit.ops.kernels import c_type


@dataclass(slots=True)
class Sweep:
    """One pass over a row.

    loads, operations, stores, reductions   what is done for each element
    kept      values that go into row buffers, and those that come from them (`buffered`)
    """

    loads: list[Array] = field(default_factory=list)
    operations: list[Operation] = field(default_factory=list)
    reductions: list[Reduction] = field(default_factory=list)
    stores: list[Output] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    buffered: list[str] = field(default_factory=list)

    def body(self, texts: Texts) -> list[str]:
        """The lines for one element, at `i`."""
        lines = [load(array, "i") for array in self.loads]
        lines += [f"const {c_type(texts.dtypes[name])} {name} = {name}_row[i];" for name in self.buffered]
        lines += texts.operations(self.operations)
        lines += [f"{name}_row[i] = {name};" for name in self.kept]
        return lines + [texts.store(output, "i") for output in self.stores]


def parts_text(reductions: list[Reduction]) -> list[str]:
    """What collects the results of blocks."""
    return [f"Pairwise<{kind_of(step)}> {step.result}_parts;" for step in reductions]


def kind_of(step: Reduction) -> str:
    """The template arguments of a reduction: how partial results are combined, and what they are."""
    return f"{step.combine.value}, {partial_type(step)}"


def partial_type(step: Reduction) -> str:
    """What a partial result is in C."""
    element = c_type(step.accumulator)
    if step.combine.is_place:
        return f"Place<{element}>"
    return f"Moments<{element}>" if step.combine is Combine.DEVIATION else element


def blocks_text(sweep: Sweep, texts: Texts, length: str, place: str = "start") -> list[str]:
    """The loop over the blocks of one row, with a Pairwise for each reduction; `place` is that of a block's first
    element."""
    head = [f"for (int64 start = 0; start < {length}; start += {BLOCK}) {{"]
    head.append(f"    const int64 stop = smaller(start + {BLOCK}, {length});")
    lines = block_text(sweep, texts)
    lines += [f"{step.result}_parts.add({reduced});" for step, reduced in results(sweep, texts, place)]
    return [*head, *indented(lines, 1), "}"]


def block_text(sweep: Sweep, texts: Texts) -> list[str]:
    """The loop from `start` up to `stop`, which fills the small arrays."""
    filled = [step for step in sweep.reductions if _whole(step, sweep, texts) is None]
    lines = [f"alignas(64) {c_type(step.accumulator)} {step.result}_block[{BLOCK}];" for step in filled]
    body = sweep.body(texts)
    body += [f"{step.result}_block[i - start] = {texts.operand(step.operand, step.accumulator)};" for step in filled]
    if filled or sweep.stores or sweep.kept:
        lines += loop(body, "start", "stop")
    return lines


def results(sweep: Sweep, texts: Texts, place: str = "start") -> Iterator[tuple[Reduction, str]]:
    """Each reduction, and the expression that reduces its block."""
    for step in sweep.reductions:
        values, way = _whole(step, sweep, texts) or f"{step.result}_block", step.combine.value
        if step.combine.is_place:
            yield step, f"place_in_block<{way}>({values}, stop - start, {place})"
        elif step.combine is Combine.DEVIATION:
            yield step, f"moments_of_block({values}, stop - start)"
        else:
            yield step, f"reduce_block<{way}>({values}, stop - start)"


def _whole(step: Reduction, sweep: Sweep, texts: Texts) -> str | None:
    """Where the elements lie side by side already, so that they need not be copied."""
    if isinstance(step.operand, Literal) or texts.dtypes[step.operand] != step.accumulator:
        return None
    if step.operand in sweep.kept or step.operand in sweep.buffered:
        return f"{step.operand}_row + start"
    array = next((array for array in sweep.loads if array.name == step.operand), None)
    is_whole = array is not None and array.access is Access.CONTIGUOUS and array.part is None
    return f"{step.operand}_data + start" if is_whole else None
