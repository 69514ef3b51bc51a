"""Complex arithmetic: a Fourier transform by reshaping, contour integrals, self energies."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program


def stockham_fft(radix, stages, x, y):
    """Stockham's self-sorting transform of radix**stages points, into `y`."""
    digit, position = np.mgrid[0:radix, 0 : radix**stages]
    roots = np.exp(-2.0j * np.pi * (digit * position) / radix**stages)
    small = roots[:, :: radix ** (stages - 1)]
    y[:] = x
    for stage in range(stages):
        groups = radix ** (stages - 1 - stage)
        stride = radix**stage
        blocks = small @ np.reshape(y, (radix, groups * stride))
        blocks = np.reshape(blocks, (radix, groups, stride))
        blocks *= roots[:, : radix ** (stages - 1) : stride, np.newaxis]
        y[:] = np.reshape(np.transpose(blocks, (1, 0, 2)), radix**stages)


def contour_integral(rows, columns, order, hamiltonians, points, right):
    """Moments of the resolvent of a matrix polynomial on a circle; the points are iterated one by one."""
    first = np.zeros((rows, columns), dtype=np.complex128)
    second = np.zeros((rows, columns), dtype=np.complex128)
    for z in points:
        total = np.zeros((rows, rows), dtype=np.complex128)
        for n in range(order + 1):
            power = np.power(z, order / 2 - n)
            total += power * hamiltonians[n]
        if rows == columns:
            solution = np.linalg.inv(total)
        else:
            solution = np.linalg.solve(total, right)
        if abs(z) < 1.0:
            solution = -solution
        first += solution
        second += z * solution
    return first, second


def scattering_self_energies(neighbours, gradients, electrons, phonons, sigma):
    """Eight nested loops round the product of two tiny matrices."""
    for k in range(electrons.shape[0]):
        for energy in range(electrons.shape[1]):
            for q in range(phonons.shape[0]):
                for w in range(phonons.shape[1]):
                    for i in range(phonons.shape[-2]):
                        for j in range(phonons.shape[-1]):
                            for a in range(neighbours.shape[0]):
                                for b in range(neighbours.shape[1]):
                                    if energy - w >= 0:
                                        left = electrons[k, energy - w, neighbours[a, b]] @ gradients[a, b, i]
                                        right = gradients[a, b, j] * phonons[q, w, a, b, i, j]
                                        sigma[k, energy, a] += left @ right


def phase_and_power(signal):
    """Parts of complex numbers, in one expression."""
    spectrum = signal * np.exp(1j * np.angle(signal))
    return np.abs(spectrum) ** 2 + spectrum.real - spectrum.conj().imag


def times(first, second):
    """The parameters are names, so that neither is a temporary."""
    return first * second


def products_of_temporaries(signal):
    """Complex products round differently when their factors change places, and NumPy reuses factors that nobody names:
    above 256 KiB, `a * np.exp(a)` is `np.multiply(np.exp(a), a)`, while a factor with a name stays where it is."""
    exponential = np.exp(signal)
    named = signal * exponential
    nameless = signal * np.exp(signal)
    return (
        named,
        nameless,
        signal * (signal + 1.0) * (signal - 1.0),
        (signal + 1.0).conj() * (signal * 2.0),
        times(signal, np.exp(signal)),
        np.multiply(signal, np.exp(signal)),
    )


def complex_array(rng, shape):
    return rng.random(shape) + 1j * rng.random(shape)


def fft_arguments(size, rng):
    return 2, size, complex_array(rng, 2**size), np.zeros(2**size, complex)


def contour_arguments(size, rng):
    points = np.array([0.5 + 0.25j, 1.5 - 0.5j, -2.0 + 0.125j, 0.25j])
    order = 2
    rows = size + 1
    return rows, size, order, complex_array(rng, (order + 1, rows, rows)), points, complex_array(rng, (rows, size))


def square_contour_arguments(size, rng):
    _, _, order, hamiltonians, points, _ = contour_arguments(size, rng)
    return size + 1, size + 1, order, hamiltonians, points, complex_array(rng, (size + 1, size + 1))


def self_energy_arguments(size, rng):
    atoms, near = size, min(size, 2)
    neighbours = rng.integers(0, atoms, (atoms, near)).astype(np.int32)
    return (
        neighbours,
        complex_array(rng, (atoms, near, 3, 2, 2)),
        complex_array(rng, (2, 3, atoms, 2, 2)),
        complex_array(rng, (2, 2, atoms, near, 3, 3)),
        np.zeros((2, 3, atoms, 2, 2), np.complex128),
    )


PROGRAMS = [
    Program(stockham_fft, fft_arguments, (1, 2, 6, 15)),
    Program(contour_integral, contour_arguments, (1, 2, 30)),
    Program(contour_integral, square_contour_arguments, (1, 2, 30)),
    Program(scattering_self_energies, self_energy_arguments, (1, 2, 4)),
    Program(products_of_temporaries, lambda size, rng: (complex_array(rng, size),), (1, 100, 20_000, 150_000)),
    Program(phase_and_power, lambda size, rng: (complex_array(rng, size),), (1, 100, 150_000)),
]
