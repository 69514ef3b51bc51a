"""Agreement with another system for derivatives, where one is installed."""

from __future__ import annotations

import types

import numpy as np
import pytest

import gjit

jax = pytest.importorskip("jax")
jax.config.update("jax_enable_x64", True)

GENERATOR = np.random.default_rng(0)
A = GENERATOR.normal(size=(4, 3))
B = GENERATOR.normal(size=(3, 4))
V = GENERATOR.uniform(0.5, 2.0, 3)


def network(a, b, v):
    hidden = np.tanh(a * v + np.sin(a))
    return np.sum(np.log(1 + np.exp(hidden @ b))) / np.sqrt(np.sum(v**2))


def reductions(a, b, v):
    return np.std(a, axis=0).sum() + np.prod(v) * np.max(a) + np.mean(np.cumsum(b, axis=1) ** 2)


def selections(a, b, v):
    chosen = np.where(a > 0, a * v, np.exp(a))
    return np.sum(np.sort(chosen, axis=0)[1:] * np.maximum(a[1:], 0.1)) + np.sum(
        np.take(b, np.array([0, 0, 2]), axis=0) * b
    )


def algebra(a, b, v):
    matrix = b @ a + 3 * np.eye(3)
    solved = np.linalg.solve(matrix, v)
    return solved @ v + np.linalg.slogdet(matrix)[1] + np.einsum("ij,jk,k->", a, matrix, v) + np.linalg.norm(a)


def transforms(a, b, v):
    return np.sum(np.abs(np.fft.rfft(a, axis=0)) ** 2) + np.sum(np.real(np.fft.fft(b) * np.fft.ifft(b)))


def for_jax(program):
    """The same program with JAX's functions."""
    return types.FunctionType(program.__code__, {"np": jax.numpy}, program.__name__)


@pytest.mark.parametrize("program", [network, reductions, selections, algebra, transforms])
def test_gradients_agree(program):
    ours = gjit.grad(program, (0, 1, 2))(A, B, V)
    theirs = jax.grad(for_jax(program), (0, 1, 2))(A, B, V)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("program", [network, algebra])
def test_hessians_agree(program):
    ours = gjit.hessian(program, 2)(A, B, V)
    theirs = jax.hessian(for_jax(program), 2)(A, B, V)
    np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
