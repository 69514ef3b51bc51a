from __future__ import annotations

import numpy as np
import pytest

from tests.runtime.region_programs import SIZE, Program, arrays, assert_same, check_same, special_values

pytestmark = pytest.mark.usefixtures("small_tiles")


def softmax(nodes, x):
    powers = nodes("numpy.exp", nodes("operator.sub", x, nodes("numpy.max", x, axis=-1, keepdims=True)))
    return [nodes("operator.truediv", powers, nodes("numpy.sum", powers, axis=-1, keepdims=True))]


def layer_norm(nodes, x):
    mean = nodes("numpy.mean", x, axis=-1, keepdims=True)
    spread = nodes("numpy.sqrt", nodes("operator.add", nodes("numpy.var", x, axis=-1, keepdims=True), 1e-5))
    return [nodes("operator.truediv", nodes("operator.sub", x, mean), spread)]


@pytest.mark.parametrize("program", [softmax, layer_norm])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [1, 3, 8, 129, 1000, 9000])
def test_row_reductions_are_part_of_the_region(program, dtype, columns):
    x = np.random.default_rng(columns).standard_normal((65000 // columns, columns)).astype(dtype)
    assert assert_same(program, x).tiled == 1
    assert_same(program, np.asfortranarray(x))


def test_row_reductions_of_special_values_warn_as_the_twin_does():
    x = special_values("f8", 24000, 7).reshape(150, 160)
    assert_same(softmax, x)


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "prod", "any", "all", "var", "std"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "?"])
@pytest.mark.parametrize("keepdims", [True, False])
def test_each_row_reduction(name, dtype, keepdims):
    def build(nodes, x, y):
        return [nodes(f"numpy.{name}", nodes("numpy.multiply", x, y), axis=-1, keepdims=keepdims)]

    with np.errstate(all="ignore"):
        x, y = (value.reshape(30, 8, 100) for value in arrays(dtype, dtype, size=24000))
        assert assert_same(build, x, y).tiled == 1


@pytest.mark.parametrize("name", ["sum", "mean", "max", "min", "any", "all"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "u1", "?", "f2", "c8"])
@pytest.mark.parametrize("shape", [(30011,), (200, 150), (7, 11, 390)])
def test_totals(name, dtype, shape):
    def build(nodes, x, y):
        return [nodes(f"numpy.{name}", nodes("operator.add", nodes("numpy.multiply", x, y), x))]

    random = np.random.default_rng(3)
    x, y = (
        np.asarray((random.standard_normal(shape) * 9), dtype if dtype[0] != "u" else "i8").astype(dtype) for _ in "xy"
    )
    in_parts = dtype in ("f4", "f8") or name in ("any", "all") or (dtype in ("i4", "u1", "?") and name != "mean")
    region = assert_same(build, x, y)
    assert region.tiled == (in_parts or (dtype == "f2" and name in ("max", "min")))
    assert_same(build, np.asfortranarray(x), np.asfortranarray(y))


def test_totals_of_nan_and_of_negative_zeros():
    def build(nodes, x, y):
        product = nodes("operator.mul", x, y)
        shifted = nodes("operator.add", product, product)
        return [nodes("numpy.sum", shifted), nodes("numpy.max", shifted), shifted]

    zeros = np.full(SIZE, -0.0)
    assert_same(build, zeros, np.ones(SIZE))
    assert_same(build, *arrays("f8", "f8"))


def test_data_whose_totals_cannot_be_used_are_left_to_the_twin():
    def build(nodes, x, y):
        return [nodes("numpy.sum", nodes("operator.mul", nodes("operator.add", x, y), y))]

    program = Program(build, *arrays("f8", "f8"))
    broken = np.full(SIZE, np.nan)
    for _ in range(4):
        program.tiled(broken, broken)
    assert program.region.tiled == 0
    program.tiled(np.ones(SIZE), np.ones(SIZE))
    assert program.region.tiled == 0, "this signature has given up"
    program.tiled(np.ones(SIZE - 1), np.ones(SIZE - 1))
    assert program.region.tiled == 1


@pytest.mark.parametrize("index", [(slice(None), None), (..., None)])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
@pytest.mark.parametrize("columns", [1, 7, 160])
def test_new_axes_of_row_reductions(index, dtype, columns):
    def build(nodes, x):
        total = nodes("getitem", nodes("numpy.sum", nodes("operator.mul", x, x), axis=-1), index)
        return [nodes("operator.truediv", nodes("operator.sub", x, total), total)]

    x = special_values(dtype, 24000 // columns * columns, 3).reshape(-1, columns)
    assert assert_same(build, x).tiled == 1


def test_new_axes_of_temporaries_and_of_results():
    def build(nodes, x, y):
        doubled = nodes("operator.mul", y, 2.0)
        column = nodes("getitem", doubled, (slice(None), None))
        scaled = nodes("operator.mul", nodes("operator.add", x, column), column)
        shifted = nodes("operator.add", doubled, 1.0)
        other = nodes("getitem", shifted, (..., None))
        return [scaled, other, nodes("operator.sub", scaled, other)]

    def of_rows(nodes, x):
        return build(nodes, x, nodes("numpy.max", x, axis=-1))

    x, y = special_values("f8", 24000, 1).reshape(200, 120), special_values("f8", 200, 2)
    check_same(build, x, y)
    assert assert_same(of_rows, x).tiled == 1


def test_too_many_indices_raise_as_numpy_does():
    def build(nodes, x):
        row = nodes("numpy.sum", nodes("operator.mul", x, x), axis=-1)
        return [nodes("operator.sub", x, nodes("getitem", row, (slice(None), slice(None), None)))]

    assert assert_same(build, np.ones((200, 120))).tiled == 0
