"""Programs of science and finance: Black-Scholes, n-body, k-means, small neural networks.

Black-Scholes: F. Black and M. Scholes, The Pricing of Options and Corporate Liabilities, Journal of Political Economy
81 (1973). k-means: S. Lloyd, Least Squares Quantization in PCM, IEEE Transactions on Information Theory 28 (1982).
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bench.cases import Case, run_cases
from bench.harness import Measurement, Options
from bench.peers import numba_program
from bench.rows import torch_programs
from gjit.demo import black_scholes, black_scholes_arguments
from gjit.errors import require

CLUSTERS = 8


def pair_forces(position, mass):
    difference = position[:, np.newaxis] - position[np.newaxis, :]
    inverse_cube = (difference * difference + 0.01) ** -1.5
    return (difference * inverse_cube * mass[np.newaxis, :]).sum(axis=1)


def pair_forces_loops(position, mass):
    force = np.zeros_like(position)
    for i in range(position.size):
        for j in range(position.size):
            difference = position[i] - position[j]
            force[i] += difference * (difference * difference + 0.01) ** -1.5 * mass[j]
    return force


def bodies(size):
    count = max(2, int(np.sqrt(size)))
    random = np.random.default_rng(7)
    return random.standard_normal(count), random.random(count)


def kmeans_step(points, centres):
    distances = ((points[:, np.newaxis, :] - centres[np.newaxis, :, :]) ** 2).sum(axis=2)
    nearest = distances.argmin(axis=1)
    members = (nearest[:, np.newaxis] == np.arange(CLUSTERS)[np.newaxis, :]).astype(np.float64)
    return (members.T @ points) / np.maximum(members.sum(axis=0), 1.0)[:, np.newaxis]


def kmeans_loops(points, centres):
    sums, counts = np.zeros_like(centres), np.zeros(len(centres))
    for i in range(points.shape[0]):
        best, nearest = np.inf, 0
        for k in range(centres.shape[0]):
            distance = 0.0
            for d in range(points.shape[1]):
                distance += (points[i, d] - centres[k, d]) ** 2
            if distance < best:
                best, nearest = distance, k
        counts[nearest] += 1.0
        for d in range(points.shape[1]):
            sums[nearest, d] += points[i, d]
    for k in range(centres.shape[0]):
        sums[k] /= max(counts[k], 1.0)
    return sums


def torch_kmeans(points, centres):
    torch = require("torch", extra="bench")
    nearest = torch.cdist(points, centres).argmin(1)
    members = torch.nn.functional.one_hot(nearest, CLUSTERS).to(points.dtype)
    return (members.T @ points) / members.sum(0).clamp(min=1.0)[:, None]


def clouds(size):
    random = np.random.default_rng(9)
    centres = 10.0 * random.random((CLUSTERS, 2))
    count = max(CLUSTERS, size // 16)
    return centres[random.integers(0, CLUSTERS, count)] + random.standard_normal((count, 2)), centres + 0.5


def network(x, first, first_bias, second, second_bias):
    hidden = x @ first + first_bias
    hidden = hidden * 0.5 * (1.0 + np.tanh(0.7978845608 * (hidden + 0.044715 * hidden * hidden * hidden)))
    return np.tanh(hidden @ second + second_bias)


def layers(size):
    random = np.random.default_rng(10)
    rows = max(1, size // 128)
    shapes = (rows, 64), (64, 128), (128,), (128, 10), (10,)
    return tuple(0.2 * random.standard_normal(shape).astype(np.float32) for shape in shapes)


def cases() -> list[Case]:
    """Four programs; a size is the number of elements of the largest array."""
    two_dimensions = frozenset({"numba"})
    clustering = {"numba": numba_program(kmeans_loops), **torch_programs(torch_kmeans)}
    return [
        Case("black-scholes", black_scholes.__wrapped__, black_scholes_arguments),
        Case(
            "n-body",
            pair_forces,
            bodies,
            (10_000, 1_000_000),
            quick=250_000,
            programs={"numba": numba_program(pair_forces_loops)},
        ),
        Case("k-means step", kmeans_step, clouds, quick=250_000, programs=clustering),
        Case("neural network", network, layers, (10_000, 1_000_000), without=two_dimensions, tolerance=1e-4),
    ]


def run(options: Options) -> Iterator[Measurement]:
    """The ratio of each program."""
    return run_cases("science", cases(), options)
