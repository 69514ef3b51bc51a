"""Drawn programs of writes, views and aliases: their gradients agree with central differences."""

from __future__ import annotations

import linecache

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import gjit
from gjit.errors import UnsupportedError

NAMES = st.sampled_from(["a", "b", "c"])
VALUES = st.sampled_from(
    ["x", "a", "b", "c", "x[1]", "a[0]", "b[2] * c", "np.sin(a)", "np.where(x > 0, a, b)", "abs(c)"]
)
VIEWS = st.sampled_from(["a", "b[::-1]", "c[::1]", "a.reshape(-1)", "b.T", "np.flip(c)", "np.broadcast_to(a, (3,))"])
PLACES = st.sampled_from(["[0]", "[1:]", "[:2]", "[...]", "[[0, 2]]", "[x > 0]", "[::2][:1]"])
STATEMENTS = st.one_of(
    st.builds("{0} = {1} * 1.0 + x * 0".format, NAMES, VALUES),
    st.builds("{0} = {1}".format, NAMES, VIEWS),
    st.builds("{0}{1} = {2} * 0.5".format, NAMES, PLACES, st.sampled_from(["x[2]", "a[1]", "np.sum(b)", "c[0]"])),
    st.builds("{0} {1}= {2}".format, NAMES, st.sampled_from("+-*"), VALUES),
    st.builds("np.multiply({0}, {1}, out={2})".format, NAMES, VALUES, NAMES),
    st.builds("for i in range(2): {0}[i] += {1}[i + 1] * x[i]".format, NAMES, NAMES),
    st.builds("if np.sum({0}) > 1: {0} *= {1}".format, NAMES, VALUES),
)


def made(statements):
    """The function of some statements, whose source can be found."""
    lines = ["def drawn(x):", "a, b, c = x * 1, x * x, x + 1", *statements, "return np.sum(a * b) + np.sum(np.sin(c))"]
    text = "\n    ".join(lines) + "\n"
    name = f"<drawn {hash(text)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    space = {"np": np, "__name__": __name__}
    exec(compile(text, name, "exec"), space)  # noqa: S102
    return space["drawn"]


def differences(function, x, step):
    """The gradient by central differences."""
    rows = np.eye(len(x)) * step
    return np.array([(function(x + row) - function(x - row)) / (2 * step) for row in rows])


@given(st.lists(STATEMENTS, min_size=2, max_size=6))
@settings(max_examples=40, deadline=None, derandomize=True)
def test_drawn_programs_agree_with_differences(statements):
    function = made(statements)
    x = np.array([0.613, -0.827, 0.451])
    try:
        expected = differences(function, x, 1e-6)
    except ValueError:
        return  # it writes a read-only view
    if not np.allclose(expected, differences(function, x, 1e-5), rtol=1e-3, atol=1e-3):
        return  # it has no derivative here
    try:
        found = gjit.grad(function)(x)
    except UnsupportedError:
        return
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
