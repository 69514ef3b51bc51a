from __future__ import annotations

import numpy as np
import pytest

from tests.semantics.support import call, check, layouts


def test_results_of_one_program_keep_their_own_shapes():
    def several(a, b):
        return 2.0 * a, 3.0 * b, a + b, b.sum(), (a - b).shape, a * b + a

    check(
        several,
        call(np.ones((2, 2, 2)), np.ones((2, 2))),
        call(np.array([1, 2]), np.array([[3, 4], [5, 6]])),
        call(np.ones((1, 3)), np.ones((2, 1))),
        call(np.float64(2), np.ones(3)),
        call(np.ones((4, 1, 3)), np.ones((2, 1), "f4")),
        call(np.array(2.0), np.ones((1, 1))),
    )


def test_shapes_that_do_not_fit_raise():
    def add(a, b):
        doubled = a * 2
        return doubled + b

    shapes = [((3,), (2,)), ((2, 3), (3, 2)), ((3,), (1,)), ((0,), (3,)), ((0,), (1,)), ((2, 0), (0,)), ((), (2,))]
    check(add, *[call(np.ones(one), np.ones(two)) for one, two in shapes])


def test_empty_arrays_flow_through():
    def flow(x):
        return (x * 2 + 1).sum(axis=1), x + np.ones((1, 3)), x.T @ x, np.concatenate([x, x]), x.mean(axis=0).shape, -x

    check(flow, call(np.zeros((0, 3))), call(np.zeros((0, 3), "f4")), call(np.zeros((2, 3))[2:]))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "c8"])
def test_zero_d_arrays_give_scalars(dtype):
    def scalars(a, b):
        return (
            a + b,
            np.sqrt(a),
            a[()],
            a.sum(),
            a * 2,
            np.add(a, b),
            -a,
            a.reshape(1)[0],
            a.ndim,
            a[...],
            np.where(a, a, b),
        )

    zero_d = np.array(2, dtype)
    check(scalars, *[call(zero_d, b) for b in (np.array(1), 1.0, np.ones(2, "f2"), np.float32(3), 2, np.ones((1, 1)))])
    check(scalars, call(zero_d[()], 3))


def strange_layouts():
    base = np.arange(12.0)
    return [
        (np.lib.stride_tricks.as_strided(base[3:], shape=(1, 3), strides=(8000, 8)), base[:3]),
        (np.array([512, 3], "u2")[1:0:-1], np.array([1], "u2")),
        (np.lib.stride_tricks.sliding_window_view(base, 4), np.arange(4.0)),
        (base[::-3], base[:4]),
        (np.broadcast_to(base[:3], (4, 3)), base.reshape(4, 3)),
        (np.broadcast_to(base[2], (4, 3)), base.reshape(4, 3)[:, ::-1]),
        (base.reshape(4, 3).T, base.reshape(3, 4)),
        (base.reshape(2, 2, 3)[:, ::-1], base[:3]),
        (base.reshape(1, 12)[:, ::5], base.reshape(12, 1)[::4]),
    ]


@pytest.mark.parametrize(("a", "b"), strange_layouts())
def test_strange_strides(a, b):
    def combine(x, y):
        return x + y, x.sum(), x * x, (x - y) / 2 + x, x.sum(axis=0), np.sqrt(x)[..., 0]

    check(combine, call(a, b))


@pytest.mark.parametrize("rows", [3, 130])
def test_every_pair_of_layouts(rows):
    def combine(x, y):
        z = x * 2 - y
        return z, z + x, np.maximum(x, y) * 0.5

    matrix = np.arange(rows * 70.0).reshape(rows, 70)
    check(combine, *[call(x, y) for x in layouts(matrix) for y in layouts(matrix * 0.5)[:4]])


def test_the_memory_order_of_results_is_numpy_s():
    def order(x, y):
        total = x + y
        return total, total * 2, np.exp(x), x.T + y.T, total.copy(), np.zeros_like(total), total.astype("f4"), x > y

    c = np.arange(24.0).reshape(2, 3, 4)
    f = np.asfortranarray(c)
    permuted = np.ascontiguousarray(c.transpose(1, 2, 0)).transpose(2, 0, 1)
    check(order, *[call(x, y) for x in (c, f, permuted) for y in (c, f, permuted, c[0], np.asfortranarray(c[:, :1]))])


def test_outer_products_and_grids():
    def grids(x, y):
        rows, columns = np.meshgrid(x, y, indexing="ij")
        return (
            np.add.outer(x, y),
            np.multiply.outer(x, y),
            rows + columns,
            x[:, None] * y,
            np.outer(x, y),
            np.hypot(*np.ix_(x, y)),
        )

    check(
        grids,
        call(np.arange(3.0), np.arange(2.0)),
        call(np.arange(2, dtype="f4"), np.arange(3)),
        call(np.zeros(0), np.ones(2)),
    )


def test_grids_of_indices():
    def grid(rows, columns):
        i, j = np.mgrid[0:rows, 0:columns]
        y, x = np.ogrid[0:rows, 0:columns:2j]
        return (
            i * 2 + j,
            np.indices((rows, columns)).sum(axis=0),
            y * x,
            np.fromfunction(lambda a, b: a - b, (rows, columns)),
        )

    check(grid, call(2, 3), call(0, 2), call(4, 1))


def test_many_dimensions():
    def combine(x, y):
        return (x + y).sum(axis=(0, -1)), x * y.T, x[..., None] + y

    x = np.arange(64.0).reshape((2,) * 6)
    check(combine, call(x, x.T), call(x, x[0, ..., :1]))


def test_selection_broadcasts_all_three():
    def choose(condition, a, b):
        return np.where(condition, a, b), np.where(condition, a, 0), np.select([condition, a > 0], [a, b], 7)

    check(
        choose,
        call(np.array([True, False]), np.array([[1], [2]]), 0.5),
        call(np.array([1, 0]), np.array([1.0, 2.0], "f4"), np.array([3, 4], "i2")),
        call(np.zeros((0, 2), bool), np.array([1, 2]), np.array([3, 4])),
    )
