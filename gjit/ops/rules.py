"""Type rules that several families share: ufuncs, reductions by ufuncs, Python's own operators."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence

import numpy as np

from gjit.ir.graph import Node
from gjit.ir.types import (
    BOOL,
    COMPLEX,
    FLOAT,
    INT,
    UNKNOWN,
    ArrayType,
    PythonType,
    ScalarType,
    TupleType,
    Type,
    type_of,
)
from gjit.ops.arguments import is_array, is_numeric, unknown
from gjit.ops.row import TypeRule

_WEAK = {INT: int, FLOAT: float, COMPLEX: complex, BOOL: np.dtype(bool)}
_SAMPLES: dict[Type, complex] = {BOOL: True, INT: 1, FLOAT: 1.0, COMPLEX: 1 + 1j}


def fixed(*types: Type) -> TypeRule:
    """The rule of an op whose results have these types whatever comes in (or it raises)."""
    return lambda node: list(types) if len(node.results) == len(types) else unknown(node)


def rank_of(types: Sequence[Type]) -> int | None:
    """The rank of the operands broadcast together, None where it is not known."""
    rank = 0
    for type_ in types:
        if isinstance(type_, ArrayType):
            if type_.rank is None:
                return None
            rank = max(rank, type_.rank)
    return rank


def like_elementwise(types: Sequence[Type], dtype: np.dtype) -> Type:
    """The type of an elementwise result: a scalar exactly where no operand has a dimension.

    An operand of unknown rank may be 0-d; then only another operand that surely has a dimension makes an array.
    """
    rank = rank_of(types)
    if rank == 0:
        return ScalarType(dtype)
    if rank is not None or any(map(is_array, types)):
        return ArrayType(dtype, rank)
    return UNKNOWN


@functools.lru_cache(maxsize=4096)
def loop_dtypes(ufunc: np.ufunc, operands: tuple, reduction: bool = False) -> tuple[np.dtype, ...] | None:
    """The dtypes of the loop that NumPy takes, inputs then outputs; None where it has none.

    `operands` holds dtypes for arrays and NumPy scalars, `int`, `float` and `complex` for Python's.
    """
    try:
        dtypes = ufunc.resolve_dtypes((*operands, *[None] * ufunc.nout), reduction=reduction)
    except TypeError:
        return None
    return tuple(dtypes) if all(d.kind in "biufc" and d.char not in "gG" for d in dtypes) else None


def operand_dtype(type_: Type) -> object | None:
    """What `loop_dtypes` takes for an operand of this type; None where it is not known."""
    if isinstance(type_, PythonType):
        return _WEAK.get(type_)
    return type_.dtype if is_numeric(type_) else None


def ufunc_dtypes(ufunc: np.ufunc, types: Sequence[Type]) -> tuple[np.dtype, ...] | None:
    """The loop dtypes of a ufunc for operand types. Python ints alone become arrays by their value: None."""
    operands = tuple(map(operand_dtype, types))
    # By identity: a dtype compares equal to None and to Python's classes.
    weak = any(operand is int for operand in operands)
    decided = not weak or any(isinstance(type_, ArrayType | ScalarType) for type_ in types)
    if not decided or any(operand is None for operand in operands):
        return None
    return loop_dtypes(ufunc, operands)


def ufunc_types(ufunc: np.ufunc) -> TypeRule:
    """The rule of an elementwise ufunc: `resolve_dtypes` for the dtypes, broadcasting for the rank."""

    def rule(node: Node) -> list[Type]:
        if any(label not in ("", "where=") for label in node.labels):
            return unknown(node)
        operands = node.positional()
        types = [value.type for value in operands]
        masked = node.keyword("where")
        if len(operands) != ufunc.nin or (masked is not None and not is_numeric(masked.type)):
            return unknown(node)
        dtypes = ufunc_dtypes(ufunc, types)
        if dtypes is None:
            return unknown(node)
        shaping = types if masked is None else [*types, masked.type]
        results = [like_elementwise(shaping, dtype) for dtype in dtypes[ufunc.nin :]]
        return results if len(results) == len(node.results) else _gathered(node, results)

    return rule


def _gathered(node: Node, results: list[Type]) -> list[Type]:
    return [TupleType(tuple(results))] if len(node.results) == 1 else unknown(node)


def python_types(function: Callable, types: tuple[Type, ...]) -> Type:
    """The type that an operator gives on Python numbers, by trying it on ones."""
    try:
        return type_of(function(*(_SAMPLES[type_] for type_ in types)))
    except TypeError:
        return UNKNOWN
