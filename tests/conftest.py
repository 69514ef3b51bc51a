from __future__ import annotations

import os

import pytest
from hypothesis import HealthCheck, settings

from gjit.ir.equal import graphs_equal
from gjit.ir.graph import Graph
from gjit.ir.parser import parse_graph
from gjit.ir.printer import print_graph
from gjit.passes import pipelines

# Machines that run tests are shared and slow at times: a deadline would fail for reasons that are not the program's.
settings.register_profile("gjit", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "gjit"))


def comes_back_from_its_text(graph: Graph) -> bool:
    """A pass that changes nothing: printing, parsing and printing again gives the same text and an equal graph."""
    text = print_graph(graph)
    parsed = parse_graph(text)
    assert print_graph(parsed) == text, f"the text of {graph.name} changes when it is parsed"
    assert graphs_equal(parsed, graph), f"the graph {graph.name} is not the one that its text describes"
    return False


@pytest.fixture(autouse=True)
def every_graph_comes_back_from_its_text(request):
    """Checks each graph that a test makes, without and with types; `@pytest.mark.no_text_check` leaves it out."""
    if request.node.get_closest_marker("no_text_check") is not None:
        yield
        return
    registrations = [pipelines.register_pass(comes_back_from_its_text, stage=stage) for stage in pipelines.STAGES]
    yield
    for registration in registrations:
        registration.unregister()
