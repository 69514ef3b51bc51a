"""Numbers that are of one type or of another: `trace = 0.0` before a loop that adds NumPy scalars to it.

Inside inference such a value keeps the few types that it can have, and an operation on it is asked for the type of
its result with each of them. What is the same for all of them is known: an array plus a float, or plus a float64,
is an array of float64. A finished graph says UNKNOWN for the number itself.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from dataclasses import dataclass

from gjit.ir.graph import Node, Value
from gjit.ir.types import PYTHON_NUMBERS, UNKNOWN, ScalarType, Type, join
from gjit.ops import result_types
from gjit.passes.facts import UNREACHED

MOST = 4
"""Types that one value may have; with more it is UNKNOWN."""


@dataclass(frozen=True, slots=True)
class Alternatives(Type):
    """One of several types of numbers. Never in a finished graph."""

    types: frozenset[Type]

    def __str__(self) -> str:
        return " or ".join(sorted(map(str, self.types)))


def merge(left: Type, right: Type) -> Type:
    """The smallest type that holds both: `join`, with alternatives for numbers; UNREACHED gives way.

    >>> from gjit.ir.types import FLOAT, INT, STR
    >>> str(merge(INT, FLOAT)), str(merge(INT, STR))
    ('float or int', 'unknown')
    """
    if left == right or right == UNREACHED:
        return left
    if left == UNREACHED:
        return right
    types = _numbers(left) | _numbers(right)
    if not (_numbers(left) and _numbers(right)) or all(isinstance(type_, ScalarType) for type_ in types):
        return join(finished(left), finished(right))
    return Alternatives(types) if len(types) <= MOST else UNKNOWN


def _numbers(type_: Type) -> frozenset[Type]:
    if isinstance(type_, Alternatives):
        return type_.types
    return frozenset({type_}) if type_ in PYTHON_NUMBERS or isinstance(type_, ScalarType) else frozenset()


def finished(type_: Type) -> Type:
    """The type as a finished graph says it."""
    return UNKNOWN if isinstance(type_, Alternatives) or type_ == UNREACHED else type_


def types_of_results(node: Node) -> list[Type]:
    """The result types of the node's row, joined over the alternatives of its inputs."""
    open_ = list({value: None for value in node.inputs if isinstance(value.type, Alternatives)})
    if not open_:
        return result_types(node)
    if len(open_) > 2:
        return [UNKNOWN] * len(node.results)
    before = [value.type for value in open_]
    joined: list[Type] = [UNREACHED] * len(node.results)
    for choice in itertools.product(*(sorted(type_.types, key=str) for type_ in before)):
        _assign(open_, choice)
        joined = [merge(old, new) for old, new in zip(joined, result_types(node), strict=True)]
    _assign(open_, before)
    return joined


def _assign(values: list[Value], types: Iterable[Type]) -> None:
    for value, type_ in zip(values, types, strict=True):
        value.type = type_
