"""The engines: what runs a region, and from which size on.

An engine is loaded by its name when it is first chosen, so that a program that never asks for one never imports it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from gjit import settings
from gjit.errors import DeviceError
from gjit.ir.graph import Graph, Node
from gjit.runtime import tiles
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.tiles import TiledRegion


class Region(Protocol):
    """A region that runs: called with the inputs of the node.

    It counts how calls have run, `tiled` as one pass, `native` of them as native code, or as `fallbacks` op by op;
    kernels that were compiled for it or found compiled; and how often it moved to other kernels.
    """

    node: Node

    @property
    def tiled(self) -> int: ...

    @property
    def native(self) -> int: ...

    @property
    def fallbacks(self) -> int: ...

    @property
    def compilations(self) -> int: ...

    @property
    def cache_hits(self) -> int: ...

    @property
    def swaps(self) -> int: ...

    def __call__(self, *inputs: object) -> Any:
        """The results of the region."""

    def compile(self, inputs: tuple[object, ...]) -> None:
        """Compile now what such inputs will want."""


MakeNest = Callable[[Node, Graph, Callable], Region]
MakeRegion = Callable[[Node, Callable, RegionSource], Region]
LeastElements = Callable[[Node], int | None]


@dataclass(frozen=True, slots=True)
class Engine:
    """One engine.

    make_region     makes a region of a node and its twin
    least_elements  of a region node: smaller arrays run the twin in place; None where plain calls are always as fast
    make_nest       makes a region of a loop nest, of its graph and its twin; None where loops are left to the host
    is_wide         whether regions hold what is only fast when it is compiled
    """

    name: str
    least_elements: LeastElements
    make_region: MakeRegion
    make_nest: MakeNest | None = None
    is_wide: bool = False


_MODULES = {"native": "gjit.runtime.native_region", "auto": "gjit.runtime.auto"}


def chosen_engine(engine: str | None, *, lasting: bool = False) -> str:
    """The name of the engine that a call runs on.

    Args:
        engine: of the decorator, if it says so.
        lasting: leave out what a `with` block of this thread says.
    """
    return str((settings.lasting if lasting else settings.get)("engine", engine))


def check_device(device: str | None) -> None:
    """Refuse a device that this version does not have; `device` is the decorator's, if it says so."""
    place = str(settings.get("device", device))
    if place not in ("auto", "cpu"):
        raise DeviceError(f"the device {place!r}: this version of gjit runs on the CPU; set GJIT_DEVICE=cpu or auto")


def engine_named(name: str) -> Engine:
    """The engine `auto`, `numpy` or `native`."""
    if name == "numpy":
        return Engine(name, tiles.least_elements, TiledRegion)
    module = importlib.import_module(_MODULES[name])
    pieces = (module.make_region, module.make_nest(), module.is_wide())
    return Engine(name, module.least_elements, *pieces)
