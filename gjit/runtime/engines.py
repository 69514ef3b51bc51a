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
    """A region that runs: called with the inputs of the node; counts how calls have run."""

    node: Node
    tiled: int
    fallbacks: int

    def __call__(self, *inputs: object) -> Any:
        """The results of the region."""


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


_MODULES = {"native": "gjit.runtime.native_region"}


def chosen_engine(engine: str | None, *, lasting: bool = False) -> str:
    """The name of the engine that a call runs on.

    Args:
        engine: of the decorator, if it says so.
        lasting: leave out what a `with` block of this thread says.
    """
    name = str((settings.lasting if lasting else settings.get)("engine", engine))
    return "numpy" if name == "auto" else name


def check_device(device: str | None) -> None:
    """Refuse a device that this version does not have; `device` is the decorator's, if it says so."""
    place = str(settings.get("device", device))
    if place not in ("auto", "cpu"):
        raise DeviceError(f"the device {place!r}: this version of gjit runs on the CPU; set GJIT_DEVICE=cpu or auto")


def engine_named(name: str) -> Engine:
    """The engine `numpy` or `native`."""
    if name == "numpy":
        return Engine(name, tiles.least_elements, TiledRegion)
    module = importlib.import_module(_MODULES[name])
    minimum: int = module.MINIMUM_ELEMENTS
    pieces = (_or_tiles(module.make_region), module.make_nest(), module.is_available())
    return Engine(name, lambda region: minimum, *pieces)


def _or_tiles(make_region: Callable) -> MakeRegion:
    """Regions of an engine that may find no compiler: NumPy runs them then."""

    def make(node: Node, twin: Callable, source: RegionSource) -> Region:
        region = make_region(node, twin, source)
        return TiledRegion(node, twin, source) if region is None else region

    return make
