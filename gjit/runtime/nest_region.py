"""A loop nest as native code: written and compiled at the first call that brings its types.

Whatever the native code meets that only Python can do right (an error, a warning, an integer beyond 64 bits) sends it
back: what it has written is taken back, and the twin runs from the start.
"""

from __future__ import annotations

import ctypes
import itertools
import logging
import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gjit import settings
from gjit.cuda_kernels.nest_emit import Input, emit_nest, nest_unit
from gjit.cuda_kernels.nest_values import PYTHON_DTYPES, NestKernel, Refused, Result
from gjit.cuda_kernels.nest_writer import is_usual
from gjit.errors import CompileError
from gjit.ir.graph import Graph, Node
from gjit.runtime.compiler import find_compiler
from gjit.runtime.floating_errors import collecting_modes
from gjit.runtime.native import Counters, load_unit

LEAST_ELEMENTS = 32
"""Where all arrays are smaller, the twin runs: there is nothing to gain, and compiling takes a while."""
_MOST_KERNELS = 32
_MOST_EXTENT = 1 << 45
_FLAGS = {"divide": 1, "over": 2, "under": 4, "invalid": 8}
_KNOWN = (type(None), str, type, np.dtype)


@dataclass(frozen=True, slots=True)
class Loaded:
    """A nest that can be called.

    packing   how the words are made of the inputs: `struct` format and the number of words
    """

    kernel: NestKernel
    run: Callable[[int, int], int]
    packing: struct.Struct
    size: int


class NestRegion:
    """One region that holds a loop nest, callable with its inputs; gives what its twin gives.

    Args:
        node: the region node.
        graph: where it stands; its calls name functions there.
        twin: runs the loop as Python; one value, a tuple for several, None for none.

    `tiled` and `fallbacks` count how calls have run, `reasons` tell for each class of inputs why it stays on the host.
    """

    __slots__ = ("node", "graph", "twin", "tiled", "fallbacks", "reasons", "_loaded", "_counters")

    def __init__(self, node: Node, graph: Graph, twin: Callable):
        self.node, self.graph, self.twin = node, graph, twin
        self.tiled = 0
        self.fallbacks = 0
        self.reasons: dict[tuple, str] = {}
        self._loaded: dict[tuple, Loaded | None] = {}
        self._counters = Counters()

    def __call__(self, *inputs: object) -> object:
        loaded = self._found(inputs)
        modes = collecting_modes() if loaded is not None else None
        if loaded is None or modes is None:
            return self._on_host(inputs)
        for place in loaded.kernel.written:
            if not inputs[place].flags.writeable:
                return self._on_host(inputs)
        wanted = sum(_FLAGS[kind] for kind, mode in modes.items() if mode != "ignore")
        try:
            words = _packed(loaded, inputs)
        except (struct.error, OverflowError):
            return self._on_host(inputs)
        try:
            kept = [(inputs[place], inputs[place].copy()) for place in loaded.kernel.written]
        except MemoryError:
            return self._on_host(inputs)
        code = loaded.run(ctypes.addressof(words), wanted)
        if code < 0:
            for array, before in kept:
                array[...] = before
            return self._on_host(inputs)
        self.tiled += 1
        return _unpacked(loaded.kernel.exits[code], words)

    def compile(self, inputs: tuple[object, ...]) -> None:
        """Compile the kernel for such inputs now."""
        self._found(inputs)

    def programs(self) -> list[str]:
        """The texts of the kernels so far."""
        return [loaded.kernel.text for loaded in list(self._loaded.values()) if loaded is not None]

    @property
    def native(self) -> int:
        """Calls that native code ran."""
        return self.tiled

    @property
    def swaps(self) -> int:
        """How often it moved to other kernels."""
        return 0

    @property
    def compilations(self) -> int:
        """Kernels that the compiler has made for it."""
        return self._counters.compilations

    @property
    def cache_hits(self) -> int:
        """Kernels that were found compiled."""
        return self._counters.cache_hits

    def _on_host(self, inputs: tuple[object, ...]) -> object:
        self.fallbacks += 1
        return self.twin(*inputs)

    def _found(self, inputs: tuple[object, ...]) -> Loaded | None:
        key = signature(inputs)
        if key is None:
            return None
        if key not in self._loaded:
            if len(self._loaded) >= _MOST_KERNELS:
                return None
            self._loaded[key] = self._made(key, self._kinds(inputs))
        return self._loaded[key]

    def _kinds(self, inputs: tuple[object, ...]) -> list[Input]:
        return [input_of(value) for value in inputs]

    def _may_run(self, is_exact: bool) -> bool:
        """Whether native code that has NumPy's bits, or has not, may stand for the loop."""
        return True

    def _made(self, key: tuple, kinds: list[Input]) -> Loaded | None:
        try:
            return self._compiled(kinds)
        except Refused as refused:
            self.reasons[key] = str(refused)
        except CompileError as error:
            settings.log(logging.WARNING, "a loop runs on the host: %s", error)
            self.reasons[key] = "the compiler refused it"
        except Exception:  # whatever is wrong with a text, the loop itself is right
            if settings.get("check"):
                raise
            settings.log(logging.WARNING, "a loop runs on the host: its text cannot be written", exc_info=True)
            self.reasons[key] = "a fault of gjit, which the log shows"
        return None

    def _compiled(self, kinds: list[Input]) -> Loaded:
        compiler = find_compiler()
        if compiler is None:
            raise Refused("there is no C++ compiler")
        compiler = compiler.keeping_flags()
        kernel = emit_nest(self.node, self.graph, kinds)
        if not self._may_run(kernel.exact):
            raise Refused("arithmetic whose last bits are not NumPy's")
        library = load_unit(nest_unit(kernel, compiler.dialect), compiler, self._counters)
        run = library.nest
        run.argtypes, run.restype = (ctypes.c_void_p, ctypes.c_longlong), ctypes.c_longlong
        packing = struct.Struct("=" + "".join(map(_format, kinds)))
        results = max((sum(map(_count, results)) for results in kernel.exits), default=0)
        return Loaded(kernel, run, packing, max(packing.size, 8 * results, 8))


