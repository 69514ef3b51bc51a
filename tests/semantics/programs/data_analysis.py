"""Statistics of samples and images: axis reductions, masks with counts that depend on the data, histograms."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program


def correlation(count, data):
    mean = np.mean(data, axis=0)
    deviation = np.std(data, axis=0)
    deviation[deviation <= 0.1] = 1.0
    data -= mean
    data /= np.sqrt(count) * deviation
    matrix = np.eye(data.shape[1], dtype=data.dtype)
    for i in range(data.shape[1] - 1):
        matrix[i + 1 : data.shape[1], i] = matrix[i, i + 1 : data.shape[1]] = (
            data[:, i] @ data[:, i + 1 : data.shape[1]]
        )
    return matrix


def covariance(count, data):
    mean = np.mean(data, axis=0)
    data -= mean
    matrix = np.zeros((data.shape[1], data.shape[1]), dtype=data.dtype)
    for i in range(data.shape[1]):
        matrix[i : data.shape[1], i] = matrix[i, i : data.shape[1]] = (
            data[:, i] @ data[:, i : data.shape[1]] / (count - 1.0)
        )
    return matrix


def library_covariance(count, data):
    del count
    return np.cov(np.transpose(data))


def azimuthal_integration_by_mask(data, radius, bins):
    """The mean of every ring; rings that no pixel falls into give NaN, with NumPy's warnings."""
    largest = radius.max()
    result = np.zeros(bins, dtype=np.float64)
    for i in range(bins):
        inner = largest * i / bins
        outer = largest * (i + 1) / bins
        ring = np.logical_and((inner <= radius), (radius < outer))
        values = data[ring]
        result[i] = values.mean()
    return result


def azimuthal_integration_by_histogram(data, radius, bins):
    counts = np.histogram(radius, bins)[0]
    totals = np.histogram(radius, bins, weights=data)[0]
    return totals / counts


def histogram_loop(values, lowest, highest, bins):
    """An integer table that grows one element at a time."""
    counts = np.zeros((bins,), np.int64)
    edges = np.linspace(lowest, highest, bins + 1, dtype=np.float32)
    for value in values.flat:
        if value == highest:
            counts[-1] += 1
        else:
            place = int(bins * (value - lowest) / (highest - lowest))
            if 0 <= place < bins:
                counts[place] += 1
    return counts, edges


def clip_and_scale(first, second, a, b, c):
    """Integers in, integers out."""
    return np.clip(first, 2, 10) * a + second * b + c


def trace_and_tanh(a):
    """A sum over the diagonal that Python makes, added to a whole matrix."""
    trace = 0.0
    for i in range(a.shape[0]):
        trace += np.tanh(a[i, i])
    return a + trace


def arc_distance(latitude_1, longitude_1, latitude_2, longitude_2):
    """The angle between points on a sphere."""
    half_chord = (
        np.sin((latitude_2 - latitude_1) / 2) ** 2
        + np.cos(latitude_1) * np.cos(latitude_2) * np.sin((longitude_2 - longitude_1) / 2) ** 2
    )
    return 2 * (np.arctan2(np.sqrt(half_chord), np.sqrt(1 - half_chord)))


def samples(size, rng):
    return float(size + 1), rng.random((size + 1, size))


def images(size, rng):
    return rng.random(size), rng.random(size), 20


PROGRAMS = [
    Program(correlation, samples, (1, 6, 370)),
    Program(covariance, samples, (1, 6, 370)),
    Program(library_covariance, samples, (2, 6, 370)),
    Program(azimuthal_integration_by_mask, images, (1, 10, 1000, 200_000), tiled=True),
    Program(azimuthal_integration_by_histogram, images, (10, 1000, 200_000)),
    Program(histogram_loop, lambda size, rng: (rng.random((size, 3)), 0.0, 1.0, 7), (1, 100)),
    Program(
        clip_and_scale,
        lambda size, rng: (rng.integers(0, 1000, (size, size)), rng.integers(0, 1000, (size, size)), 4, 3, 9),
        (1, 10, 370),
        tiled=True,
    ),
    Program(trace_and_tanh, lambda size, rng: (rng.random((size, size)),), (1, 10, 370)),
    Program(arc_distance, lambda size, rng: tuple(rng.random(size) for _ in range(4)), (1, 100, 200_000), tiled=True),
]
