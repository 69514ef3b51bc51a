"""The kernels of `bench/npbench` as loop nests: what plain NumPy gives, up to the order of sums."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import gjit
from bench.npbench import PROGRAMS
from gjit import settings
from gjit.runtime import nest_region
from gjit.runtime.compiler import find_compiler
from gjit.testing import assert_same_as_numpy

pytestmark = pytest.mark.skipif(find_compiler() is None, reason="there is no C++ compiler")
WITH_PRODUCTS = {
    *("cholesky", "lu", "ludcmp", "trisolv", "gramschmidt", "durbin", "symm", "trmm", "covariance", "sparse_product"),
}
"""What holds products of slices, which are summed in another order than the library's."""
WHOLE_ARRAYS = {"floyd_warshall"}


def difference(expected: object, actual: object) -> str:
    """How two results differ beyond the rounding of sums; nothing where they do not."""
    if type(expected) is not type(actual):
        return f"{type(expected)} and {type(actual)}"
    if isinstance(expected, tuple):
        return "".join(map(difference, expected, actual))
    if expected is None:
        return ""
    return "" if np.allclose(expected, actual, rtol=1e-11, atol=1e-13) else f"{expected} and {actual}"


@pytest.mark.parametrize("name", PROGRAMS)
def test_kernels(name, monkeypatch, tmp_path_factory):
    monkeypatch.setattr(nest_region, "LEAST_ELEMENTS", 1)
    kernel = PROGRAMS[name]
    with settings.config(cache_dir=str(tmp_path_factory.getbasetemp() / "kernels")):
        compiled = gjit.script(kernel.function, engine="native")
        if name not in WITH_PRODUCTS:
            assert_same_as_numpy(compiled, *kernel.make(kernel.test), plain=kernel.function)
        arguments = kernel.make(kernel.test)
        plain, native = copy.deepcopy(arguments), copy.deepcopy(arguments)
        expected, actual = kernel.function(*plain), compiled(*native)
    assert difference(expected, actual) == ""
    assert difference(plain, native) == ""
    nests = [region for region in compiled.statistics.tiled_regions if isinstance(region, nest_region.NestRegion)]
    assert all(region.tiled and not region.fallbacks for region in nests)
    assert bool(nests) != (name in WHOLE_ARRAYS)
