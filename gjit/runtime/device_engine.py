"""The two engines of a device: one for arrays that lie on it, one that brings NumPy arrays there and back."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.errors import DeviceLostError
from gjit.ir.graph import Graph, Node
from gjit.runtime.device import Device, device_named
from gjit.runtime.device_functions import rebound
from gjit.runtime.device_loop_region import DeviceLoopRegion
from gjit.runtime.device_region import DeviceRegion
from gjit.runtime.engines import ARRAYS, Engine
from gjit.runtime.floating_errors import RegionSource
from gjit.runtime.residency import Residency, current
from gjit.runtime.statistics import Statistics
from gjit.scheduler.coherence import settle_reads
from gjit.scheduler.device_arrays import with_device_kinds
from gjit.scheduler.turn_reader import turns_of


def device_engine(name: str, statistics: Statistics) -> Engine:
    """The engine `cuda:0`, for NumPy arrays, or `cuda:0 arrays`."""
    device = device_named(name.removesuffix(ARRAYS))

    def make_region(node: Node, twin: Callable, source: RegionSource) -> DeviceRegion:
        turns = turns_of(node)
        if turns is None:
            return DeviceRegion(node, twin, source, device, statistics)
        return DeviceLoopRegion(node, turns, twin, source, device, statistics)

    def least_elements(region: Node) -> int:
        return 0

    if name.endswith(ARRAYS):
        bind = functools.partial(rebound, device, statistics)
        wrap = functools.partial(_on_device, device)
        more: dict[str, Any] = {"prepare": _with_kinds, "rebind": bind, "wrap": wrap}
    else:
        more = {"prepare": settle_reads, "wrap": functools.partial(_from_host, device, statistics)}
    return Engine(name, least_elements, make_region, is_wide=True, takes_loops=True, takes_single=True, **more)


def _with_kinds(graphs: dict[str, Graph]) -> None:
    for graph in graphs.values():
        with_device_kinds(graph)


def _on_device(device: Device, function: types.FunctionType) -> Callable:
    """Calls of a host program whose arrays lie on the device."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        with device.active():
            return _translated(device, function, arguments, keywords)

    return call


def _from_host(device: Device, statistics: Statistics, function: types.FunctionType) -> Callable:
    """Calls of a host program with NumPy arrays; when it ends, their memory holds what NumPy would have left there."""

    def call(*arguments: Any, **keywords: Any) -> Any:
        outer = current()
        if outer is not None and outer.device is device:
            try:
                return function(*arguments, **keywords)
            finally:
                outer.settle_all()
        arrays = [value for value in (*arguments, *keywords.values()) if type(value) is np.ndarray]
        return _translated(device, _within, (Residency(device, statistics, arrays), function, arguments, keywords), {})

    return call


def _within(residency: Residency, function: Callable, arguments: tuple, keywords: dict[str, Any]) -> Any:
    with residency:
        return function(*arguments, **keywords)


def _translated(device: Device, function: Callable, arguments: tuple, keywords: dict[str, Any]) -> Any:
    try:
        return function(*arguments, **keywords)
    except DeviceLostError:
        raise
    except Exception as error:
        failure = device.failure(error)
        if failure is None:
            raise
        raise failure from error
