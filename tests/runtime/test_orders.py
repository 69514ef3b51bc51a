"""Results have NumPy's memory order, whatever order the operands have."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import gjit
from gjit.runtime import native

KINDS = ("C", "F", "last", "middle", "first", "row", "step")
SMALL, LARGE = (30, 20, 28), (30, 40, 33)
"""NumPy takes temporaries of the large shape for results."""


def laid_out(kind: str, shape: tuple[int, ...]) -> np.ndarray:
    values = np.arange(float(np.prod(shape))).reshape(shape) % 17
    fortran = np.asfortranarray(values)
    return {
        "C": values,
        "F": fortran,
        "last": np.broadcast_to(fortran[..., :1], shape),
        "middle": np.broadcast_to(fortran[:, :1], shape),
        "first": np.broadcast_to(fortran[:1], shape),
        "row": fortran[0],
        "step": np.repeat(values, 2, axis=-1)[..., ::2],
    }[kind]


def scaled(x, y):
    return x * 2 + y


def halved(x, y):
    return (x + y) * 0.5


@pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler")
@pytest.mark.parametrize("shape", [SMALL, LARGE], ids=["small", "large"])
@pytest.mark.parametrize("engine", ["native", "numpy"])
@pytest.mark.parametrize("function", [scaled, halved], ids=lambda function: function.__name__)
def test_strides_of_results(function, engine, shape):
    compiled = gjit.script(function, device="cpu", engine=engine)
    for kinds in itertools.product(KINDS, repeat=2):
        operands = [laid_out(kind, shape) for kind in kinds]
        got, wanted = compiled(*operands), function(*operands)
        assert got.strides == wanted.strides, kinds
        assert (got == wanted).all(), kinds
    if engine == "native":
        assert compiled.statistics.launches > 10


@pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler")
def test_a_matrix_and_its_transpose_are_one_kernel():
    @gjit.script(engine="native", device="cpu")
    def symmetric(x):
        return (x + x.T) * 0.5

    x = np.random.default_rng(0).standard_normal((300, 300))
    assert (symmetric(x) == (x + x.T) * 0.5).all()
    assert symmetric.statistics.launches == 1
