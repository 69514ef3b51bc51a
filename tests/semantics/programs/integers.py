"""Integer scalars and tables: checksums, dynamic programming, shortest paths."""

from __future__ import annotations

import numpy as np

from tests.semantics.programs.program import Program

POLYNOMIAL = 0x8408


def crc16(data, polynomial=POLYNOMIAL):
    """The checksum of CCITT, a bit at a time."""
    checksum = 0xFFFF
    for byte in data:
        current = 0xFF & byte
        for _ in range(8):
            if (checksum & 0x0001) ^ (current & 0x0001):
                checksum = (checksum >> 1) ^ polynomial
            else:
                checksum >>= 1
            current >>= 1
    checksum = ~checksum & 0xFFFF
    checksum = (checksum << 8) | ((checksum >> 8) & 0xFF)
    return checksum & 0xFFFF


def match(first, second):
    if first + second == 3:
        return 1
    else:
        return 0


def nussinov(n, sequence):
    """How many bases of a strand can pair; Python's `max` fills an int32 table."""
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + match(sequence[i], sequence[j]))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def floyd_warshall(path):
    for k in range(path.shape[0]):
        path[:] = np.minimum(path[:], np.add.outer(path[:, k], path[k, :]))


def sparse_rows(starts, columns, values, x):
    """A matrix in compressed rows times a vector."""
    y = np.empty(starts.size - 1, values.dtype)
    for i in range(starts.size - 1):
        row_columns = columns[starts[i] : starts[i + 1]]
        row_values = values[starts[i] : starts[i + 1]]
        y[i] = row_values @ x[row_columns]
    return y


def sieve(limit):
    """Strides that depend on the loop variable."""
    prime = np.ones(limit, dtype=bool)
    prime[:2] = False
    for i in range(2, int(limit**0.5) + 1):
        if prime[i]:
            prime[i * i :: i] = False
    return np.nonzero(prime)[0]


def sparse_arguments(size, rng):
    lengths = rng.integers(0, 5, size)
    starts = np.zeros(size + 1, np.uint32)
    starts[1:] = np.cumsum(lengths)
    count = int(starts[-1])
    return starts, rng.integers(0, size, count).astype(np.uint32), rng.random(count), rng.random(size)


PROGRAMS = [
    Program(crc16, lambda size, rng: (rng.integers(0, 256, size).astype(np.uint8),), (1, 2, 600)),
    Program(nussinov, lambda size, rng: (size, rng.integers(0, 4, size).astype(np.int32)), (1, 2, 30)),
    Program(floyd_warshall, lambda size, rng: (rng.integers(1, 1000, (size, size)).astype(np.int32),), (1, 2, 60, 370)),
    Program(sparse_rows, sparse_arguments, (1, 5, 300)),
    Program(sieve, lambda size, rng: (size,), (2, 100, 200_000)),
]
