"""Takes out what no output needs."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def without_unused(graph: Any) -> None:
    """Drop nodes and constants of a model's graph, and of the blocks in it, whose values nobody reads."""
    _prune(graph, set())
    used = set(_read(graph))
    kept = [each for each in graph.initializer if each.name in used]
    del graph.initializer[:]
    graph.initializer.extend(kept)


def _prune(graph: Any, needed: set[str]) -> None:
    needed |= {output.name for output in graph.output}
    kept = []
    for node in reversed(graph.node):
        if not any(name in needed for name in node.output):
            continue
        for attribute in node.attribute:
            if attribute.HasField("g"):
                _prune(attribute.g, set())
                needed |= set(_read(attribute.g))
        needed |= set(node.input)
        kept.append(node)
    del graph.node[:]
    graph.node.extend(reversed(kept))


def _read(graph: Any) -> Iterator[str]:
    """All names that a graph reads, its blocks included."""
    yield from (output.name for output in graph.output)
    for node in graph.node:
        yield from node.input
        for attribute in node.attribute:
            if attribute.HasField("g"):
                yield from _read(attribute.g)
