"""Launching one native kernel: arguments, threads over large work, results."""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from gjit import settings
from gjit.cuda_kernels.program import BLOCK
from gjit.ir.graph import Constant, Node, Value
from gjit.ops.row import table
from gjit.runtime.layout import Order, Shape, is_disturbed_by
from gjit.runtime.native import NativeKernel, native_kernel
from gjit.runtime.native_arguments import Slot, format_of, number, slot_of
from gjit.runtime.native_program import Draft
from gjit.runtime.pool import scratch
from gjit.runtime.region_values import Item, Unsupported
from gjit.runtime.scalars import Fallback
from gjit.runtime.threads import run_on_threads

THREADED_WORK = 1 << 21
"""From how many elements times steps on work is spread over threads."""
_PIECES = 4
_GRAIN = 1024


@dataclass(slots=True)
class Launch:
    """A region ready for inputs of one signature.

    draft          what it does
    native         the compiled kernel
    pack           makes the arguments from addresses of array objects, strides, extents and numbers
    slots          what each argument is: a stride or extent, the name of an array, or the name and dtype of a number
    fresh          shape, dtype and memory order of the results that are made
    units          how many elements, rows or blocks there are; ranges for threads begin at multiples of `grain`
    is_large       whether threads pay
    scratch_bytes  for the row buffers of one thread
    functions      its generated host functions, where it has some, and how often it was used before
    """

    draft: Draft
    native: NativeKernel
    pack: Callable[..., bytes]
    slots: list[Slot]
    fresh: dict[str, tuple[Shape, np.dtype, str]]
    units: int
    grain: int
    is_large: bool
    scratch_bytes: int
    functions: object = None
    uses: int = 0

    def run(self, parameters: list[Value], inputs: tuple[object, ...]) -> object:
        """One value, a tuple of several, or None; raises Fallback before anything is written."""
        draft = self.draft
        values: dict[Value, object] = dict(zip(parameters, inputs, strict=True))
        if draft.before:
            self._run_before(values)
        operands = {name: _live(values, value) for name, value in draft.sources.items()}
        target = None
        if draft.written or draft.store is not None:
            target = self._add_written(operands, values)
        for name, (shape, dtype, order) in self.fresh.items():
            operands[name] = np.empty(shape, dtype, order)
        self._launch(operands)
        if target is not None and operands[draft.store[1]] is not target:
            move(operands[draft.store[1]], target)
        return self._results(operands, values)

    def is_line(self, inputs: tuple[object, ...]) -> bool:
        """Whether the launch for another shape differs in its one extent alone, for inputs of the same `line_key`."""
        draft, shape = self.draft, shape_of(inputs)
        is_plain = not draft.before and draft.store is None and draft.space.rank == 1
        has_constants = any(isinstance(value, Constant) for value in draft.sources.values())
        are_like = all(fresh[0] == shape and fresh[2] == "C" for fresh in self.fresh.values())
        return is_plain and not has_constants and are_like and line_key(inputs) is not None

    def with_shape(self, shape: Shape) -> Launch:
        """The launch for arrays of another shape."""
        space = replace(self.draft.space, extents=(math.prod(shape),))
        draft = replace(self.draft, space=space)
        fresh = {name: (shape, dtype, order) for name, (_, dtype, order) in self.fresh.items()}
        return _launch_of(draft, self.native, self.pack, fresh)

    def _run_before(self, values: dict[Value, object]) -> None:
        """The steps on less than the whole, through NumPy; what they raise the twin raises where it belongs."""
        with np.errstate(all="ignore"):
            for step in self.draft.before:
                try:
                    found = values[step.node.result] = _call(step.node, values)
                except (ArithmeticError, ValueError, TypeError):
                    raise Fallback from None
                if not _is_expected(found, step.result):
                    raise Fallback

    def _add_written(self, operands: dict[str, object], values: dict[Value, object]) -> np.ndarray | None:
        """Add the arrays that exist already to the operands; the view that is stored into is returned.

        Where storing would disturb what is read, its operand is a temporary of the same strides.
        """
        draft = self.draft
        read = {value: values[value] for value in draft.sources.values() if _is_array(values, value)}
        target = self._target(values) if draft.store is not None else None
        for name, value in draft.written.items():
            array = operands[name] = values[value]
            others = [other for key, other in read.items() if key is not value]
            others += [values[key] for step in draft.before for key in step.node.inputs if _is_array(values, key)]
            others += [values[key] for key in draft.written.values() if key is not value]
            others += [] if target is None else [target]
            if not array.flags.writeable or any(np.may_share_memory(array, other) for other in others):
                raise Fallback
        if target is not None:
            is_disturbing = any(is_disturbed_by(array, target) for array in read.values())
            operands[draft.store[1]] = alike(target) if is_disturbing else target
        return target

    def _target(self, values: dict[Value, object]) -> np.ndarray:
        owner, index, _ = self.draft.store[0].operation.operands
        target = _live(values, owner)[_live(values, index)]
        if not target.flags.writeable:
            raise Fallback
        return target

    def _launch(self, operands: dict[str, object]) -> None:
        for step in self.draft.program.totals:
            operands[f"{step.result}_partials"] = np.empty(self.units, step.accumulator)
        try:
            arguments = self.pack(*self._arguments(operands))
        except (struct.error, OverflowError, ValueError, TypeError):
            raise Fallback from None
        self.run_ranges(arguments)
        if self.native.combine is not None:
            self.native.combine(arguments, self.units)

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
        count = settings.threads() if self.is_large else 1
        if count > 1:
            ranges = iter(_ranges(self.units, self.grain, count))
            run_on_threads(lambda: self._run_ranges(arguments, ranges), count)
        else:
            self._run_ranges(arguments, iter([(0, self.units)]))

    def _run_ranges(self, arguments: bytes, ranges: Iterator[tuple[int, int]]) -> None:
        run = self.native.run
        if not self.scratch_bytes:
            for begin, end in ranges:
                run(arguments, None, begin, end)
            return
        block = scratch.take(self.scratch_bytes)
        try:
            for begin, end in ranges:
                run(arguments, block.ctypes.data, begin, end)
        finally:
            scratch.give(block)

    def _results(self, operands: dict[str, object], values: dict[Value, object]) -> object:
        results = []
        for kind, key in self.draft.values:
            if kind == "value":
                results.append(_live(values, key))
            else:
                results.append(operands[key] if kind == "fresh" else self.total(key, operands[f"{key}_partials"][0]))
        if len(results) == 1:
            return results[0]
        return tuple(results) if results else None

    def total(self, name: str, total: np.generic) -> np.generic:
        """The result of a reduction of all elements, from what its partial results gave."""
        dtype, is_mean = self.draft.totals[name]
        if is_mean:
            total = np.float64(total) / self.draft.space.size
        return total.astype(dtype)


