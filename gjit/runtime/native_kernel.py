"""Launching one native kernel: arguments, threads over large work, totals."""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from gjit import settings
from gjit.cuda_kernels.checked import held_bytes
from gjit.cuda_kernels.delayed import PIECE
from gjit.cuda_kernels.program import BLOCK, Combine, Reduction
from gjit.ir.graph import Constant
from gjit.runtime.layout import Shape
from gjit.runtime.native import NativeKernel, native_kernel
from gjit.runtime.native_arguments import Slot, format_of, number, slot_of
from gjit.runtime.native_delay import delay_of
from gjit.runtime.native_program import StageDraft
from gjit.runtime.pool import scratch
from gjit.runtime.region_items import memory_order
from gjit.runtime.scalars import Fallback
from gjit.runtime.threads import run_on_threads

THREADED_WORK = 1 << 21
"""From how many elements times steps on work is spread over threads."""
_PIECES = 4
_GRAIN = 1024


@dataclass(slots=True)
class KernelLaunch:
    """One kernel ready for inputs of one signature.

    draft          what it does
    native         the compiled kernel
    pack           makes the arguments from addresses of array objects, strides, extents and numbers
    slots          what each argument is: a stride or extent, the name of an array, or the name and dtype of a number
    fresh          shape, dtype and memory order of the arrays that are made
    units          how many elements, rows, tiles or blocks there are; ranges for threads begin at multiples of `grain`
    is_large       whether threads pay
    scratch_bytes  for the row buffers of one thread; of a delayed store, for one row
    delayed        the same kernel, for a target that overlaps what is read
    """

    draft: StageDraft
    native: NativeKernel
    pack: Callable[..., bytes]
    slots: list[Slot]
    fresh: dict[str, tuple[Shape, np.dtype, str]]
    units: int
    grain: int
    is_large: bool
    scratch_bytes: int
    delayed: KernelLaunch | None = None

    def is_line(self, shape: Shape) -> bool:
        """Whether the launch for another shape differs in its one extent alone."""
        draft = self.draft
        is_plain = draft.store is None and draft.space.rank == 1 and not draft.space.apart
        has_constants = any(isinstance(value, Constant) for value in draft.sources.values())
        are_like = all(fresh[0] == shape and fresh[2] == "C" for fresh in self.fresh.values())
        return is_plain and not has_constants and are_like and not draft.totals

    def with_shape(self, shape: Shape) -> KernelLaunch:
        """The launch for arrays of another shape."""
        space = replace(self.draft.space, extents=(math.prod(shape),))
        draft = replace(self.draft, space=space, shape=shape)
        fresh = {name: (shape, dtype, order) for name, (_, dtype, order) in self.fresh.items()}
        return replace(self, fresh=fresh, **_launch_fields(draft, self.native))

    def launch(self, operands: dict[str, object]) -> dict[str, np.generic]:
        """Run the kernel on these arrays and numbers; the results of its totals, by name."""
        totals = self.draft.program.totals
        partials = {step.result: np.empty(self.units, partial_of(step)) for step in totals}
        operands.update((f"{name}_partials", array) for name, array in partials.items())
        arguments = self.packed(operands)
        self.run_ranges(arguments)
        if self.native.combine is not None:
            self.native.combine(arguments, self.units)
        return {name: array[0] for name, array in partials.items()}

    def packed(self, operands: dict[str, object]) -> bytes:
        """The arguments of the kernel; Fallback where a number does not fit."""
        try:
            return self.pack(*self._arguments(operands))
        except (struct.error, OverflowError, ValueError, TypeError):
            raise Fallback from None

    def launch_delayed(self, operands: dict[str, object], target: np.ndarray) -> bool:
        """Run the kernel where its target overlaps what it reads, if rows that wait make that right."""
        draft = self.draft
        program = draft.program
        is_plain = program.loop is None and not program.reductions and not program.checked and not draft.space.apart
        if draft.store is None or not is_plain:
            return False
        name = draft.store[1]
        arrays = dict.fromkeys(array.source for array in draft.program.arrays)
        read = [(each, operands[each]) for each in arrays if np.may_share_memory(operands[each], target)]
        delay = delay_of(draft.space, name, target, read)
        if delay is None:
            return False
        if self.delayed is None:
            delayed = replace(program, delayed=name)
            self.delayed = kernel_launch(replace(draft, program=delayed), native_kernel(delayed))
        self.delayed.run_delayed({**operands, name: target, "delay": delay}, delay)
        return True

    def run_delayed(self, operands: dict[str, object], delay: int) -> None:
        """All rows in order, on this thread."""
        arguments = self.packed(operands)
        block = scratch.take((delay + 1) * self.scratch_bytes)
        try:
            self.native.run(arguments, block.ctypes.data, 0, self.units)
        finally:
            scratch.give(block)

    def _arguments(self, operands: dict[str, object]) -> Iterator[object]:
        for slot in self.slots:
            if type(slot) is int:
                yield slot
            elif type(slot) is str:
                yield id(operands[slot])
            else:
                yield from number(operands[slot[0]], slot[1])

    def run_ranges(self, arguments: bytes) -> None:
        """Run the kernel over all there is, on threads where they pay."""
        self.share(functools.partial(self.native.run, arguments))

    def share(self, run: Callable[[int | None, int, int], None]) -> None:
        """Call `run` with scratch memory, begin and end, until all is done, on threads where they pay."""
        count = settings.threads() if self.is_large else 1
        if count > 1:
            ranges = iter(_ranges(self.units, self.grain, count))
            run_on_threads(lambda: self._run_each(run, ranges), count)
        else:
            self._run_each(run, iter([(0, self.units)]))

    def _run_each(self, run: Callable[[int | None, int, int], None], ranges: Iterator[tuple[int, int]]) -> None:
        if not self.scratch_bytes:
            for begin, end in ranges:
                run(None, begin, end)
            return
        block = scratch.take(self.scratch_bytes)
        try:
            for begin, end in ranges:
                run(block.ctypes.data, begin, end)
        finally:
            scratch.give(block)


