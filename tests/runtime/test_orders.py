"""Results have NumPy's memory order, whatever order the operands have."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import gjit
from gjit.runtime import native

SHAPE = (30, 20, 28)


def laid_out(kind: str) -> np.ndarray:
    values = np.arange(float(np.prod(SHAPE))).reshape(SHAPE) % 17
    fortran = np.asfortranarray(values)
    return {
        "C": values,
        "F": fortran,
        "last": np.broadcast_to(fortran[..., :1], SHAPE),
        "middle": np.broadcast_to(fortran[:, :1], SHAPE),
        "first": np.broadcast_to(fortran[:1], SHAPE),
        "row": fortran[0],
        "step": values[:, ::-1][:, ::-1],
    }[kind]


KINDS = ("C", "F", "last", "middle", "first", "row", "step")


@pytest.mark.skipif(not native.is_available(), reason="needs a C++ compiler")
@pytest.mark.parametrize("options", [{"engine": "native"}, {"engine": "numpy"}], ids=["native", "numpy"])
def test_strides_of_results(options):
    def scaled(x, y):
        return x * 2 + y

    compiled = gjit.script(scaled, device="cpu", **options)
    for kinds in itertools.product(KINDS, repeat=2):
        operands = [laid_out(kind) for kind in kinds]
        got, wanted = compiled(*operands), scaled(*operands)
        assert got.strides == wanted.strides, kinds
        assert (got == wanted).all(), kinds
    if options["engine"] == "native":
        assert compiled.statistics.launches > 5
