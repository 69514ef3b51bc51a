"""The engine `auto`: NumPy at once, and native code for regions that are hot and exact as soon as it is there.

A region begins on NumPy, tile by tile. When it has done enough work, its checked kernel is compiled on a thread in the
background, if there is a proof that its bits are NumPy's; the region moves to it when it is ready. Nobody waits, and
nobody can tell.
"""

from __future__ import annotations

import functools
import logging
import threading
from collections.abc import Callable, Mapping

from gjit import settings
from gjit.cuda_kernels.program import KernelProgram
from gjit.errors import CompileError
from gjit.ir.graph import Graph, Node
from gjit.runtime import background, tiles
from gjit.runtime.auto_nest import AutoNest
from gjit.runtime.compiler import find_compiler, may_find_compiler
from gjit.runtime.exact_launch import exact_launch
from gjit.runtime.exact_program import array_steps, exact_draft, may_be_exact
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.gain import largest_item
from gjit.runtime.native import Counters, NativeKernel, is_available, native_kernel
from gjit.runtime.native_host import HostFunctions
from gjit.runtime.native_launch import Launch
from gjit.runtime.native_region import MINIMUM_ELEMENTS as NATIVE_MINIMUM
from gjit.runtime.native_region import NativeRegion, index_places, signature
from gjit.runtime.region_inputs import RegionInputs
from gjit.runtime.region_items import Unsupported
from gjit.runtime.scalars import Fallback
from gjit.runtime.tiles import TiledRegion
from gjit.scheduler.fusible import Form, operation_of

MINIMUM_BYTES = 1 << 17
"""The size of an array from which on a region of two operations gains; one of three gains from half of it on."""
_MOST_KERNELS = 16
_MOST_SIGNATURES = 256
_SHARE = 8
"""A region looks at its inputs again when it has done this part more work: what waits for the compiler costs little."""
_CREDIT = 64
"""How many launches a region may prepare; each that runs often enough gives its cost back."""


class ExactRegion(NativeRegion):
    """A region on some checked kernels; `twin` is called for all that they are not for."""

    __slots__ = ("kernels", "credit")

    def __init__(self, node: Node, twin: Callable, source: RegionSource, kernels: Mapping[KernelProgram, NativeKernel]):
        super().__init__(node, twin, source)
        self.kernels = kernels
        self.credit = _CREDIT

    def _functions(self, launch: Launch, inputs: tuple[object, ...]) -> HostFunctions | None:
        found = super()._functions(launch, inputs)
        self.credit += found is not None
        return found

    def _prepared(self, inputs: tuple[object, ...]) -> Launch:
        if self.credit <= 0:
            raise Unsupported
        self.credit -= 1
        draft = exact_draft(self.node, inputs)
        native = self.kernels.get(draft.stages[0].program)
        if native is None:
            raise Unsupported
        return exact_launch(draft, native, self.source)


class AutoRegion:
    """One `region` node, callable with its inputs; gives what its twin gives.

    The one thing about it that changes is what a call runs: NumPy first, then an `ExactRegion`, then another one with
    more kernels.

    Args:
        node: the region node.
        twin: runs the region op by op.
        source: whose code the region is.
    """

    __slots__ = ("node", "twin", "source", "_runs", "_numpy", "_inputs", "_least", "_heat", "_exact", "_lock")

    def __init__(self, node: Node, twin: Callable, source: RegionSource):
        self.node = node
        self.twin = twin
        self.source = source
        self._numpy = TiledRegion(node, twin, source)
        self._inputs = RegionInputs(node)
        self._least = tiles.least_elements(node)
        self._heat = _Heat(node)
        self._exact: list[ExactRegion] = []
        self._lock = threading.Lock()
        self._runs: Callable[..., object] = self._run_numpy

    def __call__(self, *inputs: object) -> object:
        return self._runs(*inputs)

    def _run_numpy(self, *inputs: object) -> object:
        elements = self._inputs.elements(inputs)
        program = self._heat.program(inputs, elements)
        if program is not None:
            self._compile_later(program)
        if self._least is None or elements < self._least:
            return self.twin(*inputs)
        return self._numpy(*inputs)

    def _compile_later(self, program: KernelProgram) -> None:
        if settings.get("compile") == "wait":
            self._compile(program)
        else:
            background.worker.submit((id(self), program), functools.partial(self._compile, program))

    def _compile(self, program: KernelProgram) -> None:
        """Move to kernels of which one is that of this program."""
        compiler = find_compiler()
        if compiler is None or not compiler.keeps_flags or not is_available():
            return
        try:
            kernel = native_kernel(program, self._heat.counters)
        except CompileError as error:
            settings.log(logging.WARNING, "a region stays on NumPy: %s", error)
            return
        with self._lock:
            before = self._exact[-1].kernels if self._exact else {}
            exact = ExactRegion(self.node, self._run_numpy, self.source, {**before, program: kernel})
            self._exact.append(exact)
            self._runs = exact

    def compile(self, inputs: tuple[object, ...]) -> None:
        """Compile the kernel for such inputs now, if it has one."""
        program = self._heat.new_program(inputs)
        if program is not None:
            self._compile(program)

    def programs(self) -> list[str]:
        """The texts of the generated programs so far: tiles, then kernels."""
        kernels = self._exact[-1].kernels.values() if self._exact else ()
        return [*self._numpy.programs(), *(kernel.kernel.text for kernel in kernels)]

    @property
    def tiled(self) -> int:
        """Calls that ran as one pass."""
        return self._numpy.tiled + sum(exact.tiled for exact in self._exact)

    @property
    def fallbacks(self) -> int:
        """Calls that ran op by op although their arrays were large."""
        return self._numpy.fallbacks

    @property
    def native(self) -> int:
        """Calls that native code ran."""
        return sum(exact.tiled for exact in self._exact)

    @property
    def swaps(self) -> int:
        """How often it moved to other kernels."""
        return len(self._exact)

    @property
    def compilations(self) -> int:
        """Kernels that the compiler has made for it."""
        return self._heat.counters.compilations

    @property
    def cache_hits(self) -> int:
        """Kernels that were found compiled."""
        return self._heat.counters.cache_hits


