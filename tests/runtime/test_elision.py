"""Temporaries that NumPy writes sums and products into, their operands turned round."""

from __future__ import annotations

import numpy as np
import pytest

from gjit.runtime import elision
from tests.runtime.region_programs import assert_same, special_values

pytestmark = pytest.mark.usefixtures("small_tiles")

SIZE = 40_000


def negated(build):
    """One more operation, so that tiles pay."""
    return lambda nodes, x, y: [nodes("numpy.negative", value) for value in build(nodes, x, y)]


def dying(nodes, x, y):
    return [nodes("operator.mul", x, nodes("numpy.exp", y))]


def both(nodes, x, y):
    left = nodes("numpy.exp", x)
    return [nodes("operator.mul", left, nodes("operator.add", x, nodes("operator.sub", y, x)))]


def named(nodes, x, y):
    value = nodes("numpy.exp", y)
    value.name = "value"
    return [nodes("operator.mul", x, value)]


def named_left(nodes, x, y):
    left = nodes("numpy.exp", x)
    left.name = "left"
    return [nodes("operator.add", left, nodes("operator.mul", y, nodes("numpy.sqrt", y)))]


def read_twice(nodes, x, y):
    value = nodes("numpy.exp", y)
    return [nodes("operator.add", value, nodes("operator.mul", x, value))]


def called(nodes, x, y):
    return [nodes("numpy.multiply", x, nodes("numpy.exp", y))]


@pytest.mark.parametrize("build", [dying, both, named, named_left, read_twice, called])
@pytest.mark.parametrize("dtypes", ["c16 c16", "c8 c16", "c16 c8", "f8 c16", "f8 f8", "f4 f8"])
def test_operands_are_turned_round_where_numpy_does(build, dtypes):
    x, y = (special_values(dtype, SIZE, seed) for seed, dtype in enumerate(dtypes.split()))
    assert assert_same(negated(build), x, y).tiled == 1


@pytest.mark.parametrize(
    "scalar", [1.3 + 0.7j, -0.3, 3, True, np.complex128(1.3 + 0.7j), np.float32(2.1), np.array(1.3 + 0.7j), np.array(2)]
)
@pytest.mark.parametrize("dtype", ["c16", "c8", "f8", "f4"])
def test_scalars_before_a_dying_temporary(scalar, dtype):
    def build(nodes, x, scalar):
        return [nodes("operator.add", nodes("operator.mul", scalar, nodes("numpy.exp", x)), x)]

    assert_same(build, special_values(dtype, SIZE, 1), scalar)


def test_small_temporaries_are_not_reused():
    x, y = (special_values("c16", 16_000, seed) for seed in (1, 2))
    assert assert_same(negated(dying), x, y).tiled == 1


def test_other_shapes_are_not_reused():
    def build(nodes, x, y):
        return [nodes("operator.add", nodes("operator.mul", x, nodes("operator.mul", y, nodes("numpy.exp", y))), x)]

    x, row = special_values("f8", SIZE, 1).reshape(200, 200), special_values("f8", 200, 2)
    assert assert_same(negated(build), x, row).tiled == 1
    assert assert_same(negated(build), row, x).tiled == 1


def test_numpy_reuses_temporaries_from_the_size_on_that_is_written_here():
    def is_reused(size):
        places = []
        left = np.ones(size)
        result = left * elision._temporary(size, np.dtype("f8"), places)
        return elision._place(result) in places

    assert is_reused(elision.SMALLEST_REUSED // 8)
    assert not is_reused(elision.SMALLEST_REUSED // 8 - 1)
