"""Gradients of what is read through views after it was written, and of what is written from outside."""

from __future__ import annotations

import numpy as np
import pytest

import gjit
from gjit.errors import UnsupportedError
from gjit.testing import check_grads

X = np.array([0.5, -1.2, 2.0])


def broadcast(x):
    a = x * 1
    view = np.broadcast_to(a, (2, 3))
    a[0] = x[1] * 3
    return np.sum(view * view)


def broadcast_in_a_loop(x):
    a = x * 1
    view = np.broadcast_to(a, (2, 3))[1:]
    total = 0.0
    for i in range(2):
        total += np.sum(view**2)
        a[i] = x[i + 1] * 3
    return total + np.sum(view**2)


def diagonal(x):
    a = np.outer(x, x)
    view, other, third = np.diagonal(a), np.diag(a), a.diagonal(1)
    a[1, 1] = x[0] * 5
    a[0, 1] *= 2
    return np.sum(view * other) + np.sum(third[:1] * view[1:2])


def diagonal_of_a_vector(x):
    a = np.diag(x * 1)
    a[0, 1] = x[2]
    return np.sum(a * a)


def at_least(x):
    a = x * 1
    view = np.atleast_2d(a)
    a[0] = x[1] * 3
    return np.sum(view**3)


def added_at(x):
    a = x * 1
    np.add.at(a, [0, 0, 2], x * x)
    return np.sum(a * a)


def partitioned(x):
    a = x * 1
    a.partition(1)
    return np.sum(a * a * np.arange(3.0))


def _overwrite(a, value):
    view = np.broadcast_to(a, (2, 3))
    a[0] = value
    return np.sum(view * view)


def in_a_helper(x):
    return _overwrite(x * 1, x[1] * 3)


@pytest.mark.parametrize(
    "function",
    [
        broadcast,
        broadcast_in_a_loop,
        diagonal,
        diagonal_of_a_vector,
        at_least,
        added_at,
        partitioned,
        in_a_helper,
    ],
)
def test_right(function):
    check_grads(function, (X,), order=1)


def kept_view(x):
    a = x * 1
    views = [np.broadcast_to(a, (2, 3))]
    a[0] = x[1] * 3
    return np.sum(views[0])


def broadcast_arrays(x):
    a = x * 1
    first, _ = np.broadcast_arrays(a, np.ones((2, 3)))
    a[0] = x[1] * 3
    return np.sum(first)


def flat(x):
    a = np.outer(x, x)
    items = a.flat
    a[0, 2] = x[0]
    return sum([each * each for each in items])


def flat_store(x):
    a = np.outer(x, x)
    a.flat[2] = x[0]
    return np.sum(a)


def put(x):
    a = x * 1
    np.put(a, [0, 2], x[:2])
    return np.sum(a * a)


def fill_diagonal(x):
    a = np.outer(x, x)
    np.fill_diagonal(a, x)
    return np.sum(a * a)


def at(x):
    a = x * 1
    np.multiply.at(a, [0, 0, 2], x)
    return np.sum(a * a)


@pytest.mark.parametrize("function", [kept_view, broadcast_arrays, flat, flat_store, put, fill_diagonal, at])
def test_refused(function):
    with pytest.raises(UnsupportedError):
        gjit.grad(function)(X)
