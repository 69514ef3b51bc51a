"""Operands of every kind, and what a call with them really does: shared by the tests of the op table."""

from __future__ import annotations

import random
import warnings
from dataclasses import dataclass, field

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import (
    UNKNOWN,
    ArrayType,
    DictType,
    ListType,
    OptionalType,
    ScalarType,
    SetType,
    TupleType,
    Type,
    type_of,
)

DTYPES = [np.dtype(code) for code in "?bhilBHILefdFD"]
EXTENTS = [(), (0,), (1,), (3,), (3, 3), (1, 3), (2, 3, 1)]
LAYOUTS = ["C", "F", "step", "reversed", "offset"]
PYTHON = [True, False, 0, 1, 2, -1, 3, 2**63, 2**70, 0.5, -1.0, float("nan"), 2j, 1e300]


def array(dtype: np.dtype, extents: tuple[int, ...], layout: str, rng: random.Random) -> np.ndarray:
    """An array with special values among others, in a memory layout."""
    count = int(np.prod(extents))
    values = np.array([rng.choice([0, 1, 1, 2, 3, 5, 7, 100]) for _ in range(count)], dtype=dtype)
    if dtype.kind in "fc" and count:
        values[rng.randrange(count)] = rng.choice([np.nan, np.inf, -0.0, -1.5, 0.25])
    if dtype.kind == "i" and count:
        values[rng.randrange(count)] = rng.choice([-1, -128, 127])  # NumPy's bincount does not survive larger ones
    values = values.reshape(extents)
    if layout == "F":
        return np.asfortranarray(values) if values.ndim else values
    if layout == "C" or not values.ndim:
        return values
    wide = np.empty((*extents[:-1], 2 * extents[-1] + 1), dtype)
    target = {
        "step": wide[..., 1::2],
        "reversed": wide[..., : extents[-1]][..., ::-1],
        "offset": wide[..., 1:][..., : extents[-1]],
    }
    target[layout][...] = values
    return target[layout]


def operand(rng: random.Random, *, large: bool = True) -> object:
    """An array, a 0-d array, a NumPy scalar or a number of Python's."""
    kind = rng.random()
    if kind < 0.25:
        return rng.choice([value for value in PYTHON if large or not isinstance(value, int) or abs(value) < 10])
    dtype = rng.choice(DTYPES)
    if kind < 0.4:
        return array(dtype, (1,), "C", rng)[0]
    return array(dtype, rng.choice(EXTENTS), rng.choice(LAYOUTS), rng)


def node_input(value: object, rng: random.Random, constants: bool) -> Value:
    """A graph value for a live one: a display, a constant, or a value of its type."""
    if isinstance(value, list) or (isinstance(value, tuple) and rng.random() < 0.3):
        inputs = [node_input(element, rng, constants) for element in value]
        display = Node("list" if isinstance(value, list) else "tuple", inputs)
        display.result.type = ListType(UNKNOWN) if isinstance(value, list) else type_of(value)
        return display.result
    if is_constant(value) and (constants or not isinstance(value, bool | int | float | complex | tuple | np.generic)):
        return Constant(value)
    return Value(type_of(value))


def is_constant(value: object) -> bool:
    """Whether a graph may hold the value as an operand."""
    if isinstance(value, tuple):
        return all(map(is_constant, value))
    return not isinstance(value, np.ndarray | list | dict | set)


def fits(claimed: Type, value: object) -> bool:
    """Whether a live value is one of the claimed type."""
    actual = type_of(value)
    match claimed, actual:
        case ArrayType(), ArrayType():
            return claimed.dtype in (None, actual.dtype) and claimed.rank in (None, actual.rank)
        case ScalarType(), ScalarType():
            return claimed.dtype in (None, actual.dtype)
        case TupleType(elements=None), TupleType():
            return True
        case TupleType(), TupleType():
            return len(claimed.elements) == len(value) and all(map(fits, claimed.elements, value))
        case ListType(), ListType():
            return all(fits(claimed.element, element) for element in value)
        case SetType(), SetType():
            return all(fits(claimed.element, element) for element in value)
        case DictType(), DictType():
            return all(fits(claimed.key, key) and fits(claimed.value, item) for key, item in value.items())
        case OptionalType(), _:
            return value is None or fits(claimed.inner, value)
    return claimed == UNKNOWN or claimed == actual or (str(claimed) == "function" and callable(value))


@dataclass(slots=True)
class Outcome:
    """What a call did: its result, or that it raised; warnings; which arguments it wrote and shares memory with."""

    result: object = None
    raised: Exception | None = None
    warned: bool = False
    written: set[int] = field(default_factory=set)
    shared: set[int] = field(default_factory=set)


def observe(function, arguments: list, keywords: dict) -> Outcome:
    """Call and look."""
    outcome = Outcome()
    everything = [*arguments, *keywords.values()]
    before = [snapshot(value) for value in everything]
    with warnings.catch_warnings(record=True) as caught, np.errstate(all="warn"):
        warnings.simplefilter("always")
        try:
            outcome.result = function(*arguments, **keywords)
        except Exception as error:
            outcome.raised = error
    outcome.warned = bool(caught)
    outcome.written = {i for i, value in enumerate(everything) if snapshot(value) != before[i]}
    outcome.shared = {i for i, value in enumerate(everything) if shares(value, outcome.result)}
    return outcome


def snapshot(value: object) -> object:
    """Something that changes when the value is written."""
    if isinstance(value, np.ndarray):
        return value.shape, value.tobytes()
    return tuple(map(snapshot, value)) if isinstance(value, list | tuple) else None


def shares(left: object, right: object) -> bool:
    """Whether two values are, hold, or look at the same memory."""
    if isinstance(left, list | tuple):
        return any(shares(element, right) for element in left)
    if isinstance(right, list | tuple):
        return any(shares(left, element) for element in right)
    both = isinstance(left, np.ndarray) and isinstance(right, np.ndarray)
    return both and (left is right or np.shares_memory(left, right))
