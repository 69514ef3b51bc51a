"""Launching the kernels of a region on a device, for arrays that lie there or come from NumPy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from gjit.ir.graph import Node, Value
from gjit.runtime.device import Device
from gjit.runtime.device_kernel import StageLaunch, stage_launch
from gjit.runtime.host_calls import live
from gjit.runtime.layout import Shape, is_disturbed_by
from gjit.runtime.native_program import Draft, StageDraft
from gjit.runtime.region_items import Item
from gjit.runtime.scalars import Fallback


class Side(Protocol):
    """Where the arrays of a region come from and go to: the device itself, or NumPy."""

    device: Device

    def shadow(self, value: Any) -> Any:
        """A NumPy array with the shape, strides and address of an array, to compare memory; others as they are."""

    def on_device(self, value: Any) -> Any:
        """The array on the device."""

    def number(self, value: Any) -> Any:
        """A scalar on the host."""

    def fresh(self, shape: Shape, dtype: np.dtype, order: str) -> tuple[Any, Any]:
        """An array that is made, and the array on the device that its elements go to."""

    def wrote(self, value: Any) -> None:
        """The elements of an array that exists have been written on the device."""

    def scalar(self, memory: Any, dtype: np.dtype) -> Any:
        """The scalar that a kernel has left in memory on the device."""

    def finished(self, total: np.generic) -> Any:
        """A scalar that the host has computed from what a kernel left."""

    def step(self, node: Node, values: dict[Value, Any]) -> Any:
        """The value of a step that no kernel runs."""


@dataclass(slots=True)
class Target:
    """The view that a region stores into, and whether storing at once would disturb what is read."""

    view: Any
    shadow: np.ndarray
    is_disturbing: bool


@dataclass(slots=True)
class DeviceLaunch:
    """A region on a device, for inputs of one signature; `kernels` are those of its stages, `uses` counts its runs."""

    draft: Draft
    kernels: list[StageLaunch | None]
    uses: int = 0

    def run(self, parameters: list[Value], inputs: tuple[object, ...], side: Side) -> object:
        """One value, a tuple of several, or None; raises Fallback before anything is written."""
        values: dict[Value, Any] = dict(zip(parameters, inputs, strict=True))
        for steps, kernel in zip(self.draft.host, [*self.kernels, None], strict=True):
            for step in steps:
                values[step.node.result] = run_step(step, values, side)
            if kernel is not None:
                _run_kernel(kernel, values, side)
        results = [live(values, value) for value in self.draft.results]
        if len(results) == 1:
            return results[0]
        return tuple(results) if results else None


def prepare(device: Device, draft: Draft) -> DeviceLaunch:
    """A draft, ready to be launched; Unsupported where a result has an order that memory is not taken in."""
    return DeviceLaunch(draft, [None if stage is None else stage_launch(device, stage) for stage in draft.stages])


def _run_kernel(kernel: StageLaunch, values: dict[Value, Any], side: Side) -> None:
    draft = kernel.draft
    target = _target(draft, values, side)
    separate = _separate(draft, values, side, target)
    arrays, numbers = operands_of(draft, values, side)
    for name, value in draft.written.items():
        arrays[name] = side.on_device(values[value])
    if target is not None:
        there = side.on_device(target.view)
        arrays[draft.store[1]] = _alike(side.device, target.shadow) if target.is_disturbing else there
    for name, (shape, dtype, order) in kernel.fresh.items():
        values[draft.fresh[name][1]], arrays[name] = side.fresh(shape, dtype, order)
    found = kernel.launch(arrays, numbers, separate)
    for value in (*draft.written.values(), *(value for _, value in draft.fresh.values())):
        side.wrote(values[value])
    if target is not None:
        if target.is_disturbing:
            there[...] = arrays[draft.store[1]]
        side.wrote(target.view)
    _add_totals(kernel, found, values, side)


def operands_of(draft: StageDraft, values: dict[Value, Any], side: Side) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arrays that a kernel reads, on the device, and its numbers."""
    names = {array.source for array in draft.program.arrays}
    arrays, numbers = {}, {}
    for name, value in draft.sources.items():
        if name in names:
            arrays[name] = side.on_device(live(values, value))
        else:
            numbers[name] = side.number(live(values, value))
    return arrays, numbers


