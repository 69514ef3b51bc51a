from __future__ import annotations

import collections
import enum
import functools
import io
import random
import sys
import warnings

import numpy as np
import pytest

from gjit.testing import assert_same_as_numpy, same


class Plain:
    def __init__(self, value):
        self.value = value


class Slotted:
    __slots__ = ("value", "_other")

    def __init__(self, value):
        self.value = value


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def cyclic(last):
    items = [1]
    items.append(items)
    items.append(last)
    return items


def read_only(array):
    array.flags.writeable = False
    return array


EQUAL_PAIRS = [
    lambda: 3,
    lambda: -0.0,
    lambda: float("nan"),
    lambda: complex(0.0, -0.0),
    lambda: np.float32(1.5),
    lambda: np.longdouble(1) / 3,
    lambda: np.datetime64("NaT"),
    lambda: np.array([np.nan, -0.0, 1.0]),
    lambda: np.array([1 + 2j, complex(np.nan, 0)]),
    lambda: np.array(["a", "bc"]),
    lambda: np.array([1, [2, 3], None], dtype=object),
    lambda: np.zeros(3, [("a", "f4"), ("b", "i2", (2,))]),
    lambda: np.ma.array([1.0, 2.0], mask=[True, False]),
    lambda: np.arange(12.0).reshape(3, 4).T[::2],
    lambda: np.zeros((0, 3)),
    lambda: np.array(2.0),
    lambda: [1, (2.0, "text"), {"key": b"bytes"}, {1, 2}, frozenset({3})],
    lambda: collections.OrderedDict(a=1),
    lambda: collections.deque([1, 2]),
    lambda: cyclic(2.0),
    lambda: Plain([1, np.ones(2)]),
    lambda: Slotted(Plain(1)),
    lambda: Colour.RED,
    lambda: np.random.default_rng(3),
    lambda: np.random.RandomState(3),
    lambda: random.Random(3),
    lambda: functools.partial(max, 1, key=abs),
    lambda: iter([1, 2]),
    lambda: (value for value in (1, 2)),
    lambda: io.StringIO("text"),
    lambda: ValueError("text", 3),
    lambda: len,
    lambda: np.add,
    lambda: slice(1, None, 2),
    lambda: range(3),
    lambda: object(),
]


@pytest.mark.parametrize("make", EQUAL_PAIRS)
def test_equal_objects_are_the_same(make):
    assert same(make(), make()) is None


DIFFERENT_PAIRS = [
    (1, 2, "value: expected 1, got 2"),
    (1, 1.0, "type: expected int, got float"),
    (True, 1, "type: expected bool, got int"),
    (1.0, np.float64(1.0), "type: expected float, got float64"),
    (np.int64(1), np.longlong(1), "type: expected int64, got longlong"),
    (0.0, -0.0, "value: expected 0.0, got -0.0"),
    (complex(0, 0.0), complex(0, -0.0), "value: expected 0j, got -0j"),
    (float("nan"), 1.0, "value: expected nan"),
    ("a", "b", "value: expected 'a', got 'b'"),
    ([1], (1,), "type: expected list, got tuple"),
    ([1, 2], [1], "length: expected 2, got 1"),
    ([1, [2, 3]], [1, [2, 4]], "[1][1]: value: expected 3, got 4"),
    ({"a": 1, "b": 2}, {"b": 2, "a": 1}, ".keys()[0]: value: expected 'a', got 'b'"),
    ({"a": 1}, {"a": 2}, "['a']: value: expected 1, got 2"),
    ({1, 2}, {1, 3}, "[1]: value: expected 2, got 3"),
    (Plain(1), Plain(2), ".value: value: expected 1, got 2"),
    (Slotted(1), Slotted(2), ".value: value: expected 1, got 2"),
    (Colour.RED, Colour.BLUE, "value: expected"),
    (ValueError("a"), ValueError("b"), "text: expected 'a', got 'b'"),
    (ValueError("1"), ValueError(1), ".args[0]: type: expected str, got int"),
    (len, max, "identity: expected <built-in function len>"),
    (int, float, "identity: expected <class 'int'>"),
    (iter([1, 2]), iter([1]), "length: expected 2, got 1"),
    (io.StringIO("a"), io.StringIO("b"), ".getvalue(): value"),
    (functools.partial(max, 1), functools.partial(max, 2), ".args[0]: value"),
]


