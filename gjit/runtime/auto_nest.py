"""Loop nests under the engine `auto`: on the host at once, and as native code as soon as it is there.

A nest begins as the loop that it is. When it has taken enough time, its native form is written and compiled in the
background, if there is a proof that its bits are NumPy's; the next call after that runs it. Nobody waits, and nobody
can tell.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Callable

from gjit import settings
from gjit.ir.graph import Graph, Node
from gjit.runtime import background
from gjit.runtime.compiler import find_compiler
from gjit.runtime.nest_region import Loaded, NestRegion, signature

HOT_SECONDS = 0.02
"""How long the runs of a nest on the host take together before it is compiled."""
_MOST_SIGNATURES = 64


class AutoNest(NestRegion):
    """One region that holds a loop nest, callable with its inputs; gives what its twin gives, to the last bit.

    Args:
        node: the region node.
        graph: where it stands; its calls name functions there.
        twin: runs the loop as Python.
    """

    __slots__ = ("_seconds", "_seen", "_is_ready")

    def __init__(self, node: Node, graph: Graph, twin: Callable):
        super().__init__(node, graph, twin)
        self._seconds = 0.0
        self._seen: set[tuple] = set()
        self._is_ready = False

    def __call__(self, *inputs: object) -> object:
        if self._is_ready:
            return super().__call__(*inputs)
        return self._on_host(inputs)

    def _on_host(self, inputs: tuple[object, ...]) -> object:
        start = time.perf_counter()
        try:
            return self.twin(*inputs)
        finally:
            self._seconds += time.perf_counter() - start
            if self._seconds > HOT_SECONDS:
                self._warm_up(inputs)

    def _warm_up(self, inputs: tuple[object, ...]) -> None:
        """Compile for inputs of a new kind, in the background; looked at again after as much time."""
        self._seconds = 0.0
        when = settings.get("compile")
        key = None if when == "never" else signature(inputs)
        if key is None or key in self._seen or len(self._seen) >= _MOST_SIGNATURES:
            return
        self._seen.add(key)
        job = functools.partial(self._prepare, key, self._kinds(inputs))
        if when == "wait":
            job()
        else:
            background.worker.submit((id(self), key), job)

    def _prepare(self, key: tuple, kinds: list) -> None:
        loaded = self._loaded[key] = self._made(key, kinds)
        if loaded is not None:
            self._is_ready = True

    def compile(self, inputs: tuple[object, ...]) -> None:
        """Compile the kernel for such inputs now."""
        key = signature(inputs)
        if key is not None and key not in self._seen:
            self._seen.add(key)
            self._prepare(key, self._kinds(inputs))

    def _found(self, inputs: tuple[object, ...]) -> Loaded | None:
        key = signature(inputs)
        return None if key is None else self._loaded.get(key)

    def _may_run(self, is_exact: bool) -> bool:
        compiler = find_compiler()
        return is_exact and compiler is not None and compiler.keeps_flags

    @property
    def swaps(self) -> int:
        """How often it moved to native code."""
        return sum(loaded is not None for loaded in list(self._loaded.values()))
