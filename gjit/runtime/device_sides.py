"""The two sides of a region on a device: arrays that lie there, and NumPy arrays that are brought there."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjit.ir.graph import Node, Value
from gjit.runtime.device import Device
from gjit.runtime.host_calls import call_step, live
from gjit.runtime.layout import Shape
from gjit.runtime.residency import Residency


class DeviceSide:
    """Device arrays in, device arrays out; see `gjit.runtime.device_launch.Side`."""

    def __init__(self, device: Device):
        self.device = device

    def shadow(self, value: Any) -> Any:
        return self.device.shadow(value) if type(value) is self.device.array_type else value

    def on_device(self, value: Any) -> Any:
        return value if type(value) is self.device.array_type else self.device.functions.asarray(value)

    def number(self, value: Any) -> Any:
        return value.get()[()] if type(value) is self.device.array_type else value

    def fresh(self, shape: Shape, dtype: np.dtype, order: str) -> tuple[Any, Any]:
        array = self.device.empty(shape, dtype, order)
        return array, array

    def wrote(self, value: Any) -> None:
        """The array is where it was written."""

    def scalar(self, memory: Any, dtype: np.dtype) -> Any:
        return self.device.view(memory, 0, np.empty((), dtype))

    def finished(self, total: np.generic) -> Any:
        return self.device.functions.asarray(total)

    def step(self, node: Node, values: dict[Value, Any]) -> Any:
        return call_step(node, values)


class HostSide:
    """NumPy arrays in, NumPy arrays out, whose elements stay on the device until they are settled."""

    def __init__(self, residency: Residency):
        self.residency, self.device = residency, residency.device

    def shadow(self, value: Any) -> Any:
        return value

    def on_device(self, value: Any) -> Any:
        return self.residency.on_device(value)

    def number(self, value: Any) -> Any:
        return value

    def fresh(self, shape: Shape, dtype: np.dtype, order: str) -> tuple[Any, Any]:
        return self.residency.fresh(shape, dtype, order)

    def wrote(self, value: Any) -> None:
        self.residency.wrote(value)

    def scalar(self, memory: Any, dtype: np.dtype) -> Any:
        result = np.empty(dtype.itemsize, np.uint8)
        self.device.download(memory, result)
        self.residency.count(result.nbytes)
        return result.view(dtype)[0]

    def finished(self, total: np.generic) -> Any:
        return total

    def step(self, node: Node, values: dict[Value, Any]) -> Any:
        self.residency.settle(*(live(values, value) for value in node.inputs))
        return call_step(node, values)
