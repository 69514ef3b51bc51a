"""Which inputs of a region tell how large its work is."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit.ir.parser import parse_graph
from gjit.scheduler.sizes import leaders, outer_extents

VECTOR, MATRIX = np.ones(4), np.ones((4, 3))


def extents(function, x: np.ndarray) -> list[tuple[int, int]]:
    """Which operand of the last node multiplies the size of the leader by which of its extents."""
    inputs = list(gjit.script(function).graph_for(x).block.last.inputs)
    (leader,) = leaders(inputs)
    return [(inputs.index(value), axis) for value, axis in outer_extents(leader, inputs, lambda value: value)]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x[:, None] - x, [(1, 0)]),
        (lambda x: x - x[:, None], [(0, 0)]),
        (lambda x: x[:, None] - x[None, 1:], [(1, 1)]),
        (lambda x: x[..., None] - x[None, ...], [(1, 1)]),
        (lambda x: x[None, :] - x[:, None], [(1, 0)]),
        (lambda x: x[:, None, None] - x[:, None], [(1, 0)]),
        (lambda x: x[:, None] - x[1:, None], []),
        (lambda x: x[:-1] - x[1:], []),
    ],
)
def test_new_axes_of_a_vector(function, expected):
    assert extents(function, VECTOR) == expected


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (lambda x: x[:, 0:1].T - x[:, 0:1], [(1, 0)]),
        (lambda x: x[:, 0:1] - x[:, 1:2].T, [(1, 1)]),
        (lambda x: x[:, None, :] - x[None, :, :], [(1, 1)]),
        (lambda x: x[:, None] - x, [(1, 0)]),
        (lambda x: x[:, 0:2] - x, []),
        (lambda x: x - x[0], []),
        (lambda x: x.T - x[:, 0], []),
    ],
)
def test_columns_and_rows_of_a_matrix(function, expected):
    assert extents(function, MATRIX) == expected


def test_unknown_values_lead_where_no_array_is_known():
    def operands(**types: str) -> list:
        parameters = ", ".join(f"%{name}: {type_}" for name, type_ in types.items())
        text = f"graph f({parameters}) {{\n  %last = numpy.clip(%a, %b, %c)\n  return %last\n}}"
        return list(parse_graph(text).block.last.inputs)

    inputs = operands(a="float", b="unknown", c="unknown")
    assert leaders(inputs) == inputs[1:]
    inputs = operands(a="unknown", b="array<float64, 1>", c="unknown")
    assert leaders(inputs) == inputs[1:2]
