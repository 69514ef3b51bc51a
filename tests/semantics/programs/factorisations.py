"""Triangular loops: slices whose length depends on the loop variables, down to nothing."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program

try:
    from scipy.linalg import lapack
except ImportError:  # its programs are left out then
    lapack = None


def cholesky(a):
    a[0, 0] = np.sqrt(a[0, 0])
    for i in range(1, a.shape[0]):
        for j in range(i):
            a[i, j] -= np.dot(a[i, :j], a[j, :j])
            a[i, j] /= a[j, j]
        a[i, i] -= np.dot(a[i, :i], a[i, :i])
        a[i, i] = np.sqrt(a[i, i])


def library_cholesky(a):
    """The strict upper triangle keeps what it held."""
    a[:] = np.linalg.cholesky(a) + np.triu(a, k=1)


def lu(a):
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]


def solve_by_lu(a, b):
    x = np.zeros_like(b)
    y = np.zeros_like(b)
    for i in range(a.shape[0]):
        for j in range(i):
            a[i, j] -= a[i, :j] @ a[:j, j]
            a[i, j] /= a[j, j]
        for j in range(i, a.shape[0]):
            a[i, j] -= a[i, :i] @ a[:i, j]
    for i in range(a.shape[0]):
        y[i] = b[i] - a[i, :i] @ y[:i]
    for i in range(a.shape[0] - 1, -1, -1):
        x[i] = (y[i] - a[i, i + 1 :] @ x[i + 1 :]) / a[i, i]
    return x, y


def durbin(r):
    """Yule and Walker's equations; the solution so far is reversed at every step."""
    y = np.empty_like(r)
    alpha = -r[0]
    beta = 1.0
    y[0] = -r[0]
    for k in range(1, r.shape[0]):
        beta *= 1.0 - alpha * alpha
        alpha = -(r[k] + np.dot(np.flip(r[:k]), y[:k])) / beta
        y[:k] += alpha * np.flip(y[:k])
        y[k] = alpha
    return y


def gram_schmidt(a):
    q = np.zeros_like(a)
    r = np.zeros((a.shape[1], a.shape[1]), dtype=a.dtype)
    for k in range(a.shape[1]):
        length = np.dot(a[:, k], a[:, k])
        r[k, k] = np.sqrt(length)
        q[:, k] = a[:, k] / r[k, k]
        for j in range(k + 1, a.shape[1]):
            r[k, j] = np.dot(q[:, k], a[:, j])
            a[:, j] -= q[:, k] * r[k, j]
    return q, r


def triangular_solve(matrix, x, b):
    for i in range(matrix.shape[0]):
        x[i] = (b[i] - matrix[i, :i] @ x[:i]) / matrix[i, i]


def lapack_solve(a, b):
    """Factors and solutions from LAPACK's own interface, which returns its error code last."""
    factors, pivots, info = lapack.dgetrf(a)
    if info != 0:
        raise ValueError(f"singular: column {info}")
    x, info = lapack.dgetrs(factors, pivots, b)
    assert info == 0
    return x, np.abs(a @ x - b).max()


def lapack_tridiagonal(below, diagonal, above, right):
    *_, solution, info = lapack.dgtsv(below[1:], diagonal, above[:-1], right)
    if info > 0:
        raise np.linalg.LinAlgError(info)
    return solution


def positive_definite(size, rng):
    root = rng.random((size, size))
    return (root @ root.T + size * np.eye(size),)


def dominant(size, rng):
    return rng.random((size, size)) + size * np.eye(size)


def tridiagonal_arguments(size, rng):
    return rng.random(size), 3.0 + rng.random(size), rng.random(size), rng.random(size)


PROGRAMS = [
    Program(cholesky, positive_definite, (1, 2, 40)),
    Program(library_cholesky, positive_definite, (1, 4, 370), tiled=True),
    Program(lu, lambda size, rng: (dominant(size, rng),), (1, 2, 40)),
    Program(solve_by_lu, lambda size, rng: (dominant(size, rng), rng.random(size)), (1, 2, 40)),
    Program(durbin, lambda size, rng: (0.5 * rng.random(size),), (1, 2, 200)),
    Program(gram_schmidt, lambda size, rng: (rng.random((size + 3, size)),), (1, 3, 40)),
    Program(triangular_solve, lambda size, rng: (dominant(size, rng), np.zeros(size), rng.random(size)), (1, 3, 200)),
]
if lapack is not None:
    PROGRAMS += [
        Program(lapack_solve, lambda size, rng: (dominant(size, rng), rng.random(size)), (1, 3, 60)),
        Program(lapack_tridiagonal, tridiagonal_arguments, (2, 3, 1000)),
    ]
