"""NumPy's reuse of dying temporaries, which can swap the operands of a sum or a product.

`s * numpy.exp(s)` runs as `multiply(temporary, s, out=temporary)` where the temporary is large: nobody else will read
it. The order of operands decides which of two NaNs a float operation keeps, and the bits of complex products.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import cache

import numpy as np

from gjit.ir.graph import Block, Graph, Node, Value
from gjit.runtime.layout import size_of
from gjit.runtime.region_items import Item, Step
from gjit.scheduler.flow import analyse
from gjit.scheduler.fusible import Form
from gjit.scheduler.stacking import fold

SMALLEST_REUSED = 256 << 10
"""From how many bytes NumPy reuses temporaries."""
SWAPPING: dict[str, Callable] = {"operator.add": operator.add, "operator.mul": operator.mul}
"""The operators whose right operand may be reused, as far as the order of operands can be seen."""


def nameless_values(body: Block) -> frozenset[Value]:
    """The values of a region that its twin prints inside the expression that uses them: temporaries that die there."""
    folding = fold(body, Graph("region"), analyse(body))
    found = folding.folded - folding.shared - folding.named.keys()
    return frozenset(value for value in found if not value.name)


def is_swapped(node: Node, left: Item, right: Item, nameless: frozenset[Value]) -> bool:
    """Whether NumPy runs the sum or product of two operands with the right one first, and writes into that."""
    function = SWAPPING.get(node.op)
    if function is None or right.dtype is None or right.dtype.kind not in "fc":
        return False
    first, second = node.inputs
    if second not in nameless or not _may_be_reused(right, left):
        return False
    if first in nameless and _may_be_reused(left, right) and _reuses_left(function, left.dtype, _sample(right)):
        return False
    return _reuses_right(function, right.dtype, _sample(left))


def reuses_operand(step: Step, nameless: frozenset[Value]) -> bool:
    """Whether NumPy most likely writes the result of an operator into one of its operands."""
    if not step.node.op.startswith("operator.") or step.operation.form is not Form.UFUNC:
        return False
    return any(value in nameless for value in step.node.inputs) and any(
        _may_be_reused(item, item) and item.dtype == step.result.dtype and item.shape == step.result.shape
        for item in step.operands
    )


def _may_be_reused(temporary: Item, other: Item) -> bool:
    """Whether memory, shapes and sizes allow it: a fresh array, and an operand of its shape or of none."""
    if temporary.dtype is None or temporary.position < 0 or temporary.memory is not temporary or not temporary.shape:
        return False
    is_large = size_of(temporary.shape) * temporary.dtype.itemsize >= SMALLEST_REUSED
    return is_large and other.shape in ((), temporary.shape)


Sample = tuple[type | np.dtype, str]


def _sample(item: Item) -> Sample:
    """What kind of operand it is: a Python number, a NumPy scalar, an array of no axes, or an array of many."""
    if item.weak is not None:
        return item.weak, "number"
    if item.shape:
        return item.dtype, "array"
    return item.dtype, "point" if item.is_array else "scalar"


def _operand(sample: Sample, size: int) -> object:
    dtype, kind = sample
    if kind == "number":
        return dtype(1)
    if kind == "array":
        return np.zeros(size, dtype)
    return np.zeros((), dtype) if kind == "point" else dtype.type(0)


@cache
def _reuses_right(function: Callable, dtype: np.dtype, sample: Sample) -> bool:
    """Asks NumPy itself, by looking where the result lies.

    >>> [_reuses_right(operator.mul, np.dtype(dtype), (np.dtype("c16"), "array")) for dtype in ("c16", "f8")]
    [True, False]
    """
    places: list[int] = []
    size = SMALLEST_REUSED // dtype.itemsize
    left = _operand(sample, size)
    if function is operator.add:
        result = left + _temporary(size, dtype, places)
    else:
        result = left * _temporary(size, dtype, places)
    return _place(result) in places


@cache
def _reuses_left(function: Callable, dtype: np.dtype, sample: Sample) -> bool:
    places: list[int] = []
    size = SMALLEST_REUSED // dtype.itemsize
    right = _operand(sample, size)
    if function is operator.add:
        result = _temporary(size, dtype, places) + right
    else:
        result = _temporary(size, dtype, places) * right
    return _place(result) in places


def _temporary(size: int, dtype: np.dtype, places: list[int]) -> np.ndarray:
    array = np.zeros(size, dtype)
    places.append(_place(array))
    return array


def _place(array: np.ndarray) -> int:
    return array.__array_interface__["data"][0]
