from __future__ import annotations

import datetime
import decimal
import fractions
import pathlib
import re
import types
from io import StringIO

import numpy as np

import gjit
from tests.semantics.support import call, check


def test_numbers_of_the_standard_library():
    def mix(a, b):
        return a + b, a * 2, a < b, -a, sum([a, b]), max(a, b), a / 3

    check(
        mix,
        call(fractions.Fraction(1, 3), fractions.Fraction(1, 6)),
        call(decimal.Decimal("0.1"), decimal.Decimal("0.2")),
        call(fractions.Fraction(1, 3), 0.5),
    )


def test_arrays_of_fractions():
    def total(x):
        return (x * 2 + 1).sum(), x @ x, x.max()

    check(total, call(np.array([fractions.Fraction(1, 3), fractions.Fraction(1, 2)], object)))


def test_dates_paths_patterns_and_streams():
    def use(day, path, text, stream):
        stream.write(text)
        match = re.match(r"(\w+)-(\d+)", text)
        return (
            day + datetime.timedelta(days=1),
            (path / text).suffix,
            match and match.groups(),
            stream.getvalue(),
            day.year,
        )

    check(use, call(datetime.date(2020, 2, 28), pathlib.PurePosixPath("/a"), "ab-12", StringIO()), host_calls=None)
    check(use, call(datetime.date(2020, 2, 28), pathlib.PurePosixPath("/a"), "none.txt", StringIO()), host_calls=None)


def test_namespaces_and_modules_as_values():
    def use(namespace, module, x):
        namespace.value = module.sqrt(x)
        namespace.count += 1
        return vars(namespace), module.pi * x

    check(
        use,
        call(types.SimpleNamespace(count=1), np, 4.0),
        call(types.SimpleNamespace(count=np.int8(1)), np, np.ones(2)),
    )


def test_slices_and_ranges_as_values():
    def use(part, numbers):
        return (
            part.start,
            part.indices(10),
            numbers[::2],
            len(numbers),
            4 in numbers,
            [*numbers],
            part == slice(1, None, 2),
            numbers.step,
        )

    check(
        use,
        call(slice(1, None, 2), range(0, 10, 3)),
        call(slice(None), range(0)),
        call(slice(-3, 8), range(10**30, 10**30 + 2)),
    )


def test_identity_of_small_objects():
    def compare(a, b):
        return a is b, a is None, a == b, a is not b, (a, b) == (b, a)

    thing = object()
    check(compare, call(None, None), call(True, 1), call(thing, thing), call("a", "a"), call(..., ...))


def test_array_attributes_and_conversions():
    def ask(x):
        return (
            x.shape,
            x.ndim,
            x.size,
            x.nbytes,
            x.itemsize,
            x.strides,
            x.dtype,
            len(x),
            x.flags["C_CONTIGUOUS"],
            x.base is None,
            x.tobytes(),
            x.tolist(),
            np.shape(x),
            np.size(x, 0),
            np.ndim(x),
            repr(x),
            x.T.shape[::-1],
        )

    check(
        ask,
        call(np.arange(6.0).reshape(2, 3)),
        call(np.ones((3, 1), ">i2")[::2]),
        call(np.zeros((1, 0))),
        call(np.array(1.0)),
    )


def test_a_missing_method_of_an_array_raises():
    def wrong(x, kind):
        if kind == 0:
            return x.push(1)
        if kind == 1:
            return np.no_such_function(x)
        if kind == 2:
            return x(1)
        return len(x)

    check(wrong, *[call(np.array(1.0), kind) for kind in range(4)])


def test_numpy_functions_on_lists_and_numbers():
    def functions(a, b):
        return (
            np.add(a, b),
            np.sqrt(a),
            np.sum(a),
            np.maximum(a, b),
            np.array(a) * 2,
            np.mean(a),
            np.concatenate([[a], [b]], axis=None),
        )

    check(functions, call([1, 2], [3.5, 4]), call(4, 2), call((1.0, 2.0), np.array([1, 2])), call([], 1))


def test_operators_between_arrays_and_lists_or_tuples():
    def operators(x, other):
        return x + other, other * x, x == other, [1] * 2, x > other, x @ x

    check(
        operators,
        call(np.array([1, 2]), [3, 4]),
        call(np.array([1.0, 2.0]), (3, 4)),
        call(np.array([1, 2]), [1, 2, 3]),
        call(np.ones(2), "x"),
    )


def test_comparison_with_none_and_strings():
    def compare(x):
        return x == None, x != "text", None == x, x is None  # noqa: E711

    check(compare, call(np.array([1, 2])), call(1.0), call(None), call(np.float64(1)))


def test_an_ignored_function_stays_with_the_interpreter():
    log = []

    @gjit.ignore
    def record(x):
        log.append(float(x.sum()))
        return x.sum()

    def program(x):
        return record(x * 2) + 1

    compiled = gjit.script(program)
    assert compiled(np.ones(3)) == 7.0
    assert log == [6.0]
    assert compiled.statistics.host_calls == 1


def test_memory_views_and_buffers():
    def use(data):
        x = np.frombuffer(data, np.uint8)
        view = memoryview(data)
        return x + 1, x.flags.writeable, view[0], bytes(view[1:]), x[::2] * 2

    check(use, call(b"abcd"), call(b"\x00\xff"))
