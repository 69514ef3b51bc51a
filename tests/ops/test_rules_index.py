"""Indexing: the rank, dtype and kind of every item, and whether it is a view, against NumPy."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import INT, STR, UNKNOWN, ArrayType, DictType, ListType, ScalarType, TupleType, type_of
from gjit.ops import OPAQUE, Effect, effects_of, result_types, viewed_inputs, written_inputs
from tests.ops.operands import fits

PARTS = [
    0,
    -1,
    5,
    True,
    None,
    ...,
    slice(None),
    slice(1, -1),
    slice(None, None, -2),
    slice(0, 0),
    np.int32(1),
    np.array(1),
    np.array([0, 1]),
    np.array([[0], [1]]),
    np.array([True, False, True]),
    np.ones((3, 3), bool),
    np.zeros(0, int),
]


def getitem(container, index, *, constant=False, display=False) -> Node:
    """The node of `container[index]` with its types; the index is a constant, a display, or only typed."""
    if display:
        parts = index if isinstance(index, tuple) else (index,)
        tuple_ = Node("tuple", [_part(part) for part in parts])
        tuple_.result.type = result_types(tuple_)[0]
        index_value = tuple_.result
    else:
        index_value = Constant(index) if constant else Value(type_of(index))
    node = Node("getitem", [Value(type_of(container)), index_value])
    (node.result.type,) = result_types(node)
    return node


def _part(part) -> Value:
    return Value(type_of(part)) if isinstance(part, np.ndarray) else Constant(part)


def is_host(index) -> bool:
    return not any(isinstance(part, np.ndarray) for part in (index if isinstance(index, tuple) else (index,)))


@pytest.mark.parametrize("rank", range(4))
@pytest.mark.parametrize("dtype", ["f4", "c16", "?", "M8[s]", "U3", "O"])
def test_items_of_arrays(rank, dtype):
    rng = random.Random(rank)
    array = np.arange(3**rank).reshape((3,) * rank).astype(dtype if dtype != "M8[s]" else "i8").astype(dtype)
    known = 0
    for _ in range(400):
        index = tuple(rng.choice(PARTS) for _ in range(rng.randint(0, rank + 1)))
        index = index[0] if len(index) == 1 and rng.random() < 0.5 else index
        node = getitem(array, index, constant=is_host(index) and rng.random() < 0.5, display=rng.random() < 0.5)
        try:
            item = array[index]
        except (IndexError, ValueError):
            assert Effect.RAISES in effects_of(node), index
            continue
        assert fits(node.result.type, item), (index, node.result.type, item)
        if isinstance(item, np.ndarray) and np.shares_memory(item, array):
            assert viewed_inputs(node) == [0], index
        known += node.result.type != UNKNOWN
    assert known or dtype == "O"


def test_slices_of_proven_arrays_are_views_that_cannot_fail():
    matrix = np.zeros((3, 3))
    for index in [slice(1, -1), (slice(None), slice(None, None, -1)), (None, ...), ()]:
        node = getitem(matrix, index, constant=True)
        assert effects_of(node) == Effect.ALLOCATES
        assert viewed_inputs(node) == [0]
    assert Effect.RAISES in effects_of(getitem(matrix, (slice(None),) * 3, constant=True))
    assert Effect.RAISES in effects_of(getitem(matrix, slice(None, None, 0), constant=True))


def test_slices_with_int_variables_cannot_fail():
    bounds = Node("slice", [Value(INT), Constant(None), Constant(2)])
    (bounds.result.type,) = result_types(bounds)
    node = Node("getitem", [Value(ArrayType(np.dtype("f8"), 1)), bounds.result])
    (node.result.type,) = result_types(node)
    assert str(node.result.type) == "array<float64, 1>"
    assert effects_of(node) == Effect.ALLOCATES


def test_elements_are_read_and_copies_are_no_views():
    vector = np.zeros(3)
    element = getitem(vector, 0)
    assert element.result.type == ScalarType(np.dtype("f8"))
    assert effects_of(element) == Effect.RAISES | Effect.READS
    copied = getitem(vector, np.array([True, False, True]))
    assert viewed_inputs(copied) == []
    assert Effect.READS in effects_of(copied)


@pytest.mark.parametrize(
    ("container", "index"),
    [((1, 2.0), 0), ((1, 2.0), -1), ((1, 2.0), 2), ((1, 2.0), slice(0, 1)), ("abc", 1), ("abc", slice(2)), (b"ab", 0)]
    + [(b"ab", slice(1)), (range(3), 1), (range(3), slice(1, 2)), ([1, 2], 0), ([1, 2], slice(1)), ({"a": 1}, "a")],
)
def test_items_of_containers(container, index):
    for constant in (True, False):
        node = getitem(container, index, constant=constant)
        try:
            item = container[index]
        except IndexError:
            assert Effect.RAISES in effects_of(node)
            continue
        assert fits(node.result.type, item)


def test_unknown_containers_are_opaque():
    node = Node("getitem", [Value(UNKNOWN), Constant(0)])
    assert result_types(node) == [UNKNOWN]
    assert effects_of(node) == OPAQUE
    assert viewed_inputs(node) == [0]


def test_stores_write_the_container():
    array, value = Value(ArrayType(np.dtype("f8"), 1)), Value(ArrayType(np.dtype("f8"), 1))
    node = Node("setitem", [array, Constant(slice(1, 2)), value], results=0)
    assert effects_of(node) == Effect.RAISES | Effect.READS | Effect.WRITES
    assert written_inputs(node) == [0]
    unknown = Node("setitem", [array, Constant(slice(1, 2)), Value(UNKNOWN)], results=0)
    assert effects_of(unknown) == OPAQUE
    assert written_inputs(unknown) == [0, 2]


def test_stores_into_containers():
    for container in (ListType(UNKNOWN), DictType(UNKNOWN, UNKNOWN)):
        node = Node("setitem", [Value(container), Constant(0), Constant(1.0)], results=0)
        assert Effect.WRITES in effects_of(node)
        assert written_inputs(node) == [0]


def test_tuples_of_arrays_keep_their_types():
    type_ = TupleType((ArrayType(np.dtype("f4"), 1), STR))
    node = Node("getitem", [Value(type_), Constant(0)])
    (node.result.type,) = result_types(node)
    assert node.result.type == type_.elements[0]
    assert viewed_inputs(node) == [0]
