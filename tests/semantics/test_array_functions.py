"""NumPy's functions on whole arrays: joining, sorting, creating, solving, drawing."""

from __future__ import annotations

import numpy as np

from tests.semantics.support import call, check

RNG = np.random.default_rng(7)


def test_histograms_and_bins():
    def bins(x, y, weights):
        radius = np.sqrt(x * x + y * y)
        edges = np.linspace(0, radius.max(), 5)
        place = np.digitize(radius, edges)
        counts = np.histogram(radius, edges)[0]
        sums = np.histogram(radius, edges, weights=weights)[0]
        return place, counts, sums / np.maximum(counts, 1), [weights[place == k].sum() for k in range(1, 6)]

    check(
        bins,
        call(RNG.normal(size=100), RNG.normal(size=100), RNG.random(100)),
        call(np.ones(1), np.zeros(1), np.ones(1)),
    )


def test_sorting():
    def order(x):
        sorted_copy = np.sort(x)
        places = np.argsort(x, kind="stable")
        x.sort()
        return (
            sorted_copy,
            places,
            x,
            np.searchsorted(x, 2),
            np.cumsum(x),
            np.diff(x),
            np.partition(sorted_copy[::-1], 1),
            x[::-1],
        )

    check(
        order,
        call(np.array([3, 1, 2])),
        call(np.array([2.5, -0.0, 0.0])),
        call(np.array([9, 8], "u1")),
    )


def test_joining_and_splitting():
    def join(a, b):
        return (
            np.concatenate([a, b]),
            np.stack([a, b], axis=-1),
            np.hstack((a, b)),
            np.vstack((a, b)),
            np.split(a, 2),
            np.array_split(b, 3),
            np.pad(a, 1),
            np.roll(a, 1),
            np.tile(a, 2),
            np.repeat(b, 2, axis=0),
            np.append(a, b),
            np.column_stack((a, b)),
        )

    check(
        join,
        call(np.arange(4.0), np.arange(4)),
        call(np.arange(4, dtype="f4"), np.ones(4)),
        call(np.ones((2, 2)), np.ones((2, 2), "i1")),
    )


def test_creation():
    def create(n, like):
        return (
            np.zeros(n),
            np.ones((n, 2), "f4"),
            np.full(n, 7),
            np.arange(n),
            np.arange(0.5, n, 0.25),
            np.linspace(0, 1, n, dtype="f4"),
            np.eye(n),
            np.zeros_like(like),
            np.full_like(like, 2.5),
            np.ones_like(like, dtype=bool),
            np.array([n, 2.5]),
            np.asarray(like) is like,
            np.identity(n)[0],
            np.logspace(0, 1, n),
            np.ndarray((n, 0), "f4"),
            np.tri(n),
        )

    check(
        create,
        call(3, np.ones((2, 2))),
        call(1, np.asfortranarray(np.ones((2, 3), "i2"))),
        call(np.int64(2), np.array(1.0)),
    )


def test_creation_that_raises():
    def create(n, dtype):
        return np.zeros(n, dtype), np.arange(n).reshape(2, -1)

    check(create, call(4, "f8"), call(3, "f8"), call(-1, "f8"), call("x", "f8"), call(4, "nonsense"))


def test_generators_advance_as_in_numpy():
    def simulate(rng, n):
        steps = rng.integers(0, 10, size=n)
        noise = rng.random(n) + rng.normal(size=n)
        rng.shuffle(steps)
        return (steps * noise).sum(), noise, rng.choice(steps) if n else None, rng.permutation(n)

    check(simulate, call(np.random.default_rng(0), 4), call(np.random.default_rng(1), 0), calls=2)


def test_piecewise_functions():
    def pieces(x):
        return (
            np.where(x > 0, x, 0.01 * x),
            np.select([x < -1, x < 1], [-1, x * x], 2),
            np.piecewise(x, [x < 0, x >= 0], [lambda v: -v, 5.0]),
            np.interp(x, [-1, 0, 1], [5, 6, 7]),
            np.heaviside(x, 0.5),
            np.sinc(x),
            np.clip(x, -0.5, 0.5),
            np.digitize(x, [-1, 0, 1]),
        )

    check(pieces, call(np.linspace(-2, 2, 9)), call(np.linspace(-2, 2, 9, dtype="f4")))


def test_transcendental_functions():
    def functions(x):
        return (
            np.sin(x) + np.cos(x),
            np.tanh(x) * np.arctan(x),
            np.exp(x) - np.expm1(x),
            np.log1p(x * x) + np.cbrt(x),
            np.arcsinh(x),
            np.hypot(x, 1),
            np.arctan2(x, 2),
            np.logaddexp(x, 0),
            np.ldexp(x, 2),
            np.frexp(x),
            np.modf(x),
            np.nextafter(x, 1),
            np.deg2rad(x),
            np.float_power(x * x, 1.5),
        )

    for dtype in ("f4", "f8"):
        check(functions, call(np.linspace(-3, 3, 101).astype(dtype)), call(np.linspace(-3, 3, 60).astype(dtype)[::-3]))


def test_integer_functions():
    def functions(x, y):
        return (
            np.gcd(x, y),
            np.lcm(x, y),
            x & y,
            np.bitwise_count(x),
            np.sign(x),
            np.square(x),
            np.isin(x, [1, 4]),
            x**2 % 7,
        )

    check(functions, call(np.array([4, 6, -9]), np.array([6, 4, 3])), call(np.array([4, 6], "u1"), 2))


def test_a_vectorised_function():
    def apply(x):
        return np.vectorize(lambda value: value if value > 0 else -1)(x), np.apply_along_axis(sum, 0, x)

    check(apply, call(np.array([[1, -2], [3, 4]])))


def test_linear_algebra():
    def solve(a, b):
        x = np.linalg.solve(a, b)
        values, vectors = np.linalg.eigh(a + a.T)
        return (
            x,
            a @ x - b,
            np.linalg.det(a),
            values,
            np.linalg.inv(a) * 2,
            np.linalg.cholesky(a @ a.T),
            np.linalg.qr(a)[1],
        )

    check(solve, call(np.array([[4.0, 1.0], [2.0, 3.0]]), np.array([1.0, 2.0])), call(np.zeros((2, 2)), np.ones(2)))