@pytest.mark.parametrize(("expected", "actual", "text"), DIFFERENT_PAIRS)
def test_different_objects_are_told_apart(expected, actual, text):
    reason = same(expected, actual)
    assert reason is not None
    assert reason.startswith(text)


DIFFERENT_ARRAYS = [
    (np.zeros(3), np.zeros(3, "f4"), "dtype: expected float64, got float32"),
    (np.zeros(3), np.zeros(3, ">f8"), "dtype: expected float64, got >f8"),
    (np.zeros(3, "q"), np.zeros(3, "l"), "dtype: expected int64 ('q'), got int64 ('l')"),
    (np.zeros(3), np.zeros((3, 1)), "shape: expected (3,), got (3, 1)"),
    (np.zeros((2, 3)), np.zeros((3, 2)).T, "strides: expected (24, 8), got (8, 16)"),
    (np.zeros(3), read_only(np.zeros(3)), "flags: expected WRITEABLE=True, got WRITEABLE=False"),
    (np.zeros(3), np.zeros(3)[:], "flags: expected OWNDATA=True, got OWNDATA=False"),
    (np.array([1.0, 2.0]), np.array([1.0, 3.0]), "value: 1 of 2 elements differ; at [1] expected 2.0"),
    (np.array([0.0]), np.array([-0.0]), "value: 1 of 1 elements differ; at [0] expected 0.0, got -0.0"),
    (np.array([np.nan]), np.array([1.0]), "value: 1 of 1 elements differ; at [0] expected nan"),
    (np.array([0j]), np.array([complex(0, -0.0)]), "value: 1 of 1 elements differ"),
    (np.array("NaT", "M8[s]"), np.array(0, "M8[s]"), "value: expected NaT"),
    (np.array([1, None]), np.array([1, 2]), "dtype: expected object, got int64"),
    (np.array([1, None]), np.array([1.0, None]), "[0]: type: expected int, got float"),
    (np.ma.array([1.0], mask=[True]), np.ma.array([1.0], mask=[False]), ".mask: value: 1 of 1"),
]


@pytest.mark.parametrize(("expected", "actual", "text"), DIFFERENT_ARRAYS)
def test_different_arrays_are_told_apart(expected, actual, text):
    reason = same(expected, actual)
    assert reason is not None
    assert reason.startswith(text)


def test_the_payload_of_nan_does_not_count():
    other = np.array([0x7FF8000000000001], "u8").view("f8")
    assert same(np.array([np.nan]), other.copy()) is None


def test_shared_objects_must_be_shared_on_both_sides():
    one, two = [1], [1]
    assert same([one, one], [two, two]) is None
    assert "identity" in same([one, one], [two, list(two)])
    assert "identity" in same([one, list(one)], [two, two])


def test_cycles_are_compared():
    assert same(cyclic(1), cyclic(2)) == "[2]: value: expected 1, got 2"


def test_arrays_that_share_memory_must_share_it_at_the_same_place():
    one, two = np.zeros(4), np.zeros(4)
    assert same((one, one[:2]), (two, two[:2])) is None
    assert "memory shared" in same((one, one[:2]), (two, two[1:3]))
    assert same((one, one[:2]), (two, np.zeros(4)[:2])) is not None


# ------------------------------------------------------------------------------------------------ the whole of a call


def add_one_in_place(x):
    x += 1
    return x


def shows(wrong, plain, *args, **kwargs):
    """The report of comparing a wrong function with the plain one."""
    with pytest.raises(AssertionError) as failure:
        assert_same_as_numpy(wrong, *args, plain=plain, **kwargs)
    return str(failure.value)


