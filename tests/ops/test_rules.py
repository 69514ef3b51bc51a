"""Type rules where the answer must be held back, and those that see through displays and attributes."""

from __future__ import annotations

import numpy as np
import pytest

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import (
    BOOL,
    FLOAT,
    INT,
    STR,
    UNKNOWN,
    ArrayType,
    ListType,
    ScalarType,
    TupleType,
    Type,
    type_of,
)
from gjit.ops import result_types, table
from gjit.ops.operators import BINARY, COMPARISONS

F4, F8, I8 = (np.dtype(name) for name in ("f4", "f8", "i8"))


def typed(op: str, *operands: object, labels: tuple[str, ...] = (), **attributes: object) -> Node:
    """A node on types, values, and constants, with its result types set."""
    inputs = [Value(o) if isinstance(o, Type) else o if isinstance(o, Value) else Constant(o) for o in operands]
    node = Node(op, inputs, labels=labels, attributes=attributes)
    (node.result.type,) = result_types(node)
    return node


def result(op: str, *operands: object, **keywords: object) -> Type:
    return typed(op, *operands, **keywords).result.type


@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("exponent", [-1, 0, 1, 2, 3, 0.5, 2.0, True, 1j])
def test_constant_powers(dtype, exponent):
    base = np.ones(2, dtype)
    try:
        expected = type_of(base**exponent)
    except (TypeError, ValueError, OverflowError):
        return
    assert result("operator.pow", type_of(base), exponent) in (expected, UNKNOWN)
    if dtype in ("f4", "c16"):
        assert result("operator.pow", type_of(base), exponent) == expected


def test_powers_that_depend_on_values_are_unknown():
    assert result("operator.pow", INT, INT) == UNKNOWN  # 2 ** -1 is a float
    assert result("operator.pow", FLOAT, FLOAT) == UNKNOWN  # (-1.0) ** 0.5 is complex
    assert result("operator.pow", ArrayType(np.dtype(bool), 1), INT) == UNKNOWN
    assert result("operator.pow", INT, 2) == INT
    assert result("operator.pow", FLOAT, INT) == FLOAT


@pytest.mark.parametrize("operands", [(INT, INT), (INT, FLOAT), (BOOL, BOOL), (BOOL, INT)])
def test_numbers_of_python_keep_pythons_types(operands):
    samples = {INT: 3, FLOAT: 1.5, BOOL: True}
    for name, (_, function, *_) in [*BINARY.items(), *COMPARISONS.items()]:
        if name == "pow":
            continue
        try:
            expected = type_of(function(*(samples[o] for o in operands)))
        except TypeError:
            expected = UNKNOWN
        assert result(f"operator.{name}", *operands) == expected


def test_an_operand_of_unknown_rank_may_be_a_scalar():
    unknown_rank = ArrayType(F4, None)
    assert result("numpy.add", unknown_rank, 1.0) == UNKNOWN
    assert result("numpy.add", unknown_rank, ArrayType(F8, 2)) == ArrayType(F8, None)
    assert result("numpy.add", ArrayType(F4, 0), ArrayType(F4, 0)) == ScalarType(F4)


def test_unknown_dtypes_and_objects_are_unknown():
    assert result("numpy.add", ArrayType(None, 1), 1.0) == UNKNOWN
    assert result("numpy.add", ArrayType(np.dtype(object), 1), 1.0) == UNKNOWN
    assert result("numpy.add", ArrayType(np.dtype("g"), 1), 1.0) == UNKNOWN
    assert result("numpy.add", UNKNOWN, ArrayType(F4, 1)) == UNKNOWN


def test_python_ints_become_arrays_by_their_value():
    assert result("numpy.add", INT, INT) == UNKNOWN
    assert result("numpy.add", INT, ArrayType(F4, 1)) == ArrayType(F4, 1)
    assert result("numpy.array", INT) == UNKNOWN
    assert result("numpy.full", 3, INT) == UNKNOWN
    assert result("numpy.full", 3, INT, F4) == ArrayType(F4, 1)


