"""Launching the kernels of a region: what NumPy does between them, arrays that are written, results."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from gjit.ir.graph import Value
from gjit.runtime.host_calls import call_step, is_expected, live
from gjit.runtime.layout import is_disturbed_by
from gjit.runtime.native import Counters, native_kernel
from gjit.runtime.native_kernel import KernelLaunch, kernel_launch, line_key, shape_of
from gjit.runtime.native_program import Draft, StageDraft
from gjit.runtime.native_reuse import temporaries_of
from gjit.runtime.pool import scratch
from gjit.runtime.scalars import Fallback

__all__ = ["Launch", "line_key", "prepare", "shape_of"]


@dataclass(slots=True)
class Launch:
    """A region ready for inputs of one signature.

    draft        what it does
    kernels      that of each stage; None where nothing is left to do
    temporaries  the values of the graph that nobody sees, in scratch memory
    reused       which fresh array is made in the memory of which temporary
    functions    its generated host functions, where it has some, and how often it was used before
    """

    draft: Draft
    kernels: list[KernelLaunch | None]
    temporaries: frozenset[Value] = frozenset()
    reused: dict[Value, Value] = field(default_factory=dict)
    functions: object = None
    uses: int = 0

    host_errors: ClassVar[dict[str, str]] = {"all": "ignore"}
    """The error state of the steps that NumPy runs."""

    def run(self, parameters: list[Value], inputs: tuple[object, ...]) -> object:
        """One value, a tuple of several, or None; raises Fallback before anything is written."""
        values: dict[Value, object] = dict(zip(parameters, inputs, strict=True))
        taken: list[np.ndarray] = []
        try:
            for steps, kernel in zip(self.draft.host, [*self.kernels, None], strict=True):
                self._run_host(steps, values)
                if kernel is not None:
                    self._run_kernel(kernel, values, taken)
        finally:
            for block in taken:
                scratch.give(block)
        results = [live(values, value) for value in self.draft.results]
        if len(results) == 1:
            return results[0]
        return tuple(results) if results else None

    def is_line(self, inputs: tuple[object, ...]) -> bool:
        """Whether the launch for another shape differs in its one extent alone, for inputs of the same `line_key`."""
        if not self.draft.is_single:
            return False
        (kernel,) = self.kernels
        return kernel is not None and kernel.is_line(shape_of(inputs)) and line_key(inputs) is not None

    def with_shape(self, shape: tuple[int, ...]) -> Launch:
        """The launch for arrays of another shape."""
        (kernel,) = self.kernels
        return type(self)(self.draft, [kernel.with_shape(shape)])

    def _run_host(self, steps: list, values: dict[Value, object]) -> None:
        """The steps on scalars and small arrays, through NumPy; what they raise the twin raises where it belongs."""
        with np.errstate(**self.host_errors):
            for step in steps:
                try:
                    found = values[step.node.result] = call_step(step.node, values)
                except (ArithmeticError, ValueError, TypeError):
                    raise Fallback from None
                if not is_expected(found, step.result):
                    raise Fallback

    def _run_kernel(self, kernel: KernelLaunch, values: dict[Value, object], taken: list[np.ndarray]) -> None:
        draft = kernel.draft
        operands = {name: live(values, value) for name, value in draft.sources.items()}
        target = _add_written(draft, operands, values) if draft.written or draft.store is not None else None
        for name, (_, value) in draft.fresh.items():
            operands[name] = values[value] = self._array(kernel, name, value, values, taken)
        if target is not None and is_disturbed(kernel, operands, target):
            found = store_apart(kernel, operands, target)
        else:
            if target is not None:
                operands[draft.store[1]] = target
            found = kernel.launch(operands)
        for value, total in draft.totals.items():
            values[value] = total.finish(*(found[part] for part in total.parts))

    def _array(
        self, kernel: KernelLaunch, name: str, value: Value, values: dict[Value, object], taken: list[np.ndarray]
    ) -> np.ndarray:
        """Memory for what a kernel makes."""
        if value in self.reused:
            return values[self.reused[value]]
        shape, dtype, order = kernel.fresh[name]
        if value not in self.temporaries:
            return np.empty(shape, dtype, order)
        array = temporary(shape, dtype, order)
        taken.append(array.base)
        return array


def prepare(draft: Draft, counted: Counters | None = None) -> Launch:
    """Compile the kernels of a draft and lay out their arguments; CompileError where the compiler refuses one.

    `counted` counts what was compiled and what was found.
    """
    kernels = [
        None if stage is None else kernel_launch(stage, native_kernel(stage.program, counted)) for stage in draft.stages
    ]
    temporaries, reused = temporaries_of(draft)
    return Launch(draft, kernels, temporaries, reused)


def _add_written(draft: StageDraft, operands: dict[str, object], values: dict[Value, object]) -> np.ndarray | None:
    """Add the arrays that exist already to the operands; the view that is stored into is returned.

    What is written in place shares memory with nothing else: something may have been read before its turn.
    """
    target = _target(draft, values) if draft.store is not None else None
    for name, value in draft.written.items():
        array = operands[name] = values[value]
        others = [other for key, other in values.items() if key is not value and type(other) is np.ndarray]
        others += [] if target is None else [target]
        if not array.flags.writeable or any(np.may_share_memory(array, other) for other in others):
            raise Fallback
    return target


def is_disturbed(kernel: KernelLaunch, operands: dict[str, object], target: np.ndarray) -> bool:
    """Whether storing into the target would change what the kernel has still to read."""
    arrays = dict.fromkeys(array.source for array in kernel.draft.program.arrays)
    return kernel.draft.stores_apart or any(is_disturbed_by(operands[name], target) for name in arrays)


def store_apart(kernel: KernelLaunch, operands: dict[str, object], target: np.ndarray) -> dict[str, np.generic]:
    """Run a kernel whose target overlaps what it reads: rows of results wait, or all of them in a temporary. Its totals
    are returned."""
    if kernel.launch_delayed(operands, target):
        return {}
    made = alike(target)
    found = kernel.launch({**operands, kernel.draft.store[1]: made})
    move(made, target)
    return found


def _target(draft: StageDraft, values: dict[Value, object]) -> np.ndarray:
    owner, index, _ = draft.store[0].operation.operands
    target = live(values, owner)[live(values, index)]
    if not target.flags.writeable:
        raise Fallback
    return target


def temporary(shape: tuple[int, ...], dtype: np.dtype, order: str) -> np.ndarray:
    """An array in scratch memory, which is its base and has to be given back."""
    return np.ndarray(shape, dtype, scratch.take(math.prod(shape) * dtype.itemsize), order=order)


def alike(array: np.ndarray) -> np.ndarray:
    """A temporary with the strides of another array, in scratch memory; between its elements lies what nobody reads."""
    span = sum((extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True))
    return np.ndarray(array.shape, array.dtype, scratch.take(span + array.itemsize), 0, array.strides)


def move(temporary: np.ndarray, target: np.ndarray) -> None:
    """Copy what `alike` gave to where it belongs, and let go of it."""
    np.copyto(target, temporary)
    scratch.give(temporary.base)
