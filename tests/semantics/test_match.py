from __future__ import annotations

import numpy as np

from tests.semantics.support import call, check


class Pair:
    __match_args__ = ("left", "right")

    def __init__(self, left, right):
        self.left = left
        self.right = right


def test_match_over_every_kind_of_pattern():
    def dispatch(command, values):
        match command:
            case None:
                return "nothing"
            case True:
                return "true"
            case "negate" | "flip":
                return -values
            case ("add", amount) if amount != 0:
                return values + amount
            case ("add", _):
                return values
            case (first, *middle, last) if middle:
                return first, middle, last
            case {"scale": scale, **rest}:
                return values * scale, rest
            case Pair(left=0, right=right):
                return "zero", right
            case Pair(left, [inner]):
                return left, inner
            case int(number) | float(number):
                return number + 1
            case str() as text:
                return text.upper()
            case _:
                return "other"

    values = np.array([1.0, 2.0])
    commands = [
        None,
        True,
        "negate",
        "flip",
        ("add", 3),
        ("add", 0),
        [1, 2, 3, 4],
        {"scale": 2, "more": 1},
        Pair(0, 5),
        Pair(7, [8]),
        Pair(7, 8),
        4,
        2.5,
        "other text",
        (1,),
        {},
        b"bytes",
    ]
    check(dispatch, *[call(command, values) for command in commands])


def test_match_without_a_matching_case_goes_on():
    def pick(value):
        match value:
            case 1:
                found = "one"
            case [x, y]:
                found = x + y
        return found

    check(pick, call(1), call([2, 3]), call(5))


def test_match_binds_names_that_live_on():
    def shape_of(values):
        match values.shape:
            case ():
                kind = 0
            case (rows,):
                kind = rows
            case (rows, columns) if rows == columns:
                kind = "square"
            case (rows, columns):
                kind = rows * columns
        return kind, rows

    check(shape_of, call(np.ones(3)), call(np.ones((2, 2))), call(np.ones((2, 3))), call(np.ones(())))
