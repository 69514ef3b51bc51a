"""Types where paths of a program come together."""

from __future__ import annotations

from collections.abc import Iterator

from gjit.ir.graph import Graph, Node, Value
from gjit.ir.types import UNKNOWN, Type
from gjit.passes.alternatives import merge
from gjit.passes.facts import UNREACHED


def values(graph: Graph) -> Iterator[Value]:
    """Every value of a graph."""
    yield from graph.block.parameters
    for node in graph.all_nodes():
        yield from node.results
        for block in node.blocks:
            yield from block.parameters


def unreached(count: int) -> list[Type]:
    """The types of so many values that nothing has reached."""
    return [UNREACHED] * count


def join_into(types: list[Type], more: list[Type]) -> None:
    """Widen each of the types by what else comes there."""
    types[:] = [merge(old, new) for old, new in zip(types, more, strict=True)]


def set_joined(node: Node, outcomes: list[list[Type] | None]) -> None:
    """Give the results the join of the outcomes; None is the outcome of a block that leaves."""
    for index, value in enumerate(node.results):
        type_: Type = UNREACHED
        for outcome in outcomes:
            if outcome is not None:
                type_ = merge(type_, outcome[index])
        value.type = type_


def assign(targets: list[Value], sources: list[Value]) -> None:
    """Give each target the type of its source."""
    for target, source in zip(targets, sources, strict=True):
        target.type = source.type


def make_unknown(values: list[Value]) -> None:
    """Know nothing of the values."""
    for value in values:
        value.type = UNKNOWN
