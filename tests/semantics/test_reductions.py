from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.support import call, check, layouts

DTYPES = ["?", "i1", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8"]


@pytest.mark.parametrize("dtype", DTYPES)
def test_reductions_over_every_axis(dtype):
    def reduce(x):
        return (
            x.sum(),
            x.sum(axis=0),
            x.mean(axis=1),
            x.max(axis=-1),
            x.min(),
            x.prod(axis=0),
            x.any(),
            x.all(axis=1),
            x.std(),
        )

    check(reduce, call(np.arange(6).reshape(2, 3).astype(dtype)), call(np.arange(6).reshape(3, 2).astype(dtype).T))


def test_reductions_of_every_layout():
    def reduce(x):
        return (
            x.sum(),
            x.sum(axis=0),
            x.sum(axis=1),
            x.mean(),
            x.var(ddof=1),
            (x * 2 + 1).sum(axis=0),
            np.sqrt(x).max(axis=1),
        )

    matrix = np.linspace(0, 1, 97 * 113).reshape(97, 113)
    check(reduce, *[call(x) for x in layouts(matrix)])


def test_axes_and_kept_dimensions():
    def reduce(x, axis, keep):
        return x.sum(axis=axis, keepdims=keep), x.max(axis=axis, keepdims=keep), np.mean(x, axis, keepdims=keep)

    axes = [((0, 2), True), ((-1, 0), False), ((0, 1, 2), True), ((), False), (None, True), ((0, 0), False), (3, False)]
    check(
        reduce, *[call(np.arange(24.0).reshape(2, 3, 4), axis, keep) for axis, keep in [*axes, (-3, True), (1, False)]]
    )


def test_reductions_of_nothing():
    def reduce(x, kind):
        if kind == 0:
            return np.max(x)
        if kind == 1:
            return x.min(axis=0)
        if kind == 2:
            return x.min(axis=1)
        if kind == 3:
            return x.argmax(axis=1)
        if kind == 4:
            return x.argmin()
        return x.sum(), x.prod(), x.mean(axis=0), np.any(x), np.all(x), x.sum(axis=0), x.std(), np.ptp(x, axis=1)

    check(reduce, *[call(np.zeros((0, 3), dtype), kind) for dtype in ("f8", "i4") for kind in range(6)])


def test_arguments_of_reductions():
    def reduce(x, mask):
        return (
            x.sum(dtype="f4"),
            np.sum(x, initial=10),
            np.sum(x, where=mask),
            np.max(x, initial=-1, where=mask),
            np.mean(x, where=mask),
            x.cumsum(axis=0),
            np.add.reduce(x),
            np.multiply.reduce(x, axis=1),
            np.add.accumulate(x),
            np.maximum.reduceat(x, [0, 1]),
            np.average(x, weights=mask),
            np.logical_xor.reduce(mask),
        )

    check(reduce, call(np.arange(6.0).reshape(2, 3), np.array([[True, False, True]] * 2)))
    check(reduce, call(np.arange(6).reshape(2, 3), np.array([[True, False, True], [False, True, True]])))


def test_reductions_into_an_output():
    def reduce(x, out):
        result = x.sum(axis=0, out=out)
        np.max(x, axis=0, out=out[::-1])
        return result is out, out

    check(
        reduce,
        call(np.arange(6.0).reshape(2, 3), np.zeros(3)),
        call(np.ones((2, 3), "i4"), np.zeros(3)),
        call(np.ones((2, 3)), np.zeros(2)),
    )


@pytest.mark.parametrize("size", [10, 1000, 1_000_003])
def test_large_sums_have_numpy_s_rounding(size):
    def totals(x):
        return x.sum(), x.mean(), (x * x).sum(), np.sqrt(x + 1).sum(), x.astype("f8").sum()

    check(totals, call(np.random.default_rng(0).uniform(250, 320, size).astype("f4")), call(np.full(size, 1 / 255)))


def test_positions_of_extremes_count_in_the_order_of_the_view():
    def positions(x):
        y = np.sin(x) * 2
        return y.T.argmax(), y.argmax(), y.T.argmax(axis=0), (y * 0).argmin(axis=1), np.argmax(x > 1), x[::-1].argmin()

    check(positions, call((np.arange(35.0).reshape(5, 7) * 1.7) % 3.1), call(np.zeros((3, 4))))


def test_reduce_then_broadcast():
    def softmax(x):
        shifted = x - x.max(axis=1, keepdims=True)
        powers = np.exp(shifted)
        return powers / powers.sum(axis=1, keepdims=True)

    inf = float("inf")
    check(
        softmax,
        call(np.array([[1000.0, 1000, -inf], [0, -inf, 3], [-1e4, -1e4, -1e4]])),
        call(np.zeros((0, 2))),
        call(np.full((2, 127), -inf)),
        call(np.full((2, 129), -inf, "f4")),
        call(np.where(np.arange(1025) % 7 == 0, np.nan, 1.0)[None]),
        call(np.random.default_rng(1).normal(size=(60, 300))),
        call(np.asfortranarray(np.random.default_rng(1).normal(size=(60, 300)))),
        call(np.zeros((2, 0))),
    )


def test_standardised_columns():
    def standardise(x, centre, floor=1e-5):
        middle = x.mean(axis=0) if centre else 0.0
        spread = np.sqrt(((x - middle) ** 2).mean(axis=0) + floor)
        return (x - middle) / spread

    x = np.random.default_rng(2).normal(size=(200, 40))
    check(standardise, call(x, True), call(x.astype("f4"), False), call(x.T, True, floor=1), call(x[:0], True))


def test_variance_and_covariance():
    def statistics(x):
        centred = x - x.mean(axis=0)
        return centred.T @ centred / (len(x) - 1), np.cov(x, rowvar=False), x.var(axis=0, ddof=1), np.corrcoef(x.T)

    check(statistics, call(np.random.default_rng(3).normal(size=(20, 3))), call(np.arange(6.0).reshape(3, 2)))


def test_counting_and_medians():
    def count(x):
        return (
            np.count_nonzero(x > 1),
            np.count_nonzero(x, axis=0),
            np.median(x, axis=1),
            np.percentile(x, [25, 75]),
            np.bincount(x.ravel().astype(int), minlength=4),
            np.histogram(x, bins=3),
            np.ptp(x),
        )

    check(count, call(np.array([[0.0, 3.0, 1.0], [2.0, 2.0, 1.0]])), call(np.array([[1, 2], [3, 0]])))


def test_norms():
    def norms(x):
        return (
            np.linalg.norm(x),
            np.linalg.norm(x, axis=0),
            np.linalg.norm(x[0], 1),
            np.linalg.norm(x, np.inf),
            np.vdot(x, x),
        )

    check(
        norms,
        call(np.arange(6.0).reshape(2, 3)),
        call(np.arange(6.0, dtype="f4").reshape(2, 3)),
        call(np.array([[3 + 4j]])),
    )


def test_a_reduction_in_a_loop_keeps_its_kind():
    def accumulate(rows):
        total = 0
        for row in rows:
            total += row.sum()
            total = total + row.max() * 0.5
        return total

    check(
        accumulate,
        call(np.ones((3, 2))),
        call(np.ones((3, 2), "f4")),
        call(np.ones((0, 2))),
        call(np.ones((2, 2), "i1")),
    )
