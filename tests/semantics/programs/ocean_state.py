"""The equation of state of sea water: one expression of well over a hundred elementwise terms.

Density is the international equation of state of 1980, with its derivatives in temperature and salinity written out;
the speed of sound is a polynomial of the same kind. Salinity is in practical units, temperature in degrees Celsius,
pressure in bar.
"""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program

EARTH_ACCELERATION = 9.80665


def surface_density(s, t):
    root = np.sqrt(s)
    water = 999.842594 + t * (
        6.793952e-2 + t * (-9.095290e-3 + t * (1.001685e-4 + t * (-1.120083e-6 + t * 6.536332e-9)))
    )
    linear = 8.24493e-1 + t * (-4.0899e-3 + t * (7.6438e-5 + t * (-8.2467e-7 + t * 5.3875e-9)))
    mixed = -5.72466e-3 + t * (1.0227e-4 - t * 1.6546e-6)
    return water + s * (linear + root * mixed + s * 4.8314e-4)


def secant_bulk_modulus(s, t, p):
    root = np.sqrt(s)
    water = 19652.21 + t * (148.4206 + t * (-2.327105 + t * (1.360477e-2 - t * 5.155288e-5)))
    salt = s * (
        54.6746
        + t * (-0.603459 + t * (1.09987e-2 - t * 6.1670e-5))
        + root * (7.944e-2 + t * (1.6483e-2 - t * 5.3009e-4))
    )
    first = (
        3.239908
        + t * (1.43713e-3 + t * (1.16092e-4 - t * 5.77905e-7))
        + s * (2.2838e-3 + t * (-1.0981e-5 - t * 1.6078e-6) + root * 1.91075e-4)
    )
    second = 8.50935e-5 + t * (-6.12293e-6 + t * 5.2787e-8) + s * (-9.9348e-7 + t * (2.0816e-8 + t * 9.1697e-10))
    return water + salt + p * (first + p * second)


def in_situ_density(s, t, p):
    return surface_density(s, t) / (1.0 - p / secant_bulk_modulus(s, t, p))


def density_and_derivatives(s, t, p):
    """Density, thermal expansion, haline contraction, and the speed of sound."""
    root = np.sqrt(s)
    surface = surface_density(s, t)
    modulus = secant_bulk_modulus(s, t, p)

    surface_by_t = (
        6.793952e-2
        + t * (-1.819058e-2 + t * (3.005055e-4 + t * (-4.480332e-6 + t * 3.268166e-8)))
        + s * (-4.0899e-3 + t * (1.52876e-4 + t * (-2.47401e-6 + t * 2.155e-8)) + root * (1.0227e-4 - t * 3.3092e-6))
    )
    surface_by_s = (
        8.24493e-1
        + t * (-4.0899e-3 + t * (7.6438e-5 + t * (-8.2467e-7 + t * 5.3875e-9)))
        + 1.5 * root * (-5.72466e-3 + t * (1.0227e-4 - t * 1.6546e-6))
        + s * 9.6628e-4
    )
    modulus_by_t = (
        148.4206
        + t * (-4.654210 + t * (4.081431e-2 - t * 2.0621152e-4))
        + s * (-0.603459 + t * (2.19974e-2 - t * 1.8501e-4) + root * (1.6483e-2 - t * 1.06018e-3))
        + p
        * (
            1.43713e-3
            + t * (2.32184e-4 - t * 1.733715e-6)
            + s * (-1.0981e-5 - t * 3.2156e-6)
            + p * (-6.12293e-6 + t * 1.05574e-7 + s * (2.0816e-8 + t * 1.83394e-9))
        )
    )
    modulus_by_s = (
        54.6746
        + t * (-0.603459 + t * (1.09987e-2 - t * 6.1670e-5))
        + 1.5 * root * (7.944e-2 + t * (1.6483e-2 - t * 5.3009e-4))
        + p
        * (
            2.2838e-3
            + t * (-1.0981e-5 - t * 1.6078e-6)
            + 1.5 * root * 1.91075e-4
            + p * (-9.9348e-7 + t * (2.0816e-8 + t * 9.1697e-10))
        )
    )

    compressed = 1.0 - p / modulus
    density = surface / compressed
    expansion = -(surface_by_t / compressed - surface * p * modulus_by_t / (modulus * compressed) ** 2) / density
    contraction = (surface_by_s / compressed - surface * p * modulus_by_s / (modulus * compressed) ** 2) / density

    sound_water = (
        1402.388
        + t * (5.03830 + t * (-5.81090e-2 + t * (3.3432e-4 + t * (-1.47797e-6 + t * 3.1419e-9))))
        + p
        * (
            0.153563
            + t * (6.8999e-4 + t * (-8.1829e-6 + t * (1.3632e-7 - t * 6.1260e-10)))
            + p
            * (
                3.1260e-5
                + t * (-1.7111e-6 + t * (2.5986e-8 + t * (-2.5353e-10 + t * 1.0415e-12)))
                + p * (-9.7729e-9 + t * (3.8513e-10 - t * 2.3654e-12))
            )
        )
    )
    sound_salt = 1.389 + t * (-1.262e-2 + t * (7.166e-5 + t * (2.008e-6 - t * 3.21e-8)))
    sound_salt = sound_salt + p * (9.4742e-5 - t * 1.2583e-5)
    sound = sound_water + s * sound_salt + s * root * (-1.922e-2 - t * 4.42e-5 + p * 7.3637e-5) + s**2 * 1.727e-3
    return density, expansion, contraction, sound


def dynamic_enthalpy(s, t, p, out=None):
    """The enthalpy that pressure adds, by Simpson's rule; into `out` if there is one."""
    if out is None:
        out = np.zeros_like(t)
    for weight, part in ((1.0, 0.0), (4.0, 0.5), (1.0, 1.0)):
        out[...] += weight / 6.0 / in_situ_density(s, t, part * p)
    out *= p * 1e5
    out /= EARTH_ACCELERATION
    return out


def state(size, rng):
    shape = (size, max(size // 8, 1), max(size // 16, 1))
    return 35.0 + rng.random(shape), 20.0 * rng.random(shape), 400.0 * rng.random((1, 1, shape[2]))


PROGRAMS = [
    Program(density_and_derivatives, state, (1, 20, 280), tiled=True),
    Program(dynamic_enthalpy, state, (1, 20, 280), tiled=True),
]
