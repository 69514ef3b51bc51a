"""A region on a device: one kernel for each class of inputs; op by op where there is none."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np

from gjit import settings
from gjit.errors import CompileError, DeviceError, excerpt
from gjit.ir.graph import Node
from gjit.runtime.device import Device
from gjit.runtime.device_call import MISS, device_call
from gjit.runtime.device_launch import DeviceLaunch, Side, prepare
from gjit.runtime.device_sides import DeviceSide, HostSide
from gjit.runtime.floating_errors import RegionSource, collecting_modes
from gjit.runtime.native_program import draft_region
from gjit.runtime.native_region import index_places, signature
from gjit.runtime.region_items import DTYPE_CHARACTERS, Unsupported
from gjit.runtime.residency import Residency, current
from gjit.runtime.scalars import Fallback
from gjit.runtime.statistics import Statistics
from gjit.scheduler.fusible import Form, operation_of

_KEPT_LAUNCHES = 512
_USES_BEFORE_FUNCTION = 4


class DeviceRegion:
    """One `region` node, callable with its inputs.

    Device arrays give device arrays: without a kernel the twin runs on them op by op. NumPy arrays give NumPy arrays:
    without a kernel the twin runs on the host.

    Args:
        node: the region node.
        twin: runs the region op by op; one value, a tuple for several, None for none.
        source: whose code the region is.
        device: where it runs.
        statistics: counts transfers.

    `tiled` and `fallbacks` count how calls have run.
    """

    def __init__(self, node: Node, twin: Callable, source: RegionSource, device: Device, statistics: Statistics):
        self.node, self.twin, self.source = node, twin, source
        self.device, self.statistics = device, statistics
        self.tiled = self.fallbacks = 0
        self.native = self.cache_hits = self.swaps = 0
        body = node.blocks[0]
        self._parameters = list(body.parameters)
        self._indices = index_places(node)
        self._writes = any(map(_is_writing, body))
        self._launches: dict[tuple, DeviceLaunch | None] = {}
        self._side = DeviceSide(device)
        self._fast: Callable | None = None

    def __call__(self, *inputs: object) -> object:
        if self._fast is not None:
            try:
                found = self._fast(*inputs)
            except Exception:
                found = MISS  # nothing has been done yet; the long way tries again, and tells what is wrong
            if found is not MISS:
                self.tiled += 1
                return found
        if self._are_there(inputs):
            return self._guarded(self._call_there, inputs)
        residency = current()
        if residency is not None and residency.device is self.device:
            return self._guarded(self._call_here, inputs, residency)
        arrays = [value for value in inputs if type(value) is np.ndarray]
        with Residency(self.device, self.statistics, arrays) as residency:
            return self._guarded(self._call_here, inputs, residency)

    @property
    def compilations(self) -> int:
        """How many kernels it has got."""
        return len(self.programs())

    def compile(self, inputs: tuple[object, ...]) -> None:
        """Compile the kernels for such inputs now, as far as they do not depend on what shares memory."""
        shadows = self._shadows(inputs) if self._are_there(inputs) else inputs
        key = None if shadows is None else signature(shadows, self._indices)
        launch = None if key is None else self._launches.get(key) or self._prepare(key, shadows or ())
        for kernel in () if launch is None else launch.kernels:
            if kernel is not None:
                kernel.compile()

    def programs(self) -> list[str]:
        """The texts of the kernels so far, without what they are compiled together with."""
        launches = [launch for launch in list(self._launches.values()) if launch is not None]
        kernels = [kernel for launch in launches for kernel in launch.kernels if kernel is not None]
        texts = [ready.kernel.text for kernel in kernels for ready, _ in list(kernel.ready.values())]
        return list(dict.fromkeys(texts))

    def _are_there(self, inputs: tuple[object, ...]) -> bool:
        return any(type(value) is self.device.array_type for value in inputs)

    def _guarded(self, call: Callable, *arguments: Any) -> object:
        """A call; errors of the device become errors of Python's and gjit's, with the user's line."""
        try:
            return call(*arguments)
        except Exception as error:
            failure = self.device.failure(error)
            if failure is None:
                raise
            raise self._with_line(failure) from error

    def _with_line(self, failure: BaseException) -> BaseException:
        span = self.node.span
        if span is None or not isinstance(failure, MemoryError | DeviceError):
            return failure
        return type(failure)(f"{failure}\n{excerpt(span)}")

    # Device arrays

    def _call_there(self, inputs: tuple[object, ...]) -> object:
        shadows = self._shadows(inputs)
        with self.device.active():
            if shadows is not None:
                try:
                    return self._run(shadows, inputs, self._side)
                except Fallback:
                    pass
            self.fallbacks += 1
            return self.twin(*inputs)

    def _use(self, launch: DeviceLaunch, inputs: tuple[object, ...]) -> None:
        """Generate a function for inputs that have come often enough to pay for it."""
        launch.uses += 1
        if launch.uses % _USES_BEFORE_FUNCTION == 0:
            self._fast = device_call(launch, self._parameters, inputs)

    def _shadows(self, inputs: tuple[object, ...]) -> tuple[object, ...] | None:
        """The inputs with shadows for device arrays; None where some lie elsewhere."""
        kind = self.device.array_type
        if any(isinstance(value, np.ndarray) for value in inputs):
            return None
        if any(type(value) is kind and value.device.id != self.device.index for value in inputs):
            return None
        shadows = tuple(map(self._side.shadow, inputs))
        if max((value.ndim for value in shadows if type(value) is np.ndarray), default=0) > 0:
            # one without axes is read by its address too; its value is not known here
            shadows = tuple(each.reshape(1) if type(each) is np.ndarray and not each.ndim else each for each in shadows)
        return shadows

    # NumPy arrays

    def _call_here(self, inputs: tuple[object, ...], residency: Residency) -> object:
        if collecting_modes() is not None:  # else an error has to be raised at the very operation
            with self.device.active():
                try:
                    return self._run(inputs, inputs, HostSide(residency))
                except Fallback:
                    pass
                if self.device.is_numpy:
                    try:
                        return self._op_by_op(inputs, residency)
                    except _Refused:
                        pass
        self.fallbacks += 1
        (residency.settle_written if self._writes else residency.settle)(*inputs)
        return self.twin(*inputs)

    def _op_by_op(self, inputs: tuple[object, ...], residency: Residency) -> object:
        """The twin on the device. What it raises the twin on the host raises where it belongs, with nothing done."""
        if self._writes:
            residency.settle(*inputs)
        arrays = [value for value in inputs if type(value) is np.ndarray]
        if not arrays or any(array.dtype.char not in DTYPE_CHARACTERS or not array.dtype.isnative for array in arrays):
            raise _Refused
        if self._writes and not all(array.flags.writeable for array in arrays):
            raise _Refused
        try:
            there = [residency.on_device(value) if type(value) is np.ndarray else value for value in inputs]
            found = self.twin(*there)
        except MemoryError:
            raise
        except Exception as error:
            if self._writes:
                residency.forget(*arrays)
            if self.device.failure(error) is not None:
                raise
            raise _Refused from None
        self.fallbacks += 1
        if self._writes:
            for array in arrays:
                residency.wrote(array)
        return _brought(found, list(zip(there, inputs, strict=True)), residency)

    # Either

    def _run(self, shadows: tuple[object, ...], inputs: tuple[object, ...], side: Side) -> object:
        """A run by kernels; where memory is short it is tried again once unused memory was given back."""
        try:
            results = self._launched(shadows, inputs, side)
        except MemoryError:
            self.device.free_memory()
            results = self._launched(shadows, inputs, side)
        self.tiled += 1
        return results

    def _launched(self, shadows: tuple[object, ...], inputs: tuple[object, ...], side: Side) -> object:
        key = signature(shadows, self._indices)
        if key is None:
            raise Fallback
        launch = self._launches[key] if key in self._launches else self._prepare(key, shadows)
        if launch is None:
            raise Fallback
        try:
            results = launch.run(self._parameters, inputs, side)
        except CompileError as error:
            settings.log(logging.WARNING, "a region runs op by op: %s", str(error))
            self._launches[key] = None
            raise Fallback from None
        if side is self._side:
            self._use(launch, inputs)
        return results

    def _prepare(self, key: tuple, shadows: tuple[object, ...]) -> DeviceLaunch | None:
        if len(self._launches) >= _KEPT_LAUNCHES:
            self._launches.clear()
        self._launches[key] = launch = self._make(shadows)
        return launch

    def _make(self, shadows: tuple[object, ...]) -> DeviceLaunch | None:
        try:
            return prepare(self.device, draft_region(self.node, shadows))
        except (Unsupported, Fallback, OverflowError):
            return None


class _Refused(Exception):
    """The twin does not run on the device for these inputs."""


def _is_writing(step: Node) -> bool:
    operation = operation_of(step)
    return operation is None or operation.form is Form.STORE or operation.out is not None


def _brought(found: Any, known: list[tuple[object, object]], residency: Residency) -> Any:
    """Results on the device as NumPy's: an input is itself, an array without axes is a scalar."""
    if type(found) is tuple:
        return tuple(_brought(part, known, residency) for part in found)
    if type(found) is not residency.device.array_type:
        return found
    for there, here in known:
        if found is there:
            return here
    made = residency.adopt(found)
    known.append((found, made))
    return made
