"""The passes that run, in order, with the reason for each place; and the user's own beside them."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

from gjit import settings
from gjit.errors import GjitError, InternalError
from gjit.ir.blame import blame
from gjit.ir.graph import Graph
from gjit.ir.printer import print_graph
from gjit.ir.verify import verify_graph
from gjit.passes.canonicalise import canonicalise
from gjit.passes.common_subexpressions import common_subexpressions
from gjit.passes.dead_code import dead_code
from gjit.passes.fold import fold
from gjit.passes.forward_cells import forward_cells
from gjit.passes.inline import inline

Pass = Callable[[Graph], "bool | None"]
"""Changes a graph in place and says whether it did; None counts as a change."""


@dataclass(frozen=True, slots=True, eq=False)
class Stage:
    """A named list of passes: gjit's own, then the user's in the order of their registration."""

    name: str
    passes: list[tuple[str, Pass]]
    registered: list[tuple[str, Pass]]


STAGES = {
    stage.name: stage
    for stage in (
        Stage(
            "captured",  # as written, without types: once for each function
            [
                ("inline", inline),  # first, so that what a helper does is seen where it is called
                ("forward_cells", forward_cells),  # a variable that is only set and read becomes a value
                ("fold", fold),  # constants that the text alone decides
                ("dead_code", dead_code),  # what nobody reads need not be typed
            ],
            [],
        ),
        Stage(
            "typed",  # after `specialise`: once for each signature
            [
                ("fold", fold),  # types decide branches first, so that the rest sees the code that can run
                ("forward_cells", forward_cells),  # branches that fell away leave cells that are values
                ("canonicalise", canonicalise),  # one form for what types prove to be the same
                ("common_subexpressions", common_subexpressions),  # after it, since one form is found more often
                ("dead_code", dead_code),  # last: the passes before it leave unused nodes behind
            ],
            [],
        ),
    )
}

_dumped = itertools.count()


def run(graph: Graph, *stages: str) -> Graph:
    """Run the passes of these stages (`"captured"`, `"typed"`) on the graph, in place, and return it.

    Raises:
        KeyError: no such stage.
        InternalError: a pass left a graph that the verifier refuses; it names the pass and shows the graph.
    """
    for name in stages:
        stage = STAGES[name]
        for title, function in stage.passes:
            _run_pass(graph, title, function, check=bool(settings.get("check")))
        for title, function in list(stage.registered):
            _run_pass(graph, title, function, check=True)
    return graph


@dataclass(frozen=True, slots=True, eq=False)
class Registration:
    """A registered pass. Calling it runs the pass, so that `register_pass` also works as a decorator."""

    name: str
    stage: str
    function: Pass

    def __call__(self, graph: Graph) -> bool | None:
        return self.function(graph)

    def unregister(self) -> None:
        """Take the pass out again; a second time does nothing."""
        registered = STAGES[self.stage].registered
        registered[:] = [entry for entry in registered if entry[1] is not self]


def register_pass(
    function: Pass | None = None, *, stage: str, name: str | None = None
) -> Registration | Callable[[Pass], Registration]:
    """Run a pass of one's own on every graph: after gjit's passes of its stage, and checked by the verifier.

    Args:
        function: takes a graph, changes it in place, and returns whether it did. Without it, a decorator comes back.
        stage: `"captured"` (before types are known) or `"typed"` (for each signature).
        name: for messages and dumps; the function's own name otherwise.

    Raises:
        ValueError: no such stage.
    """
    if stage not in STAGES:
        raise ValueError(f"there is no stage {stage!r}; give one of {', '.join(map(repr, STAGES))}")

    def register(function: Pass) -> Registration:
        title = name or getattr(function, "__name__", type(function).__name__)
        registration = Registration(title, stage, function)
        STAGES[stage].registered.append((title, registration))
        return registration

    return register if function is None else register(function)


def _run_pass(graph: Graph, name: str, function: Pass, *, check: bool) -> None:
    with blame(name, graph):
        changed = function(graph)
    if changed is False:
        return
    if check:
        _verify(graph, name)
    folder = settings.dump_folder()
    if folder is not None:
        (folder / f"{next(_dumped):04d}_{graph.name}_{name}.txt").write_text(print_graph(graph) + "\n")


def _verify(graph: Graph, name: str) -> None:
    try:
        verify_graph(graph)
    except GjitError as error:
        raise InternalError(f"the pass {name!r} left a graph that is not well formed\n{error}") from error
