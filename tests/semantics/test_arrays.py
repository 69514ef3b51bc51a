"""Whole array programs, with the number of regions that a plan may cut them into."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tests.semantics.support import call, check

RNG = np.random.default_rng(7)


def test_one_chain_of_operations_is_one_region():
    def chain(x, y):
        return np.sqrt(x * x + y * y) / 2 - 1

    check(
        chain,
        call(RNG.normal(size=(40, 50)), RNG.normal(size=(40, 50))),
        call(np.ones(3, "f4"), 2),
        call(np.ones((2, 1)), np.ones(3)),
        call(np.zeros(0), np.zeros(0)),
        call(3.0, 4.0),
        regions=1,
    )


def test_one_operation_alone_is_no_region():
    def single(x):
        return x + 1

    check(single, call(np.ones(3)), regions=0)


def test_scalars_make_no_region():
    def scalar(x, y):
        return (x * y + 1) / 2

    check(scalar, call(1.5, 2), call(np.float64(1), 3), regions=0)


def test_several_results_of_one_space_are_one_region():
    def rotate(x, y, angle):
        c, s = math.cos(angle), math.sin(angle)
        return c * x - s * y, s * x + c * y

    check(rotate, call(RNG.normal(size=100), RNG.normal(size=100), 0.3), call(np.ones((2, 3), "f4"), 1, 2), regions=1)


def test_a_region_does_not_reach_over_a_reduction():
    def normalise(x):
        shifted = x * 2 - x.mean()
        return shifted / np.sqrt((shifted * shifted).sum())

    check(normalise, call(RNG.normal(size=1000)), call(np.arange(5)), call(np.ones((2, 3), "f4")))


def test_diffusion_until_convergence():
    def diffuse(u, tolerance, limit):
        for rounds in range(limit):
            new = u.copy()
            new[1:-1] = 0.5 * (u[:-2] + u[2:])
            change = np.abs(new - u).max()
            u = new
            if change < tolerance:
                break
        return u, rounds

    check(
        diffuse,
        call(np.array([0.0, 0.0, 0.0, 4.0]), 1.0, 50),
        call(np.linspace(0, 1, 300) ** 2, 1e-6, 9),
        call(np.zeros(3), 0.1, 0),
        regions=2,
    )


def test_a_heat_equation_in_two_dimensions():
    def heat(u, steps, alpha=0.1):
        for _ in range(steps):
            u[1:-1, 1:-1] += alpha * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        return u

    check(
        heat,
        call(RNG.random((30, 40)), 3),
        call(np.ones((3, 3), "f4"), 1),
        call(np.asfortranarray(RNG.random((5, 6))), 2),
        regions=1,
    )


def test_fields_on_staggered_grids():
    def fields(ex, ey, hz, steps):
        for t in range(steps):
            ey[0, :] = t
            ey[1:, :] -= 0.5 * (hz[1:, :] - hz[:-1, :])
            ex[:, 1:] -= 0.5 * (hz[:, 1:] - hz[:, :-1])
            hz[:-1, :-1] -= 0.7 * (ex[:-1, 1:] - ex[:-1, :-1] + ey[1:, :-1] - ey[:-1, :-1])

    check(fields, call(RNG.random((12, 15)), RNG.random((12, 15)), RNG.random((12, 15)), 3))


def test_option_prices():
    def price(spot, strike, years, rate, sigma):
        root = sigma * np.sqrt(years)
        d1 = (np.log(spot / strike) + (rate + sigma * sigma / 2) * years) / root
        d2 = d1 - root
        weight = 1 / (1 + np.exp(-1.702 * d1)), 1 / (1 + np.exp(-1.702 * d2))
        call_price = spot * weight[0] - strike * np.exp(-rate * years) * weight[1]
        return call_price, call_price - spot + strike * np.exp(-rate * years)

    spot, strike, years = (RNG.uniform(low, high, 500) for low, high in ((10, 50), (10, 50), (0.5, 2)))
    check(price, call(spot, strike, years, 0.05, 0.2), call(spot.astype("f4"), strike.astype("f4"), 1.0, 0.05, 0.2))


def test_numbers_between_array_operations_do_not_split_a_region():
    def terms(spot, strike, rate, sigma):
        first = np.log(spot / strike)
        return (first + (rate + sigma * sigma / 2) * strike) / sigma - first

    check(terms, call(RNG.uniform(1, 2, 50), RNG.uniform(1, 2, 50), 0.05, 0.2), regions=1)


def test_bodies_that_attract_each_other():
    def accelerate(positions, masses, softening=0.1):
        difference = positions[None, :, :] - positions[:, None, :]
        distance = (difference**2).sum(axis=2) + softening**2
        inverse = distance**-1.5
        np.fill_diagonal(inverse, 0)
        return (difference * (inverse * masses)[:, :, None]).sum(axis=1)

    check(accelerate, call(RNG.normal(size=(20, 3)), RNG.random(20)), call(np.zeros((1, 3)), np.ones(1)))


def test_game_of_life():
    def life(board, rounds):
        for _ in range(rounds):
            neighbours = sum(np.roll(np.roll(board, i, 0), j, 1) for i in (-1, 0, 1) for j in (-1, 0, 1) if i or j)
            board = (neighbours == 3) | (board & (neighbours == 2))
        return board

    check(life, call(RNG.random((9, 8)) > 0.5, 3), call(np.zeros((3, 3), bool), 1), call(np.eye(4, dtype="u1"), 1))


def test_a_small_network():
    def forward(x, layers):
        for weights, bias in layers:
            x = np.maximum(x @ weights + bias, 0)
        shifted = np.exp(x - x.max(axis=-1, keepdims=True))
        return shifted / shifted.sum(axis=-1, keepdims=True)

    layers = [(RNG.normal(size=(6, 8)), RNG.normal(size=8)), (RNG.normal(size=(8, 3)), np.zeros(3))]
    check(
        forward, call(RNG.normal(size=(5, 6)), layers), call(RNG.normal(size=6), layers), call(np.zeros((0, 6)), layers)
    )


def test_products_of_every_kind():
    def products(a, b):
        return (
            a @ b,
            np.einsum("ij,ij->i", a, b.T),
            np.outer(a[0], b[:, 0]),
            np.dot(a[0], a[1]),
            a.T @ a,
            np.inner(a, b.T),
            np.tensordot(a, b, 1),
            np.kron(a[:1], b[:, :1]),
            np.trace(a),
            a.trace(),
            np.matmul(a, b, out=np.empty((a.shape[0], b.shape[1]), np.result_type(a, b))),
        )

    check(products, call(np.array([[1, 2], [3, 4]]), np.eye(2)), call(RNG.normal(size=(3, 3)), RNG.normal(size=(3, 3))))


def test_factorisation_by_loops():
    def factor(a):
        size = a.shape[0]
        for i in range(size):
            for j in range(i):
                a[i, j] -= a[i, :j] @ a[:j, j]
                a[i, j] /= a[j, j]
            for j in range(i, size):
                a[i, j] -= a[i, :i] @ a[:i, j]
        return np.triu(a), np.tril(a, -1)

    check(factor, call(RNG.random((6, 6)) + 6 * np.eye(6)), call(np.ones((1, 1))), call(np.zeros((0, 0))))


def test_orthogonal_columns():
    def orthogonalise(a):
        q = np.zeros_like(a)
        r = np.zeros((a.shape[1], a.shape[1]), dtype=a.dtype)
        for k in range(a.shape[1]):
            r[k, k] = np.sqrt(a[:, k] @ a[:, k])
            q[:, k] = a[:, k] / r[k, k]
            for j in range(k + 1, a.shape[1]):
                r[k, j] = q[:, k] @ a[:, j]
                a[:, j] -= q[:, k] * r[k, j]
        return q, r

    check(orthogonalise, call(RNG.random((6, 4))), call(RNG.random((3, 3)).astype("f4")))


def test_recurrences_along_columns():
    def sweep(a, b):
        for k in range(1, a.shape[1]):
            a[:, k] = a[:, k - 1] * 0.5 + b[:, k] - a[:, k]
        for k in range(a.shape[1] - 2, -1, -1):
            a[:, k] += a[:, k + 1] * b[:, k]
        return a

    check(
        sweep,
        call(RNG.random((7, 9)), RNG.random((7, 9))),
        call(np.asfortranarray(RNG.random((4, 3))), RNG.random((4, 3))),
    )


def test_tables_of_best_scores():
    def pairs(sequence):
        size = len(sequence)
        table = np.zeros((size, size), np.int32)
        for i in range(size - 1, -1, -1):
            for j in range(i + 1, size):
                table[i, j] = max(table[i, j], table[i, j - 1], table[i + 1, j])
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + (sequence[i] + sequence[j] == 3))
                for k in range(i + 1, j):
                    table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
        return table

    check(pairs, call(RNG.integers(0, 4, 12)), call(np.zeros(1, int)), call([0, 3, 1, 2]))


def test_sparse_rows():
    def multiply(starts, columns, values, x):
        y = np.empty(starts.size - 1, values.dtype)
        for row in range(starts.size - 1):
            part = slice(starts[row], starts[row + 1])
            y[row] = values[part] @ x[columns[part]]
        return y

    check(
        multiply,
        call(np.array([0, 2, 2, 3], "u4"), np.array([0, 2, 1], "u4"), np.array([1.0, 2.0, 3.0]), np.arange(3.0)),
    )


def test_polynomials_by_horner_s_rule():
    def horner(x, coefficients):
        result = np.zeros_like(x)
        for coefficient in coefficients:
            result = result * x + coefficient
        return result

    check(
        horner,
        call(np.linspace(0, 1, 50), [1.0, -2, 3]),
        call(np.arange(4), [1, 2]),
        call(np.ones(2, "f4"), np.ones(3)),
    )


def test_operands_of_unknown_type_are_grouped_optimistically():
    def horner(x, coefficients):
        result = np.zeros_like(x)
        for coefficient in coefficients:
            result = result * x + coefficient
        return result

    check(horner, call(np.linspace(0, 1, 50), [1.0, -2, 3]), regions=1)


def test_equation_with_many_terms():
    def density(s, t, p):
        a = 999.842594 + 6.793952e-2 * t - 9.09529e-3 * t**2 + 1.001685e-4 * t**3 - 1.120083e-6 * t**4
        b = 0.824493 - 4.0899e-3 * t + 7.6438e-5 * t**2 - 8.2467e-7 * t**3
        c = -5.72466e-3 + 1.0227e-4 * t - 1.6546e-6 * t**2
        surface = a + b * s + c * s * np.sqrt(s) + 4.8314e-4 * s**2
        bulk = 19652.21 + 148.4206 * t - 2.327105 * t**2 + 3.239908 * p + 8.50935e-5 * p * p
        return surface / (1 - p / bulk)

    s, t, p = (RNG.uniform(low, high, (20, 30)) for low, high in ((30, 40), (0, 30), (0, 100)))
    check(
        density, call(s, t, p), call(s.astype("f4"), t.astype("f4"), p.astype("f4")), call(s, t[0], p[:, :1]), regions=1
    )


@pytest.mark.parametrize("size", [100, 300_000])
def test_large_and_small_arrays_take_the_same_values(size):
    def program(x, y):
        z = (x + y) * 0.5 - x / (1 + y * y)
        x[:] = np.where(z > 0, z, -z)
        return z, x.sum(), np.sqrt(x) + z

    check(
        program,
        call(RNG.normal(size=size), RNG.normal(size=size)),
        call(RNG.normal(size=size).astype("f4")[::-1], RNG.normal(size=size)),
    )
