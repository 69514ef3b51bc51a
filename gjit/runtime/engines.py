"""The engines: what runs a region, and from which size on.

An engine is loaded by its name when it is first chosen, so that a program that never asks for one never imports it.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from types import FunctionType

from gjit import settings
from gjit.ir.graph import Graph, Node
from gjit.runtime import tiles
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.region import Region
from gjit.runtime.statistics import Statistics
from gjit.scheduler.host_program import HostProgram

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
    takes_loops     whether a region may hold a loop over whole arrays
    takes_single    whether a single operation is a region
    prepare         changes the graphs of a plan once regions have been formed
    rebind          changes what a host program is bound to
    wrap            makes of a host program what calls go to
    """

    name: str
    least_elements: LeastElements
    make_region: MakeRegion
    make_nest: MakeNest | None = None
    is_wide: bool = False
    takes_loops: bool = False
    takes_single: bool = False
    prepare: Callable[[dict[str, Graph]], None] | None = None
    rebind: Callable[[HostProgram, dict[str, object]], None] | None = None
    wrap: Callable[[FunctionType], Callable] | None = None


_MODULES = {
    "native": "gjit.runtime.native_region",
    "auto": "gjit.runtime.auto",
    "device": "gjit.runtime.device_engine",
}
ARRAYS = " arrays"
"""Behind the name of a device: its engine for arrays that lie there."""
BACKENDS: dict[str, Callable[[], Engine]] = {}
"""Engines that users have registered."""


def chosen_engine(engine: str | None, *, lasting: bool = False) -> str:
    """The name of the engine that a call runs on.

    Args:
        engine: of the decorator, if it says so.
        lasting: leave out what a `with` block of this thread says.
    """
    return str((settings.lasting if lasting else settings.get)("engine", engine))


def engine_named(name: str, statistics: Statistics | None = None) -> Engine:
    """The engine `auto`, `numpy`, `native`, one that was registered, or that of a device by its full name, which counts
    transfers.
    """
    if ":" in name:
        return importlib.import_module(_MODULES["device"]).device_engine(name, statistics or Statistics())
    if name in BACKENDS:
        return BACKENDS[name]()
    if name == "numpy":
        return Engine(name, tiles.least_elements, tiles.make_region, takes_loops=True)
    module = importlib.import_module(_MODULES[name])
    pieces = (module.make_region, module.make_nest(), module.is_wide())
    return Engine(name, module.least_elements, *pieces, takes_loops=True)
