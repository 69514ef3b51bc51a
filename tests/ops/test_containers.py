"""Displays, attributes, unpacking and f-strings."""

from __future__ import annotations

import numpy as np
import pytest

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import FLOAT, INT, STR, UNKNOWN, ArrayType, ListType, TupleType, type_of
from gjit.ops import OPAQUE, Effect, effects_of, result_types, viewed_inputs
from tests.ops.operands import fits

OBJECTS = [
    np.ones((2, 3), "f4"),
    np.ones(2, "c16"),
    np.array(1.0),
    np.float32(1),
    np.int64(2),
    np.dtype("f8"),
    True,
    2,
    2.5,
    1j,
]
ATTRIBUTES = [
    *("shape", "strides", "ndim", "size", "itemsize", "nbytes", "dtype", "T", "mT", "real", "imag", "flags", "base"),
    *("flat", "kind", "char", "name", "str", "sum", "missing"),
]


def typed(node: Node) -> Node:
    for value, type_ in zip(node.results, result_types(node), strict=True):
        value.type = type_
    return node


@pytest.mark.parametrize("name", ATTRIBUTES)
def test_attributes(name):
    for subject in OBJECTS:
        node = typed(Node("getattr", [Value(type_of(subject))], attributes={"name": name}))
        try:
            attribute = getattr(subject, name)
        except (AttributeError, ValueError):
            assert Effect.RAISES in effects_of(node), subject
            continue
        assert fits(node.result.type, attribute), (subject, attribute)
        if (
            isinstance(attribute, np.ndarray)
            and isinstance(subject, np.ndarray)
            and np.shares_memory(attribute, subject)
        ):
            assert viewed_inputs(node) == [0]


def test_a_shape_is_a_tuple_of_ints():
    node = typed(Node("getattr", [Value(ArrayType(np.dtype("f4"), 2))], attributes={"name": "shape"}))
    assert node.result.type == TupleType((INT, INT))
    assert effects_of(node) == Effect.READS
    assert viewed_inputs(node) == []


def test_attributes_of_unknown_objects_may_do_anything():
    node = typed(Node("getattr", [Value(UNKNOWN)], attributes={"name": "shape"}))
    assert effects_of(node) == OPAQUE


@pytest.mark.parametrize("value", [(1, 2.0), np.ones((2, 3)), np.ones(2), "ab", b"ab", range(2), [1, 2.0]])
def test_unpack(value):
    node = typed(
        Node("unpack", [Value(type_of(value))], attributes={"before": 2, "star": False, "after": 0}, results=2)
    )
    assert all(fits(result.type, part) for result, part in zip(node.results, value, strict=True))


def test_unpack_with_a_star():
    type_ = TupleType((INT, FLOAT, STR, INT))
    node = typed(Node("unpack", [Value(type_)], attributes={"before": 1, "star": True, "after": 1}, results=3))
    assert [value.type for value in node.results] == [INT, ListType(UNKNOWN), INT]
    assert effects_of(node) == Effect.ALLOCATES


def test_a_wrong_number_of_values_raises():
    node = typed(
        Node("unpack", [Value(TupleType((INT,)))], attributes={"before": 2, "star": False, "after": 0}, results=2)
    )
    assert Effect.RAISES in effects_of(node)


def test_displays_hold_their_elements():
    array = Value(ArrayType(np.dtype("f4"), 2))
    for op in ("tuple", "list"):
        node = typed(Node(op, [array, Constant(1)]))
        assert viewed_inputs(node) == [0]
    assert typed(Node("tuple", [array, Constant(1)])).result.type == TupleType((array.type, INT))
    assert typed(Node("list", [Constant(1)])).result.type == ListType(UNKNOWN)


def test_spreads_run_iterators():
    assert effects_of(Node("tuple", [Value(UNKNOWN)], labels=("*",))) == OPAQUE
    assert result_types(Node("tuple", [Value(UNKNOWN)], labels=("*",))) == [TupleType(None)]


def test_hashing_plain_keys_runs_nothing():
    assert effects_of(Node("dict", [Constant("a"), Value(UNKNOWN)])) == Effect.ALLOCATES
    assert effects_of(Node("dict", [Value(UNKNOWN), Constant("a")])) == OPAQUE


def test_f_strings():
    number = typed(Node("format", [Value(FLOAT), Constant(".3f")], attributes={"conversion": ""}))
    assert (number.result.type, effects_of(number)) == (STR, Effect.RAISES)
    unknown = typed(Node("format", [Value(UNKNOWN), Constant("")], attributes={"conversion": ""}))
    assert (unknown.result.type, effects_of(unknown)) == (UNKNOWN, OPAQUE)
