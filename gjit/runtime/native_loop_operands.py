"""What the kernel of a loop takes from outside: arrays with their strides, numbers by value, numbers in its text."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gjit.cuda_kernels.program import Literal, Number, Operand
from gjit.ir.graph import Value
from gjit.runtime.layout import Shape
from gjit.runtime.loop_typing import LoopTyping
from gjit.runtime.native_names import Names
from gjit.runtime.native_space import Strides
from gjit.runtime.region_items import Item, Unsupported
from gjit.runtime.scalars import loop_scalar


@dataclass(slots=True)
class LoopOperands:
    """Operands from outside, each once.

    shape    of the space
    arrays   dtype and strides of each array by name
    numbers  those that are passed by value
    sources  the value of the graph that an array or number is
    """

    typing: LoopTyping
    shape: Shape
    names: Names
    arrays: dict[str, tuple[np.dtype, Strides]] = field(default_factory=dict)
    numbers: list[Number] = field(default_factory=list)
    sources: dict[str, Value] = field(default_factory=dict)
    _found: dict[tuple[Item, np.dtype | None], str] = field(default_factory=dict)

    def operand(self, item: Item, dtype: np.dtype) -> Operand:
        """An operand by its name in the kernel, or as a number in its text; `dtype` is what a Python number becomes."""
        value = self.typing.value_of(item.root)
        dtype = dtype if item.weak is not None else item.dtype
        if item.constant:
            return Literal(loop_scalar(value.value, dtype)[()])
        key = item.root, None if item.shape else dtype
        name = self._found.get(key)
        if name is None:
            name = self._found[key] = self.names.of(value)
            self.sources[name] = value
            if item.shape:
                self.arrays[name] = item.dtype, self.strides(item)
            else:
                self.numbers.append(Number(name, dtype))
        return name

    def strides(self, item: Item) -> Strides:
        """Strides in elements along each axis of the space; 0 where an array repeats."""
        if len(item.shape) > len(self.shape) or any(stride % item.dtype.itemsize for stride in item.strides):
            raise Unsupported
        missing = len(self.shape) - len(item.shape)
        strides = [0] * missing
        for extent, wanted, stride in zip(item.shape, self.shape[missing:], item.strides, strict=True):
            if extent not in (1, wanted):
                raise Unsupported
            strides.append(stride // item.dtype.itemsize if extent > 1 else 0)
        return tuple(strides)
