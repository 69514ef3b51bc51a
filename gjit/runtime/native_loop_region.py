"""A loop over arrays as native code: the scalars' part on the host, then all turns of each element in one kernel."""

from __future__ import annotations

import contextlib
import logging
import struct
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from gjit import settings
from gjit.errors import CompileError
from gjit.ir.graph import Node, Value
from gjit.runtime.course import Course, Courses, first_turn, loop_results, run_before, written_arrays
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.host_calls import live
from gjit.runtime.layout import Shape
from gjit.runtime.loop_typing import LoopTyping, Sources
from gjit.runtime.native import Counters, native_kernel
from gjit.runtime.native_arguments import format_of, slot_of
from gjit.runtime.native_kernel import THREADED_WORK, KernelLaunch
from gjit.runtime.native_loop import LoopDraft, draft_loop
from gjit.runtime.region_items import Unsupported, memory_order
from gjit.runtime.region_parts import signature_of
from gjit.runtime.scalars import Fallback
from gjit.scheduler.turns import Turns

MINIMUM_ELEMENTS = 8
"""Below this many elements plain calls are as fast, for a few turns at least."""
_KEPT_LAUNCHES = 512
_GRAIN = 1024


@dataclass(slots=True)
class LoopLaunch:
    """A loop ready for inputs of one signature.

    draft   what it does
    turns   the loop, read
    launch  of its kernel, on one thread
    fresh   name of the output, shape, dtype and memory order of each result that is made, by variable
    """

    draft: LoopDraft
    turns: Turns
    launch: KernelLaunch
    fresh: dict[Value, tuple[str, Shape, np.dtype, str]]

    def run(self, values: dict[Value, object], course: Course) -> dict[Value, np.ndarray]:
        """What the variables are after the loop; raises Fallback before anything is written."""
        draft = self.draft
        found = written_arrays(self.turns, values)
        first = int(draft.is_peeled)
        if draft.is_peeled:
            values = {**values, **first_turn(self.turns, values, course)}
            with np.errstate(all="ignore"):
                run_before(draft.before, values)
        operands = {name: live(values, value) for name, value in draft.sources.items()}
        operands.update((name, found[variable]) for name, variable in draft.written.items())
        operands["turns"] = course.count - first
        if draft.program.loop.has_route:
            operands["route"] = course.route({place: new for new, place in enumerate(draft.places)})
        for name, (dtype, indices) in draft.turned.items():
            operands[f"{name}_turns"] = course.numbers(indices, dtype)[first:]
        for variable, (name, shape, dtype, order) in self.fresh.items():
            found[variable] = operands[name] = np.empty(shape, dtype, order)
        arguments = self.launch.packed(operands)
        work = draft.space.size * course.count * len(draft.program.all_steps)
        replace(self.launch, is_large=work >= THREADED_WORK).run_ranges(arguments)
        return found


def prepare_loop(draft: LoopDraft, turns: Turns, counted: Counters) -> LoopLaunch:
    """Compile the kernel of a draft and lay out its arguments; CompileError where the compiler refuses it.

    `counted` counts what was compiled and what was found.
    """
    native, space = native_kernel(draft.program, counted), draft.space
    pack = struct.Struct("".join(map(format_of, native.kernel.fields))).pack
    slots = [slot_of(each, space) for each in native.kernel.fields]
    units, grain = (space.size // space.extents[-1], 1) if space.rank > 1 else (space.size, _GRAIN)
    launch = KernelLaunch(draft, native, pack, slots, {}, units, grain, False, 0)
    fresh = {
        variable: (name, item.shape, item.dtype, memory_order(item)) for variable, (name, item) in draft.fresh.items()
    }
    return LoopLaunch(draft, turns, launch, fresh)


class NativeLoopRegion:
    """One `region` node that holds a loop, callable with its inputs; gives what its twin gives, at the strength of the
    native engine.

    Args:
        node: the region node.
        turns: its loop, read.
        twin: runs the region op by op; one value, a tuple for several, None for none.
        source: whose code the region is.

    `tiled` and `fallbacks` count how calls have run.
    """

    __slots__ = (
        "node",
        "turns",
        "twin",
        "source",
        "tiled",
        "fallbacks",
        "_courses",
        "_launches",
        "_parameters",
        "_used",
        "_counters",
    )

    swaps = 0

    def __init__(self, node: Node, turns: Turns, twin: Callable, source: RegionSource):
        self.node = node
        self.turns = turns
        self.twin = twin
        self.source = source
        self.tiled = 0
        self.fallbacks = 0
        self._courses = Courses(node, turns, keeps_silent=True)
        self._counters = Counters()
        self._launches: dict[tuple, LoopLaunch | None] = {}
        self._parameters = list(node.blocks[0].parameters)
        used = turns.read()
        self._used = [place for place, value in enumerate(self._parameters) if value in used]

    def __call__(self, *inputs: object) -> object:
        try:
            results = self._run(inputs)
        except (Fallback, OverflowError):  # a Python number that does not fit
            pass
        else:
            self.tiled += 1
            return results
        self.fallbacks += 1
        return self.twin(*inputs)

    @property
    def native(self) -> int:
        """Calls that native code ran."""
        return self.tiled

    @property
    def compilations(self) -> int:
        """Kernels that the compiler has made for it."""
        return self._counters.compilations

    @property
    def cache_hits(self) -> int:
        """Kernels that were found compiled."""
        return self._counters.cache_hits

    def compile(self, inputs: tuple[object, ...]) -> None:
        """Compile now what such inputs will want, and run nothing but the scalar part of the loop."""
        with contextlib.suppress(Fallback, OverflowError):
            self._launch_for(inputs)

    def programs(self) -> list[str]:
        """The texts of the kernels so far, without what they are compiled together with."""
        made = [each for each in list(self._launches.values()) if each is not None]
        return list(dict.fromkeys(each.launch.native.kernel.text for each in made))

    def _run(self, inputs: tuple[object, ...]) -> object:
        launch, course = self._launch_for(inputs)
        values: dict[Value, object] = dict(zip(self._parameters, inputs, strict=True))
        return loop_results(self.node, self.turns, launch.run(values, course), values, course)

    def _launch_for(self, inputs: tuple[object, ...]) -> tuple[LoopLaunch, Course]:
        key = signature_of([inputs[place] for place in self._used])
        course = self._courses(inputs)
        if course.count == 0:
            raise Fallback
        key = (key, course.kinds())
        launch = self._launches[key] if key in self._launches else self._prepare(key, inputs, course)
        if launch is None:
            raise Fallback
        return launch, course

    def _prepare(self, key: tuple, inputs: tuple[object, ...], course: Course) -> LoopLaunch | None:
        if len(self._launches) >= _KEPT_LAUNCHES:
            self._launches.clear()
        self._launches[key] = launch = self._make(inputs, course)
        return launch

    def _make(self, inputs: tuple[object, ...], course: Course) -> LoopLaunch | None:
        sources = Sources(dict(zip(self._parameters, inputs, strict=True)), course.samples(self.turns.pieces))
        try:
            typing = LoopTyping(self.turns, sources, course.places(), is_wide=True)
            return prepare_loop(draft_loop(self.node, self.turns, typing), self.turns, self._counters)
        except (Unsupported, Fallback, OverflowError):
            return None
        except CompileError as error:
            settings.log(logging.WARNING, "a region runs on NumPy: %s", error)
            return None
