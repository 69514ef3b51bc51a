"""Programs on arrays: run as emulated kernels of one unit, and by NumPy, step by step."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field, replace

import numpy as np

from gjit.cuda_kernels.device import emit_device, unit_text
from gjit.cuda_kernels.device_kernel import DeviceKernel
from gjit.cuda_kernels.device_layout import layout_of
from gjit.cuda_kernels.device_parameters import multiplier_of
from gjit.cuda_kernels.device_row_plan import RowPlan
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
    shared: int = 48 << 10
    plan: RowPlan | None = None
    turns: int = 0
    turned: dict[str, np.ndarray] = field(default_factory=dict)
    kernel: DeviceKernel | None = None

    def emit(self, name: str) -> DeviceKernel:
        everything = {**self.arrays, **self.outputs}
        strides = {key: strides_of(array) for key, array in everything.items()}
        addresses = {key: array.ctypes.data for key, array in everything.items()}
        separate = frozenset(everything) if self.separate is None else self.separate
        layout = layout_of(self.program, self.extents, strides, addresses, separate, self.shared)
        self.plan = layout.rows
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


def random_case(program: KernelProgram, extents: tuple[int, ...], seed: int = 0, most: int = 3) -> Case:
    """Arrays of the kinds that a program asks for, with small whole numbers, on which arithmetic is exact."""
    rng = np.random.default_rng(seed)
    arrays = {array.source: _laid_out(array, program, extents, rng, most) for array in program.arrays}
    outputs = {
        output.array.source: guarded(
            extents, output.array.dtype, like=_laid_out(output.array, program, extents, rng, most)
        )
        for output in program.outputs
    }
    numbers = {number.name: number.dtype.type(2) for number in program.numbers}
    return Case(program, extents, arrays, outputs, numbers)


def _laid_out(array: Array, program: KernelProgram, extents: tuple[int, ...], rng, most: int) -> np.ndarray:
    shape = list(extents)
    if array.level is not Level.ELEMENT:
        for axis in program.lines if program.reductions else (program.rank - 1,):
            shape[axis] = 1
    if array.access is Access.REPEATED:
        shape[-1] = 1
    parts = 0 if array.part is None else array.part.width or 4
    values = rng.integers(0, most, (*shape, parts) if parts else shape).astype(array.dtype)
    if parts:
        return np.broadcast_to(values, (*extents, parts))
    if array.access is Access.STRIDED:
        values = np.repeat(values, 2, axis=-1)[..., ::2]
    return np.broadcast_to(moved(values), extents) if values.flags.c_contiguous else np.broadcast_to(values, extents)


def moved(array: np.ndarray, offset: int = 0) -> np.ndarray:
    """The same values, in memory that begins `offset` elements behind an aligned place."""
    target = guarded(array.shape, array.dtype, offset=offset)
    target[...] = array
    return target


def emulated(cases: list[Case]) -> EmulatedUnit:
    """One unit with the kernels of all cases."""
    return emulated_unit(unit_text(case.emit(f"k{place}") for place, case in enumerate(cases)))


def run(unit: EmulatedUnit, case: Case, order: int = 0, fill: bool = True) -> dict[str, np.generic]:
    """Launch one case; its outputs are filled, the totals are given back. Nothing else may have been written."""
    for array in case.outputs.values() if fill else ():
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
            case Meaning.COUNT:
                values.append(ctypes.c_int64(case.turns))
            case Meaning.ROUTE | Meaning.TURNS:
                values.append(ctypes.c_void_p(case.turned[each.name].ctypes.data))
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
        values[array.name] = _read(array, case)
    for number in case.program.numbers:
        values[number.name] = np.array(case.numbers[number.name], number.dtype)
    with np.errstate(all="ignore"):
        for step in case.program.steps:
            values[step.result] = _step(step, values, case.program)
        if case.program.loop is not None:
            _run_loop(case, values)
        for step in case.program.after:
            values[step.result] = _step(step, values, case.program)
        return {output.array.name: _output(output, values, case) for output in case.program.outputs} | {
            step.result: values[step.result] for step in case.program.totals
        }


def _read(array: Array, case: Case) -> np.ndarray:
    whole = case.arrays[array.source]
    if array.part is not None:
        whole = whole[..., array.part.place]
    if array.level is Level.ELEMENT:
        return whole
    axes = case.program.lines if case.program.reductions else (case.program.rank - 1,)
    return whole[tuple(slice(0, 1) if axis in axes else slice(None) for axis in range(whole.ndim))]


def _operand(value, values: dict[str, np.ndarray]):
    return np.asarray(value.value) if isinstance(value, Literal) else values[value]


def _step(step, values: dict[str, np.ndarray], program: KernelProgram) -> np.ndarray:
    if not isinstance(step, Operation):
        return _reduction(step, values, program)
    operands = [_operand(value, values).astype(loop) for value, loop in zip(step.operands, step.loops)]
    if step.row.endswith("astype"):
        return operands[0].astype(step.dtype)
    return np.asarray(table[step.row].function(*operands)).astype(step.loops[-1]).astype(step.dtype)


def _run_loop(case: Case, values: dict[str, np.ndarray]) -> None:
    loop = case.program.loop
    for each in loop.variables:
        values[each.name] = _operand(each.initial, values).astype(each.dtype)
    for turn in range(case.turns):
        for number in loop.numbers:
            values[number.name] = case.turned[number.name][turn]
        piece = loop.pieces[case.turned["route"][turn] if loop.has_route else 0]
        for step in piece.steps:
            values[step.result] = _step(step, values, case.program)
        new = [(name, _operand(value, values).astype(values[name].dtype)) for name, value in piece.assignments]
        values.update(new)


_WAYS = {"SUM": np.add, "PRODUCT": np.multiply, "MAXIMUM": np.maximum, "MINIMUM": np.minimum}
_PLACES = {"FIRST_MAXIMUM": np.argmax, "FIRST_MINIMUM": np.argmin}


def _reduction(step, values: dict[str, np.ndarray], program: KernelProgram) -> np.ndarray:
    operand = _operand(step.operand, values).astype(step.accumulator)
    axes = program.lines if step.level is Level.ROW else None
    if step.combine.is_place:
        axis = None if axes is None else axes[0]
        whole = _PLACES[step.combine.name](operand, axis=axis, keepdims=axis is not None)
    elif step.combine.name == "DEVIATION":
        whole = ((operand - operand.mean()) ** 2).sum()
    else:
        way = _WAYS[step.combine.name]
        whole = way.reduce(operand, axis=axes, keepdims=axes is not None, dtype=step.accumulator)
    if step.is_mean:
        whole = whole / np.float64(np.prod([operand.shape[axis] for axis in axes or range(operand.ndim)]))
    return np.asarray(whole).astype(step.dtype)


def _output(output: Output, values: dict[str, np.ndarray], case: Case) -> np.ndarray:
    value = _operand(output.value, values).astype(output.array.dtype)
    return np.broadcast_to(value, case.outputs[output.array.name].shape)


def same_bits(got: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether all bits are the same; NaNs are equal."""
    if got.dtype.kind == "c":
        return same_bits(got.real, wanted.real) and same_bits(got.imag, wanted.imag)
    kind = f"u{got.itemsize}"
    equal = np.ascontiguousarray(got).view(kind) == np.ascontiguousarray(wanted).view(kind)
    return bool((equal | ((got != got) & (wanted != wanted))).all())
