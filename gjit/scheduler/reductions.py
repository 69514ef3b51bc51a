"""Reductions as calls: what is reduced, along which axes, and what else the call says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ops.arguments import names_in_call

_NAMES = """
    sum prod max min amax amin mean var std any all argmax argmin count_nonzero ptp
    nansum nanprod
"""
REDUCTIONS = {f"{owner}.{name}": name for owner in ("numpy", "ndarray") for name in _NAMES.split()}
"""The ops that a region may hold as a reduction, and the plain name of each."""
PLAIN = frozenset({"sum", "mean", "max", "min", "amax", "amin", "prod", "any", "all", "var", "std"})
"""Those that every engine takes along the last axis."""
_IDENTITIES = {"sum": 0, "prod": 1, "any": False, "all": True, "nansum": 0, "nanprod": 1, "count_nonzero": 0}
_OPERANDS = frozenset({"a", "arr", "self"})


@dataclass(frozen=True, slots=True)
class Reduction:
    """The call of a reduction.

    name      the plain name: `sum`, `argmax`
    operand   what is reduced
    axes      as the user wrote them; None is all
    keepdims  whether reduced axes stay, with an extent of one
    dtype     of the sum, or None
    where     which elements count: an array of booleans, or None
    initial   a number that the result is combined with, or None
    ddof      of var and std
    """

    name: str
    operand: Value
    axes: tuple[int, ...] | None = None
    keepdims: bool = False
    dtype: np.dtype | None = None
    where: Value | None = None
    initial: bool | int | float | None = None
    ddof: int = 0

    @property
    def is_plain(self) -> bool:
        """Whether it says nothing but axes, and whether they stay."""
        return self.dtype is None and self.where is None and self.initial is None and not self.ddof

    def axes_of(self, rank: int) -> tuple[int, ...] | None:
        """The axes of an operand of this rank, from the first to the last; None where NumPy refuses them."""
        if self.axes is None:
            return tuple(range(rank))
        found = sorted({axis + rank if axis < 0 else axis for axis in self.axes})
        if len(found) != len(self.axes) or any(not 0 <= axis < rank for axis in found):
            return None
        return tuple(found)

    def keywords(self) -> dict[str, object]:
        """The arguments besides the operand and `where`, as NumPy's function takes them."""
        axes: object = self.axes
        if self.axes is not None and (self.name.startswith("arg") or len(self.axes) == 1):
            (axes,) = self.axes
        given = {"axis": axes, "keepdims": self.keepdims, "dtype": self.dtype, "initial": self.initial}
        given["ddof"] = self.ddof or None
        return {name: value for name, value in given.items() if value is not None and value is not False}


def read_reduction(node: Node) -> Reduction | None:
    """The call that a node of `REDUCTIONS` makes, or None where no engine knows it."""
    name = REDUCTIONS[node.op]
    names = names_in_call(node, getattr(np, name))
    if names is None or not node.inputs or names[0] not in _OPERANDS or node.label(0):
        return None
    if isinstance(node.inputs[0], Constant):
        return None
    found: dict[str, object] = {}
    for parameter, value in zip(names[1:], node.inputs[1:], strict=True):
        read = _READERS.get(parameter)
        if read is None:
            return None
        part = read(value)
        if part is None:
            return None
        found.update(part)
    reduction = Reduction(name, node.inputs[0], **found)
    return reduction if _is_known(reduction) else None


def _is_known(reduction: Reduction) -> bool:
    name = reduction.name
    if name.startswith("arg") and reduction.axes is not None and len(reduction.axes) != 1:
        return False
    if reduction.where is None:
        return True
    return name in _IDENTITIES or (name in ("max", "min", "amax", "amin") and reduction.initial is not None)


def identity(reduction: Reduction) -> bool | int | float | None:
    """What the elements that do not count are replaced by; None where none changes nothing."""
    return _IDENTITIES.get(reduction.name, reduction.initial)


def _axis(value: Value) -> dict[str, object] | None:
    if not isinstance(value, Constant):
        return None
    if value.value is None:
        return {}
    axes = value.value if type(value.value) is tuple else (value.value,)
    return {"axes": axes} if all(type(axis) is int for axis in axes) and axes else None


def _keepdims(value: Value) -> dict[str, object] | None:
    return {"keepdims": value.value} if isinstance(value, Constant) and type(value.value) is bool else None


def _dtype(value: Value) -> dict[str, object] | None:
    if not isinstance(value, Constant):
        return None
    if value.value is None:
        return {}
    if not isinstance(value.value, str | type | np.dtype):
        return None
    try:
        return {"dtype": np.dtype(value.value)}
    except TypeError:
        return None


def _where(value: Value) -> dict[str, object] | None:
    if isinstance(value, Constant):
        return {} if value.value is True else None
    return {"where": value}


def _initial(value: Value) -> dict[str, object] | None:
    is_number = isinstance(value, Constant) and type(value.value) in (bool, int, float)
    return {"initial": value.value} if is_number else None


def _ddof(value: Value) -> dict[str, object] | None:
    is_count = isinstance(value, Constant) and type(value.value) is int and value.value >= 0
    return {"ddof": value.value} if is_count else None


def _out(value: Value) -> dict[str, object] | None:
    return {} if isinstance(value, Constant) and value.value is None else None


_READERS = {
    "axis": _axis,
    "keepdims": _keepdims,
    "dtype": _dtype,
    "where": _where,
    "initial": _initial,
    "ddof": _ddof,
    "out": _out,
}
