"""Effects and aliases: nothing is pure that is not proved to be."""

from __future__ import annotations

import numpy as np
import pytest

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import BOOL, COMPLEX, FLOAT, INT, STR, UNKNOWN, ArrayType, ListType, TupleType, Type
from gjit.ops import OPAQUE, Effect, effects_of, result_types, table, viewed_inputs, written_inputs

ARRAY = ArrayType(np.dtype("f8"), 1)


def typed(op: str, *operands: object, labels: tuple[str, ...] = (), **attributes: object) -> Node:
    inputs = [Value(o) if isinstance(o, Type) else o if isinstance(o, Value) else Constant(o) for o in operands]
    node = Node(op, inputs, labels=labels, attributes=attributes)
    for value, type_ in zip(node.results, result_types(node), strict=True):
        value.type = type_
    return node


@pytest.mark.parametrize("op", [op for op in table.rows if op.startswith(("operator.", "numpy.", "ndarray.", "math."))])
def test_unknown_operands_may_run_anything(op):
    if op in ("operator.is", "operator.is_not"):
        assert effects_of(typed(op, UNKNOWN, UNKNOWN)) == Effect.NONE
        return
    row = table[op]
    count = 2 if row.symbol and row.function.__name__ not in ("neg", "pos", "invert", "not_") else 1
    assert effects_of(typed(op, *[UNKNOWN] * count)) == OPAQUE


@pytest.mark.parametrize("types", [(INT, INT), (FLOAT, FLOAT), (BOOL, FLOAT), (COMPLEX, FLOAT)])
@pytest.mark.parametrize("name", ["add", "sub", "mul", "eq"])
def test_arithmetic_of_numbers_is_pure(name, types):
    assert effects_of(typed(f"operator.{name}", *types)) == Effect.NONE


@pytest.mark.parametrize(
    ("op", "types"),
    [
        ("operator.truediv", (INT, INT)),  # division by zero
        ("operator.add", (INT, FLOAT)),  # an int too large for a float
        ("operator.lshift", (INT, INT)),
        ("operator.lt", (COMPLEX, COMPLEX)),
        ("operator.add", (STR, INT)),
        ("math.sqrt", (FLOAT,)),
    ],
)
def test_what_may_raise_says_so(op, types):
    assert effects_of(typed(op, *types)) in (Effect.RAISES, Effect.RAISES | Effect.ALLOCATES)


def test_elementwise_functions_read_and_allocate():
    assert effects_of(typed("numpy.add", ARRAY, 1.0)) == Effect.RAISES | Effect.READS | Effect.ALLOCATES
    assert effects_of(typed("numpy.isnan", ARRAY)) == Effect.READS | Effect.ALLOCATES
    assert effects_of(typed("numpy.sum", ARRAY)) == Effect.RAISES | Effect.READS


@pytest.mark.parametrize("labels", [("", "", "out="), ()])
def test_outputs_are_written_and_given_back(labels):
    node = typed("numpy.add", ARRAY, 1.0, ARRAY, labels=labels)
    assert Effect.WRITES in effects_of(node)
    assert written_inputs(node) == [2]
    assert viewed_inputs(node) == [2]


def test_in_place_operators_write_arrays_and_leave_numbers():
    node = typed("operator.iadd", ARRAY, 1.0)
    assert effects_of(node) == Effect.RAISES | Effect.READS | Effect.WRITES
    assert (written_inputs(node), viewed_inputs(node)) == ([0], [0])
    number = typed("operator.iadd", FLOAT, 1.0)
    assert (written_inputs(number), viewed_inputs(number)) == ([], [])


def test_copies_and_views():
    assert viewed_inputs(typed("ndarray.astype", ARRAY, np.float32)) == []
    assert viewed_inputs(typed("ndarray.astype", ARRAY, np.float32, False, labels=("", "", "copy="))) == [0]
    assert viewed_inputs(typed("numpy.transpose", ARRAY)) == [0]
    assert viewed_inputs(typed("numpy.concatenate", TupleType((ARRAY, ARRAY)))) == []
    assert viewed_inputs(typed("numpy.nan_to_num", ARRAY, False, labels=("", "copy="))) == [0]
    assert written_inputs(typed("numpy.nan_to_num", ARRAY, False, labels=("", "copy="))) == [0]


def test_joined_sequences_hold_the_elements_of_both():
    node = typed("operator.add", TupleType((ARRAY,)), TupleType((ARRAY,)))
    assert viewed_inputs(node) == [0, 1]
    assert viewed_inputs(typed("operator.mul", ListType(UNKNOWN), INT)) == [0]


def test_spreads_and_user_functions_are_opaque():
    assert effects_of(typed("numpy.add", TupleType((ARRAY, ARRAY)), labels=("*",))) == OPAQUE
    assert effects_of(typed("builtin.sorted", ListType(UNKNOWN))) == OPAQUE
    assert effects_of(Node("no.such.op", [Value(ARRAY)])) == OPAQUE
    assert written_inputs(Node("no.such.op", [Value(ARRAY), Value(INT)])) == [0]


def test_nodes_with_blocks_do_what_their_blocks_do():
    choice = Node("if", [Value(BOOL)], results=0)
    inner = choice.add_block()
    choice.add_block()
    assert effects_of(choice) == Effect.NONE
    inner.append(Node("builtin.print", [Value(INT)]))
    assert effects_of(choice) == OPAQUE


def test_leaving_a_block_keeps_its_place():
    choice = Node("if", [Value(BOOL)], results=0)
    choice.add_block().terminate(Node("return", [Value(INT)], results=0))
    assert effects_of(choice) == Effect.ORDERED
