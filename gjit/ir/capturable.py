"""What capture asks of objects that it meets: whether they have a graph, a receiver, or stay with the interpreter.

Compiled functions, methods of script modules and traced modules live in higher layers; capture knows them through
these attributes alone, which are looked up on the class as Python looks up its own special methods.
"""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from gjit.ir.graph import Graph

IGNORE_MARK = "__gjit_ignore__"
"""An attribute that is true on functions which a graph calls through the interpreter."""


@runtime_checkable
class HasGraph(Protocol):
    """A callable whose calls become `invoke` nodes: its control flow stays in the graph of the caller.

    The graph is captured when it is first asked for. An object that is bound to an instance also has
    `__gjit_receiver__`, the object that goes before the arguments (None stands for no receiver).
    """

    def __gjit_graph__(self) -> Graph:
        """The captured graph, without inferred types."""
        ...


def has_graph(value: object) -> bool:
    """Whether calls of `value` can become `invoke` nodes. A class is not asked for the graph of its instances."""
    return not isinstance(value, type) and hasattr(type(value), "__gjit_graph__")


def graph_of(value: HasGraph) -> Graph:
    """The captured graph of a callable for which `has_graph` is true; it must not be changed."""
    return value.__gjit_graph__()


def receiver_of(value: object) -> object | None:
    """The object that a bound callable passes before its arguments, or None."""
    return getattr(value, "__gjit_receiver__", None)


def is_ignored(value: object) -> bool:
    """Whether a function was left to the interpreter with `ignore`."""
    return bool(getattr(value, IGNORE_MARK, False))
