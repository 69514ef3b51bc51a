"""A region as native code: a kernel for each class of inputs, compiled at the first call that brings it."""

from __future__ import annotations

import logging
import struct
from collections.abc import Callable

import numpy as np

from gjit import settings
from gjit.errors import CompileError
from gjit.ir.graph import Graph, Node
from gjit.runtime import native_gain, tiles
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.native import Counters, is_available
from gjit.runtime.native_host import HostFunctions, host_functions
from gjit.runtime.native_launch import Launch, line_key, prepare, shape_of
from gjit.runtime.native_loop_region import MINIMUM_ELEMENTS as LEAST_OF_LOOPS
from gjit.runtime.native_loop_region import NativeLoopRegion
from gjit.runtime.native_program import draft_region
from gjit.runtime.nest_region import NestRegion
from gjit.runtime.region_inputs import RegionInputs
from gjit.runtime.region_items import WEAK_TYPES, Unsupported
from gjit.runtime.scalars import Fallback
from gjit.scheduler.turn_reader import turns_of
from gjit.scheduler.turns import is_loop_region

MINIMUM_ELEMENTS = 1 << 8
"""Below this many elements plain calls are as fast as the call of any kernel; with 1 every region is entered."""
_KEPT_LAUNCHES = 512
_USES_BEFORE_FUNCTIONS = 8
_WEAK = frozenset(WEAK_TYPES)


class NativeRegion:
    """One `region` node, callable with its inputs; gives what its twin gives, at the strength of the native engine.

    Args:
        node: the region node.
        twin: runs the region op by op; one value, a tuple for several, None for none.
        source: whose code the region is.

    `tiled` and `fallbacks` count how calls have run.
    """

    __slots__ = (
        "node",
        "twin",
        "source",
        "tiled",
        "fallbacks",
        "_launches",
        "_lines",
        "_last",
        "_indices",
        "_parameters",
        "_counters",
        "_inputs",
    )

    swaps = 0

    def __init__(self, node: Node, twin: Callable, source: RegionSource):
        self.node = node
        self.twin = twin
        self.source = source
        self.tiled = 0
        self.fallbacks = 0
        body = node.blocks[0]
        self._parameters = list(body.parameters)
        self._counters = Counters()
        self._inputs = RegionInputs(node)
        self._indices = index_places(node)
        self._launches: dict[tuple, Launch | None] = {}
        self._last: HostFunctions | None = None
        self._lines: dict[tuple | None, Launch] = {}

    def __call__(self, *inputs: object) -> object:
        last = self._last
        if last is not None and last.matches(*inputs):
            try:
                results = last.launch(*inputs)
            except (struct.error, ArithmeticError, ValueError, TypeError, Fallback):
                self.fallbacks += 1
                return self.twin(*inputs)
            self.tiled += 1
            return results
        return self._call(inputs)

    def _call(self, inputs: tuple[object, ...]) -> object:
        key = signature(inputs, self._indices)
        if key is not None:
            try:
                launch = self._launches[key] if key in self._launches else self._prepare(key, inputs)
                if launch is not None:
                    self._last = self._functions(launch, inputs)
                    results = launch.run(self._parameters, inputs)
                    self.tiled += 1
                    return results
            except Fallback:
                pass
        self.fallbacks += 1
        return self.twin(*inputs)

    def compile(self, inputs: tuple[object, ...]) -> None:
        """Compile the kernels for such inputs now."""
        key = signature(inputs, self._indices)
        if key is not None and key not in self._launches:
            self._prepare(key, inputs)

    def programs(self) -> list[str]:
        """The texts of the kernels so far, without what they are compiled together with."""
        launches = [launch for launch in list(self._launches.values()) if launch is not None]
        kernels = [kernel for launch in launches for kernel in launch.kernels if kernel is not None]
        return list(dict.fromkeys(kernel.native.kernel.text for kernel in kernels))

    def _prepare(self, key: tuple, inputs: tuple[object, ...]) -> Launch | None:
        if len(self._launches) >= _KEPT_LAUNCHES:
            self._launches.clear()
        self._launches[key] = launch = self._make(inputs)
        return launch

    def _functions(self, launch: Launch, inputs: tuple[object, ...]) -> HostFunctions | None:
        """Generated when a launch has been used often enough to pay for them."""
        uses = launch.uses = launch.uses + 1
        if uses == _USES_BEFORE_FUNCTIONS:
            launch.functions = host_functions(launch, self._parameters, inputs)
        return launch.functions

    def _make(self, inputs: tuple[object, ...]) -> Launch | None:
        if self._inputs.elements(inputs) < MINIMUM_ELEMENTS:
            return None
        known = self._lines.get(line_key(inputs))
        if known is not None:
            return known.with_shape(shape_of(inputs))
        try:
            launch = self._prepared(inputs)
        except (Unsupported, Fallback, OverflowError):
            return None
        except CompileError as error:
            settings.log(logging.WARNING, "a region runs on NumPy: %s", error)
            return None
        if launch.is_line(inputs):
            self._lines[line_key(inputs)] = launch
        return launch

    def _prepared(self, inputs: tuple[object, ...]) -> Launch:
        return prepare(draft_region(self.node, inputs), self._counters)

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


