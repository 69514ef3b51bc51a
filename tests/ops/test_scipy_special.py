"""The ufuncs of SciPy have rows once SciPy is imported."""

from __future__ import annotations

import numpy as np
import pytest

from gjit.ir.graph import Node, Value
from gjit.ir.types import ArrayType, ScalarType
from gjit.ops import Kind, names, result_types, table

special = pytest.importorskip("scipy.special")


def test_rows_and_names():
    row = table.of_function(special.erf)
    assert (row.name, row.kind) == ("scipy.special.erf", Kind.ELEMENTWISE)
    assert table["scipy.special.expit"].function is special.expit
    assert names.object_named("scipy.special.erf") is special.erf


@pytest.mark.parametrize("name", ["erf", "expit", "gammaln", "ndtr"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "i4"])
def test_types(name, dtype):
    function = getattr(special, name)
    node = Node(f"scipy.special.{name}", [Value(ArrayType(np.dtype(dtype), 1))])
    assert result_types(node) == [ArrayType(function(np.ones(2, dtype)).dtype, 1)]
    node = Node(f"scipy.special.{name}", [Value(ScalarType(np.dtype(dtype)))])
    assert result_types(node) == [ScalarType(function(np.ones(2, dtype)[0]).dtype)]
