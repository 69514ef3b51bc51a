"""What compares each call with NumPy under GJIT_CHECK: a layer above, loaded by its name when it is first needed."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable

CHECKER = "gjit.testing.checking:check_call"
"""Module and function."""


@functools.cache
def checker() -> Callable[..., object]:
    """The function that compares a call and then makes it."""
    module, name = CHECKER.split(":")
    return getattr(importlib.import_module(module), name)
