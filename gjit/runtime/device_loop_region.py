"""A loop over arrays on a device: the scalars' part on the host, then all turns of each element in one kernel."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from gjit import settings
from gjit.errors import CompileError
from gjit.ir.graph import Node, Value
from gjit.runtime.course import Course, Courses, first_turn, loop_results, written_arrays
from gjit.runtime.device import Device
from gjit.runtime.device_kernel import StageLaunch
from gjit.runtime.device_launch import Side, operands_of, run_step
from gjit.runtime.device_region import DeviceRegion
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.host_calls import live
from gjit.runtime.layout import Shape
from gjit.runtime.loop_typing import LoopTyping, Sources
from gjit.runtime.native_kernel import memory_order
from gjit.runtime.native_loop import LoopDraft, draft_loop
from gjit.runtime.native_program import StageDraft
from gjit.runtime.region_items import Unsupported
from gjit.runtime.region_parts import signature_of
from gjit.runtime.scalars import Fallback
from gjit.runtime.statistics import Statistics
from gjit.scheduler.turns import Turns


@dataclass(slots=True)
class LoopLaunch:
    """A loop ready for inputs of one signature.

    draft   what it does
    stage   its kernel
    fresh   name of the output, shape, dtype and memory order of each result that is made, by variable
    """

    draft: LoopDraft
    stage: StageLaunch
    fresh: dict[Value, tuple[str, Shape, np.dtype, str]]


class DeviceLoopRegion(DeviceRegion):
    """One `region` node that holds a loop; see `DeviceRegion`. `turns` is the loop, read."""

    def __init__(
        self, node: Node, turns: Turns, twin: Callable, source: RegionSource, device: Device, statistics: Statistics
    ):
        super().__init__(node, twin, source, device, statistics)
        self.turns = turns
        self._writes = bool(turns.written)
        self._courses = Courses(node, turns, keeps_silent=True)
        self._loops: dict[tuple, LoopLaunch | None] = {}
        used = turns.read()
        self._used = [place for place, value in enumerate(self._parameters) if value in used]

    def compile(self, inputs: tuple[object, ...]) -> None:
        """Kernels of loops wait for their first run."""

    def programs(self) -> list[str]:
        """The texts of the kernels so far, without what they are compiled together with."""
        stages = [launch.stage for launch in list(self._loops.values()) if launch is not None]
        return list(dict.fromkeys(ready.kernel.text for stage in stages for ready, _ in list(stage.ready.values())))

    def _shadows(self, inputs: tuple[object, ...]) -> tuple[object, ...] | None:
        """None where a scalar lies on the device: the host needs its value."""
        kind = self.device.array_type
        return None if any(type(value) is kind and not value.ndim for value in inputs) else super()._shadows(inputs)

    def _launched(self, shadows: tuple[object, ...], inputs: tuple[object, ...], side: Side) -> object:
        course = self._courses(shadows)
        if course.count == 0:
            raise Fallback
        key = signature_of([shadows[place] for place in self._used]), course.kinds()
        if key not in self._loops:
            self._loops[key] = self._made(shadows, course)
        launch = self._loops[key]
        if launch is None:
            raise Fallback
        shadowed = written_arrays(self.turns, dict(zip(self._parameters, shadows, strict=True)))
        values = dict(zip(self._parameters, inputs, strict=True))
        found = {target: live(values, self.turns.initial.get(target, target)) for target in shadowed}
        self._turn(launch, values, found, course, side)
        return loop_results(self.node, self.turns, found, values, course)

    def _turn(
        self, launch: LoopLaunch, values: dict[Value, Any], found: dict[Value, Any], course: Course, side: Side
    ) -> None:
        """Run all turns; what variables are afterwards is added to `found`."""
        draft, stage = launch.draft, launch.stage
        if draft.is_peeled:
            values = {**values, **first_turn(self.turns, values, course)}
            for step in draft.before:
                values[step.node.result] = run_step(step, values, side)
        arrays, numbers = operands_of(stage.draft, values, side)
        arrays.update((name, side.on_device(found[variable])) for name, variable in draft.written.items())
        numbers.update(self._of_turns(draft, course))
        for variable, (name, shape, dtype, order) in launch.fresh.items():
            found[variable], arrays[name] = side.fresh(shape, dtype, order)
        try:
            stage.launch(arrays, numbers, frozenset() if draft.written else frozenset(arrays))
        except CompileError as error:
            settings.log(logging.WARNING, "a loop runs turn by turn: %s", str(error))
            raise Fallback from None
        for array in found.values():
            side.wrote(array)

    def _of_turns(self, draft: LoopDraft, course: Course) -> dict[str, Any]:
        """How many turns the kernel runs, which piece each of them is, and numbers that differ from turn to turn."""
        first, upload = int(draft.is_peeled), self.device.functions.asarray
        found: dict[str, Any] = {"turns": course.count - first}
        if draft.program.loop is not None and draft.program.loop.has_route:
            found["route"] = upload(course.route({place: new for new, place in enumerate(draft.places)}))
        for name, (dtype, indices) in draft.turned.items():
            found[f"{name}_turns"] = upload(np.ascontiguousarray(course.numbers(indices, dtype)[first:]))
        return found

    def _made(self, shadows: tuple[object, ...], course: Course) -> LoopLaunch | None:
        sources = Sources(dict(zip(self._parameters, shadows, strict=True)), course.samples(self.turns.pieces))
        try:
            draft = draft_loop(self.node, self.turns, LoopTyping(self.turns, sources, course.places()))
            fresh = {
                variable: (name, item.shape, item.dtype, memory_order(item))
                for variable, (name, item) in draft.fresh.items()
            }
        except (Unsupported, Fallback, OverflowError):
            return None
        stage = StageDraft(draft.program, draft.space, draft.sources, {}, {}, None, {}, (), False)
        return LoopLaunch(draft, StageLaunch(stage, self.device, {}, {}), fresh)
