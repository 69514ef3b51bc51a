"""Ops that users add to the table."""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np

from gjit.ir.graph import Node
from gjit.ir.protocols import known_names
from gjit.ir.types import BOOL, COMPLEX, FLOAT, INT, UNKNOWN, ArrayType, ScalarType, Type
from gjit.ops.gradients import differentiate_all
from gjit.ops.row import OPAQUE, Dtypes, Effect, KernelRule, Kind, Op, TypeRule, table

F = TypeVar("F", bound=Callable)
PREFIX = "user."
_PURE = Effect.RAISES | Effect.READS | Effect.ALLOCATES
_NUMBERS: dict[Type, type] = {BOOL: bool, INT: int, FLOAT: float, COMPLEX: complex}


def register_op(
    function: Any = None,
    *,
    name: str = "",
    types: Callable[..., Type | list[Type]] | None = None,
    pure: bool = False,
    writes: tuple[int, ...] = (),
    views: tuple[int, ...] = (),
    elementwise: bool = False,
    kernel: str = "",
    gradient: Callable | None = None,
) -> Any:
    """Make a function one op of the graph: it is called as it is, and its body is not captured.

    A scripted program that calls `function`, by whatever name, holds the node `user.<name>`; the node prints, parses,
    is typed by `types`, and takes part in every pass as a row of the table does.

    Args:
        function: any callable; without it, a decorator comes back.
        name: of the op, an identifier; the function's own by default.
        types: gives the type of the result (or a list of them) for the types of the inputs; unknown without it, but
            for elementwise functions, which are asked.
        pure: it has no effect but to raise, and reads nothing but its arguments. Otherwise it may do anything.
        writes: positions of arguments whose memory it writes.
        views: positions of arguments whose memory its result may share.
        elementwise: it is pure, takes positional arguments, and makes a new array, each element of which depends on
            one element of each argument alone, in a dtype that depends on theirs. It then joins regions: it may be
            called with parts of large arrays, flattened, on several threads, and is asked for its dtype by calls with
            two elements.
        kernel: one element of an elementwise op in C++, for engines that compile: an expression over `{0}`, `{1}`, ...,
            the arguments in their common dtype.
        gradient: a NumPy function of the cotangent of the result, the result, and the arguments; returns a tuple with
            the cotangent of each positional argument, or None. It is scripted, and fused.

    Returns:
        The function itself.

    Raises:
        ValueError: the name is no identifier, or is taken by another function; a kernel is no template, or its op not
            elementwise; an elementwise op writes or views.
        TypeError: `function` cannot be called.

    >>> from gjit.ir.types import FLOAT
    >>> @register_op(types=lambda *inputs: FLOAT, pure=True)
    ... def half(x):
    ...     return x / 2
    >>> table.of_function(half).name
    'user.half'
    >>> @register_op(elementwise=True, kernel="{0} > 0 ? {0} : {1} * {0}")
    ... def leaky(x, slope):
    ...     return np.where(x > 0, x, slope * x)
    """
    options = (types, pure, writes, views, elementwise, kernel)
    if gradient is not None and writes:
        raise ValueError("an op that writes its arguments cannot have a gradient")
    if function is None:
        return lambda given: _with_gradient(_registered(given, name, *options), gradient)
    return _with_gradient(_registered(function, name, *options), gradient)


def _with_gradient(function: Any, gradient: Callable | None) -> Any:
    if gradient is not None:
        op = table.of_function(function)
        assert op is not None
        differentiate_all(op.name, gradient, broadcasts=True)
    return function


