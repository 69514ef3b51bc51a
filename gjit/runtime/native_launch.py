"""Launching one native kernel: arguments, threads over large work, results."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from gjit import settings
from gjit.cuda_kernels.program import BLOCK, Meaning
from gjit.ir.graph import Constant, Node, Value
from gjit.ops.row import table
from gjit.runtime.layout import Order, Shape, is_disturbed_by
from gjit.runtime.native import NativeKernel, native_kernel
from gjit.runtime.native_program import Draft
from gjit.runtime.pool import scratch
from gjit.runtime.region_values import Item, Step, Unsupported
from gjit.runtime.scalars import Fallback, loop_scalar
from gjit.runtime.threads import run_on_threads

THREADED_WORK = 1 << 21
"""From how many elements times steps on work is spread over threads."""
_PIECES = 4
_GRAIN = 1024
_FORMATS = {"?": "?", "e": "e", "f": "f", "d": "d", "F": "ff", "D": "dd"}


@dataclass(slots=True)
class Launch:
    """A region ready for inputs of one signature.

    draft       what it does
    native      the compiled kernel
    pack        makes the arguments: addresses of array objects, strides, extents, numbers
    slots       what each argument is: the name of an array, a constant, or a name and the dtype of a number
    fresh       shape, dtype and memory order of the results that are made
    units       how many elements, rows or blocks there are
    pieces      into how many ranges of `units` they are cut when threads share them, and the grain of these
    """

    draft: Draft
    native: NativeKernel
    pack: Callable[..., bytes]
    slots: list[tuple[str | None, object]]
    fresh: dict[str, tuple[Shape, np.dtype, str]]
    units: int
    grain: int
    is_large: bool
    scratch_bytes: int
    read: list[str] = field(default_factory=list)

    def run(self, parameters: list[Value], inputs: tuple[object, ...]) -> object:
        """One value, a tuple of several, or None; raises Fallback before anything is written."""
        draft = self.draft
        values: dict[Value, object] = dict(zip(parameters, inputs, strict=True))
        if draft.before:
            _run_before(draft.before, values)
        operands = {name: _live(values, value) for name, value in draft.sources.items()}
        target, deferred = None, None
        if draft.written or draft.store is not None:
            target, deferred = self._add_written(operands, values)
        for name, (shape, dtype, order) in self.fresh.items():
            operands[name] = np.empty(shape, dtype, order)
        self._launch(operands)
        if deferred is not None:
            np.copyto(target, deferred, "unsafe")
        return self._results(operands, values)

    def _add_written(self, operands: dict[str, object], values: dict[Value, object]):
        """Add the arrays that exist already; the target of a store is replaced where writing it would disturb reads."""
        arrays = [operands[name] for name in self.read]
        written = {name: values[value] for name, value in self.draft.written.items()}
        target, deferred = None, None
        if self.draft.store is not None:
            step, name = self.draft.store
            owner, index, _ = step.operation.operands
            target = _live(values, owner)[_live(values, index)]
            if any(is_disturbed_by(array, target) for array in arrays):
                deferred = operands[name] = np.empty(target.shape, target.dtype)
            else:
                operands[name] = target
        self._check_written(arrays, written, target)
        operands.update(written)
        return target, deferred

    def _check_written(self, arrays: list, written: dict[str, np.ndarray], target: np.ndarray | None) -> None:
        """What is written in place shares memory with nothing else."""
        others = [*arrays, *written.values(), *([] if target is None else [target])]
        for array in written.values():
            if sum(np.may_share_memory(array, other) for other in others if other is not array):
                raise Fallback
            if sum(other is array for other in others) > 2:
                raise Fallback
        if not all(array.flags.writeable for array in (*written.values(), *others[len(arrays) + len(written) :])):
            raise Fallback

    def _launch(self, operands: dict[str, object]) -> None:
        for step in self.native.program.totals:
            operands[f"{step.result}_partials"] = np.empty(self.units, step.accumulator)
        try:
            arguments = self.pack(*[_argument(operands, name, meaning) for name, meaning in self.slots])
        except (struct.error, OverflowError, ValueError, TypeError):
            raise Fallback from None
        count = settings.threads() if self.is_large else 1
        if count > 1:
            self._run_threaded(arguments, count)
        else:
            self._run_range(arguments, 0, self.units)
        if self.native.combine is not None:
            self.native.combine(arguments, self.units)
