from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.support import call, check


def test_methods_of_strings():
    def methods(text):
        return (
            text.upper(),
            text.find("b"),
            text.replace("a", "x"),
            text.split(","),
            "-".join(["p", "q"]),
            text[::-1],
            text * 2,
            text.startswith(("a", "z")),
            text.center(7, "*"),
            text.partition(","),
            "b" in text,
            text.strip("a"),
            text.title(),
            text.encode(),
            text.isalpha(),
            text.zfill(5),
            text < "b",
            [character for character in text],
            text.count(""),
            sorted(text),
        )

    check(methods, call("a,b"), call(""), call("héllo\u4e2d"), call("abc"))


def test_formatting():
    def show(value, number):
        return (
            f"{value:.2f}|{number:>4}|{number!r}|{value}|{number:{number}d}|{{}}",
            "{1} {0}".format(number, value),
            "{a}-{b:>{width}}".format(a=value, b=number, width=6),
            "%d %5.1f %s" % (number, value, "x"),
            "%(k)s" % {"k": value},
            str(value),
            repr([number, value]),
            format(value, "e"),
            f"{number=}, {value!s:>8}",
            f"{'nested ' + f'{number}'}",
        )

    check(show, call(0.1, 7), call(1e300, 3), call(2, 5), call(np.float32(0.1), np.int8(4)), call(float("nan"), 1))


def test_formatting_that_raises():
    def show(value, spec):
        return f"{value:{spec}}"

    check(show, call(1, "d"), call(1.5, "d"), call("x", ".2f"), call(np.ones(2), ".2f"), call(None, ">5"))


def test_arrays_and_numpy_scalars_in_texts():
    def show(x):
        return f"{x}", str(x), repr(x[0]), f"{x.mean():.3f}", f"{x.shape} {x.dtype}", f"{x[0]!r:>20}", "%s" % x

    check(show, call(np.array([1.0, 2.5])), call(np.array([1, 2], "i2")), call(np.array([True])), call(np.array([1j])))


@pytest.mark.parametrize("size", [3, 2000])
def test_printing(size):
    def report(x, label):
        print(label, x.sum(), sep=": ", end=";\n")
        for row in x[:2]:
            print(f"row {row}")
        print(x, [1, "two", None], x.dtype)
        print()
        return x * 2

    check(report, call(np.arange(size), "sum"), call(np.ones((size, 2), "f4"), 3.5), calls=2)


def test_printing_stops_where_the_program_raises():
    def report(items):
        for item in items:
            print("item", item)
            print(1 / item)

    check(report, call([1, 2]), call([1, 0, 2]), call(np.array([1.0, 0.0])))


def test_dispatch_on_a_string():
    def activate(x, kind):
        if kind == "relu":
            return np.maximum(x, 0)
        elif kind in ("tanh", "th"):
            return np.tanh(x)
        raise NotImplementedError(kind)

    check(activate, call(np.array([-1.0, 2.0]), "relu"), call(np.array([0.5]), "th"), call(np.array([0.0]), "?"))


def test_bytes():
    def methods(data):
        return (
            data + b"x",
            data[0],
            data[1:],
            data.hex(),
            list(data),
            bytes([1, 2]),
            bytearray(data),
            data.decode("latin1"),
        )

    check(methods, call(b"ab"), call(b"\xff\x00"), call(b""))


def test_characters_and_representations():
    def characters(number):
        return (
            chr(number),
            ord("a"),
            ascii("é"),
            repr("a'b\n"),
            hash("x") == hash("x"),
            callable(len),
            str(b"x", "ascii"),
        )

    check(characters, call(97), call(0x1F600), call(-1))


def test_docstrings_and_bare_strings_inside_functions():
    def documented(x):
        """The text of the function.

        With a second paragraph that holds `code`, "quotes" and a \\ backslash.
        """
        "a bare string"
        b"and bytes"
        3
        y = x + 1
        """another one"""
        return y

    compiled = check(documented, call(np.ones(2)))
    assert compiled.__doc__ == documented.__doc__
    assert compiled.__name__ == "documented"
