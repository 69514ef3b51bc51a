from __future__ import annotations

import numpy as np
import pytest

from gjit.runtime import tiles
from tests.runtime.region_programs import SIZE, Program, arrays, assert_same, chain, special_values

pytestmark = pytest.mark.usefixtures("small_tiles")


@pytest.mark.parametrize(
    "dtypes", [("f4", "f4"), ("f8", "f8"), ("f2", "f2"), ("c8", "c8"), ("c16", "f4"), ("i4", "f4"), ("u1", "i8")]
)
def test_a_chain_is_tiled_with_the_bits_of_its_twin(dtypes):
    assert assert_same(chain, *arrays(*dtypes)).tiled == 1


LAYOUTS = {
    "C": lambda x: x.reshape(200, -1),
    "F": lambda x: x.reshape(-1, 200).T,
    "columns of C": lambda x: x.reshape(200, -1)[:, ::2],
    "rows of C": lambda x: x.reshape(200, -1)[::3],
    "columns of F": lambda x: x.reshape(-1, 200).T[:, 1:],
    "three axes": lambda x: x.reshape(100, 2, -1),
    "inner axis cut": lambda x: x.reshape(100, 2, -1)[..., 3:40],
    "strided line": lambda x: x[::2],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2"])
def test_regular_layouts_are_tiled(layout, dtype):
    x, y = (LAYOUTS[layout](value[:24000]) for value in arrays(dtype, dtype))
    assert assert_same(chain, x, y).tiled == 1


BROADCASTS = {
    "row": ((150, 160), (160,)),
    "column": ((150, 160), (150, 1)),
    "row and column": ((150, 1), (1, 160)),
    "one element": ((24000,), (1,)),
    "zero rank": ((24000,), ()),
    "plane": ((50, 20, 24), (20, 24)),
    "outer axes": ((50, 20, 24), (50, 1, 1)),
}


@pytest.mark.parametrize("case", BROADCASTS)
@pytest.mark.parametrize("order", "CF")
def test_broadcast_operands_are_tiled(case, order):
    x, y = (
        np.asarray(special_values("f8", int(np.prod(shape)), 1).reshape(shape), order=order)
        for shape in BROADCASTS[case]
    )
    assert assert_same(chain, x, y).tiled == 1


def test_small_subexpressions_are_computed_once():
    def build(nodes, x, row):
        return [nodes("operator.add", nodes("operator.mul", x, nodes("numpy.exp", row)), x)]

    region = assert_same(build, *arrays("f8", size=24000)[:1], special_values("f8", 1, 3))
    assert region.tiled == 1
    assert "def before" in region.programs()[0]


@pytest.mark.parametrize(
    "awkward",
    [
        lambda x: x[::-1],
        lambda x: x.astype(">f8"),
        lambda x: x.astype(np.longdouble),
        lambda x: x.astype(object),
        lambda x: x.view(np.recarray),
        lambda x: np.frombuffer(b"0" + x.tobytes(), np.uint8)[1:].view("f8"),
    ],
)
def test_what_is_no_plain_array_runs_op_by_op(awkward):
    x = np.linspace(1, 2, 24000)
    program = Program(chain, x, x)
    result = program.tiled(awkward(x), x)
    expected = program.twin(awkward(x), x)
    assert program.region.tiled == 0
    assert type(result) is type(expected)
    assert result.dtype == expected.dtype
    assert result.strides == expected.strides
    assert np.array_equal(result, expected)


def test_mixed_layouts_run_op_by_op():
    x = np.arange(24000.0).reshape(150, 160)
    assert assert_same(chain, x, x.reshape(160, 150).T).tiled == 0


def test_sizes_without_elements_or_below_the_minimum_run_op_by_op(monkeypatch):
    assert assert_same(chain, np.empty((0, 3)), np.empty((0, 3))).tiled == 0
    monkeypatch.setattr(tiles, "MINIMUM_ELEMENTS", 1 << 20)
    assert assert_same(chain, np.ones(30000), np.ones(30000)).tiled == 0


@pytest.mark.parametrize(
    "value", [7, True, -2.5, 1e300, -1e-310, float("nan"), 1 + 2j, 10**30, np.float64(3), np.int8(3), np.array(2.5)]
)
@pytest.mark.parametrize("dtype", ["f4", "f8", "u1", "c8", "?"])
def test_scalars_are_as_weak_as_numpy_takes_them(dtype, value):
    def build(nodes, x, scalar):
        return [nodes("operator.add", nodes("operator.mul", x, scalar), x)]

    assert_same(build, *arrays(dtype), value)


@pytest.mark.parametrize("value", [1e300, 1e-310, 70000, 2**70, 1e300j])
@pytest.mark.parametrize("dtype", ["f2", "f4", "c8", "i4"])
def test_constants_that_do_not_fit_raise_and_warn_where_numpy_does(dtype, value):
    def build(nodes, x, y):
        return [nodes("operator.mul", nodes("operator.add", x, value), y)]

    assert_same(build, np.ones(SIZE, dtype), np.ones(SIZE, dtype))


@pytest.mark.parametrize("value", [300, -1, 255, 2.5, 1e300, True])
def test_where_and_comparisons_with_python_numbers(value):
    def build(nodes, x, y, scalar):
        less = nodes("operator.lt", x, scalar)
        return [nodes("operator.add", nodes("numpy.where", less, x, scalar), y)]

    for dtypes in (("u1", "u1"), ("f4", "f4"), ("f8", "i4")):
        assert_same(build, *arrays(*dtypes), value)


@pytest.mark.parametrize("exponent", [2, 2.0, 0.5, -1, -1.0, 3, 0, 1.5, True])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4", "u1", "?"])
@pytest.mark.parametrize("op", ["operator.pow", "operator.ipow"])
def test_powers_with_python_exponents(op, dtype, exponent):
    def build(nodes, x, y):
        power = nodes(op, nodes("operator.add", x, y), exponent)
        return [nodes("operator.mul", power, y)]

    assert_same(build, *arrays(dtype, dtype))


def test_a_power_whose_exponent_is_an_input_runs_op_by_op_for_python_numbers():
    def build(nodes, x, y, power):
        return [nodes("numpy.exp", nodes("operator.add", nodes("operator.pow", x, power), y))]

    assert assert_same(build, *arrays("f8", "f8"), 2).tiled == 0
    assert assert_same(build, *arrays("f8", "f8"), np.float64(2)).tiled == 1


def test_a_signature_is_planned_once():
    program = Program(chain, *(np.ones(SIZE),) * 2)
    for _ in range(3):
        program.tiled(*(np.ones(SIZE),) * 2)
    program.tiled(np.ones(SIZE, "f4"), np.ones(SIZE))
    assert program.region.tiled == 4
    assert len(program.region.programs()) == 1, "the same text serves both"
