"""The generated function of a loop, and what it is given."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import CodeType, FunctionType

import numpy as np

from gjit.ir.graph import Value
from gjit.runtime.region_items import Item
from gjit.scheduler.turns import Turns, is_scalar


@dataclass(slots=True)
class LoopProgram:
    """The compiled function, and what its arguments after `ranges` and `rows` are.

    operands  name, item and loop dtype of scalars and arrays from outside
    numbers   for each piece that runs: its numbers, with their loop dtypes, in the order in which a row has them
    outputs   the variables whose last values are results
    scratch   the dtype of each block of scratch memory
    lines     the position of the op on each line
    """

    source: str
    tiles: Callable
    operands: list[tuple[Item, np.dtype | None]]
    numbers: dict[int, list[tuple[Value, np.dtype | None]]]
    outputs: list[Value]
    scratch: list[np.dtype]
    lines: dict[int, int]

    @property
    def codes(self) -> frozenset[CodeType]:
        return frozenset({self.tiles.__code__} if isinstance(self.tiles, FunctionType) else ())


def result_variables(turns: Turns, results: list[Value]) -> list[Value]:
    """The variables that results are, each once, but for those written in place."""
    found = [turns.variable(value) for value in results if not is_scalar(value)]
    return [variable for variable in dict.fromkeys(found) if variable not in turns.written]
