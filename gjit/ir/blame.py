"""Say which stage failed, and on which graph, when gjit itself is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from gjit.errors import GjitError, InternalError
from gjit.ir.graph import Graph
from gjit.ir.printer import print_graph

_MOST_LINES = 80


@contextmanager
def blame(stage: str, graph: Graph) -> Iterator[None]:
    """Turn an unexpected exception into an InternalError that names the stage and shows the graph.

    Args:
        stage: the pass or stage that runs inside.
        graph: what it works on.

    Raises:
        InternalError: anything but gjit's own errors was raised inside; a stack that is too small is no bug.
    """
    try:
        yield
    except (GjitError, RecursionError):
        raise
    except Exception as error:
        problem = f"{type(error).__name__}: {error}"
        raise InternalError(f"bug in gjit: the stage {stage!r} failed ({problem})\n{_text(graph)}") from error


def _text(graph: Graph) -> str:
    """The graph, cut where it is long; a graph that cannot be printed must not hide the first error."""
    try:
        lines = print_graph(graph).splitlines()
    except Exception as error:
        return f"(the graph cannot be printed: {error})"
    cut = [f"... {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else []
    return "\n".join(lines[:_MOST_LINES] + cut)
