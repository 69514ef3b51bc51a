"""From which size on a region pays as native code: what NumPy spends on its steps, against the call of a kernel.

Times in microseconds of an ordinary machine, for regions whose arrays are in the cache. Both sides of a comparison slow
down together on another one.
"""

from __future__ import annotations

import math

import numpy as np

from gjit.cuda_kernels.sweeps import CHEAP_ROWS
from gjit.ir.graph import Node
from gjit.ir.types import UNKNOWN, ArrayType
from gjit.ops.row import table
from gjit.runtime.gain import is_deferred
from gjit.scheduler.fusible import REDUCING, Form, Operation, operation_of

_KERNEL, _AGAIN, _ARRAY, _RESULT, _TOTAL, _ROWS = 2.3, 5.0, 0.25, 0.4, 2.0, 3.0
_STORE, _STORE_ARRAY, _STORE_APART, _WRITTEN = 1.0, 0.3, 5.0, 1.5
_MARGIN = 1.25
_CALL = {Form.SELECT: 0.9, Form.STORE: 0.25, Form.CALL: 2.0, Form.APPLY: 2.0}
_REDUCTIONS = {"mean": 3.5, "var": 9.0, "std": 9.0, "ptp": 4.0, "nansum": 6.0, "nanprod": 6.0}
_REDUCTION = 2.0
_CHEAP, _DEAR, _DEAR_SINGLE, _SAVED = 0.25e-3, 3e-3, 0.8e-3, 0.75
_OUTER = 3
"""Outer operations walk rows in NumPy, which are short at first."""


def least_elements(region: Node, minimum: int) -> int:
    """With fewer elements than this NumPy is as fast, as far as the types of a region tell; never below `minimum`."""
    steps = [(node, operation) for node in region.blocks[0] if (operation := operation_of(node)) is not None]
    steps = [step for step in steps if step[1].form is not Form.VIEW and any(map(_may_be_array, step[1].operands))]
    fixed = sum(_call_time(operation) for _, operation in steps)
    each = _SAVED * sum(_element_time(node, operation) for node, operation in steps)
    each *= _OUTER if any(_has_new_axis(value) for value in region.inputs) else 1
    missing = _MARGIN * launch_time(region, steps) - fixed
    return max(minimum, math.ceil(missing / each)) if missing > 0 and each else minimum


def launch_time(region: Node, steps: list[tuple[Node, Operation]]) -> float:
    """What the call of a region takes besides its elements."""
    arrays = sum(map(_may_be_array, region.inputs))
    time = _KERNEL + _ARRAY * arrays + _RESULT * len(region.results)
    made = {node.result for node, operation in steps if operation.form in REDUCING}
    for node, operation in steps:
        if operation.form in REDUCING:
            is_last = operation.reduction.axes == (-1,)
            time += _ROWS if is_last else _TOTAL if operation.reduction.axes is None else 0
        elif operation.form is Form.STORE:
            time += _STORE + _STORE_ARRAY * arrays + (_STORE_APART if is_deferred(region) else 0)
        elif operation.out is not None and operation.out in region.blocks[0].parameters:
            time += _WRITTEN + _STORE_ARRAY * arrays
        if any(value in made and not isinstance(value.type, ArrayType) for value in node.inputs):
            time += _AGAIN  # what uses a total runs in a kernel of its own, or between kernels
    return time


def _call_time(operation: Operation) -> float:
    if operation.form in REDUCING:
        return _REDUCTIONS.get(operation.reduction.name, _REDUCTION)
    return _CALL.get(operation.form, 0.4)


def _element_time(node: Node, operation: Operation) -> float:
    if operation.form in REDUCING:
        return _CHEAP * (4 if operation.reduction.name in ("var", "std", "prod", "nansum", "nanprod") else 1)
    if operation.form is not Form.UFUNC:
        return _CHEAP * (4 if operation.form in (Form.SELECT, Form.CALL) else 1)
    row = table.get(node.op)
    name = row.ufunc or row.name if row is not None else node.op
    if name in CHEAP_ROWS or name in ("numpy.divide", "numpy.sqrt", "numpy.power"):
        return _CHEAP * _width(node)
    return _DEAR if _width(node) == 1 else _DEAR_SINGLE


def _width(node: Node) -> float:
    """The size of an element as a part of that of a float64."""
    types = [value.type for value in (*node.inputs, *node.results)]
    dtypes = [type_.dtype for type_ in types if isinstance(type_, ArrayType) and type_.dtype is not None]
    return min(max((dtype.itemsize for dtype in dtypes), default=8), 8) / np.dtype("f8").itemsize


def _may_be_array(value: object) -> bool:
    type_ = getattr(value, "type", None)
    return type_ == UNKNOWN or (isinstance(type_, ArrayType) and type_.rank != 0)


def _has_new_axis(value: object) -> bool:
    maker = getattr(value, "producer", None)
    if not isinstance(maker, Node) or maker.op != "getitem":
        return False
    index = getattr(maker.inputs[1], "value", None)
    return None in (index if isinstance(index, tuple) else (index,))