def test_arange_knows_lengths_and_extents():
    shape = typed("getattr", ArrayType(F4, 2), name="shape").result
    extent = typed("getitem", shape, 0).result
    assert result("numpy.arange", extent) == ArrayType(I8, 1)
    assert result("numpy.arange", 1, extent) == ArrayType(I8, 1)
    assert result("numpy.arange", INT) == ArrayType(None, 1)
    assert result("numpy.arange", INT, FLOAT) == ArrayType(None, 1)
    assert result("numpy.arange", FLOAT, FLOAT, 0.5) == ArrayType(F8, 1)
    assert result("numpy.arange", INT, F4, labels=("", "dtype=")) in (ArrayType(F4, 1), ArrayType(None, 1), UNKNOWN)


def test_a_list_is_known_only_where_nobody_else_sees_it():
    array = ArrayType(F4, 2)
    display = Node("list", [Value(array), Value(array)])
    display.result.type = ListType(UNKNOWN)
    assert result("numpy.concatenate", display.result) == array
    Node("call", [Value(UNKNOWN), display.result])  # it may append to the list
    again = Node("numpy.concatenate", [display.result])
    assert result_types(again) == [UNKNOWN]


def test_shapes_and_dtypes_of_arrays_are_seen():
    array = Value(ArrayType(F4, 2))
    shape, dtype = (typed("getattr", array, name=name).result for name in ("shape", "dtype"))
    assert result("numpy.zeros", shape) == ArrayType(F8, 2)
    assert result("numpy.zeros", shape, dtype) == ArrayType(F4, 2)
    assert result("numpy.zeros", UNKNOWN, F4) == ArrayType(F4, None)
    assert result("ndarray.astype", ArrayType(I8, 1), dtype) == ArrayType(F4, 1)
    assert result("numpy.reshape", ArrayType(I8, 1), shape) == ArrayType(I8, 2)
    assert result("ndarray.reshape", ArrayType(I8, 1), INT, -1) == ArrayType(I8, 2)
    assert result("ndarray.reshape", ArrayType(I8, 1), UNKNOWN) == ArrayType(I8, None)


@pytest.mark.parametrize("keepdims", [True, False])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), ()])
@pytest.mark.parametrize("name", ["sum", "mean", "max", "var", "any"])
def test_reductions(name, axis, keepdims):
    array = np.ones((2, 3), "i2")
    expected = type_of(getattr(np, name)(array, axis=axis, keepdims=keepdims))
    assert result(f"numpy.{name}", type_of(array), axis, keepdims, labels=("", "axis=", "keepdims=")) == expected


def test_flags_that_are_not_constant_hold_the_type_back():
    labels = ("", "axis=", "keepdims=")
    assert result("numpy.sum", ArrayType(F4, 2), 0, BOOL, labels=labels) == UNKNOWN
    assert result("numpy.sum", ArrayType(F4, 2), INT, False, labels=labels) == UNKNOWN


def test_spreads_hold_the_type_back():
    assert result("numpy.add", TupleType((FLOAT, FLOAT)), labels=("*",)) == UNKNOWN
    assert result("numpy.zeros", TupleType((INT,)), labels=("*",)) == UNKNOWN


def test_several_outputs_come_as_a_tuple():
    array = ArrayType(F4, 1)
    assert result("numpy.frexp", array) == TupleType((array, ArrayType(np.dtype("i4"), 1)))
    assert result("numpy.divmod", array, 2) == TupleType((array, array))


def test_sequences():
    assert result("operator.add", TupleType((INT,)), TupleType((STR,))) == TupleType((INT, STR))
    assert result("operator.mul", ListType(UNKNOWN), INT) == ListType(UNKNOWN)
    assert result("operator.mod", STR, INT) == STR
    assert result("operator.lt", STR, STR) == BOOL


def test_contractions():
    assert result("numpy.einsum", "ij,jk->ik", ArrayType(F4, 2), ArrayType(F8, 2)) == ArrayType(F8, 2)
    assert result("operator.matmul", ArrayType(F4, 1), ArrayType(F4, 1)) == ScalarType(F4)
    assert result("operator.matmul", ArrayType(F4, 3), ArrayType(F4, 1)) == ArrayType(F4, 2)
    assert result("numpy.linalg.solve", ArrayType(F4, 2), ArrayType(F4, 1)) == ArrayType(F4, 1)


def test_methods_find_their_rows():
    assert table.of_method("sum").name == "numpy.sum"
    assert table.of_method("reshape").name == "ndarray.reshape"
    assert table.of_method("no_such") is None
