"""A region as stages: what one kernel does after the other, and what NumPy does before, between and after them.

A kernel works on one space, and reduces along one set of axes. Whatever uses a total, or reduces along other axes,
belongs to a later stage. Steps on scalars, and on arrays much smaller than the others, are NumPy's.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from gjit.runtime.layout import Order, Shape, size_of
from gjit.runtime.native_definitions import Definition, Definitions
from gjit.runtime.region_items import Unsupported
from gjit.scheduler.reductions import Reduction

Axes = tuple[int | None, ...]
"""For each axis of a value that of the space; None for one of extent one."""
_SMALLER = 8
"""Arrays that many times smaller than the largest are left to NumPy where no kernel comes by them."""
_SHORT = 4
"""The longest last axis whose elements a kernel takes one by one, rather than in a loop."""


@dataclass(slots=True)
class Stage:
    """One kernel.

    shape     of its space
    width     the extent of the last axis, where that is so short that it is not looped over; else 0
    axes      of each value that the stage computes
    reduced   the axes that its reductions of rows run along
    is_total  whether it reduces all elements to scalars
    """

    shape: Shape
    width: int = 0
    axes: dict[Definition, Axes] = field(default_factory=dict)
    reduced: frozenset[int] = frozenset()
    is_total: bool = False

    @property
    def short(self) -> int | None:
        """The axis that is not looped over."""
        return len(self.shape) - 1 if self.width else None

    @property
    def identity(self) -> Axes:
        """The axes of a value of the whole space."""
        return tuple(range(len(self.shape)))

    def is_full(self, axes: Iterable[int | None]) -> bool:
        """Whether a value with these axes varies along all that are looped over."""
        looped = {axis for axis, extent in enumerate(self.shape) if extent > 1 and axis != self.short}
        return looped <= set(axes)

    def fit(self, made: Definition) -> Axes | None:
        """The axes that the result of an elementwise step has here; None where it is for another stage."""
        own = [value for value in made.operands if value in self.axes]
        shape = made.item.shape
        if not own:
            return self.identity if shape == self.shape else None
        found: list[int | None] = [None] * len(shape)
        for value in own:
            missing = len(shape) - len(value.item.shape)
            for place, axis in enumerate(self.axes[value], missing):
                if axis is not None and found[place] not in (None, axis):
                    return None
                found[place] = axis if axis is not None else found[place]
        return self._completed(found, shape)

    def _completed(self, found: list[int | None], shape: Shape) -> Axes | None:
        """The other axes come from operands outside, which go along the last axes of the space."""
        first = len(self.shape) - len(shape)
        straight = [None if extent == 1 else first + place for place, extent in enumerate(shape)]
        missing = [place for place, extent in enumerate(shape) if extent > 1 and found[place] is None]
        if missing:
            if first < 0 or any(axis not in (None, right) for axis, right in zip(found, straight, strict=True)):
                return None
            for place in missing:
                found[place] = straight[place]
        known = [axis for axis in found if axis is not None]
        if known != sorted(set(known)):
            return None
        fits = all(extent == 1 or extent == self.shape[axis] for axis, extent in zip(found, shape, strict=True))
        return tuple(found) if fits else None

    def reduce(self, made: Definition) -> bool:
        """Take a reduction in, if it belongs here."""
        operand, *masks = made.operands
        axes = self.axes.get(operand, self.identity if operand.item.shape == self.shape else None)
        reduction: Reduction = made.step.operation.reduction
        reduced = reduction.axes_of(len(operand.item.shape))
        if axes is None or reduced is None or any(mask.item.shape != operand.item.shape for mask in masks):
            return False
        if any(self.axes.get(mask, axes) != axes for mask in masks):
            return False
        along = frozenset(axes[axis] for axis in reduced if operand.item.shape[axis] > 1)
        looped = along - {self.short}
        if None in along or not along:
            return False
        if made.is_total:
            if not self.is_full(axes) or self.reduced:
                return False
            self.is_total = True
        elif looped:
            if self.is_total or not self.is_full(axes) or self.reduced not in (frozenset(), looped):
                return False
            self.reduced = looped
        self.axes[made] = _left(axes, reduced, reduction, made)
        return True


def _left(axes: Axes, reduced: tuple[int, ...], reduction: Reduction, made: Definition) -> Axes:
    if made.is_total:
        return ()
    if reduction.keepdims:
        return tuple(None if place in reduced else axis for place, axis in enumerate(axes))
    return tuple(axis for place, axis in enumerate(axes) if place not in reduced)


@dataclass(slots=True)
class Stages:
    """The stages of a region.

    home   the stage of each value that a kernel computes
    host   the steps of NumPy before each stage, and after the last one
    times  of each of their values: before which stage it is there
    """

    stages: list[Stage] = field(default_factory=list)
    home: dict[Definition, int] = field(default_factory=dict)
    host: dict[int, list[Definition]] = field(default_factory=dict)
    times: dict[Definition, int] = field(default_factory=dict)


def plan_stages(values: Definitions) -> Stages:
    """Give each step its place; Unsupported where a kernel cannot write what the region writes."""
    return _Planner(values).plan()


class _Planner:
    def __init__(self, values: Definitions):
        self.values = values
        self.found = Stages()
        self.items = [each.item for made in values.made for each in (made, *made.operands)]
        if values.store is not None:
            self.items.append(values.store[0].item)
        self.largest = max((item.shape for item in self.items if item.shape), key=size_of, default=())
        self.short = self._short_shapes()

    def plan(self) -> Stages:
        for made in self.values.made:
            if made.is_view:
                self._place_view(made)
            elif not any(value.item.shape for value in made.operands):
                self._leave(made)
            elif not self._place(made):
                self._place_anew(made)
        self._place_writes()
        return self.found

    def _short_shapes(self) -> frozenset[Shape]:
        """The shapes whose last axis is short, and is reduced or kept by a reduction that looks at no places."""
        rows = [made for made in self.values.made if made.is_reduction and not made.is_total]
        shapes = {made.operands[0].item.shape for made in rows}
        places = {
            made.operands[0].item.shape
            for made in self.values.made
            if made.is_reduction and made.step.operation.reduction.name.startswith("arg")
        }
        reversed_ = {item.shape for item in self.items if Order.C not in item.order}
        found = shapes - places - reversed_
        return frozenset(shape for shape in found if len(shape) > 1 and 2 <= shape[-1] <= _SHORT)

    def earliest(self, made: Definition) -> int:
        """The first stage that may compute a value."""
        times = [0]
        for value in made.operands:
            if value in self.found.home:
                times.append(self.found.home[value] + value.is_total)
            times.append(self.found.times.get(value, 0))
        return max(times)

    def _place(self, made: Definition) -> bool:
        return any(self._fits(index, made) for index in range(self.earliest(made), len(self.found.stages)))

    def _fits(self, index: int, made: Definition) -> bool:
        stage = self.found.stages[index]
        if made.is_reduction:
            fits = stage.reduce(made)
        else:
            axes = stage.fit(made)
            fits = axes is not None
            if axes is not None:
                stage.axes[made] = axes
        if fits:
            self.found.home[made] = index
            self._leave_views(made, index)
        return fits

    def _leave_views(self, made: Definition, index: int) -> None:
        """Views of what another stage makes are NumPy's, as soon as that is there."""
        for value in made.operands:
            home = self.found.home.get(value)
            if value.is_view and home is not None and home != index:
                del self.found.home[value]
                self._leave(value)

    def _place_anew(self, made: Definition) -> None:
        shape = made.operands[0].item.shape if made.is_reduction else made.item.shape
        is_small = size_of(shape) * _SMALLER <= size_of(self.largest)
        if is_small and made.step.out is None:
            self._leave(made)
            return
        self._add(shape)
        if not self._fits(len(self.found.stages) - 1, made):
            raise Unsupported

    def _add(self, shape: Shape) -> None:
        self.found.stages.append(Stage(shape, shape[-1] if shape in self.short else 0))

    def _leave(self, made: Definition) -> None:
        """To NumPy, as soon as the operands are there."""
        if made.step.out is not None:
            raise Unsupported
        after = [self.found.home[value] + 1 for value in made.operands if value in self.found.home]
        time = max([self.earliest(made), *after])
        self.found.times[made] = time
        self.found.host.setdefault(time, []).append(made)

    def _place_view(self, made: Definition) -> None:
        """New axes: the same values in the same stage."""
        (operand,) = made.operands
        index = self.found.home.get(operand)
        if index is None:
            self._leave(made)
            return
        axes = list(self.found.stages[index].axes[operand])
        parts = list(made.step.operation.index)
        if Ellipsis in parts:
            place = parts.index(Ellipsis)
            named = sum(part is not None for part in parts) - 1
            parts[place : place + 1] = [slice(None)] * (len(axes) - named)
        found = [None if part is None else axes.pop(0) for part in parts]
        self.found.stages[index].axes[made] = (*found, *axes)
        self.found.home[made] = index

    def _place_writes(self) -> None:
        """What is written is written by the last stage, when nothing reads what was there before any more."""
        written = list(self.values.written.values())
        if self.values.store is not None:
            written.append(self.values.store[0])
        if not written:
            return
        last = len(self.found.stages) - 1
        if last < 0 or not all(self._can_write(made) for made in written):
            self._add(written[0].item.shape)
            if not all(self._can_write(made) for made in written):
                raise Unsupported
        if max(self.found.times.values(), default=0) > len(self.found.stages) - 1:
            raise Unsupported

    def _can_write(self, made: Definition) -> bool:
        last = len(self.found.stages) - 1
        return self.found.home.get(made) == last or made.item.shape == self.found.stages[last].shape
