"""What a trace must not hide: every use of data stops it at the user's line."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from gjit.capture.trace import trace_function
from gjit.errors import TraceError
from tests.capture.tracing import Scripted

LIST = [np.ones(2)]
TABLE = {"a": np.ones(2)}
COUNT = 0
LOCK = threading.Lock()


def branch(x):
    if x.sum() > 0:
        return x
    return -x


def branch_on_size(x):
    return x if len(x) > 2 else -x


def loop_over_rows(x):
    return [row for row in x]


def loop_over_range(x):
    total = 0
    for i in range(len(x)):
        total += x[i]
    return total


def while_loop(x):
    while x[0] > 1:
        x = x / 2
    return x


def item(x):
    return x[0].item()


def to_list(x):
    return x.tolist()


def index_of_a_list(x):
    return [1, 2, 3][int(x[0])]


def membership(x):
    return 1.0 in x


def text(x):
    return f"{x[0]:.2f}"


def keys(x):
    return {x[0]: 1}


def shapes(x):
    return x if x.shape == (2,) else -x


def chained(x):
    return 0 < x[0] < 2


def conversion_outside(x):
    return float.__add__(1.0, 2.0) + complex.__abs__(complex(x[0]).conjugate().__class__(x[0]))


def buffer(x):
    return memoryview(x)


def patterns(x):
    match (x, 1):
        case (y, 1):
            return y


def identity(x):
    y = np.add(x, 1, out=x)
    return y is x


def lock(x):
    with LOCK:
        return x


def list_outside(x):
    LIST.append(x)


def dictionary_outside(x):
    TABLE.update(b=x)


@pytest.mark.parametrize(
    ("function", "line"),
    [
        (branch, "if x.sum() > 0:"),
        (branch_on_size, "return x if len(x) > 2 else -x"),
        (loop_over_rows, "return [row for row in x]"),
        (loop_over_range, "for i in range(len(x)):"),
        (while_loop, "while x[0] > 1:"),
        (item, "return x[0].item()"),
        (to_list, "return x.tolist()"),
        (index_of_a_list, "return [1, 2, 3][int(x[0])]"),
        (membership, "return 1.0 in x"),
        (text, 'return f"{x[0]:.2f}"'),
        (keys, "return {x[0]: 1}"),
        (shapes, "return x if x.shape == (2,) else -x"),
        (chained, "return 0 < x[0] < 2"),
        (patterns, "case (y, 1):"),
        (identity, "return y is x"),
        (lock, "with LOCK:"),
        (list_outside, "LIST.append(x)"),
        (dictionary_outside, "TABLE.update(b=x)"),
    ],
)
def test_data_is_refused_at_the_line(function, line):
    with pytest.raises(TraceError) as caught:
        trace_function(function, (np.ones(2),))
    message = str(caught.value)
    assert line in message
    assert "^" in message
    assert __file__.rpartition("/")[2] in message
    assert "gjit.script" in message


def test_the_caret_stands_under_the_expression():
    with pytest.raises(TraceError) as caught:
        trace_function(branch, (np.ones(2),))
    *_, source, caret, _ = str(caught.value).splitlines()
    assert source.strip() == "if x.sum() > 0:"
    assert caret.index("^") == source.index("x.sum")
    assert caret.count("^") == len("x.sum() > 0")


def test_an_error_that_the_function_swallows_is_raised_all_the_same():
    def f(x):
        try:
            return float(x[0]) if x[0] > 0 else x
        except Exception:
            return x

    with pytest.raises(TraceError, match="truth of a traced value"):
        trace_function(f, (np.ones(2),))


def test_an_exception_that_is_handled_depends_on_data():
    def f(x):
        try:
            return x[5]
        except IndexError:
            return x[0]

    with pytest.raises(TraceError, match="IndexError was raised and handled"):
        trace_function(f, (np.ones(2),))


def test_an_exception_of_the_function_is_its_own():
    def f(x):
        return x @ np.ones((7, 7))

    with pytest.raises(ValueError, match="matmul"):
        trace_function(f, (np.ones(2),))


def test_writes_to_globals_and_outer_variables_are_refused():
    outer = 0

    def writes_global(x):
        global COUNT
        COUNT = 1
        return x

    def writes_outer(x):
        nonlocal outer
        outer = 1
        return x

    for function, line in ((writes_global, "COUNT = 1"), (writes_outer, "outer = 1")):
        with pytest.raises(TraceError, match=line):
            trace_function(function, (np.ones(2),))
    assert outer == COUNT == 0


def test_a_variable_that_two_inner_functions_share_is_fine():
    def f(x):
        total = x

        def add(y):
            nonlocal total
            total = total + y

        add(x)
        add(x)
        return total

    assert trace_function(f, (np.ones(2),)).block.terminator.op == "return"


def test_functions_made_while_tracing_cannot_leave():
    def f(x):
        return np.apply_along_axis(lambda row: row * 2, 0, x)

    with pytest.raises(TraceError, match="made while tracing"):
        trace_function(f, (np.ones((2, 2)),))


def test_a_list_that_a_scripted_function_changes_is_refused():
    @Scripted
    def extend(items, x):
        items.append(x)

    def f(x):
        items = []
        extend(items, x)
        return items

    with pytest.raises(TraceError, match="changed by a function outside"):
        trace_function(f, (np.ones(2),))


def test_what_is_not_a_python_function():
    with pytest.raises(TraceError, match="not a Python function"):
        trace_function(np.sin, (np.ones(2),))


def test_a_wrong_number_of_examples_is_a_type_error():
    with pytest.raises(TypeError, match="missing a required argument"):
        trace_function(lambda x, y: x, (np.ones(2),))