def prepare(draft: Draft) -> Launch:
    """Compile the kernel of a draft and lay out its arguments; CompileError where the compiler refuses it."""
    native = native_kernel(draft.program)
    pack = struct.Struct("".join(map(format_of, native.kernel.fields))).pack
    fresh = {name: (item.shape, item.dtype, _memory_order(item)) for name, item in draft.fresh.items()}
    return _launch_of(draft, native, pack, fresh)


def _launch_of(draft: Draft, native: NativeKernel, pack: Callable[..., bytes], fresh: dict) -> Launch:
    space, program, kernel = draft.space, draft.program, native.kernel
    units, grain = (space.rows, 1) if space.rank > 1 else (space.size, _GRAIN)
    if program.totals and space.rank == 1:
        units, grain = -(-space.size // BLOCK), 1
    row_bytes = sum(dtype.itemsize for dtype in kernel.buffers) * -(-space.extents[-1] // 64) * 64
    slots = [slot_of(each, draft.space) for each in kernel.fields]
    is_large = space.size * len(program.steps) >= THREADED_WORK
    return Launch(draft, native, pack, slots, fresh, units, grain, is_large, row_bytes)


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


def _memory_order(item: Item) -> str:
    """In which order NumPy allocates a result. Among axes in F order it has a place of its own for one of extent 1."""
    if Order.C in item.order:
        return "C"
    if 1 in item.shape:
        raise Unsupported
    return "F"


def _is_expected(found: object, item: Item) -> bool:
    """Whether a step on NumPy has given what the kernel was made for."""
    if item.weak is not None:
        return type(found) is item.weak
    is_alike = found.dtype == item.dtype and found.shape == item.shape
    return is_alike and (not found.shape or found.strides == item.strides)


def _is_array(values: dict[Value, object], value: Value) -> bool:
    return type(values.get(value)) is np.ndarray


def _live(values: dict[Value, object], value: Value) -> object:
    return value.value if isinstance(value, Constant) else values[value]


def _call(node: Node, values: dict[Value, object]) -> np.ndarray | np.generic:
    operands = [_live(values, value) for value in node.inputs]
    keywords = {node.label(place)[:-1]: value for place, value in enumerate(operands) if node.label(place)}
    return table[node.op].function(*[v for place, v in enumerate(operands) if not node.label(place)], **keywords)


def alike(array: np.ndarray) -> np.ndarray:
    """A temporary with the strides of another array, in scratch memory; between its elements lies what nobody reads."""
    span = sum((extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True))
    return np.ndarray(array.shape, array.dtype, scratch.take(span + array.itemsize), 0, array.strides)


def move(temporary: np.ndarray, target: np.ndarray) -> None:
    """Copy what `alike` gave to where it belongs, and let go of it."""
    np.copyto(target, temporary)
    scratch.give(temporary.base)


def _ranges(units: int, grain: int, threads: int) -> list[tuple[int, int]]:
    """Ranges of units for threads to share.

    >>> _ranges(10, 1, 1), _ranges(5000, 1024, 1)
    ([(0, 3), (3, 6), (6, 9), (9, 10)], [(0, 2048), (2048, 4096), (4096, 5000)])
    """
    length = -(-units // (threads * _PIECES * grain)) * grain
    return [(start, min(start + length, units)) for start in range(0, units, length)]
