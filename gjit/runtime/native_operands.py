"""What a kernel takes from outside: arrays with their strides, numbers by value, numbers in its text."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gjit.cuda_kernels.program import Literal, Number, Operand
from gjit.ir.graph import Value
from gjit.runtime.layout import Shape
from gjit.runtime.native_names import Names
from gjit.runtime.native_space import Strides
from gjit.runtime.region_values import Item, Typing, Unsupported
from gjit.runtime.scalars import loop_scalar


@dataclass(slots=True)
class Operands:
    """Operands from outside, each once.

    shape    of the space
    arrays   dtype and strides of each array by name
    numbers  those that are passed by value
    sources  the value of the graph that an array or number is
    """

    typing: Typing
    shape: Shape
    names: Names
    arrays: dict[str, tuple[np.dtype, Strides]] = field(default_factory=dict)
    numbers: list[Number] = field(default_factory=list)
    sources: dict[str, Value] = field(default_factory=dict)
    _found: dict[tuple[Item, object], str] = field(default_factory=dict)

    def operand(self, item: Item, dtype: np.dtype, is_row: bool) -> Operand:
        """An operand by its name in the kernel, or as a number in its text.

        Args:
            item: an input, a constant, or the result of a step that NumPy runs first.
            dtype: what a Python number becomes.
            is_row: whether its axes are those of the space without the last.
        """
        value = self.typing.value_of(item.root)
        if item.shape:
            return self._array(item, value, is_row)
        dtype = dtype if item.weak is not None else item.dtype
        if item.constant:
            return Literal(loop_scalar(value.value, dtype)[()])
        name = self._found.get((item.root, dtype))
        if name is None:
            name = self._found[item.root, dtype] = self.names.of(value)
            self.numbers.append(Number(name, dtype))
            self.sources[name] = value
        return name

    def _array(self, item: Item, value: Value, is_row: bool) -> str:
        name = self._found.get((item.root, is_row))
        if name is None:
            name = self._found[item.root, is_row] = self.names.of(value)
            self.arrays[name] = item.dtype, self.strides(item, is_row)
            self.sources[name] = value
        return name

    def strides(self, item: Item, is_row: bool) -> Strides:
        """Strides in elements along each axis of the space; 0 where an array repeats."""
        target = self.shape[:-1] if is_row else self.shape
        if len(item.shape) > len(target) or any(stride % item.dtype.itemsize for stride in item.strides):
            raise Unsupported
        missing = len(target) - len(item.shape)
        strides = [0] * missing
        for extent, wanted, stride in zip(item.shape, target[missing:], item.strides, strict=True):
            if extent not in (1, wanted):
                raise Unsupported
            strides.append(stride // item.dtype.itemsize if extent > 1 else 0)
        return (*strides, 0) if is_row else tuple(strides)
