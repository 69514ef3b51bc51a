"""Calls whose callee is a value: what is scripted on the way, what is called as it is, what is a host call."""

import enum
import functools
import json
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import pytest

import gjit


def call(function, *arguments, **keywords):
    return function(*arguments, **keywords)


class Counted:
    """Records whether its methods ran as bytecode of this file or as a graph: a graph has its own code object."""

    def __init__(self, start):
        self.total = start

    def add(self, by, *, twice=False):
        self.total += by * 2 if twice else by
        return self.total

    def __call__(self, x):
        return self.add(x)


@dataclass
class Record:
    value: float
    seen: list = field(default_factory=list)

    def put(self, item):
        self.seen.append(item)
        return len(self.seen)


class Pair(NamedTuple):
    left: int
    right: int = 2


class Colour(enum.Enum):
    RED = 1


class Made:
    def __new__(cls, value):
        made = super().__new__(cls)
        made.early = value
        return made

    def __init__(self, value):
        self.late = value


class Bad:
    def __init__(self):
        return 3


def affine(x, a=2, *, b=1):
    return x * a + b


CASES = [
    (affine, (3,), {"b": 5}),
    (lambda x: x + 1, (1,), {}),
    (functools.partial(affine, a=5), (3,), {}),
    (np.negative, (np.ones(2),), {}),
    (np.sum, (np.ones(2),), {}),
    (len, ([1, 2],), {}),
    ("text".upper, (), {}),
    (int, ("12",), {}),
    (np.float32, (2,), {}),
    (Pair, (1,), {"right": 5}),
    (Colour, (1,), {}),
]


@pytest.mark.parametrize(("function", "arguments", "keywords"), CASES)
def test_values_and_no_host_calls(function, arguments, keywords):
    compiled = gjit.script(call)
    result = compiled(function, *arguments, **keywords)
    expected = function(*arguments, **keywords)
    assert type(result) is type(expected)
    assert np.array_equal(result, expected) if isinstance(expected, np.ndarray) else result == expected
    assert compiled.statistics.host_calls == 0


def test_classes_methods_and_instances():
    compiled = gjit.script(call)
    counted = compiled(Counted, 10)
    assert type(counted) is Counted
    assert compiled(counted.add, 5, twice=True) == 20
    assert compiled(counted, 1) == 21
    record = compiled(Record, 2.0)
    assert record == Record(2.0)
    assert compiled(record.put, "a") == 1
    made = compiled(Made, 4)
    assert (made.early, made.late) == (4, 4)
    assert compiled.statistics.host_calls == 0


def test_init_must_return_none():
    with pytest.raises(TypeError, match=r"__init__\(\) should return None"):
        gjit.script(call)(Bad)


def test_the_users_bytecode_does_not_run():
    ran = []

    def traced(frame, event, argument):
        ran.append(frame.f_code)

    import sys

    compiled = gjit.script(call)
    compiled(affine, 1), compiled(Counted, 1)
    sys.setprofile(traced)
    try:
        compiled(affine, 1)
        compiled(compiled(Counted, 1), 2)
    finally:
        sys.setprofile(None)
    own = {affine.__code__, Counted.__init__.__code__, Counted.add.__code__, Counted.__call__.__code__, call.__code__}
    assert not own & set(ran)


def test_the_standard_library_is_a_host_call():
    compiled = gjit.script(call)
    assert compiled(json.dumps, [1]) == "[1]"
    assert compiled.statistics.host_calls == 1


def test_not_callable():
    with pytest.raises(TypeError, match="'int' object is not callable"):
        gjit.script(call)(3)


def test_recursion_of_an_inner_function():
    def outer(n):
        def inner(k):
            return 1 if k == 0 else k * inner(k - 1)

        return inner(n)

    compiled = gjit.script(outer)
    assert compiled(20) == outer(20)
    assert compiled.statistics.host_calls == 0


def parity(x):
    return x % 2


def total(left, right):
    return left + right


def functions_as_arguments(xs, f):
    ys = list(xs)
    ys.sort(key=parity)
    return (
        list(map(parity, xs)),
        list(filter(f, xs)),
        sorted(xs, key=f),
        max(xs, key=lambda x: -x),
        functools.reduce(total, xs),
        ys,
    )


def test_builtins_call_graphs():
    import sys

    ran = []
    compiled = gjit.script(functions_as_arguments)
    expected = functions_as_arguments([3, 1, 2], parity)
    assert compiled([3, 1, 2], parity) == expected
    sys.setprofile(lambda frame, event, argument: ran.append(frame.f_code))
    try:
        compiled([3, 1, 2], parity)
    finally:
        sys.setprofile(None)
    assert not {parity.__code__, total.__code__} & set(ran)
    assert compiled.statistics.host_calls == 0


def test_closures_met_at_run_time_are_not_kept_for_ever():
    import gc
    import weakref

    from gjit.runtime import dynamic

    def make():
        data = np.ones(10)
        return lambda x: x + data[0]

    compiled = gjit.script(call)
    first = make()
    reference = weakref.ref(first)
    compiled(first, 1.0)
    del first
    for _ in range(dynamic.MOST_CLOSURES + 1):
        compiled(make(), 1.0)
    gc.collect()
    assert reference() is None


def test_compiled_functions_are_released_with_everything_they_made():
    import gc
    import weakref

    from gjit.runtime.dynamic import generated

    def make(k):
        compiled = gjit.script(lambda x, f: np.sqrt(f(x * k)) + 1.0)
        compiled(np.ones(3), parity)
        return weakref.ref(compiled._compiled)

    gc.collect()
    before = len(generated)
    references = [make(k) for k in range(5)]
    gc.collect()
    assert [reference() for reference in references] == [None] * 5
    assert len(generated) == before
