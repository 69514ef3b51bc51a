"""Programs on arrays: run as emulated kernels of one unit, and by NumPy, step by step."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field, replace

import numpy as np

from gjit.cuda_kernels.device import emit_device, unit_text
from gjit.cuda_kernels.device_kernel import DeviceKernel
from gjit.cuda_kernels.device_layout import layout_of
from gjit.cuda_kernels.device_parameters import multiplier_of
from gjit.cuda_kernels.program import Access, Array, KernelProgram, Level, Literal, Meaning, Operation, Output
from gjit.ops.row import table
from gjit.runtime.emulated_device import EmulatedUnit, emulated_unit

GUARD = 64
"""Elements around the memory of each output; nobody may write them."""
SENTINEL = 0xA5


@dataclass
class Case:
    """A program with its arrays, each of the shape of the space; the strides of outputs are those of `outputs`."""

    program: KernelProgram
    extents: tuple[int, ...]
    arrays: dict[str, np.ndarray]
    outputs: dict[str, np.ndarray]
    numbers: dict[str, object] = field(default_factory=dict)
    wide: bool = False
    separate: frozenset[str] | None = None
    finishes: tuple = ()
    kernel: DeviceKernel | None = None

    def emit(self, name: str) -> DeviceKernel:
        everything = {**self.arrays, **self.outputs}
        strides = {key: strides_of(array) for key, array in everything.items()}
        addresses = {key: array.ctypes.data for key, array in everything.items()}
        separate = frozenset(everything) if self.separate is None else self.separate
        layout = layout_of(self.program, self.extents, strides, addresses, separate)
        self.kernel = emit_device(
            replace(self.program, name=name), replace(layout, wide=self.wide, finishes=self.finishes)
        )
        return self.kernel


def access(array: np.ndarray) -> Access:
    step = array.strides[-1] // array.itemsize
    return Access.CONTIGUOUS if step == 1 else Access.REPEATED if step == 0 else Access.STRIDED


def array_of(name: str, array: np.ndarray) -> Array:
    return Array(name, array.dtype, access(array))


def strides_of(array: np.ndarray) -> tuple[int, ...]:
    return tuple(stride // array.itemsize for stride in array.strides)


def guarded(shape: tuple[int, ...], dtype, like: np.ndarray | None = None, offset: int = 0) -> np.ndarray:
    """An output in the middle of sentinels: C order, or the strides of another array."""
    dtype = np.dtype(dtype)
    strides = np.empty(shape, dtype).strides if like is None else like.strides
    size = sum((extent - 1) * abs(stride) for extent, stride in zip(shape, strides) if extent > 1) + dtype.itemsize
    memory = np.full(size + 2 * GUARD * dtype.itemsize + 64, SENTINEL, np.uint8)
    start = -memory.ctypes.data % 64 + (GUARD + offset) * dtype.itemsize
    back = sum((extent - 1) * -stride for extent, stride in zip(shape, strides) if stride < 0)
    return np.ndarray(shape, dtype, memory, start + back, strides)


def emulated(cases: list[Case]) -> EmulatedUnit:
    """One unit with the kernels of all cases."""
    return emulated_unit(unit_text(case.emit(f"k{place}") for place, case in enumerate(cases)))


def run(unit: EmulatedUnit, case: Case, order: int = 0) -> dict[str, np.generic]:
    """Launch one case; its outputs are filled, the totals are given back. Nothing else may have been written."""
    for array in case.outputs.values():
        if array.base is not None and array.base.dtype == np.uint8:
            array.base[:] = SENTINEL
    shape = case.kernel.shape(case.extents)
    values, totals = _values(case, shape.partials)
    addresses = [value.ctypes.data if isinstance(value, np.ndarray) else ctypes.addressof(value) for value in values]
    unit.launch(case.kernel.name, shape.grid, shape.block, shape.shared, addresses, order)
    for array in case.outputs.values():
        assert_nothing_else_written(array)
    return {name: value[0] for name, value in totals.items()}


def _values(case: Case, partials: int) -> tuple[list, dict[str, np.ndarray]]:
    everything, totals, kept = {**case.arrays, **case.outputs}, {}, []
    index = ctypes.c_int64 if case.wide else ctypes.c_int32
    values: list = []
    for each in case.kernel.fields:
        match each.meaning:
            case Meaning.ARRAY:
                values.append(ctypes.c_void_p(everything[each.name].ctypes.data))
            case Meaning.STRIDE:
                values.append(index(strides_of(everything[each.name])[each.axis]))
            case Meaning.EXTENT:
                values.append(index(case.extents[each.axis]))
            case Meaning.MULTIPLIER | Meaning.SHIFT:
                part = each.meaning is Meaning.SHIFT
                values.append(ctypes.c_uint32(multiplier_of(case.extents[each.axis])[part]))
            case Meaning.NUMBER:
                values.append(np.array([case.numbers[each.name]], each.dtype))
            case _:
                memory = np.full(partials if each.meaning is Meaning.PARTIALS else 1, 0, each.dtype)
                if each.meaning is Meaning.TOTAL:
                    totals[each.name] = memory
                kept.append(memory)
                values.append(ctypes.c_void_p(memory.ctypes.data))
                values[-1].kept = memory
    return values, totals


def assert_nothing_else_written(array: np.ndarray) -> None:
    memory = array.base
    if memory is None or memory.dtype != np.uint8 or memory.ndim != 1:
        return
    expected = np.full_like(memory, SENTINEL)
    offset = array.ctypes.data - memory.ctypes.data
    np.ndarray(array.shape, array.dtype, expected, offset, array.strides)[...] = array
    assert (expected == memory).all(), "a write outside the output"


def reference(case: Case) -> dict[str, np.ndarray]:
    """The values of a program by NumPy, one step after the other."""
    values: dict[str, np.ndarray] = {}
    for array in case.program.arrays:
        whole = case.arrays[array.name]
        values[array.name] = whole[..., :1] if array.access is Access.REPEATED else whole
    for number in case.program.numbers:
        values[number.name] = np.array(case.numbers[number.name], number.dtype)
    with np.errstate(all="ignore"):
        for step in case.program.steps:
            values[step.result] = _step(step, values)
        return {output.array.name: _output(output, values, case) for output in case.program.outputs} | {
            step.result: values[step.result] for step in case.program.totals
        }


def _operand(value, values: dict[str, np.ndarray]):
    return np.asarray(value.value) if isinstance(value, Literal) else values[value]


def _step(step, values: dict[str, np.ndarray]) -> np.ndarray:
    if not isinstance(step, Operation):
        return _reduction(step, values)
    operands = [_operand(value, values).astype(loop) for value, loop in zip(step.operands, step.loops)]
    if step.row.endswith("astype"):
        return operands[0].astype(step.dtype)
    return np.asarray(table[step.row].function(*operands)).astype(step.loops[-1]).astype(step.dtype)


_WAYS = {"SUM": np.add, "PRODUCT": np.multiply, "MAXIMUM": np.maximum, "MINIMUM": np.minimum}


def _reduction(step, values: dict[str, np.ndarray]) -> np.ndarray:
    operand = _operand(step.operand, values).astype(step.accumulator)
    axis = -1 if step.level is Level.ROW else None
    whole = _WAYS[step.combine.name].reduce(operand, axis=axis, keepdims=axis is not None, dtype=step.accumulator)
    if step.is_mean:
        whole = whole / np.float64(operand.shape[-1] if axis else operand.size)
    return np.asarray(whole).astype(step.dtype)


def _output(output: Output, values: dict[str, np.ndarray], case: Case) -> np.ndarray:
    value = _operand(output.value, values).astype(output.array.dtype)
    shape = case.outputs[output.array.name].shape
    return np.broadcast_to(value, shape)


def same_bits(got: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether all bits are the same; NaNs are equal."""
    if got.dtype.kind == "c":
        return same_bits(got.real, wanted.real) and same_bits(got.imag, wanted.imag)
    kind = f"u{got.itemsize}"
    equal = np.ascontiguousarray(got).view(kind) == np.ascontiguousarray(wanted).view(kind)
    return bool((equal | ((got != got) & (wanted != wanted))).all())
