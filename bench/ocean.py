"""Three kernels of ocean models, written from their published formulas.

* Equation of state: N. P. Fofonoff and R. C. Millard, Algorithms for Computation of Fundamental Properties of
  Seawater, UNESCO Technical Papers in Marine Science 44 (1983).
* Isoneutral mixing, as triads: S. M. Griffies, The Gent-McWilliams Skew Flux, Journal of Physical Oceanography 28
  (1998).
* Turbulent kinetic energy: P. Gaspar, Y. Gregoris and J.-M. Lefevre, A Simple Eddy Kinetic Energy Model for
  Simulations of the Oceanic Vertical Mixing, Journal of Geophysical Research 95 (1990).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from bench.cases import Case, run_cases
from bench.harness import Measurement, Options
from tests.semantics.programs.isoneutral import isoneutral_mixing, mixing_arguments
from tests.semantics.programs.ocean_state import density_and_derivatives
from tests.semantics.programs.turbulence import step_turbulent_energy, turbulence_arguments

_IN_PLACE = frozenset({"jax", "torch.compile", "torchscript", "numba"})
"""Peers that would need the program written anew."""


def water(size):
    random = np.random.default_rng(11)
    shape = (max(size // 64, 1), 64)
    return 35.0 + random.random(shape), 20.0 * random.random(shape), 400.0 * random.random((1, 64))


def _grid(make: Callable, points: Callable[[int], float]) -> Callable[[int], tuple]:
    return lambda size: make(max(2, round(points(size) ** (1 / 3))), np.random.default_rng(12))


def cases() -> list[Case]:
    """Equation of state, isoneutral mixing, turbulent kinetic energy; a size is the number of grid points."""
    sizes, quick = (10_000, 1_000_000), 100_000
    return [
        Case("equation of state", density_and_derivatives, water, sizes, quick, without=frozenset({"numba"})),
        Case(
            "isoneutral mixing",
            isoneutral_mixing,
            _grid(mixing_arguments, lambda size: 4.0 * size),
            sizes,
            quick,
            without=_IN_PLACE,
        ),
        Case(
            "turbulent energy",
            step_turbulent_energy,
            _grid(turbulence_arguments, lambda size: 3.0 * size),
            sizes,
            quick,
            without=_IN_PLACE,
        ),
    ]


def run(options: Options) -> Iterator[Measurement]:
    """The ratio of each program."""
    return run_cases("ocean", cases(), options)