def partial_of(step: Reduction) -> np.dtype:
    """The dtype of a partial result of a total: that of a deviation has a base too, which its sum is relative to."""
    if step.combine is not Combine.DEVIATION:
        return step.partial
    kind = step.accumulator
    return np.dtype([("count", "i8"), ("base", kind), ("sum", kind), ("squares", kind)], align=True)


def kernel_launch(
    draft: StageDraft, native: NativeKernel, kind: type[KernelLaunch] = KernelLaunch, **more: Any
) -> KernelLaunch:
    """Lay out the arguments of a stage's kernel; `more` are fields that only `kind` has."""
    pack = struct.Struct("".join(map(format_of, native.kernel.fields))).pack
    fresh = {name: (item.shape, item.dtype, memory_order(item)) for name, (item, _) in draft.fresh.items()}
    return kind(native=native, pack=pack, fresh=fresh, **_launch_fields(draft, native), **more)


def _launch_fields(draft: StageDraft, native: NativeKernel) -> dict[str, Any]:
    """What of a launch depends on extents."""
    space, program, kernel = draft.space, draft.program, native.kernel
    units, grain, length = space.size, _GRAIN, 0
    if program.delayed:
        length = space.extents[-1] if space.rank > 1 else PIECE
        units, grain = (-(-space.size // PIECE) if space.rank == 1 else space.size // length), 1
    elif program.totals:
        units, grain = (-(-space.size // BLOCK) if space.rank == 1 else space.size // space.extents[-1]), 1
    elif program.reductions:
        tiles = -(-space.extents[-1] // kernel.tile) if space.is_columns else 1
        units, grain, length = space.rows * tiles, 1, space.row_length * kernel.tile
    elif space.rank > 1:
        units, grain = space.size // space.extents[-1], 1
    scratch_bytes = sum(dtype.itemsize for dtype in kernel.buffers) * -(-length // 64) * 64
    return {
        "draft": draft,
        "slots": [slot_of(each, draft.space) for each in kernel.fields],
        "units": units,
        "grain": grain,
        "is_large": space.size * len(program.steps) >= THREADED_WORK,
        "scratch_bytes": scratch_bytes + held_bytes(program, space.extents[-1]),
    }


def shape_of(inputs: tuple[object, ...]) -> Shape:
    """The shape of the first array that has axes."""
    return next((value.shape for value in inputs if type(value) is np.ndarray and value.shape), ())


def line_key(inputs: tuple[object, ...]) -> tuple | None:
    """What a launch over one axis depends on besides the extent; None unless all arrays have one shape, and are
    contiguous or one-dimensional.
    """
    shape, parts = shape_of(inputs), []
    for value in inputs:
        parts.append(type(value))
        if type(value) is not np.ndarray:
            continue
        parts += (value.dtype, value.dtype.char, value.ndim)
        if value.shape:
            is_contiguous = value.flags.c_contiguous
            if value.shape != shape or not (is_contiguous or value.ndim == 1):
                return None
            parts.append(None if is_contiguous else value.strides)
    return tuple(parts) if math.prod(shape) > 1 else None


def _ranges(units: int, grain: int, threads: int) -> list[tuple[int, int]]:
    """Ranges of units for threads to share.

    >>> _ranges(10, 1, 1), _ranges(5000, 1024, 1)
    ([(0, 3), (3, 6), (6, 9), (9, 10)], [(0, 2048), (2048, 4096), (4096, 5000)])
    """
    length = -(-units // (threads * _PIECES * grain)) * grain
    return [(start, min(start + length, units)) for start in range(0, units, length)]
