from typing import NamedTuple

import numpy as np
import pytest

from gjit.runtime.signature import describe, key_of, types_of


class Point(NamedTuple):
    x: float


class Thing:
    pass


def test_extents_values_and_layouts_are_no_part_of_the_key():
    assert key_of([np.zeros((3, 3))]) == key_of([np.zeros((5, 4)).T]) == key_of([np.zeros((6, 6))[::2, ::-1]])
    assert key_of([np.zeros(3), 1, "a", [1]]) == key_of([np.ones(700), 2, "b", []])


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (np.zeros(3), np.zeros(3, "f4")),
        (np.zeros(3), np.zeros((3, 1))),
        (np.zeros(3), np.zeros(3, ">f8")),
        (1, 1.0),
        (True, 1),
        (1.0, np.float64(1)),
        (np.float64(1), np.array(1.0)),
        ((1,), [1]),
    ],
)
def test_what_makes_another_key(left, right):
    assert key_of([left]) != key_of([right])


def test_types_hold_nothing_that_the_key_does_not_fix():
    values = [np.zeros((2, 3), "f4"), 2, np.float32(1), (1, 2.0), [1], {"a": 1}, Point(1.0), Thing(), None]
    texts = [str(each) for each in types_of(values)]
    assert texts[:4] == ["array<float32, 2>", "int", "scalar<float32>", "tuple"]
    assert texts[4:6] == ["list<unknown>", "dict<unknown, unknown>"]
    assert texts[6].startswith("instance<")
    assert texts[7].endswith("Thing>")
    assert texts[8] == "none"


def test_describe():
    assert describe(key_of([np.zeros((2, 3)), 2])) == "float64[2], int"
