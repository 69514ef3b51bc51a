from __future__ import annotations

import enum
import math
import struct

import numpy as np
import pytest
from hypothesis import given

from gjit.ir import GraphTextError, constant_key, constant_text, constants_equal, is_constant, parse_constant
from gjit.ir.constants import display_text, scalar_bits
from tests.ir.strategies import constants, dtypes, numpy_scalars


def same(left: object, right: object) -> bool:
    """Equality by class and bits, written without the text form."""
    if type(left) is not type(right):
        return False
    if isinstance(left, tuple):
        return len(left) == len(right) and all(map(same, left, right))
    if isinstance(left, slice):
        return same((left.start, left.stop, left.step), (right.start, right.stop, right.step))
    if isinstance(left, float) and type(left) is float:
        return struct.pack("<d", left) == struct.pack("<d", right)
    if type(left) is complex:
        return same((left.real, left.imag), (right.real, right.imag))
    if isinstance(left, np.str_ | np.bytes_):
        return list(left) == list(right)
    if isinstance(left, np.generic):
        return left.dtype == right.dtype and scalar_bits(left) == scalar_bits(right)
    return left == right


@given(constants)
def test_any_constant_comes_back_with_every_bit(value):
    assert is_constant(value) or isinstance(value, np.void | tuple | slice)
    assert same(parse_constant(constant_text(value)), value)


@given(numpy_scalars)
def test_numpy_scalars_keep_class_and_bits(value):
    assert same(parse_constant(constant_text(value)), value)


@given(dtypes)
def test_dtypes_keep_order_offsets_titles_and_alignment(dtype):
    read = parse_constant(constant_text(dtype))
    assert (read, read.char, read.str, read.itemsize, read.isalignedstruct, read.fields) == (
        *(dtype, dtype.char, dtype.str, dtype.itemsize, dtype.isalignedstruct, dtype.fields),
    )
    assert read.type is dtype.type


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.5, "1.5"),
        (-0.0, "-0.0"),
        (float("-inf"), "-inf"),
        (1, "1"),
        (-(2**200), "-0x1" + "0" * 50),
        (True, "True"),
        (complex(0.0, -0.0), "complex(0.0, -0.0)"),
        ("it's", '"it\'s"'),
        ((1,), "(1,)"),
        (slice(1, None), "slice(1, None, None)"),
        (np.float32(0.1), "float32(0.10000000149011612)"),
        (np.float64("nan"), "float64(nan)"),
        (np.longlong(3), "longlong(3)"),
        (np.datetime64("2020-01-01"), "scalar('<M8[D]', 18262)"),
        (np.dtype(">f4"), "dtype('>f4')"),
        (np.dtype("q"), "dtype(longlong)"),
        (np.float64, "numpy.float64"),
        (int, "builtin.int"),
    ],
)
def test_text_is_source_like(value, text):
    assert constant_text(value) == text
    assert same(parse_constant(text), value)


def test_signalling_nan_keeps_its_payload():
    value = np.frombuffer(b"\x01\x00\xa0\x7f", "f4")[0]
    assert scalar_bits(parse_constant(constant_text(value))) == b"\x01\x00\xa0\x7f"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (0.0, -0.0),
        (1, 1.0),
        (1, True),
        (0, False),
        (0.0, np.float64(0.0)),
        (np.int64(1), np.longlong(1)),
        ("a", np.str_("a")),
    ]
    + [((1,), (True,)), ((), slice(None)), (np.dtype("l"), np.dtype("q")), (float("nan"), -float("nan")), ("a", b"a")],
)
def test_constants_that_a_program_can_tell_apart_differ(left, right):
    assert not constants_equal(left, right)
    assert constant_key(left) != constant_key(right)


def test_nan_equals_itself_bit_by_bit():
    assert constants_equal(math.nan, float("nan"))
    assert constants_equal((1, "a"), (1, "a"))


class Colour(enum.IntEnum):
    RED = 1


@pytest.mark.parametrize(
    "value",
    [[1], {}, object(), Colour.RED, np.zeros(2), (1, [2]), np.dtype("f8", metadata={"a": 1}), lambda: 0, slice([])],
)
def test_objects_that_are_mutable_or_the_users_own_are_no_constants(value):
    assert not is_constant(value)
    with pytest.raises(ValueError, match=r"has no text"):
        constant_text(value)
    assert constant_key(value) == constant_key(value)
    with pytest.raises(GraphTextError):
        parse_constant(display_text(value))


def test_a_structured_scalar_is_mutable_and_no_constant():
    assert not is_constant(np.zeros(1, [("a", "i4")])[0])


def test_nesting_has_a_limit_in_both_directions():
    value = ()
    for _ in range(300):
        value = (value,)
    assert not is_constant(value)
    with pytest.raises(ValueError, match="nest at most"):
        constant_text(value)
    with pytest.raises(GraphTextError, match="nest at most"):
        parse_constant("(" * 10_000)


@pytest.mark.parametrize(
    "text",
    [
        "(1)",
        "1 2",
        "nan(0)",
        "scalar(float64, b'a')",
        "scalar(object, b'12345678')",
        "scalar(float64, 3)",
        "int8(999)",
        "os.system",
    ]
    + [
        "system('a')",
        '"\\x1"',
        '"\\d"',
        "dtype(no)",
        "dtype(sub(float64, -1))",
        "slice(1)",
        "parameter('x', '?')",
        "complex((), 1)",
    ]
    + ["dtype('f8,,')", "dtype(float64", "builtin.no_such", "-nan", "1.", "%x", "named('x y')"],
)
def test_malformed_constants_are_errors_of_the_text(text):
    with pytest.raises(GraphTextError):
        parse_constant(text)
