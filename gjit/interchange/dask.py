"""Compiled functions over Dask arrays. They travel to workers as graphs, and stay compiled there."""

from __future__ import annotations

import collections
import hashlib
import io
import pickle
import threading
from collections.abc import Callable
from typing import Any

from gjit.errors import require
from gjit.ir.capturable import has_graph

MOST_FUNCTIONS = 128
"""How many functions a worker keeps compiled; those that were not called for longest are forgotten first."""


class Travelling:
    """A function for the tasks of a Dask graph: small tasks name it, and each worker builds it once.

    Args:
        function: a compiled function, or an object that holds some, such as a module.
    """

    __slots__ = ("digest", "name", "payload")

    def __init__(self, function: Callable):
        if not (has_graph(function) or hasattr(function, "named_parameters")):
            raise TypeError(
                f"a compiled function is needed here, not {type(function).__name__}; script or trace it first"
            )
        self.name = getattr(function, "__name__", type(function).__name__)
        self.payload = _packed(function)
        self.digest = hashlib.sha256(self.payload).hexdigest()
        _functions.keep(self.digest, function)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return _functions.get(self.digest, self.payload)(*arguments, **keywords)

    @property
    def __name__(self) -> str:
        return self.name

    def __dask_tokenize__(self) -> str:
        return self.digest

    def __getstate__(self) -> tuple[str, str, bytes]:
        return self.digest, self.name, self.payload

    def __setstate__(self, state: tuple[str, str, bytes]) -> None:
        self.digest, self.name, self.payload = state


class _Functions:
    """The functions of this process by digest."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._known: collections.OrderedDict[str, Callable] = collections.OrderedDict()

    def keep(self, digest: str, function: Callable) -> None:
        with self._lock:
            self._put(digest, function)

    def get(self, digest: str, payload: bytes) -> Callable:
        """The function, made once; tasks on other threads wait for it."""
        with self._lock:
            function = self._known.get(digest)
            if function is None:
                function = pickle.loads(payload)
            self._put(digest, function)
            return function

    def all(self) -> list[Callable]:
        with self._lock:
            return list(self._known.values())

    def _put(self, digest: str, function: Callable) -> None:
        self._known[digest] = function
        self._known.move_to_end(digest)
        if len(self._known) > MOST_FUNCTIONS:
            self._known.popitem(last=False)


_functions = _Functions()


def functions() -> list[Callable]:
    """The functions that this process holds for tasks; their statistics tell what was compiled on a worker."""
    return _functions.all()


class _AsGraphs(pickle.Pickler):
    """Compiled functions as graphs, also those that could be imported: a worker need not have the program."""

    def reducer_override(self, value: object) -> Any:
        travel = getattr(type(value), "__gjit_travel__", None)
        return NotImplemented if travel is None else travel(value)


def _packed(function: Callable) -> bytes:
    file = io.BytesIO()
    _AsGraphs(file, pickle.HIGHEST_PROTOCOL).dump(function)
    return file.getvalue()


def map_blocks(function: Callable, *arrays: Any, **options: Any) -> Any:
    """Call a compiled function on each block: `dask.array.map_blocks`.

    Args:
        function: compiled; takes the blocks of the arrays that stand at the same place.
        arrays: Dask arrays, and other arguments that every call gets.
        options: of `dask.array.map_blocks` (`dtype`, `chunks`, `drop_axis`, ...), and keywords of the function.

    Returns:
        A Dask array; nothing is computed yet.
    """
    return _arrays().map_blocks(Travelling(function), *arrays, **options)


def map_overlap(function: Callable, *arrays: Any, depth: Any, boundary: Any = None, **options: Any) -> Any:
    """Call a compiled function on each block with a margin of its neighbours: `dask.array.map_overlap`.

    Args:
        function: compiled; its result has the shape of the block, whose margin is cut off again.
        arrays: Dask arrays.
        depth: how wide the margin is: a number, or one for each axis.
        boundary: what stands outside of the array: `"periodic"`, `"reflect"`, `"nearest"`, `"none"` or a number.
        options: of `dask.array.map_overlap`, and keywords of the function.
    """
    return _arrays().map_overlap(Travelling(function), *arrays, depth=depth, boundary=boundary, **options)


def reduction(
    array: Any,
    chunk: Callable,
    aggregate: Callable | None = None,
    *,
    combine: Callable | None = None,
    axis: Any = None,
    keepdims: bool = False,
    dtype: Any = None,
    **options: Any,
) -> Any:
    """Reduce a Dask array by compiled functions, block by block and then as a tree: `dask.array.reduction`.

    Args:
        array: a Dask array.
        chunk: reduces a block; each of the functions takes `(x, axis, keepdims)` and keeps the axes if it is told to.
        aggregate: reduces the joined results of blocks to the final one; by default `chunk`.
        combine: reduces them in between; by default `aggregate`.
        axis, keepdims: as in NumPy.
        dtype: of the result; by default that of the array.
        options: of `dask.array.reduction` (`split_every`, ...).
    """
    last = Travelling(aggregate or chunk)
    between = {} if combine is None else {"combine": Travelling(combine)}
    kind = array.dtype if dtype is None else dtype
    return _arrays().reduction(
        array, Travelling(chunk), last, axis=axis, keepdims=keepdims, dtype=kind, **between, **options
    )


def _arrays() -> Any:
    return require("dask.array", extra="dask")
