"""What a node passes to the function of its row: arguments by name, and what is known of each."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import UNKNOWN, ArrayType, PythonType, ScalarType, Type


@functools.cache
def signature_of(function: Callable) -> inspect.Signature | None:
    """The signature of a function, or None where it does not tell."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


def names_in_call(node: Node, function: Callable) -> tuple[str, ...] | None:
    """The parameter name of each input, in the order of the inputs.

    None where spreads or a missing signature hide them, or where the arguments do not fit: the call raises.
    """
    return _parameter_names(function, node.labels or ("",) * len(node.inputs))


@functools.lru_cache(maxsize=4096)
def _parameter_names(function: Callable, labels: tuple[str, ...]) -> tuple[str, ...] | None:
    signature = signature_of(function)
    if signature is None or any(label.startswith("*") for label in labels):
        return None
    given = sum(not label for label in labels)
    try:
        signature.bind(*range(given), **{label[:-1]: None for label in labels if label})
    except TypeError:
        return None
    positional = [name for name, parameter in signature.parameters.items() if parameter.kind in _POSITIONAL]
    variadic = next((name for name, p in signature.parameters.items() if p.kind is p.VAR_POSITIONAL), "")
    names = iter([*positional[:given], *[variadic] * (given - len(positional))])
    return tuple(label[:-1] if label else next(names) for label in labels)


_POSITIONAL = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


def bind(node: Node, function: Callable) -> dict[str, Value] | None:
    """The arguments of a call by parameter name; None as for `names_in_call`."""
    names = names_in_call(node, function)
    return None if names is None else dict(zip(names, node.inputs, strict=True))


def elements_of(value: Value) -> list[Value] | None:
    """The values in a tuple display, or in a list display that nothing but one node ever sees; else None."""
    node = value.producer
    if not isinstance(node, Node) or node.op not in ("tuple", "list") or any(node.labels):
        return None
    if node.op == "list" and list(value.uses.values()) != [1]:
        return None
    return node.inputs


def is_array(type_: Type) -> bool:
    """Whether values of the type are exact arrays that are never 0-d."""
    return isinstance(type_, ArrayType) and type_.rank is not None and type_.rank > 0


def is_number(type_: Type) -> bool:
    """Whether values of the type are plain numbers of Python, NumPy scalars, or exact arrays, of any dtype."""
    return isinstance(type_, ArrayType | ScalarType) or (
        isinstance(type_, PythonType) and type_.name in ("bool", "int", "float", "complex")
    )


def is_numeric(type_: Type) -> bool:
    """As `is_number`, with a dtype that is known and has the usual arithmetic: bool, integers, floats, complex."""
    if isinstance(type_, ArrayType | ScalarType):
        return type_.dtype is not None and type_.dtype.kind in "biufc" and type_.dtype.char not in "gG"
    return is_number(type_)


def constant(value: Value | None, default: object = None) -> object:
    """The value of a constant operand, `default` for a missing one, NOT_CONSTANT for any other."""
    if value is None:
        return default
    return value.value if isinstance(value, Constant) else NOT_CONSTANT


NOT_CONSTANT = object()


def unknown(node: Node) -> list[Type]:
    """The types of a node about which nothing is known."""
    return [UNKNOWN] * len(node.results)