def _registered(function, name, types, pure, writes, views, elementwise, kernel):
    if not callable(function):
        raise TypeError(f"gjit.register_op takes a function, not {type(function).__name__}")
    plain = name or getattr(function, "__name__", "")
    if not plain.isidentifier():
        raise ValueError(f"{plain!r} cannot be the name of an op; give name=, an identifier")
    known = table.get(PREFIX + plain)
    if known is not None and known.function is not function:
        raise ValueError(f"there is an op {PREFIX + plain!r} already")
    if elementwise and (writes or views):
        raise ValueError("an elementwise op makes a new array: it cannot write its arguments, nor view them")
    if kernel and not elementwise:
        raise ValueError("kernel= is for elementwise ops; say elementwise=True")
    rule = _rule(types) if types is not None else _sampled(function) if elementwise else None
    effects = _PURE if pure or elementwise else OPAQUE
    if known is None:
        op = Op(
            name=PREFIX + plain,
            kind=Kind.ELEMENTWISE if elementwise else Kind.LIBRARY,
            function=function,
            types=rule,
            effects=effects | (Effect.WRITES if writes else Effect.NONE),
            views=views,
            writes=writes,
            layout_free=False,
            kernel=_kernel(kernel) if kernel else None,
        )
        table.add(op)
    return function


def _kernel(text: str) -> KernelRule:
    """The text as a rule: for all dtypes that C++ computes with as they are."""
    fields = [field for _, field, _, _ in string.Formatter().parse(text) if field is not None]
    if not fields or not all(field.isdecimal() for field in fields):
        raise ValueError(f"the kernel {text!r} is no expression over {{0}}, {{1}}, ...")

    def rule(dtypes: Dtypes) -> str | None:
        is_known = all(int(field) < len(dtypes) - 1 for field in fields)
        return f"({text})" if is_known and all(dtype.char not in "eFD" for dtype in dtypes) else None

    return rule


def _rule(types: Callable[..., Type | list[Type]]) -> TypeRule:
    def rule(node: Node) -> list[Type]:
        found = types(*(value.type for value in node.inputs))
        return found if isinstance(found, list) else [found]

    return rule


def _sampled(function: Callable) -> TypeRule:
    def rule(node: Node) -> list[Type]:
        arrays = [value.type for value in node.inputs if isinstance(value.type, ArrayType)]
        samples = [_sample_of(value.type) for value in node.inputs]
        if any(node.labels) or None in samples or not arrays or any(not type_.rank for type_ in arrays):
            return [UNKNOWN]
        dtype = sampled_dtype(function, samples)
        return [UNKNOWN if dtype is None else ArrayType(dtype, max(type_.rank or 0 for type_ in arrays))]

    return rule


Sample = tuple[np.dtype | type, bool]


def _sample_of(type_: Type) -> Sample | None:
    if type_ in _NUMBERS:
        return _NUMBERS[type_], False
    is_known = isinstance(type_, ArrayType | ScalarType) and type_.dtype is not None
    return (type_.dtype, isinstance(type_, ArrayType)) if is_known else None


def sampled_dtype(function: Callable, samples: Sequence[Sample]) -> np.dtype | None:
    """The dtype of the array that an elementwise function makes; None where it makes no new array of two elements.

    Args:
        function: is called with ones.
        samples: for each argument a dtype, or a type of Python's numbers, and whether it is an array with axes.

    >>> f8 = np.dtype("f8")
    >>> sampled_dtype(lambda x, y: x > y, [(f8, True), (float, False)]), sampled_dtype(lambda x: x[:1], [(f8, True)])
    (dtype('bool'), None)
    """
    values = [_ones(*sample) for sample in samples]
    try:
        with np.errstate(all="ignore"):
            result = function(*values)
    except Exception:
        return None
    if type(result) is not np.ndarray or result.shape != (2,) or result.base is not None:
        return None
    return None if any(result is value for value in values) else result.dtype


def _ones(kind: np.dtype | type, is_array: bool) -> object:
    if is_array:
        return np.ones(2, kind)
    return kind.type(1) if isinstance(kind, np.dtype) else kind(1)


def _lookup(name: str) -> object:
    row = table.get(name) if name.startswith(PREFIX) else None
    if row is None:
        raise LookupError(f"no op is named {name!r}")
    return row.function


def _name_of(value: object) -> str | None:
    row = table.of_function(value)
    return row.name if row is not None and row.name.startswith(PREFIX) else None


known_names.register(_lookup, _name_of)