class _Heat:
    """How much work a region has done on NumPy, and which programs it has asked for."""

    __slots__ = ("node", "work", "next", "steps", "indices", "seen", "programs", "counters")

    def __init__(self, node: Node):
        self.node = node
        self.work = self.next = 0
        self.steps = array_steps(node)
        self.indices = index_places(node)
        self.seen: set[tuple] = set()
        self.programs: set[KernelProgram] = set()
        self.counters = Counters()

    def program(self, inputs: tuple[object, ...], elements: int) -> KernelProgram | None:
        """The program of a region that is hot, for inputs of a new kind and so many elements."""
        self.work += self.steps * elements
        if self.work < self.next:
            return None
        hot = settings.get("hot")
        self.next = self.work + self.work // _SHARE if hot else 0
        if self.work < hot or settings.get("compile") == "never":
            return None
        background.worker.wake()
        return self.new_program(inputs)

    def new_program(self, inputs: tuple[object, ...]) -> KernelProgram | None:
        """The program for such inputs, where it exists and nobody has asked for it before."""
        key = signature(inputs, self.indices)
        if key is None or key in self.seen or len(self.seen) >= _MOST_SIGNATURES:
            return None
        self.seen.add(key)
        try:
            program = exact_draft(self.node, inputs).stages[0].program
        except (Unsupported, Fallback, OverflowError):
            return None
        if program in self.programs or len(self.programs) >= _MOST_KERNELS:
            return None
        self.programs.add(program)
        return program


def least_elements(region: Node) -> int | None:
    """From how many elements on a region is entered: fewer where it may come to run as native code."""
    tiled = tiles.least_elements(region)
    if not _may_move(region):
        return tiled
    native = max(MINIMUM_BYTES // largest_item(region) // _saved_steps(region), NATIVE_MINIMUM)
    return native if tiled is None else min(tiled, native)


def make_region(node: Node, twin: Callable, source: RegionSource) -> AutoRegion | TiledRegion:
    """The region for the engine `auto`; NumPy alone runs it where there cannot be a kernel."""
    if not _may_move(node):
        return tiles.make_region(node, twin, source)
    return AutoRegion(node, twin, source)


def is_wide() -> bool:
    """Regions hold what NumPy does tile by tile: they begin there."""
    return False


def make_nest() -> Callable[[Node, Graph, Callable], AutoNest] | None:
    """What makes the regions of loop nests; None where there surely is no compiler."""
    return AutoNest if may_find_compiler() or find_compiler() is not None else None


def _may_move(region: Node) -> bool:
    """Whether a region may come to run as native code, as far as types and the machine tell."""
    if _saved_steps(region) < 1 or not may_be_exact(region):
        return False
    return may_find_compiler() or find_compiler() is not None


def _saved_steps(region: Node) -> int:
    """How many passes over memory are saved: one stays, and writing what is there already costs another."""
    works = [work for node in region.blocks[0] if (work := operation_of(node)) is not None]
    written = {work.out for work in works if work.out is not None}
    return array_steps(region) - 1 - len(written) - any(work.form is Form.STORE for work in works)
