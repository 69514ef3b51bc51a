"""One kernel on a device: compiled for where its arrays lie, launched with their addresses."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gjit.cuda_kernels.device import emit_device, unit_text
from gjit.cuda_kernels.device_kernel import DeviceKernel
from gjit.cuda_kernels.device_layout import Finish, Layout, layout_of
from gjit.cuda_kernels.device_parameters import multiplier_of
from gjit.cuda_kernels.device_shapes import LaunchShape
from gjit.cuda_kernels.program import Combine, Field, KernelProgram, Meaning
from gjit.ir.graph import Value
from gjit.runtime.device import Device
from gjit.runtime.device_arguments import Arguments
from gjit.runtime.layout import Shape
from gjit.runtime.native_arguments import number
from gjit.runtime.native_kernel import memory_order
from gjit.runtime.native_program import StageDraft
from gjit.runtime.scalars import Fallback
from gjit.scheduler.fusible import operation_of

_VECTOR = 16
_FINISHED = frozenset({"sum", "prod", "max", "min", "amax", "amin", "mean", "var", "std"})


@dataclass(frozen=True, slots=True)
class Ready:
    """A kernel that can be launched: `launch(shape, *values)`."""

    kernel: DeviceKernel
    launch: Callable[..., None]


@dataclass(slots=True)
class StageLaunch:
    """One kernel of a region, for inputs of one signature.

    draft     what it does
    fresh     shape, dtype and memory order of the arrays that are made
    finishes  of the totals that the kernel itself gives their final value, by the value of the graph
    ready     kernels by whether all arrays are aligned and which are apart from what is written, with their shapes
    """

    draft: StageDraft
    device: Device
    fresh: dict[str, tuple[Shape, np.dtype, str]]
    finishes: dict[Value, Finish]
    ready: dict[tuple[bool, frozenset[str]], tuple[Ready, LaunchShape]] = field(default_factory=dict)

    def launch(self, arrays: dict[str, Any], numbers: dict[str, Any], separate: frozenset[str]) -> dict[str, Any]:
        """Launch the kernel; the memory of each total: an array of one element."""
        device = self.device
        addresses = {name: device.address(array) for name, array in arrays.items()}
        is_aligned = not any(address % _VECTOR for address in addresses.values())
        ready, shape = self.ready.get((is_aligned, separate)) or self._make(is_aligned, separate, addresses)
        kept: list[Any] = []
        totals: dict[str, Any] = {}
        for each in ready.kernel.fields:
            if each.meaning is Meaning.TOTAL:
                totals[each.name] = _memory(device, 1, each.dtype)
            elif each.meaning is Meaning.PARTIALS:
                kept.append(_memory(device, shape.partials, each.dtype))
        values = self._values(ready.kernel, addresses, numbers, totals, iter(kept))
        try:
            ready.launch(shape, *values)
        except (struct.error, OverflowError):
            raise Fallback from None
        return totals

    def compile(self) -> None:
        """Compile the kernel for aligned arrays that share no memory; one that writes what exists waits for them."""
        draft = self.draft
        if not draft.written and draft.store is None:
            names = frozenset((*draft.sources, *draft.fresh))
            if (True, names) not in self.ready:
                self._make(True, names, dict.fromkeys(draft.space.strides, 0))

    def _values(
        self,
        kernel: DeviceKernel,
        addresses: dict[str, int],
        numbers: dict[str, Any],
        totals: dict[str, Any],
        partials: Iterator[Any],
    ) -> Iterator[object]:
        """The arguments in their order."""
        space, device = self.draft.space, self.device
        for each in kernel.fields:
            match each.meaning:
                case Meaning.ARRAY:
                    yield addresses[each.name]
                case Meaning.STRIDE | Meaning.EXTENT | Meaning.MULTIPLIER | Meaning.SHIFT:
                    yield of_space(each, space)
                case Meaning.NUMBER:
                    yield from number(numbers[each.name], each.dtype)
                case Meaning.TOTAL:
                    yield device.address(totals[each.name])
                case Meaning.PARTIALS:
                    yield device.address(next(partials))
                case Meaning.COUNT:
                    yield numbers["turns"]
                case Meaning.ROUTE:
                    yield device.address(numbers["route"])
                case Meaning.TURNS:
                    yield device.address(numbers[f"{each.name}_turns"])
                case Meaning.TICKET:
                    yield device.ticket()

    def _make(self, is_aligned: bool, separate: frozenset[str], addresses: dict[str, int]) -> tuple[Ready, LaunchShape]:
        draft, space = self.draft, self.draft.space
        strides = {name: (*each, *_apart(space, name)) for name, each in space.strides.items()}
        places = dict.fromkeys(addresses, 0 if is_aligned else 1)
        layout = layout_of(draft.program, space.extents, strides, places, separate, self.device.shared_bytes)
        finishes = [(total.parts[0], self.finishes[v]) for v, total in draft.totals.items() if v in self.finishes]
        layout = replace(layout, finishes=tuple(finishes))
        ready = kernel_of(self.device, draft.program, layout)
        found = self.ready[is_aligned, separate] = ready, ready.kernel.shape(space.extents)
        return found


def stage_launch(device: Device, draft: StageDraft) -> StageLaunch:
    """A stage, ready to be compiled when it is first launched."""
    fresh = {name: (item.shape, item.dtype, memory_order(item)) for name, (item, _) in draft.fresh.items()}
    found = ((value, _finish_of(draft, value)) for value in draft.totals)
    return StageLaunch(draft, device, fresh, {value: finish for value, finish in found if finish is not None})


def _finish_of(draft: StageDraft, value: Value) -> Finish | None:
    """What a kernel does itself to a total; None where that is left to the host."""
    total = draft.totals[value]
    reduction = operation_of(value.producer).reduction
    steps = {step.result: step for step in draft.program.totals}
    if len(total.parts) != 1 or reduction is None or reduction.name not in _FINISHED:
        return None
    step = steps[total.parts[0]]
    with np.errstate(all="ignore"):
        dtype = total.finish(np.zeros(1, step.partial)[0]).dtype
    if reduction.initial is not None or step.combine.is_place or dtype.kind not in "iuf":
        return None
    name = reduction.name
    is_spread = name in ("var", "std")
    if is_spread and step.combine is not Combine.DEVIATION:
        return None
    return Finish(dtype, name == "mean" or is_spread, reduction.ddof if is_spread else 0, name == "std")


def of_space(field: Field, space: Any) -> int:
    """The value of an argument that a space alone tells."""
    match field.meaning:
        case Meaning.EXTENT:
            return space.extents[field.axis]
        case Meaning.STRIDE:
            return space.apart[field.name] if field.axis == space.rank else space.strides[field.name][field.axis]
    return multiplier_of(space.extents[field.axis])[field.meaning is Meaning.SHIFT]


def _apart(space: Any, name: str) -> tuple[int, ...]:
    return (space.apart[name],) if name in space.apart else ()


def _memory(device: Device, count: int, dtype: np.dtype) -> Any:
    """Memory for some elements, of any dtype."""
    return device.bytes(count * dtype.itemsize)


_kernels: dict[tuple[str, KernelProgram, Layout], Ready] = {}
_KEPT_KERNELS = 4096


def kernel_of(device: Device, program: KernelProgram, layout: Layout) -> Ready:
    """Emit, compile and load a kernel, once in a process for each device; CompileError where it is refused."""
    key = device.name, program, layout
    found = _kernels.get(key)
    if found is None:
        if len(_kernels) >= _KEPT_KERNELS:
            _kernels.clear()
        kernel = emit_device(program, layout)
        launch = device.launcher(unit_text([kernel]), kernel.name, Arguments(kernel.fields, layout.wide))
        found = _kernels[key] = Ready(kernel, launch)
    return found
