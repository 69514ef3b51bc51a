"""The rules by op, and what they share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.interchange.onnx.builder import Builder, working_dtype
from gjit.interchange.onnx.values import Tensor, Unwritable, stand_in

Rule = Callable[..., Any]
RULES: dict[str, Rule] = {}
"""By name of the op: takes the builder, then the arguments as the program gives them."""


def rule(*names: str) -> Callable[[Rule], Rule]:
    """Register a rule for ops."""

    def register(function: Rule) -> Rule:
        for name in names:
            RULES[name] = function
        return function

    return register


def result_of(function: Callable, *arguments: Any, **keywords: Any) -> Any:
    """What NumPy gives for values of these types: its dtype, rank and kind are those of the result."""
    with np.errstate(all="ignore"):
        given = {name: stand_in(value) for name, value in keywords.items()}
        return function(*map(stand_in, arguments), **given)


def loop_dtypes(ufunc: np.ufunc, operands: list[Any]) -> tuple[np.dtype, ...]:
    """The dtypes of NumPy's inner loop for these operands, results last."""
    given = [_promoted(value) for value in operands]
    if all(isinstance(each, type) for each in given):
        given = [np.dtype(each) for each in given]
    return tuple(ufunc.resolve_dtypes((*given, *[None] * ufunc.nout)))


def _promoted(value: Any) -> Any:
    if isinstance(value, Tensor):
        if value.kind != "python":
            return value.dtype
        return {"b": np.dtype(bool), "f": float}.get(value.dtype.kind, int)
    return (
        np.dtype(bool)
        if isinstance(value, bool)
        else type(value)
        if type(value) in (int, float)
        else np.asarray(value).dtype
    )


def elementwise(
    builder: Builder, function: Callable, ufunc: np.ufunc, operands: list[Any], write: Callable[..., str]
) -> Tensor:
    """One result of operands that are brought to NumPy's loop: `write(builder, dtype, *names)` gives the name."""
    like = result_of(function, *operands)
    dtypes = loop_dtypes(ufunc, operands)
    if len({*dtypes[: len(operands)]}) > 1:
        raise Unwritable(
            f"{ufunc.__name__} of {' and '.join(map(str, dtypes[: len(operands)]))} has no form in a model"
        )
    dtype = dtypes[0]
    work = working_dtype(dtype) if dtype.char != "?" else dtype
    names = []
    for operand in operands:
        tensor = builder.tensor(operand)
        name = builder.cast(tensor, dtype)
        names.append(builder.cast_name(name, dtype, work))
    written, given = write(builder, work, *names), dtypes[-1]
    came = np.dtype(bool) if given.char == "?" else work
    name = builder.cast_name(written, came, given)
    return builder.made(builder.cast_name(name, given, np.asarray(like).dtype), like)


def plain(values: Any, what: str) -> Any:
    """A value that the model cannot compute: it has to be known."""
    if isinstance(values, Tensor):
        if values.constant is not None:
            return np.asarray(values.constant)[()].item() if values.rank == 0 else tuple(values.constant.tolist())
        raise Unwritable(f"{what} has to be known when the model is written, and depends on the inputs")
    return values


def axes_of(axis: Any, rank: int) -> list[int]:
    """Axes as a list of numbers from 0."""
    axis = plain(axis, "the axis")
    given = range(rank) if axis is None else axis if isinstance(axis, tuple | list) else (axis,)
    found = [int(each) for each in given]
    for each in found:
        if not -rank <= each < rank:
            raise np.exceptions.AxisError(each, rank)
    return [each % rank for each in found]
