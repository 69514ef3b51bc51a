"""A running call of an interpreted graph, and how blocks end."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gjit.ir.graph import Constant, Graph, Node, Value

END = object()
"""No value."""


@dataclass(slots=True)
class Outcome:
    """How a block ended: the op of its terminator and its values; `raise` holds the exception."""

    op: str
    values: Sequence[object] = ()


@dataclass(slots=True)
class Frame:
    """One running call of a graph, or of a function made in it: what each value is now."""

    graph: Graph
    values: dict[Value, object] = field(default_factory=dict)

    def bind(self, values: list[Value], objects: Sequence[object]) -> None:
        self.values.update(zip(values, objects, strict=True))

    def read(self, value: Value) -> Any:
        return value.value if isinstance(value, Constant) else self.values[value]

    def inputs(self, node: Node) -> list[Any]:
        return [value.value if isinstance(value, Constant) else self.values[value] for value in node.inputs]


def attempt(function: Callable, *arguments: object) -> Any:
    """What a call gives, or the Outcome of its exception."""
    try:
        return function(*arguments)
    except BaseException as error:
        return Outcome("raise", [error])
