"""What the regions of a plan will be called with, found without running it: arrays of the right kind.

An argument stands for itself and is neither read nor written; a view of a sample is made by NumPy; any other array is
taken to be a fresh one in C order.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import BOOL, COMPLEX, FLOAT, INT, ScalarType
from gjit.ops.row import Kind, table
from gjit.report.known_ops import UNKNOWN
from gjit.report.sizes import Sizes
from gjit.runtime.engines import Region
from gjit.runtime.plan import Plan

_NUMBERS: dict[object, object] = {BOOL: True, INT: 1, FLOAT: 1.0, COMPLEX: 1j}


def region_samples(plan: Plan, arguments: Sequence[object]) -> list[tuple[Region, tuple[object, ...]]]:
    """The regions of a plan that can be told what they will be called with, and that.

    >>> from gjit import script
    >>> plan = script(lambda x: np.sqrt(x[1:] * 2.0) - 1.0).plan_for(np.ones(9))
    >>> [[each.shape for each in inputs] for _, inputs in region_samples(plan, [np.ones(9)])]
    [[(8,)]]
    """
    samples = _Samples(plan, arguments)
    found = []
    for region in plan.regions:
        inputs = tuple(map(samples.of, region.node.inputs))
        if not any(each is UNKNOWN for each in inputs):
            found.append((region, inputs))
    return found


class _Samples:
    def __init__(self, plan: Plan, arguments: Sequence[object]):
        self.sizes = Sizes(plan.graphs, plan.name, arguments)
        self.known: dict[Value, object] = dict(zip(plan.graph.block.parameters, arguments, strict=False))

    def of(self, value: Value) -> object:
        """A sample of a value; UNKNOWN where it is not followed."""
        if isinstance(value, Constant):
            return value.value
        if value not in self.known:
            self.known[value] = UNKNOWN  # for what depends on itself
            self.known[value] = self._made(value)
        return self.known[value]

    def _made(self, value: Value) -> object:
        view = self._view(value)
        if view is not UNKNOWN:
            return view
        found = self.sizes.of(value)
        if isinstance(found, np.ndarray):
            return np.empty(found.shape, found.dtype)
        if found is not UNKNOWN:
            return found
        if isinstance(value.type, ScalarType) and value.type.dtype is not None:
            return value.type.dtype.type(1)
        return _NUMBERS.get(value.type, UNKNOWN)

    def _view(self, value: Value) -> object:
        """What NumPy makes of the samples of a view's operands."""
        node = value.producer
        if not isinstance(node, Node) or node.labels or node.blocks:
            return UNKNOWN
        row = table.get(node.op)
        if row is None or row.function is None or (node.op != "getitem" and row.kind is not Kind.VIEW):
            return UNKNOWN
        operands = [self.of(each) for each in node.inputs]
        if any(each is UNKNOWN for each in operands):
            return UNKNOWN
        try:
            found = row.function(*operands)
        except (ArithmeticError, IndexError, TypeError, ValueError):
            return UNKNOWN  # the program finds out
        return found if isinstance(found, np.ndarray) else UNKNOWN
