"""Single operations for which an engine that compiles them is faster than NumPy."""

from __future__ import annotations

import numpy as np

from gjit.ir.graph import Node
from gjit.ir.types import ArrayType
from gjit.ops.row import table
from gjit.scheduler.reductions import REDUCTIONS

_REDUCTIONS = frozenset(["var", "std", "prod", "nansum", "nanprod"])
"""Reductions that NumPy makes of several passes, or one element at a time."""
_NAMES = """
    sin cos tan power float_power arctan2 hypot sinc logaddexp logaddexp2 cbrt
"""
_FUNCTIONS = frozenset(f"numpy.{name}" for name in _NAMES.split())
"""Functions that NumPy computes one element at a time."""


def pays_alone(node: Node) -> bool:
    """Whether one kernel for this node alone is faster than NumPy on large arrays of floats."""
    if node.op in REDUCTIONS:
        return REDUCTIONS[node.op] in _REDUCTIONS
    row = table.get(node.op)
    return row is not None and row.name in _FUNCTIONS and any(map(_holds_doubles, node.inputs))


def _holds_doubles(value: object) -> bool:
    type_ = getattr(value, "type", None)
    return isinstance(type_, ArrayType) and type_.rank != 0 and type_.dtype == np.float64
