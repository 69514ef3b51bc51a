"""Host programs against the functions that they come from: control flow, variables, order of effects."""

from __future__ import annotations

import enum

import pytest

from tests.scheduler.printing import assert_same, printed


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


class Point:
    __match_args__ = ("x", "y")

    def __init__(self, x, y):
        self.x, self.y = x, y

    def __repr__(self):
        return f"Point({self.x}, {self.y})"


SUBJECTS = [Colour.RED, {"a": 3, "b": 1}, {"a": 1}, Point(0, 4), Point(2, 3), [1, 5, 9], [2], "_0", None, 2, 3]


class Log(list):
    def __call__(self, value):
        self.append(value)
        return value


def rotation(n):
    a, b, c = 1, 2, 3
    for _ in range(n):
        a, b, c = b, c, a
    return a, b, c


def carried_and_kept(n):
    total = 0
    for i in range(n):
        before = total
        total = before + i
        if total > 20:
            return before, total
    return total


def loop_variable_afterwards(n):
    i = 10
    for i in range(n):
        pass
    return i


def break_with_values(n):
    k, found = 0, None
    while True:
        k += 1
        if k > n:
            found = k * 2
            break
        if k % 2:
            continue
        found = k
    return k, found


def nested_else(n):
    out = []
    for i in range(n):
        for j in range(i):
            if j == 3:
                break
            out.append((i, j))
        else:
            out.append(("full", i))
            continue
        out.append(("broke", i))
    return out


def jumps_out_of_else(n):
    out = []
    for i in range(n):
        j = 0
        while (k := j * 2) < i and [k for _ in range(1)]:
            j += 1
            if j == 3:
                break
        else:
            if i == 4:
                break
            out.append(i)
            continue
        out.append((i, j, k))
    return out


def finally_and_return(log):
    for i in range(3):
        try:
            if i == 1:
                continue
            log.append(i)
            if i == 2:
                return "returned"
        finally:
            log.append("finally")
    return "end"


def handlers(x):
    try:
        result = 1 / x
    except ZeroDivisionError as error:
        result = str(error)
    except (TypeError, ValueError):
        result = "type"
    else:
        result += 1
    return result


def possibly_unbound(x):
    if x:
        y = 1
    return y


def deleted(x):
    y = x
    del y
    y = y  # noqa: F821
    return y


def never_bound(x):
    return y  # noqa: F821
    y = x  # noqa: F841


def chained(log, x):
    return log(0) < log(x) < log(10), 1 < x < 5 < log(x), not 0 < x


def walrus(xs):
    while (x := xs.pop()) > 0 and x != 5:
        xs[0] += x
    return x, [y for z in xs if (y := z * 2) > 2]


def short_circuit(log, a, b):
    return (log(a) or log(b)) and log(3), log(a) and log(b) or log(4)


def matches(subject):
    match subject:
        case Colour.RED:
            return "red"
        case {"a": value, **rest} if value > 2:
            return value, rest
        case Point(x=0, y=y):
            return "on axis", y
        case Point(a, b):
            return a, b
        case [1, *middle, 9] | [2, *middle]:
            return middle
        case "_0" | None:
            return "literal"
        case (1 | 2) as number:
            return number
        case _:
            return "other"


def swaps(xs, i, j):
    xs[i], xs[j + 1] = xs[j + 1], xs[i]
    (xs[0], *rest), i = xs[1:], 7
    return xs, rest, i


def augmented(xs, table, point):
    xs[len(xs) - 1] += 1
    table["a"] += [1]
    point.x -= 3
    xs[1:3] *= 2
    old = xs
    xs += [5]
    return old is xs, table, point


def counter(n, start=5, *, step=2):
    total = start

    def add(k):
        nonlocal total
        total += k * step
        return total

    return [add(i) for i in range(n)], total, add.__name__, add.__qualname__


def late_binding(n):
    functions = [lambda: i for i in range(n)]
    for j in range(n):
        functions.append(lambda: j)
    return [function() for function in functions]


def closures_of_each_run(n):
    made = []
    for _ in range(n):
        made.append([(lambda: k) for k in range(n)])
        n -= 1
    return [[function() for function in functions] for functions in made]


@pytest.mark.parametrize(
    ("function", "calls"),
    [
        (rotation, [(0,), (1,), (4,)]),
        (carried_and_kept, [(3,), (30,)]),
        (loop_variable_afterwards, [(0,), (3,)]),
        (break_with_values, [(0,), (4,)]),
        (nested_else, [(6,)]),
        (jumps_out_of_else, [(4,), (9,)]),
        (finally_and_return, [([],)]),
        (handlers, [(0,), (1,), ("a",)]),
        (possibly_unbound, [(0,), (1,)]),
        (deleted, [(0,)]),
        (never_bound, [(0,)]),
        (chained, [(Log(), 3), (Log(), 30), (Log(), -1)]),
        (walrus, [([3, -1, 2],), ([5],)]),
        (short_circuit, [(Log(), 0, 1), (Log(), 1, 0), (Log(), 0, 0)]),
        (
            matches,
            [(subject,) for subject in SUBJECTS],
        ),
        (swaps, [([1, 2, 3, 4], 0, 2)]),
        (augmented, [([1, 2, 3], {"a": [0]}, Point(1, 2))]),
        (counter, [(4,), (2, 1)]),
        (late_binding, [(3,)]),
        (closures_of_each_run, [(3,)]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_program_does_what_the_function_does(function, calls):
    assert_same(function, *calls)


def test_parallel_moves_are_tuple_assignments():
    assert "        a, b, c = (b, c, a)" in printed(rotation)


def test_values_that_overlap_have_numbered_names():
    assert "total_1 = total + i" in printed(carried_and_kept)