def make_nest() -> Callable[[Node, Graph, Callable], NestRegion] | None:
    """What makes the regions of loop nests; None where there is no compiler."""
    return NestRegion if is_available() else None


def is_wide() -> bool:
    """Whether regions may hold what only kernels can do."""
    return is_available()


def least_elements(region: Node) -> int:
    """From how many elements on a region is entered."""
    if is_loop_region(region):
        return LEAST_OF_LOOPS
    return native_gain.least_elements(region, MINIMUM_ELEMENTS) if MINIMUM_ELEMENTS > 1 else 1


AnyRegion = NativeRegion | NativeLoopRegion | tiles.TiledRegion | tiles.TiledLoopRegion
"""What runs a region on this engine."""


def make_region(node: Node, twin: Callable, source: RegionSource) -> AnyRegion:
    """The region for the native engine; NumPy runs it where there is no compiler."""
    if not is_available():
        return tiles.make_region(node, twin, source)
    turns = turns_of(node)
    return NativeRegion(node, twin, source) if turns is None else NativeLoopRegion(node, turns, twin, source)


def index_places(node: Node) -> frozenset[int]:
    """The positions of the inputs of a region that are indices of its store."""
    body = node.blocks[0]
    indices = {step.inputs[1] for step in body if step.op == "setitem"}
    return frozenset(place for place, value in enumerate(body.parameters) if value in indices)


def signature(inputs: tuple[object, ...], indices: frozenset[int]) -> tuple | None:
    """What a launch depends on: dtypes, shapes and strides of arrays, types of scalars, and the inputs at the positions
    `indices`, which are indices, themselves. None where an input is anything else.
    """
    parts: list[object] = []
    for place, value in enumerate(inputs):
        kind = type(value)
        if place in indices:
            part = _index_part(value)
            if part is None:
                return None
            parts.append(part)
        elif kind is np.ndarray:
            if not value.flags.aligned:
                return None
            dtype = value.dtype
            parts += (dtype, dtype.char, value.shape, value.strides)
        elif kind in _WEAK or isinstance(value, np.generic):
            parts.append(kind)
        else:
            return None
    return tuple(parts)


def _index_part(value: object) -> object:
    kind = type(value)
    if kind is tuple:
        parts = tuple(map(_index_part, value))
        return None if None in parts else parts
    if kind is slice:
        ends = (value.start, value.stop, value.step)
        return ("slice", *ends) if all(type(end) in (int, type(None)) for end in ends) else None
    if kind is int:
        return value
    return (kind,) if value is None or value is Ellipsis else None
