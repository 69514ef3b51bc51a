"""Kernel texts that depend on dtypes, and the C names of dtypes."""

from __future__ import annotations

import numpy as np

from gjit.ops.row import Dtypes


def c_type(dtype: np.dtype) -> str:
    """What a dtype is called in kernels.

    >>> c_type(np.dtype("f4")), c_type(np.dtype("l")), c_type(np.dtype("?"))
    ('float32', 'int64', 'bool_')
    """
    return "bool_" if dtype.kind == "b" else dtype.name


def cast_text(text: str, source: np.dtype, target: np.dtype) -> str:
    """The expression `text` of one dtype as another, by the rules of `astype`.

    >>> cast_text("x", np.dtype("f8"), np.dtype("i4"))
    'np_cast_int32(x)'
    """
    return text if source == target else f"np_cast_{c_type(target)}({text})"


def _cast(dtypes: Dtypes) -> str:
    return cast_text("{0}", *dtypes)


def _is_exact_cast(dtypes: Dtypes) -> bool:
    """Where a float does not fit into uint32, NumPy's vector code gives something else than its scalar code."""
    source, target = dtypes
    return not (source.kind in "fc" and target == np.uint32)


CAST_KERNEL = {"kernel": _cast, "kinds": "biufc", "exact": _is_exact_cast}
"""Of `astype`: operand, then result."""


def _where(dtypes: Dtypes) -> str:
    return f"np_where({cast_text('{0}', dtypes[0], np.dtype(bool))}, {{1}}, {{2}})"


WHERE_KERNEL = {"kernel": _where, "kinds": "biufc", "exact": "biufc"}
"""Of `where` with three operands: condition and choices, then the result."""
