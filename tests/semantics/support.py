"""How the tests of the language run a program: compiled and plain, on every argument set, whole and in tiles."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from unittest import mock

import numpy as np

import gjit
from gjit.runtime import arrangement, tile_plan, tile_run, tiles
from gjit.testing import assert_same_as_numpy
from tests.semantics import elsewhere


@dataclass(frozen=True, slots=True)
class Call:
    """The arguments of one call; they are copied for every run."""

    args: tuple
    kwargs: dict


def call(*args: object, **kwargs: object) -> Call:
    return Call(args, kwargs)


def check(
    function: Callable,
    *argument_sets: Call,
    regions: int | None = None,
    host_calls: int | None = 0,
    calls: int = 1,
    check_warnings: bool = True,
    stays: str = "",
) -> gjit.CompiledFunction:
    """Compile `function` and compare it with itself on every argument set, twice on one compiled object.

    A program with regions is compiled once more so that they run tile by tile however small the arrays are. The text of
    the graph runs once more in another process; `stays` is the reason why a case cannot.

    `regions` is the number of regions in the plan for the first argument set, `calls` how often a set is called
    in a row with the same arguments, `host_calls` how many calls of library code the interpreter ran (None: any
    number).
    """
    compiled = gjit.script(function)
    for _ in range(2):
        for arguments in argument_sets:
            compare(compiled, function, arguments, calls, check_warnings)
    assert host_calls is None or compiled.statistics.host_calls == host_calls
    check_text(compiled)
    if not stays:
        counted = None if host_calls else host_calls
        check_elsewhere(compiled, function, argument_sets, calls, check_warnings, counted)
    if compiled.statistics.tiled_regions:
        with small_tiles():
            tiled = gjit.script(function)
            for arguments in argument_sets:
                compare(tiled, function, arguments, calls, check_warnings)
    if regions is not None:
        check_regions(function, argument_sets[0], regions)
    return compiled


def compare(compiled: Callable, plain: Callable, arguments: Call, calls: int = 1, check_warnings: bool = True) -> None:
    kwargs = arguments.kwargs
    assert_same_as_numpy(compiled, *arguments.args, plain=plain, calls=calls, check_warnings=check_warnings, **kwargs)


def check_elsewhere(
    compiled: gjit.CompiledFunction,
    plain: Callable,
    argument_sets: tuple[Call, ...],
    calls: int = 1,
    check_warnings: bool = True,
    host_calls: int | None = 0,
) -> None:
    """The printed graph does the same in another process, which does not know the module of the function."""
    sets = [(arguments.args, arguments.kwargs) for arguments in argument_sets]
    found = elsewhere.differences(
        compiled, plain, sets, calls=calls, check_warnings=check_warnings, host_calls=host_calls
    )
    assert not found, "\n  ".join(["the printed graph differs elsewhere:", *found])


def check_text(compiled: gjit.CompiledFunction) -> None:
    """The printed graph parses back, and printing is a fixed point."""
    text = str(compiled.graph)
    assert str(gjit.parse_graph(text)) == text


def check_regions(function: Callable, arguments: Call, expected: int) -> None:
    compiled = gjit.script(function)
    compare(compiled, function, arguments)
    assert compiled.statistics.regions == expected, compiled.code


@contextlib.contextmanager
def small_tiles() -> Iterator[None]:
    """Compile and run regions tile by tile for arrays of any size, in tiles as short as they may be, on threads."""
    with (
        mock.patch.object(tiles, "MINIMUM_ELEMENTS", 1),
        mock.patch.object(tile_plan, "MINIMUM_BYTES", 0),
        mock.patch.object(arrangement, "TILE_BYTES", 1),
        mock.patch.object(arrangement, "_MAXIMUM_OVERSIZE", 1 << 40),
        mock.patch.object(tile_run, "THREADED_WORK", 1),
    ):
        yield


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


def unaligned(array: np.ndarray) -> np.ndarray:
    """The same values at an address that the dtype does not like."""
    return np.frombuffer(b"\0" + array.tobytes(), np.uint8)[1:].view(array.dtype).reshape(array.shape)


def swapped(array: np.ndarray) -> np.ndarray:
    """The same values in the other byte order."""
    return array.astype(array.dtype.newbyteorder())


def layouts(array: np.ndarray) -> list[np.ndarray]:
    """A matrix in every layout that a caller may bring: the values are those of `array`."""
    rows, columns = array.shape
    wide = np.zeros((2 * rows, 3 * columns), array.dtype)
    wide[::2, ::3] = array
    return [
        array.copy(),
        np.asfortranarray(array),
        array[::-1].copy()[::-1],
        array[:, ::-1].copy()[:, ::-1],
        wide[::2, ::3],
        read_only(array.copy()),
        unaligned(array),
        swapped(array),
    ]
