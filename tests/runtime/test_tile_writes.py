from __future__ import annotations

import numpy as np
import pytest

from gjit.runtime import tiles
from tests.runtime.region_programs import SIZE, Program, arrays, assert_same, in_place, special_values

pytestmark = pytest.mark.usefixtures("small_tiles")


def smooth(nodes, target, left, right):
    nodes("setitem", target, slice(1, -1), nodes("operator.mul", 0.5, nodes("operator.add", left, right)))
    return []


def test_a_store_is_computed_right_in_its_target():
    target, left, right = np.zeros(SIZE + 2), *arrays("f8", "f8")
    region = assert_same(smooth, target, left, right)
    assert region.tiled == 1
    assert "target_)" in region.programs()[0]


@pytest.mark.parametrize("dtype", ["f4", "i4", "?", "c16", "f2"])
def test_a_store_casts(dtype):
    target, left, right = np.zeros(SIZE + 2, dtype), *arrays("f8", "f8")
    assert assert_same(smooth, target, left, right).tiled == 1


def test_a_store_that_overlaps_what_is_read_goes_through_a_temporary():
    (u,) = arrays("f8")
    region = assert_same(smooth, u, u[:-2], u[2:])
    assert region.tiled == 1
    assert "target" not in region.programs()[-1]


def test_a_store_over_the_very_elements_that_are_read_needs_no_temporary():
    (u,) = arrays("f8")
    region = assert_same(smooth, u, u[1:-1], u[1:-1])
    assert region.tiled == 1
    assert "target_)" in region.programs()[-1]


@pytest.mark.parametrize("index", [2, ..., (slice(None), slice(3, 50)), (slice(None, None, 2), None), slice(400, 500)])
def test_stores_at_other_indices(index):
    def build(nodes, target, value, other):
        nodes("setitem", target, index, nodes("operator.mul", nodes("operator.add", value, other), 0.5))
        return []

    target = np.zeros((300, 120))
    shape = target[index].shape if index != slice(400, 500) else (1, 120)
    value = special_values("f8", int(np.prod(shape)), 5).reshape(shape)
    assert_same(build, target, value, value)


def test_a_store_into_a_read_only_array_raises_as_numpy_does():
    target, left, right = np.zeros(SIZE + 2), *arrays("f8", "f8")
    target.flags.writeable = False
    assert assert_same(smooth, target, left, right).tiled == 0


def test_a_store_whose_index_is_an_input():
    def build(nodes, target, index, value):
        nodes("setitem", target, index, nodes("operator.mul", nodes("operator.add", value, 1), 0.5))
        return []

    program = Program(build, np.zeros(SIZE), slice(1, -1), np.ones(SIZE - 2))
    for index in (slice(1, -1), slice(2, None), slice(0, -2), slice(0, -2)):
        ours, theirs = np.zeros(SIZE), np.zeros(SIZE)
        program.tiled(ours, index, np.ones(SIZE - 2))
        program.twin(theirs, index, np.ones(SIZE - 2))
        assert np.array_equal(ours, theirs)
    assert program.region.tiled == 4


@pytest.mark.parametrize("dtypes", [("f8", "f8"), ("f4", "f8"), ("c8", "f4"), ("f8", "i8"), ("i4", "f8"), ("u1", "i2")])
def test_in_place_operators_write_the_array_itself(dtypes):
    region = assert_same(in_place, *arrays(*dtypes))
    assert region.tiled == (np.can_cast(np.result_type(*dtypes), dtypes[0], "same_kind") and dtypes[0] != "i4")


def test_in_place_operators_on_overlapping_arrays_run_op_by_op():
    (x,) = arrays("f8")
    assert assert_same(in_place, x[1:], x[:-1]).tiled == 0
    assert assert_same(in_place, x, x).tiled == 1
    assert assert_same(in_place, np.broadcast_to(x[:1], (SIZE,)), x).tiled == 0


def test_out_arguments_of_ufuncs():
    def build(nodes, x, y, out):
        total = nodes("numpy.add", x, y, out=out)
        return [nodes("numpy.sqrt", nodes("numpy.multiply", total, total), out)]

    assert assert_same(build, *arrays("f8", "f8", "f8")).tiled == 1
    assert assert_same(build, *arrays("f4", "f4", "f8")).tiled == 1
    x, y, _ = arrays("f8", "f8", "f8")
    assert assert_same(build, x[:-1], y[:-1], x[1:]).tiled == 0


def test_an_in_place_operator_on_a_temporary_that_is_returned():
    def build(nodes, x, y):
        fresh = nodes("operator.mul", x, y)
        changed = nodes("operator.iadd", fresh, 1.0)
        return [fresh, changed, nodes("operator.isub", changed, nodes("numpy.exp", y))]

    assert assert_same(build, *arrays("f8", "f8")).tiled == 1


def test_stores_at_other_places_share_one_plan():
    def build(nodes, target, index, value):
        nodes("setitem", target, index, nodes("operator.mul", nodes("operator.add", value, 1), 0.5))
        return []

    value, ours, theirs = np.ones(SIZE), np.zeros((SIZE, 40)), np.zeros((SIZE, 40))
    program = Program(build, ours, (slice(None), 0), value)
    for column in range(40):
        program.tiled(ours, (slice(None), column), value)
        program.twin(theirs, (slice(None), column), value)
    assert np.array_equal(ours, theirs)
    assert program.region.tiled == 40
    assert len(program.region._plans) == 1


def test_a_small_store_into_a_large_array_is_left_to_the_twin(monkeypatch):
    def build(nodes, target, index, value):
        nodes("setitem", target, index, nodes("operator.mul", nodes("operator.add", value, 1), 0.5))
        return []

    monkeypatch.setattr(tiles, "MINIMUM_ELEMENTS", 1000)
    target = np.zeros((1000, 200))
    program = Program(build, target, (slice(None), 0), np.ones(1000))
    for row in range(200):
        program.tiled(target, row, np.ones(200))
    assert not program.region._plans
    program.tiled(target, (slice(None), 3), np.ones(1000))
    assert program.region.tiled == 1


def test_shapes_that_change_with_every_call_are_soon_not_planned_any_more():
    def build(nodes, x, y):
        return [nodes("operator.mul", nodes("numpy.sqrt", nodes("operator.add", x, y)), y)]

    program = Program(build, np.ones(SIZE), np.ones(SIZE))
    for size in range(100):
        program.tiled(np.ones(SIZE + size), np.ones(SIZE + size))
    assert 10 < program.region.tiled < 20
    for _ in range(200):
        program.tiled(np.ones(SIZE), np.ones(SIZE))
    assert program.region.tiled > 200
