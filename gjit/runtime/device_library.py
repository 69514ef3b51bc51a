"""Functions that a device's own library runs for NumPy arrays: products of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.runtime.residency import Residency, current
from gjit.runtime.scalars import Fallback

_CHARACTERS = frozenset("fdFD")


def _product(name: str) -> Callable:
    """A product of two arrays on the device of the call; what the device cannot do, or refuses, NumPy does."""
    plain: Callable = getattr(np, name)

    def product(left: Any, right: Any) -> Any:
        residency = current()
        if residency is None or not (_is_product(left) and _is_product(right)):
            return _on_host(residency, plain, left, right)
        device = residency.device
        try:
            with device.active():
                there = getattr(device.functions, name)(residency.on_device(left), residency.on_device(right))
                return residency.adopt(there)
        except (ValueError, Fallback):
            return _on_host(residency, plain, left, right)

    product.__name__ = product.__qualname__ = f"device_{name}"
    return product


def _is_product(value: Any) -> bool:
    return type(value) is np.ndarray and value.ndim > 0 and value.size > 0 and value.dtype.char in _CHARACTERS


def _on_host(residency: Residency | None, function: Callable, left: Any, right: Any) -> Any:
    if residency is not None:
        residency.settle(left, right)
    return function(left, right)


device_matmul, device_dot = _product("matmul"), _product("dot")
"""`numpy.matmul`, which is also the operator, and `numpy.dot`."""
