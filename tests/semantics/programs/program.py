"""What one public program is: a plain NumPy function, its arguments at a size, and what its compiled form must show."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True, slots=True)
class Program:
    """A plain NumPy function and how to call it.

    function        ordinary NumPy code; it may work through its arguments and return nothing
    make_arguments  fresh positional arguments for a size and a generator; what a size means is the program's own affair
    sizes           from the smallest that makes sense to the largest that is quick in plain NumPy
    tiled           whether regions run tile by tile at the last size
    signatures      how many plans all sizes need together: extents are no part of a signature
    """

    function: Callable[..., object]
    make_arguments: Callable[[int, np.random.Generator], tuple]
    sizes: tuple[int, ...]
    tiled: bool = False
    signatures: int = 1

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__
