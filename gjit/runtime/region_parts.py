"""What plans and kernels of regions depend on: the signature of inputs."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gjit.runtime.region_items import WEAK_TYPES
from gjit.runtime.scalars import Fallback

_WEAK = frozenset(WEAK_TYPES)


def signature_of(inputs: Iterable[object]) -> tuple:
    """Dtypes, shapes and strides of arrays, types of scalars; Fallback where an input is anything else."""
    return tuple(map(part_of, inputs))


def part_of(value: object) -> object:
    """The signature of one input."""
    kind = type(value)
    if kind is np.ndarray:
        if not value.flags.aligned:
            raise Fallback
        dtype = value.dtype
        return (dtype, dtype.char, value.shape, value.strides)
    if kind in _WEAK:
        return kind
    if isinstance(value, np.generic):
        return (kind, value.dtype)
    raise Fallback
