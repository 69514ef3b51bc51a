"""All kernels: what makes their arguments, at which size tests run them and at which they are timed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bench.npbench import elements, products, solvers, sweeps


@dataclass(frozen=True, slots=True)
class Kernel:
    """One program.

    function  the plain NumPy program
    make      its arguments for a size
    test      the size in tests
    timed     the size at which plain NumPy takes 10 to 100 milliseconds
    """

    function: Callable
    make: Callable[[int], tuple]
    test: int
    timed: int


def _random() -> np.random.Generator:
    return np.random.default_rng(42)


def _square(n: int) -> np.ndarray:
    return _random().random((n, n))


def _definite(n: int) -> np.ndarray:
    a = _square(n)
    return a @ a.T + n * np.eye(n)


def _sparse(n: int) -> tuple:
    random = _random()
    lengths = random.integers(0, 20, n)
    rows = np.concatenate(([0], np.cumsum(lengths))).astype(np.uint32)
    columns = random.integers(0, n, int(rows[-1]), dtype=np.uint32)
    return rows, columns, random.random(int(rows[-1])), random.random(n)


def _advected(n: int) -> tuple:
    random = _random()
    shape = (n, n, n)
    inner = [random.random(shape) for _ in range(4)]
    return inner[0], inner[1], random.random((n + 1, n, n)), inner[2], inner[3], 3.0 / 20.0


PROGRAMS = {
    "cholesky": Kernel(solvers.cholesky, lambda n: (_definite(n),), 12, 180),
    "lu": Kernel(solvers.lu, lambda n: (_definite(n),), 12, 160),
    "ludcmp": Kernel(solvers.ludcmp, lambda n: (_definite(n), _random().random(n)), 12, 160),
    "trisolv": Kernel(solvers.trisolv, lambda n: (_definite(n), np.zeros(n), _random().random(n)), 12, 3000),
    "gramschmidt": Kernel(solvers.gramschmidt, lambda n: (_random().random((n + 4, n)),), 10, 120),
    "durbin": Kernel(solvers.durbin, lambda n: (0.5 / np.arange(1.0, n + 1),), 20, 2000),
    "symm": Kernel(products.symm, lambda n: (1.5, 1.2, _square(n), _square(n), _square(n)), 10, 90),
    "syrk": Kernel(products.syrk, lambda n: (1.5, 1.2, _square(n), _square(n)), 10, 110),
    "syr2k": Kernel(products.syr2k, lambda n: (1.5, 1.2, _square(n), _square(n), _square(n)), 10, 80),
    "trmm": Kernel(products.trmm, lambda n: (1.5, _square(n), _square(n)), 10, 160),
    "covariance": Kernel(products.covariance, lambda n: (float(n), _random().random((n, n))), 12, 300),
    "seidel_2d": Kernel(sweeps.seidel_2d, lambda n: (4, n, _square(n)), 12, 140),
    "adi": Kernel(sweeps.adi, lambda n: (5, n, _square(n)), 10, 200),
    "deriche": Kernel(sweeps.deriche, lambda n: (0.25, _square(n)), 12, 900),
    "vertical_advection": Kernel(sweeps.vertical_advection, _advected, 8, 80),
    "floyd_warshall": Kernel(sweeps.floyd_warshall, lambda n: (_random().integers(1, 100, (n, n)),), 12, 200),
    "crc16": Kernel(elements.crc16, lambda n: (_random().integers(0, 256, n, dtype=np.uint8), 0x8408), 40, 20000),
    "nussinov": Kernel(elements.nussinov, lambda n: (n, _random().integers(0, 4, n, dtype=np.int32)), 12, 50),
    "sparse_product": Kernel(elements.sparse_product, _sparse, 12, 8000),
    "gauss_seidel": Kernel(elements.gauss_seidel, lambda n: (_square(n), 3), 9, 100),
    "histogram": Kernel(elements.histogram, lambda n: (_random().random(n), np.zeros(32, int), 0.1, 0.9), 60, 100000),
    "running_maximum": Kernel(elements.running_maximum, lambda n: (_random().random(n),), 40, 500000),
    "positive_sum": Kernel(elements.positive_sum, lambda n: (_random().random(n),), 40, 300000),
}
