"""Reductions as steps of a kernel."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gjit.cuda_kernels.program import Combine, Level, Operand, Operation, Reduction
from gjit.ops.row import table
from gjit.runtime.region_values import Unsupported
from gjit.source import Span

_FLOAT32, _FLOAT64 = np.dtype("f4"), np.dtype("f8")
_BOOL, _UINT8 = np.dtype("?"), np.dtype("u1")
_WAYS = {
    "sum": Combine.SUM,
    "mean": Combine.SUM,
    "prod": Combine.PRODUCT,
    "max": Combine.MAXIMUM,
    "amax": Combine.MAXIMUM,
    "min": Combine.MINIMUM,
    "amin": Combine.MINIMUM,
    "any": Combine.MAXIMUM,
    "all": Combine.MINIMUM,
}


@dataclass(frozen=True, slots=True)
class Request:
    """One reduction: its plain name, its result's name and dtype, what it reduces, how far, and the user's place."""

    name: str
    result: str
    dtype: np.dtype
    operand: Operand
    source: np.dtype
    level: Level
    span: Span | None


def reduction_steps(request: Request, unique: Callable[[str], str]) -> list[Operation | Reduction]:
    """The steps of a reduction; Unsupported where kernels have none. `unique` gives names for values in between."""
    if request.source.kind == "c":
        raise Unsupported
    if request.name in ("var", "std"):
        return _variance(request, unique)
    operand, source, steps = request.operand, request.source, []
    if request.name in ("any", "all"):
        operand, source = unique("is_true"), _BOOL
        steps = [_operation(request, "numpy.astype", operand, (request.operand,), (request.source, _BOOL))]
    return [*steps, _reduction(request, request.name, request.result, operand, source, request.dtype)]


def _variance(request: Request, unique: Callable[[str], str]) -> list[Operation | Reduction]:
    """The mean, then the mean of the squares of the differences from it."""
    if request.level is Level.LAUNCH or request.source.char == "e":
        raise Unsupported
    kind = request.source if request.source.kind == "f" else _FLOAT64
    base = request.result
    mean, difference, square = (unique(f"{base}_{word}") for word in ("mean", "difference", "square"))
    variance = unique(f"{base}_variance") if request.name == "std" else base
    steps = [
        _reduction(request, "mean", mean, request.operand, request.source, kind),
        _operation(request, "numpy.subtract", difference, (request.operand, mean), (kind,) * 3),
        _operation(request, "numpy.square", square, (difference,), (kind,) * 2),
        _reduction(request, "mean", variance, square, kind, kind),
    ]
    if request.name == "std":
        steps.append(_operation(request, "numpy.sqrt", base, (variance,), (kind,) * 2, Level.ROW))
    return steps


def _operation(
    request: Request,
    row: str,
    result: str,
    operands: tuple[Operand, ...],
    loops: tuple[np.dtype, ...],
    level: Level = Level.ELEMENT,
) -> Operation:
    return Operation(result, loops[-1], row, table[row].kernel_text(loops), operands, loops, level, request.span)


def _reduction(
    request: Request, name: str, result: str, operand: Operand, source: np.dtype, target: np.dtype
) -> Reduction:
    accumulator = _accumulator(name, source, target)
    is_total = request.level is Level.LAUNCH
    return Reduction(
        result,
        accumulator if is_total else target,
        _WAYS[name],
        operand,
        accumulator,
        request.level,
        is_mean=name == "mean" and not is_total,
        span=request.span,
    )


def _accumulator(name: str, source: np.dtype, target: np.dtype) -> np.dtype:
    if target.kind == "b":
        return _UINT8
    if target.char == "e":
        return _FLOAT32
    if name == "mean":
        return target if target.kind == "f" else _FLOAT64
    return source if name in ("max", "min", "amax", "amin") else target
