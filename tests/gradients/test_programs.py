"""Gradients through control flow, writes, containers and calls, against central differences to second order."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit.testing import check_grads

X = np.array([1.7, 0.8, 1.2])


def branches_in_a_loop(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 1.5:
            s = s + np.sin(x[i]) * s
        else:
            s += x[i] ** 2
    return s


def loop_over_items(x):
    s = 1.0
    for value in x:
        s = s * value + value
    return s


def stencil(x):
    u = x.copy()
    for _ in range(3):
        u[1:-1] = 0.5 * (u[:-2] + u[2:]) * u[1:-1]
    return np.sum(u * u)


def dead_writes(x):
    y = np.zeros(3)
    y[:] = x * 2
    y[:] = x * 3
    z = x.copy()
    return y.sum() + z.sum() + (z * 4).sum() + x[[0, 0, 1]].sum()


def a_while_with_break(x):
    k = 0
    while k < 5:
        x = x * np.sin(x)
        k += 1
        if x[0] < 0.2:
            break
    return np.sum(x)


def continue_and_return(x):
    for i in range(10):
        if x[i] > 1.5:
            continue
        if x[i] > 0.5:
            return np.sum(x) * x[i]
    return np.sum(x)


def loops_with_else(x):
    s = x[0]
    for i in range(2):
        s = s * x[i]
    else:
        s = s + x[2] ** 2
    return s


def nested_loops(x):
    s = 0.0
    for i in range(3):
        for j in range(i):
            if j == 2:
                break
            s = s + x[i] * x[j] * (s + 1.0)
    return s


def writes_through_views(x):
    u = x * 1.0
    v = u[1:]
    v *= u[:-1]
    v[0] = 7.0 * u[0]
    u += v[0]
    return np.sum(u * v[1])


def writes_at_chosen_elements(x):
    u = np.zeros(4)
    u[[0, 2, 2]] = x
    u[u > 1.0] *= 2.0
    u[np.array([True, False, True, False])] += x[0]
    return np.sum(u * u)


def operators_in_place(x):
    u = x * 2
    u -= x * x
    u /= x + 1
    u **= 2
    return np.sum(u)


def outputs(x):
    u = np.empty(3)
    np.multiply(x, x, out=u)
    np.add(u, x, out=u)
    return np.sum(u * x)


def fills(x):
    u = np.empty(3)
    u.fill(x[0])
    u[1:] = x[1] * x[2]
    np.copyto(u, x, where=np.array([False, False, True]))
    return np.sum(u**2)


def sorts_in_place(x):
    u = x * x
    u.sort()
    return u[0] * u[2]


def reshaped_views(x):
    u = np.zeros((2, 3))
    w = u.reshape(-1)
    w[:3] = x
    u.T[1] = x[0] * x[1]
    return np.sum(u**2) + np.sum(w[:2])


def lists_and_dicts(x):
    parts = []
    for i in range(3):
        parts.append(x * (i + 1.0))
    total = np.zeros(3)
    for part in parts:
        total += part * part
    table = {"a": total, "b": x}
    table["c"] = table["a"] * table["b"]
    return np.sum(table["c"] * parts[0])


def comprehensions(x):
    squares = [value * value for value in x]
    pairs = [(a, b) for a, b in zip(squares, x)]
    total = 0.0
    for i, (a, b) in enumerate(pairs):
        total = total + a * b * (i + 1)
    return total + sum(s for s in squares)


def tuples(x):
    a, (b, c) = x[0], (x[1], x[2])
    a, b = b, a * b
    return a * b * c


def unpacked(x):
    first, *rest = x
    return first * rest[0] + rest[1] ** 2


def short_circuits(x):
    y = (x[0] > 1) and x[1]
    z = None or x[2]
    return y * z * (x[0] if x[1] > 0 else x[1])


def helper(a, b, scale=2.0):
    if a[0] > b:
        return a * b * scale
    return a + b


def calls(x):
    return np.sum(helper(x, 1.0) * helper(x, 5.0) * helper(x, 0.5, scale=3.0))


def power(x, n):
    return x if n == 0 else x * power(x, n - 1)


def recursion(x):
    return np.sum(power(x, 3))


def first_half(u):
    return u[:2]


def view_from_a_call(x):
    u = x * x
    v = first_half(u)
    v *= 3.0
    return np.sum(u * u) + v[0]


def scale_in_place(u, s):
    u *= s
    u[0] = u[1] * s


def call_that_writes(x):
    u = x * x
    scale_in_place(u, x[0])
    scale_in_place(u[1:], x[1])
    return np.sum(u**2)


def no_iterations(x):
    s = x * x
    for i in range(0):
        s = s * x[i]
    while False:
        s = s * 2
    return np.sum(s)


PROGRAMS = [
    value
    for name, value in list(globals().items())
    if callable(value)
    and getattr(value, "__code__", None)
    and value.__code__.co_varnames[: value.__code__.co_argcount] == ("x",)
]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.__name__)
def test_a_program_agrees_with_differences(program):
    check_grads(program, (X,), order=1 if program in (lists_and_dicts, comprehensions) else 2)


def test_the_gradient_is_a_compiled_function():
    gradient = gjit.grad(stencil)
    gradient(X)
    gradient(X + 1)
    assert isinstance(gradient, gjit.CompiledFunction)
    assert gradient.statistics.signatures == 1
    assert gradient.statistics.host_calls == 0
    assert "differentiate" in str(gradient.graph)
    assert "setitem" in str(gradient.graph_for(X))
    assert gjit.grad(stencil) is gradient
