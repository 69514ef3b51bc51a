"""The work of a region on tiles, before and after it is a program."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType

import numpy as np

from gjit.runtime.arrangement import Arrangement
from gjit.runtime.region_items import Item, Step
from gjit.scheduler.buffers import Assignment


@dataclass(slots=True)
class Work:
    """What a program does, decided: the steps before the tiles, those on tiles, and where results go.

    outputs     fresh result arrays, each the root item that it holds
    target      the view that the last step stores into, or None
    direct      the root whose values are computed right in the target
    """

    arrangement: Arrangement
    before: list[Step]
    steps: list[Step]
    outputs: list[Item]
    target: Item | None
    direct: Item | None


@dataclass(slots=True)
class Program:
    """The compiled functions, and the arguments that `tiles` takes after `ranges`.

    source      the text of both functions
    lines       the position in the region of the op on each line
    arguments   name and what it stands for: an item (a varying input, or a whole operand), with a loop dtype for
                scalars; or `("output", n)`, `("target", 0)`, `("scratch", n)`, `("parts", n)`
    checks      Python numbers that `numpy.where` takes as they are, and the dtype that they must fit
    """

    source: str
    lines: dict[int, int]
    arguments: list[tuple[str, object, np.dtype | None]]
    temporaries: list[Item]
    assignment: Assignment
    totals: list[Step]
    checks: list[tuple[Item, np.dtype]]
    before: Callable | None = None
    tiles: Callable | None = None

    @property
    def codes(self) -> frozenset[CodeType]:
        return frozenset(f.__code__ for f in (self.before, self.tiles) if isinstance(f, FunctionType))
