"""Well-known kernels (PolyBench, NPBench) as plain NumPy programs, written from their definitions.

Each family has a file; `PROGRAMS` names them all with what makes their arguments and with two sizes: one for tests, and
one at which plain NumPy takes some ten milliseconds.
"""

from __future__ import annotations

from bench.npbench.sizes import PROGRAMS, Kernel

__all__ = ["PROGRAMS", "Kernel"]
