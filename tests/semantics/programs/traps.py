"""Small programs around one habit each: what people write that compilers of arrays stumble over."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program

LIMIT = 4
WEIGHTS = (1.0, 4.0, 1.0)
CENTRE = slice(1, -1)


def add_to_argument(x, amount=1.5):
    "The caller's array is written, although it looks like an assignment."
    x += amount
    x *= 2


def rebind_argument(x):
    """The caller's array stays: the name is bound to another one first."""
    x = x + 1
    x += 1
    return x.sum()


def third_positional_output(x, y, z):
    np.multiply(x, y, z)
    np.add(z, x, z)
    np.sqrt(z, z)


def halve_until_empty(x):
    """The length changes at every step."""
    totals = []
    while True:
        if not len(x):
            break
        totals.append(np.sqrt(x * x + 1.0).sum())
        x = x[::2][1:]
    return totals


def drop_until_empty(z, threshold):
    """The length depends on the data."""
    rounds = 0
    while z.size:
        z = z * 2.0 - 0.25
        z = z[z < threshold]
        rounds += 1
        if rounds > 40:
            break
    return rounds, z


def grow(x):
    """An array that becomes longer inside a loop, and one whose rank is asked each time."""
    total = x
    for _ in range(LIMIT):
        total = np.concatenate((total, 0.5 * total[: len(x)] + 1.0))
    return total, total.ndim


def shape_assignment(x, rows):
    y = x * 2.0
    y.shape = (rows, -1)
    z = y + 1.0
    z.shape = z.size
    return y, z


def bare_strings(x):
    "simple docstring"
    "a string that is no docstring"
    y = x + 1
    """another,
    over two lines"""
    return y * 2


def shifted_slices(x):
    """Sums over shifts; the last slice has no end."""
    total = np.zeros_like(x[1:-1])
    for shift in range(-1, 2):
        total += WEIGHTS[shift + 1] * x[1 + shift : -1 + shift or None]
    return total / sum(WEIGHTS)


def generated_slices(x):
    """Slice objects that a generator makes and an assignment unpacks."""
    west, centre, east = (slice(1 + n, -1 + n or None) for n in (-1, 0, 1))
    y = np.zeros_like(x)
    y[CENTRE] = x[west] - 2 * x[centre] + x[east]
    return y


def optional_output(x, out=None, scale=None):
    if scale is not None:
        x = x * scale
    if out is None:
        out = np.empty_like(x)
    out[...] = np.exp(-x)
    return out


def raise_not_taken(x, mode):
    if mode == "double":
        factor = 2
    elif mode == "half":
        factor = 0.5
    else:
        raise ValueError(f"no mode {mode!r}")
    return x * factor + 1


def nested_closures(x, rate):
    """Functions inside functions that see the names around them."""
    count = 0

    def slope(state):
        nonlocal count
        count += 1

        def decay(value):
            return -rate * value

        return decay(state) + 0.1 * state**2

    for _ in range(LIMIT):
        first = slope(x)
        x = x + 0.5 * (first + slope(x + first))
    return x, count


def iterate_complex(points):
    """Elements of a complex array are NumPy scalars."""
    total = 0
    for z in points:
        total += z * z.conjugate() if abs(z) < 1 else 1 / z
    return total


def until_steady(x):
    """The variable that ends the loop starts as an int and becomes np.float64."""
    difference = 1
    rounds = 0
    while difference > 0.001:
        before = x.copy()
        x[1:-1] = 0.5 * (x[:-2] + x[2:])
        difference = np.abs(x - before).max()
        rounds += 1
        if rounds == 50:
            break
    return rounds, difference


def chained_stores(a):
    for i in range(len(a)):
        a[i + 1 :, i] = a[i, i + 1 :] = np.sqrt(a[i, i + 1 :]) + i


def tuple_stores(x, low, high):
    for i in range(len(x)):
        low[i], high[i] = np.minimum(x[i], 0.5), np.maximum(x[i], 0.5)
        x[i], low[i] = low[i], x[i]


def make(shape, kind):
    """A helper that is handed a shape and a dtype."""
    return np.zeros(shape, dtype=kind) + kind(1)


def shapes_and_dtypes_as_arguments(rows, columns):
    return make((rows, columns), np.float32), make(rows, np.int16), make((), np.complex128)


def column_recurrence(x):
    for j in range(1, x.shape[1]):
        x[:, j] = 0.9 * x[:, j - 1] + 0.1 * x[:, j]


def add(first, second):
    """The parameters are names, so that neither is a temporary."""
    return first + second


def layouts_of_temporaries(x, y):
    """Above 256 KiB, NumPy adds into a temporary without a name, whose layout the sum then has."""
    named = np.exp(y)
    return (
        x + np.exp(y),
        x + named,
        add(x, np.exp(y)),
        np.add(x, np.exp(y)),
        (x + 1.0) * np.sin(y),
        np.cumsum(y, axis=0) + np.exp(x),
        x @ x + np.exp(y),
    )


def one(count):
    """Vectors, as the first argument to the last."""

    def make_arguments(size, rng):
        return tuple(rng.random(size) for _ in range(count))

    return make_arguments


def square(size, rng):
    return (rng.random((size, size)),)


SIZES = (1, 50, 200_000)

PROGRAMS = [
    Program(add_to_argument, one(1), SIZES),
    Program(rebind_argument, one(1), SIZES, tiled=True),
    Program(third_positional_output, one(3), SIZES),
    Program(halve_until_empty, one(1), SIZES, tiled=True),
    Program(drop_until_empty, lambda size, rng: (rng.random(size), 1.5), SIZES, tiled=True),
    Program(grow, one(1), SIZES),
    Program(shape_assignment, lambda size, rng: (rng.random(2 * size), 2), SIZES),
    Program(bare_strings, one(1), SIZES, tiled=True),
    Program(shifted_slices, one(1), (2, 3, 50, 200_000), tiled=True),
    Program(generated_slices, one(1), (2, 3, 50, 200_000)),
    Program(optional_output, lambda size, rng: (rng.random(size),), SIZES),
    Program(optional_output, lambda size, rng: (rng.random(size), np.ones(size), 2), SIZES),
    Program(raise_not_taken, lambda size, rng: (rng.random(size), "half"), SIZES),
    Program(nested_closures, lambda size, rng: (rng.random(size), 0.5), SIZES),
    Program(iterate_complex, lambda size, rng: (2 * rng.random(size) + 1j * rng.random(size),), (1, 50)),
    Program(until_steady, one(1), (1, 3, 50, 200_000), tiled=True),
    Program(chained_stores, square, (1, 2, 40)),
    Program(tuple_stores, one(3), (1, 50)),
    Program(shapes_and_dtypes_as_arguments, lambda size, rng: (size, size + 1), (1, 50)),
    Program(column_recurrence, square, (1, 2, 40)),
    Program(
        layouts_of_temporaries,
        lambda size, rng: (rng.random((size, size)), np.asfortranarray(rng.random((size, size)))),
        (2, 50, 200, 400),
    ),
]
