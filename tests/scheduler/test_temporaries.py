"""NumPy computes into large operands without a name: names of arrays, and the lack of them, are as in the program."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit.testing import assert_same_as_numpy


def add(a, b):
    return a + b


def same(t):
    return t


def local(t):
    result = t * 2
    return result


def kept(t):
    first = t * 2
    first.sum()
    return first


def changed(t):
    t += 1
    return t


def arguments_of_helpers(x, y):
    return add(x, np.exp(y)), add(np.exp(y), x), [add(x, np.exp(y)) for _ in range(2)], add(x, add(x, np.exp(y)))


def results_of_helpers(x, y):
    return x + same(np.exp(y)), x + local(y), local(y) - x, x + kept(y), x * changed(y * 2), changed(y * 2) - x


def helpers_behind_a_temporary(x, y):
    return (y * 2) * np.exp(changed(x * 3)), (y * 2) * np.exp(changed(x * 3) if x.size else x), (y + 1) * add(x, x * 2)


def named_and_nameless(x, y):
    named = np.exp(y)
    again = named
    return x + named, x + np.exp(y), x + again, x + (inside := np.exp(y)), inside


def choices(x, y, flag=True):
    return x + (np.exp(y) if flag else y), (y * 2 if flag else x) - x, np.cumsum(y, axis=0) + (x if flag else y * 2)


def loops(x, y):
    total = x
    for factor in range(3):
        total = total + y * factor
    while (total + np.exp(y)).flags.c_contiguous:
        total = total + 1
    return total


def inner_functions(x, y):
    def inner(t):
        return x + t

    return inner(np.exp(y)), (lambda u, v: u + v)(x, np.exp(y)), (lambda: x + np.exp(y))()


def views_used_twice(x, y):
    return (y[1:] * 2) * (x[1:] * 3), (y[1:] - 1) * x[1:], (y[1:] + 1) + x[:-1] * x[1:]


def stores(x, y):
    out = np.zeros_like(x)
    out[...] = x + np.exp(y)
    out += x + np.exp(y)
    return out, {"sum": x + np.exp(y)}


PROGRAMS = [
    arguments_of_helpers,
    results_of_helpers,
    helpers_behind_a_temporary,
    named_and_nameless,
    choices,
    loops,
    inner_functions,
    views_used_twice,
    stores,
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
@pytest.mark.parametrize("kind", [float, complex])
def test_layouts_and_bits_follow_the_names_of_the_program(program, kind):
    rng = np.random.default_rng(0)
    x, y = rng.random((200, 200)), np.asfortranarray(rng.random((200, 200)))
    if kind is complex:
        x, y = x + 1j * x.T, np.asfortranarray(y - 1j * x)
    assert_same_as_numpy(gjit.script(program), x, y)
