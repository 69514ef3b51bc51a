"""Matrix products and what stands round them: results go into the caller's arrays, one way or another."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program


def gemm(alpha, beta, c, a, b):
    c[:] = alpha * a @ b + beta * c


def two_products(alpha, beta, a, b, c, d):
    d[:] = alpha * a @ b @ c + beta * d


def three_products(a, b, c, d):
    return a @ b @ c @ d


def doitgen(rows, columns, depth, a, weights):
    """Every row of a three-dimensional array through one matrix; the depth is an argument."""
    for r in range(rows):
        a[r, :, :] = np.reshape(np.reshape(a[r], (columns, 1, depth)) @ weights, (columns, depth))


def gemver(alpha, beta, a, u1, v1, u2, v2, w, x, y, z):
    a += np.outer(u1, v1) + np.outer(u2, v2)
    x += beta * y @ a + z
    w += alpha * a @ x


def gesummv(alpha, beta, a, b, x):
    return alpha * a @ x + beta * b @ x


def atax(a, x):
    return (a @ x) @ a


def bicg(a, p, r):
    return r @ a, a @ p


def mvt(x1, x2, y1, y2, a):
    x1 += a @ y1
    x2 += y2 @ a


def symm(alpha, beta, c, a, b):
    """A symmetric matrix of which only the lower triangle is read."""
    work = np.empty((c.shape[1],), dtype=c.dtype)
    c *= beta
    for i in range(c.shape[0]):
        for j in range(c.shape[1]):
            c[:i, j] += alpha * b[i, j] * a[i, :i]
            work[j] = b[:i, j] @ a[i, :i]
        c[i, :] += alpha * b[i, :] * a[i, i] + alpha * work


def syrk(alpha, beta, c, a):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += alpha * a[i, k] * a[: i + 1, k]


def syr2k(alpha, beta, c, a, b):
    for i in range(a.shape[0]):
        c[i, : i + 1] *= beta
        for k in range(a.shape[1]):
            c[i, : i + 1] += a[: i + 1, k] * alpha * b[i, k] + b[: i + 1, k] * alpha * a[i, k]


def trmm(alpha, a, b):
    for i in range(b.shape[0]):
        for j in range(b.shape[1]):
            b[i, j] += np.dot(a[i + 1 :, i], b[i + 1 :, j])
    b *= alpha


def matrices(*coefficients, count):
    """Scalars first, then square matrices."""

    def make_arguments(size, rng):
        return (*coefficients, *(rng.random((size, size)) for _ in range(count)))

    return make_arguments


def rank_one_arguments(size, rng):
    return 1.5, 1.2, rng.random((size, size)), *(rng.random(size) for _ in range(8))


def doitgen_arguments(size, rng):
    return size, size + 1, size + 2, rng.random((size, size + 1, size + 2)), rng.random((size + 2, size + 2))


def vectors(before, after):
    """Vectors on both sides of one square matrix."""

    def make_arguments(size, rng):
        shapes = (size,) * before, (size, size), (size,) * after
        return (
            *(rng.random(extent) for extent in shapes[0]),
            rng.random(shapes[1]),
            *(rng.random(extent) for extent in shapes[2]),
        )

    return make_arguments


def gesummv_arguments(size, rng):
    return 1.5, 1.2, rng.random((size, size)), rng.random((size, size)), rng.random(size)


PROGRAMS = [
    Program(gemm, matrices(1.5, 1.2, count=3), (1, 5, 370), tiled=True),
    Program(two_products, matrices(1.5, 1.2, count=4), (1, 5, 370), tiled=True),
    Program(three_products, matrices(count=4), (1, 5, 120)),
    Program(doitgen, doitgen_arguments, (1, 4, 24)),
    Program(gemver, rank_one_arguments, (1, 5, 370), tiled=True),
    Program(gesummv, gesummv_arguments, (1, 5, 370)),
    Program(atax, vectors(0, 1), (1, 5, 370)),
    Program(bicg, vectors(0, 2), (1, 5, 370)),
    Program(mvt, vectors(4, 0), (1, 5, 370)),
    Program(symm, matrices(1.5, 1.2, count=3), (1, 2, 24)),
    Program(syrk, matrices(1.5, 1.2, count=2), (1, 2, 40)),
    Program(syr2k, matrices(1.5, 1.2, count=3), (1, 2, 40)),
    Program(trmm, matrices(1.5, count=2), (1, 2, 40)),
]