def test_a_function_is_the_same_as_itself_and_arguments_stay_as_they_are():
    x = np.zeros(3)
    assert_same_as_numpy(add_one_in_place, x, plain=add_one_in_place, calls=3)
    assert x.tolist() == [0, 0, 0]


def test_the_wrapped_function_is_the_one_to_compare_with():
    @functools.wraps(add_one_in_place)
    def wrong(x):
        return x + 1

    with pytest.raises(AssertionError, match="add_one_in_place differs"):
        assert_same_as_numpy(wrong, np.zeros(3))
    with pytest.raises(TypeError, match="plain="):
        assert_same_as_numpy(add_one_in_place, np.zeros(3))


def test_a_missing_mutation_is_reported_with_both_values():
    report = shows(lambda x: x, add_one_in_place, np.zeros(3))
    assert "argument 0: value: 3 of 3 elements differ; at [0] expected 1.0" in report
    assert "got 0.0" in report


def test_a_copy_in_place_of_the_argument_is_reported():
    assert "result: identity: expected the object at argument 0" in shows(lambda x: x.copy(), lambda x: x, np.ones(2))


def test_another_view_is_reported():
    report = shows(lambda x: x[:2], lambda x: x[1:3], np.ones(3))
    assert "memory shared with argument 0 at byte +8" in report


def test_results_of_two_calls_may_not_share_memory():
    scratch = np.zeros(3)

    def reuses(x):
        return np.add(x, 1, out=scratch)

    assert "result of call 2: identity" in shows(reuses, lambda x: x + 1, np.zeros(3), calls=2)


def test_exceptions_are_compared_by_class_text_cause_and_line():
    def plain(x):
        raise ValueError("text") from KeyError(x)

    def without_cause(x):
        raise ValueError("text")

    def other_text(x):
        raise ValueError("other") from KeyError(x)

    def other_class(x):
        raise TypeError("text") from KeyError(x)

    assert "__cause__: type: expected KeyError, got NoneType" in shows(without_cause, plain, 1)
    assert "text: expected 'text', got 'other'" in shows(other_text, plain, 1)
    assert "type: expected ValueError, got TypeError" in shows(other_class, plain, 1)
    assert "exception: line: expected" in shows(without_cause, plain, 1)


def test_an_exception_on_one_side_is_reported_with_the_other_value():
    report = shows(lambda x: x, lambda x: x[5], np.zeros(2))
    assert "expected to have raised IndexError" in report
    assert "returned array([0., 0.])" in report


def warn_once(x):
    warnings.warn("careful", UserWarning, stacklevel=1)
    return x


def test_warnings_are_compared_and_can_be_left_out():
    report = shows(lambda x: x, warn_once, 1)
    assert "UserWarning: careful" in report
    assert "got none" in report
    assert_same_as_numpy(lambda x: x, 1, plain=warn_once, check_warnings=False)


def test_printed_text_is_compared():
    def plain(x):
        print("x is", x)
        print("done", file=sys.stdout)

    assert "printed text: expected 'x is 1\\ndone\\n', got ''" in shows(lambda x: None, plain, 1)


def test_global_random_states_start_equal_and_are_compared():
    def draw(n):
        return np.random.rand(n), random.random()

    def draw_more(n):
        result = draw(n)
        np.random.rand()
        return result

    assert_same_as_numpy(draw, 3, plain=draw, calls=2)
    assert "state of numpy.random" in shows(draw_more, draw, 3)


def test_generators_in_arguments_are_compared():
    def draw(rng):
        return rng.random()

    assert_same_as_numpy(draw, np.random.default_rng(0), plain=draw)
    report = shows(lambda rng: draw(rng) + 0 * rng.random(), draw, np.random.default_rng(0))
    assert "argument 0.bit_generator.state" in report


def test_keyword_arguments_are_passed_and_compared():
    def plain(*, target):
        target[0] = 1

    assert_same_as_numpy(plain, target=[0], plain=plain)
    assert "argument 'target'[0]: value: expected 1, got 0" in shows(lambda *, target: None, plain, target=[0])
