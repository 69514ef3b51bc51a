"""What a kernel takes from outside: arrays with their strides, numbers by value, numbers in its text."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gjit.cuda_kernels.program import Array, Level, Literal, Number, Operand, Part
from gjit.ir.graph import Value
from gjit.runtime.native_definitions import Definition
from gjit.runtime.native_names import Names
from gjit.runtime.native_space import Space, Strides
from gjit.runtime.native_stages import Axes, Stage
from gjit.runtime.region_items import Item, Unsupported
from gjit.runtime.scalars import loop_scalar


@dataclass(slots=True)
class Taken:
    """An array that a kernel reads or writes.

    dtype    of its elements
    strides  in elements along each axis of the space
    parts    the names of its elements along a short axis; else none
    """

    dtype: np.dtype
    strides: Strides
    parts: tuple[str, ...] = ()


@dataclass(slots=True)
class Operands:
    """Operands from outside, each once.

    arrays   each array by name
    numbers  those that are passed by value
    sources  the value of the graph that an array or number is
    """

    stage: Stage
    names: Names
    arrays: dict[str, Taken] = field(default_factory=dict)
    numbers: list[Number] = field(default_factory=list)
    sources: dict[str, Value] = field(default_factory=dict)
    _found: dict[tuple[Definition, object], tuple[Operand, ...]] = field(default_factory=dict)

    def operand(self, value: Definition, dtype: np.dtype, axes: Axes) -> tuple[Operand, ...]:
        """An operand by its name in the kernel, or as a number in its text; a name for each part of a short axis.

        Args:
            value: an input, a constant, or what was made before this stage.
            dtype: what a Python number becomes.
            axes: of the result that it is an operand of; its own are the last of them.
        """
        if value.item.shape:
            return self._array(value, axes)
        dtype = dtype if value.item.weak is not None else value.item.dtype
        if value.item.constant:
            return (Literal(loop_scalar(value.value.value, dtype)[()]),)
        known = self._found.get((value, dtype))
        if known is None:
            name = self.names.of(value.value)
            known = self._found[value, dtype] = (name,)
            self.numbers.append(Number(name, dtype))
            self.sources[name] = value.value
        return known

    def _array(self, value: Definition, axes: Axes) -> tuple[Operand, ...]:
        strides = self.strides(value.item, axes[len(axes) - len(value.item.shape) :])
        known = self._found.get((value, strides))
        if known is None:
            name = self.names.of(value.value)
            self.arrays[name] = taken = self.taken(name, value.item.dtype, strides)
            self.sources[name] = value.value
            known = self._found[value, strides] = taken.parts or (name,)
        return known

    def taken(self, name: str, dtype: np.dtype, strides: Strides) -> Taken:
        """An array under this name, with names for its parts where it varies along the short axis."""
        short = self.stage.short
        if short is None or strides[short] == 0:
            return Taken(dtype, strides)
        return Taken(dtype, strides, tuple(self.names.unique(f"{name}_{place}") for place in range(self.stage.width)))

    def strides(self, item: Item, axes: Axes) -> Strides:
        """Strides in elements along each axis of the space, of an array whose axes are these; 0 where it repeats."""
        strides = [0] * len(self.stage.shape)
        if len(axes) != len(item.shape):
            raise Unsupported
        for extent, axis, stride in zip(item.shape, axes, item.strides, strict=True):
            if extent == 1:
                continue
            if axis is None or extent != self.stage.shape[axis] or stride % item.dtype.itemsize:
                raise Unsupported
            strides[axis] = stride // item.dtype.itemsize
        return tuple(strides)


def arrays_of(name: str, taken: Taken, space: Space, stage: Stage) -> list[Array]:
    """The arrays of the program that one array is: itself, or its parts."""
    level = None
    if stage.reduced:
        level = Level.ELEMENT if any(taken.strides[axis] for axis in stage.reduced) else Level.ROW
    access = space.access(name)
    if not taken.parts:
        return [Array(name, taken.dtype, access, level)]
    step, width = space.strides[name][-1], stage.width
    width = width if space.apart[name] == 1 and step in (0, width) else 0
    return [Array(part, taken.dtype, access, level, Part(name, place, width)) for place, part in enumerate(taken.parts)]
