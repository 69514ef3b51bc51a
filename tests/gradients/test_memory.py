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


OUTSIDE = np.array([1.0, 2.0, 3.0])
NUMBERS = [1.0, 2.0]
NAMED = {"a": 1.0}


class Holder:
    def __init__(self, w):
        self.w = w

    def store(self, a):
        a[0] = a[1] * 2


HELD = Holder(np.array([1.0, 2.0, 3.0]))


def _store(a, value):
    a[0] = value


def _double(a):
    a *= 2
    return a


def captured_array(x):
    OUTSIDE[0] = x[0] * 2
    return np.sum(OUTSIDE * OUTSIDE)


def captured_view(x):
    view = OUTSIDE[1:]
    view *= x[0]
    return np.sum(OUTSIDE)


def captured_in_a_helper(x):
    _store(OUTSIDE, x[0] * 2)
    return np.sum(OUTSIDE)


def captured_output(x):
    np.multiply(x, 2, out=OUTSIDE)
    return np.sum(OUTSIDE)


def captured_added_at(x):
    np.add.at(OUTSIDE, [0], x[:1])
    return np.sum(OUTSIDE)


def captured_list(x):
    NUMBERS[0] = x[0] * 2
    return NUMBERS[0] * NUMBERS[0]


def captured_dict(x):
    NAMED["a"] = x[0] * 2
    return NAMED["a"] * 3


def captured_attribute(x):
    HELD.w = x * 2
    return np.sum(HELD.w)


def captured_array_of_an_attribute(x):
    HELD.w[0] = x[0] * 2
    return np.sum(HELD.w)


def _counting():
    last = 0.0

    def function(x):
        nonlocal last
        last = x[0] * 2
        return last * last

    return function


captured_variable = _counting()


def argument_in_a_helper(x):
    return np.sum(_double(x) * x)


def argument_in_a_list(x):
    parts = [x[1:]]
    parts[0][0] = x[0] * 2
    return np.sum(x * x)


def argument_in_a_dict(x):
    parts = {"a": x}
    parts["a"] += x[0]
    return np.sum(x * x)


def argument_in_a_method(x):
    HELD.store(x)
    return np.sum(x * x)


def argument_in_an_object(x):
    holder = Holder(x)
    holder.w *= 2
    return np.sum(x * x)


def argument_added_at(x):
    np.add.at(x, [0], 1.0)
    return np.sum(x * x)


def argument_in_a_branch(x):
    y = x if x[0] > 0 else x * 1
    y[0] = x[1] * 3
    return np.sum(x * y)


@pytest.mark.parametrize(
    "function",
    [each for name, each in list(globals().items()) if name.startswith(("captured_", "argument_"))],
)
def test_memory_from_outside_is_not_written(function):
    with pytest.raises(UnsupportedError, match=r"written|variable of an outer function") as caught:
        gjit.grad(function)(X.copy())
    assert "test_memory.py" in str(caught.value)


def other_array(x, y):
    parts = [y]
    parts[0][0] = x[0] * 2
    return np.sum(parts[0] * y)


def test_an_argument_without_a_gradient_is_not_written():
    with pytest.raises(UnsupportedError, match="written"):
        gjit.grad(other_array)(X, np.ones(3))


def stored_item(p):
    p["w"] = p["w"] * 2
    return np.sum(p["w"])


def updated(p):
    p.update(w=p["w"] * 2)
    return np.sum(p["w"])


def popped(p):
    return np.sum(p.pop("w"))


def appended(p):
    p["l"].append(p["w"])
    return np.sum(p["l"][-1])


@pytest.mark.parametrize("function", [stored_item, updated, popped, appended])
def test_containers_from_outside_are_not_changed(function):
    with pytest.raises(UnsupportedError):
        gjit.grad(function)({"w": X.copy(), "l": [np.ones(2)]})


def local_writes(x):
    y = x * 1
    _store(y, x[1] * 2)
    parts = [_double(y), {"y": y}]
    parts[0][1] = x[0] * y[2]
    holder = Holder(y)
    holder.store(y)
    holder.w[2] *= x[0]
    return np.sum(y * parts[1]["y"])


def test_local_memory_is_written():
    check_grads(local_writes, (X,), order=1)


def in_a_try(x):
    a = x * 1
    try:
        a[0] = x[1] * 2
        a[7] = 1.0
    except IndexError:
        a[1] = x[2]
    return np.sum(a * a)


def object_without_init(x):
    holder = Plain()
    holder.a = x * x
    holder.b = holder.a * x
    holder.a = holder.b * holder.a
    return np.sum(holder.a)


class Plain:
    pass


def values_of_a_dict(x):
    return sum({name: value**3 for name, value in zip("abc", x, strict=True)}.values())


def dict_of_arrays(x):
    d = {}
    d["a"] = x * x
    d["b"] = d["a"] * x
    d["a"] = d["b"] * 2
    return np.sum(d["b"] * d["a"])


def list_stores(x):
    parts = [0.0] * 3
    for i, value in enumerate(x):
        parts[i] = value**3
    return np.sum(np.array(parts) * x)


@pytest.mark.parametrize("function", [in_a_try, object_without_init, values_of_a_dict, dict_of_arrays, list_stores])
def test_stores(function):
    check_grads(function, (X,), order=1)


def items_before_a_write(x):
    a = x * 1
    items = list(a)
    a[0] = 7.0
    return items[0] * a[1]


def test_items_of_an_array_that_is_written_are_refused():
    with pytest.raises(UnsupportedError, match="items of an array"):
        gjit.grad(items_before_a_write)(X)


def array_in_a_dict(x):
    d = {"a": x * 1}
    d["a"] *= x
    d["a"][0] = x[1] ** 3
    return np.sum(d["a"] ** 2)


def arrays_in_a_list(x):
    parts = [x * x for _ in range(2)]
    parts[0][1] = x[0] ** 3
    return np.sum(np.stack(parts) ** 2)


@pytest.mark.parametrize("function", [array_in_a_dict, arrays_in_a_list, dict_of_arrays])
def test_second_derivatives(function):
    check_grads(function, (X,), order=2)


def sum_of_a_list(x):
    return sum([value * value * value for value in x])


def slope_of_a_sum_of_a_list(x):
    return np.sum(gjit.grad(sum_of_a_list)(x))


def test_second_derivatives_through_a_sum_of_a_list_are_refused():
    with pytest.raises(UnsupportedError, match="second derivatives"):
        gjit.grad(slope_of_a_sum_of_a_list)(X)
