"""Which arrays most likely share memory, and what follows for regions."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit.runtime.gain import least_elements
from gjit.scheduler.bases import base_of, is_likely_disturbed

MATRIX = np.ones((6, 6))


def returned(function) -> list:
    """The parameters of a program, and the elements of the tuple that it returns."""
    block = gjit.script(function).graph_for(MATRIX, MATRIX).block
    return [*block.parameters, *block.terminator.inputs[0].producer.inputs]


def test_views_have_the_base_of_their_array():
    x, y, first, second, third, fourth = returned(lambda x, y: (x[1:-1], x.T[::2], y[0], x + y))
    assert [base_of(value) for value in (first, second, third, fourth)] == [x, x, y, fourth]
    assert is_likely_disturbed(first, [y, second])
    assert not is_likely_disturbed(first, [first, third])


def test_variables_of_loops_have_the_base_that_they_start_with():
    def program(x, y):
        inner = x[1:-1]
        for _ in range(3):
            inner += y[0]
        return inner, y

    x, _, inner, _ = returned(program)
    assert base_of(inner.producer.blocks[0].parameters[-1]) is x


def regions_of(function) -> list:
    nodes = gjit.script(function).plan_for(MATRIX, MATRIX).graph.all_nodes()
    return [node for node in nodes if node.op == "region"]


def test_in_place_operator_on_what_is_read_stays_outside():
    def overlapping(x, y):
        x[1:] += np.sqrt(x[:-1] * 2.0)

    def apart(x, y):
        x[1:] += np.sqrt(y[:-1] * 2.0)

    sizes = [[len(list(region.blocks[0])) for region in regions_of(each)] for each in (overlapping, apart)]
    assert sizes == [[2], [3]]


@pytest.mark.parametrize(("source", "factor"), [("x", 4), ("y", 1)])
def test_store_into_what_is_read_pays_later(source, factor):
    def from_x(x, y):
        x[1:-1] = 0.25 * (x[2:] + x[:-2] + x[1:-1])

    def from_y(x, y):
        x[1:-1] = 0.25 * (y[2:] + y[:-2] + y[1:-1])

    (region,) = regions_of({"x": from_x, "y": from_y}[source])
    assert least_elements(region, 800) == factor * 100