def _count(result: Result) -> int:
    """How many words a result takes at most."""
    return 1 if result.parts is None else sum(map(_count, result.parts))


def signature(inputs: tuple[object, ...]) -> tuple | None:
    """What the text of a nest depends on; None where an input is nothing that nests know, or all arrays are small."""
    parts: list[object] = []
    most = -1
    for value in inputs:
        part = _part(value)
        if part is None:
            return None
        if type(value) is np.ndarray:
            most = max(most, value.size)
        parts.append(part)
    return None if 0 <= most < LEAST_ELEMENTS else tuple(parts)


def _part(value: object) -> object:
    kind = type(value)
    if kind is np.ndarray:
        flags = value.flags
        if not flags.aligned or not is_usual(value.dtype) or max(value.shape, default=0) >= _MOST_EXTENT:
            return None
        return value.dtype.char, value.ndim, _unit(value)
    if kind in (int, bool, float):
        return kind
    if kind in (range, tuple):
        parts = tuple(map(_part, (value.start, value.stop, value.step) if kind is range else value))
        return None if None in parts else (kind, *((value.step,) if kind is range else ()), *parts)
    if isinstance(value, np.generic):
        return kind if is_usual(value.dtype) and value.dtype.type is kind else None
    return (kind, value) if isinstance(value, _KNOWN) else None


def _unit(array: np.ndarray) -> int:
    """The axis along which elements lie side by side, the last one first; -1 for none."""
    for axis in range(array.ndim - 1, -1, -1):
        if array.strides[axis] == array.itemsize:
            return axis
    return -1


def input_of(value: object) -> Input:
    """An input as the text of a nest sees it."""
    kind = type(value)
    if kind is np.ndarray:
        return Input("array", value.dtype, rank=value.ndim, unit=_unit(value))
    if kind in (bool, int, float):
        return Input("number", PYTHON_DTYPES[kind.__name__], kind.__name__)
    if kind is range:
        return Input("range", parts=tuple(map(input_of, (value.start, value.stop))), value=value.step)
    if kind is tuple:
        return Input("tuple", parts=tuple(map(input_of, value)))
    if isinstance(value, np.generic):
        return Input("number", value.dtype)
    return Input("known", value=value)


def _format(kind: Input) -> str:
    if kind.kind == "array":
        return "q"
    if kind.kind == "number":
        return "d" if kind.dtype.kind == "f" else "Q" if kind.dtype == np.uint64 else "q"
    return "".join(map(_format, kind.parts))


def _packed(loaded: Loaded, inputs: tuple[object, ...]) -> ctypes.Array:
    numbers: list[object] = []
    for value in inputs:
        _collect(value, numbers)
    words = (ctypes.c_char * loaded.size)()
    loaded.packing.pack_into(words, 0, *numbers)
    return words


def _collect(value: object, numbers: list[object]) -> None:
    kind = type(value)
    if kind is np.ndarray:
        numbers.append(id(value))
    elif kind is range:
        numbers += (value.start, value.stop)
    elif kind is tuple:
        for part in value:
            _collect(part, numbers)
    elif isinstance(value, np.generic):
        numbers.append(value.item())
    elif kind in (bool, int, float):
        numbers.append(value)


_UNPACK = {"f": struct.Struct("=d"), "u": struct.Struct("=Q"), "i": struct.Struct("=q"), "b": struct.Struct("=q")}


def _unpacked(results: list[Result], words: ctypes.Array) -> object:
    places = itertools.count(0, 8)
    values = [_result(result, words, places) for result in results]
    return None if not values else values[0] if len(values) == 1 else tuple(values)


def _result(result: Result, words: ctypes.Array, places: Iterator[int]) -> object:
    if result.parts is not None:
        return tuple([_result(part, words, places) for part in result.parts])
    if result.dtype is None:
        return result.known
    (value,) = _UNPACK[result.dtype.kind].unpack_from(words, next(places))
    if result.python:
        return bool(value) if result.python == "bool" else value
    return result.dtype.type(value)