def _target(draft: StageDraft, values: dict[Value, Any], side: Side) -> Target | None:
    if draft.store is None:
        return None
    owner, index, _ = draft.store[0].operation.operands
    view = live(values, owner)[live(values, index)]
    shadow = side.shadow(view)
    if not shadow.flags.writeable:
        raise Fallback
    read = _read(draft, values, side)
    is_disturbing = draft.stores_apart or any(is_disturbed_by(array, shadow) for array in read.values())
    return Target(view, shadow, is_disturbing)


def _read(draft: StageDraft, values: dict[Value, Any], side: Side) -> dict[str, np.ndarray]:
    found = {name: side.shadow(live(values, value)) for name, value in draft.sources.items()}
    return {name: array for name, array in found.items() if type(array) is np.ndarray}


def _separate(draft: StageDraft, values: dict[Value, Any], side: Side, target: Target | None) -> frozenset[str]:
    """The arrays that share memory with none that is written; Fallback where something may have been read before."""
    stored = [draft.store[1]] if draft.store is not None else []
    names = frozenset((*draft.sources, *draft.fresh, *draft.written, *stored))
    if not draft.written and target is None:
        return names
    read = _read(draft, values, side)
    shared: set[str] = set()
    for name, value in draft.written.items():
        array = side.shadow(values[value])
        others = [side.shadow(each) for key, each in values.items() if key is not value]
        others += [] if target is None else [target.shadow]
        arrays = [each for each in others if type(each) is np.ndarray]
        if not array.flags.writeable or any(np.may_share_memory(array, other) for other in arrays):
            raise Fallback
        shared |= {name, *(key for key in read if draft.sources[key] is value)}
    if target is not None and not target.is_disturbing:
        touching = {name for name, array in read.items() if np.may_share_memory(array, target.shadow)}
        shared |= {*touching, *stored} if touching else set()
    return names - shared


def _add_totals(kernel: StageLaunch, found: dict[str, Any], values: dict[Value, Any], side: Side) -> None:
    draft = kernel.draft
    partials = {step.result: step.partial for step in draft.program.totals}
    for value, total in draft.totals.items():
        finish = kernel.finishes.get(value)
        if finish is not None:
            values[value] = side.scalar(found[total.parts[0]], finish.dtype)
            continue
        parts = (_downloaded(side.device, found[part], partials[part]) for part in total.parts)
        values[value] = side.finished(total.finish(*parts))


def _downloaded(device: Device, memory: Any, dtype: np.dtype) -> Any:
    """The one element that a kernel has left in memory."""
    bytes = np.empty(dtype.itemsize, np.uint8)
    device.download(memory, bytes)
    return bytes.view(dtype)[0]


def run_step(step: Any, values: dict[Value, Any], side: Side) -> Any:
    """A step that no kernel runs; what it raises the twin raises where it belongs."""
    try:
        with np.errstate(all="ignore"):
            found = side.step(step.node, values)
    except (ArithmeticError, ValueError, TypeError):
        raise Fallback from None
    if not _is_expected(side.shadow(found), step.result):
        raise Fallback
    return found


def _is_expected(found: Any, item: Item) -> bool:
    """Whether a step has given what the kernels were made for."""
    if item.weak is not None:
        return type(found) is item.weak
    if not isinstance(found, np.ndarray | np.generic) or found.dtype != item.dtype:
        return False
    return found.shape == item.shape and (not found.shape or found.strides == item.strides)


def _alike(device: Device, array: np.ndarray) -> Any:
    """A temporary with the strides of another array."""
    span = sum((extent - 1) * stride for extent, stride in zip(array.shape, array.strides, strict=True))
    return device.view(device.bytes(span + array.itemsize), 0, array)
