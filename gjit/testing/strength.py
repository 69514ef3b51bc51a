"""How like NumPy's a result has to be, by the engine that computes it.

The engines `numpy` and `auto` give NumPy's bits and warnings. The others promise for single operations

| operations | bound |
|---|---|
| sums, products, quotients, roots, comparisons, selection, casts, bits of real numbers | NumPy's bits |
| reductions of integers and booleans, extremes and their places | NumPy's values |
| other functions of real numbers | `FUNCTION_ULP` units in the last place |
| complex products and quotients | `COMPLEX_ULP` units in the last place of the larger part |
| sums, means and variances | `sum_bound(count, dtype)` times the sum of the magnitudes, from the exact sum |

and no floating-point warnings. What a program makes of such differences depends on the program; whole programs are
compared by `NATIVE`, which allows some hundred units in the last place of the largest element of an array.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from gjit import settings
from gjit.cuda_kernels.columns import LINES
from gjit.cuda_kernels.program import BLOCK
from gjit.runtime.engines import chosen_engine

FUNCTION_ULP = 8
COMPLEX_ULP = 2


@dataclass(frozen=True, slots=True)
class Strength:
    """How results are compared.

    units     how many units in the last place of the largest element of an array an element may be off, by the
              character of the dtype of (the parts of) its numbers; those that are missing have NumPy's bits
    warnings  whether floating-point warnings are compared
    least     what an element may be off in any case, in parts of the largest: results of float64 that are made from
              float32 are no nearer than those
    """

    units: Mapping[str, float] = field(default_factory=dict)
    warnings: bool = True
    least: float = 0.0

    def for_arguments(self, values: Iterable[object]) -> Strength:
        """The same for a program with these arguments: their narrowest floats count."""
        kinds = [value.dtype.char.lower() for value in values if isinstance(value, np.ndarray | np.generic)]
        bounds = [self.units[kind] * float(np.finfo(kind).eps) for kind in kinds if kind in self.units]
        return replace(self, least=max(bounds, default=0.0))

    def distance(self, dtype: np.dtype, largest: float) -> float:
        """How far an element may be off where the largest one is this, of real numbers."""
        units = self.units.get(dtype.char)
        if units is None:
            return 0.0
        limits = np.finfo(dtype)
        return max(units * float(limits.eps), self.least) * max(largest, float(limits.tiny))


EXACT = Strength()
NATIVE = Strength({"e": 8, "f": 256, "d": 1 << 20}, warnings=False)


def strength_of(function: object) -> Strength:
    """What a compiled function promises on the engine that it runs on now; any other one, what the process says."""
    compiled = getattr(function, "_compiled", None)
    return strength_on(chosen_engine(None) if compiled is None else compiled.engine_for([]))


def strength_on(engine: str) -> Strength:
    """What an engine promises."""
    return EXACT if engine in ("numpy", "auto") or settings.get("disable") else NATIVE


def sum_bound(count: int, dtype: np.dtype | str) -> float:
    """How far a sum of so many elements, on the engine `native`, may be from the exact one.

    The bound is in parts of the sum of their magnitudes.

    Along the last axes, blocks of 1024 elements are added up by lanes, and their sums in pairs. Along other axes, lines
    are added up 128 at a time, and their sums one after the other.

    >>> sum_bound(1000, "f8") < sum_bound(1_000_000, "f8") < 2e-12
    True
    """
    kind = np.dtype(dtype)
    rounding = np.finfo(np.float32 if kind.char in "eF" else kind).eps / 2
    by_rows = BLOCK / 8 + math.log2(max(count / BLOCK, 1)) + 8
    by_columns = min(count, LINES) + count / LINES
    return float(max(by_rows, by_columns) * rounding + (np.finfo(kind).eps if kind.char == "e" else 0.0))
