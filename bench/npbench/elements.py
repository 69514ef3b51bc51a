"""Programs whose loops run over single elements."""

from __future__ import annotations

import numpy as np


def crc16(data, poly):
    crc = 0xFFFF
    for b in data:
        cur_byte = 0xFF & b
        for _ in range(0, 8):
            if (crc & 0x0001) ^ (cur_byte & 0x0001):
                crc = (crc >> 1) ^ poly
            else:
                crc >>= 1
            cur_byte >>= 1
    crc = ~crc & 0xFFFF
    crc = (crc << 8) | ((crc >> 8) & 0xFF)
    return crc & 0xFFFF


def match(b1, b2):
    if b1 + b2 == 3:
        return 1
    else:
        return 0


def nussinov(n, seq):
    table = np.zeros((n, n), np.int32)
    for i in range(n - 1, -1, -1):
        for j in range(i + 1, n):
            if j - 1 >= 0:
                table[i, j] = max(table[i, j], table[i, j - 1])
            if i + 1 < n:
                table[i, j] = max(table[i, j], table[i + 1, j])
            if j - 1 >= 0 and i + 1 < n:
                if i < j - 1:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1] + match(seq[i], seq[j]))
                else:
                    table[i, j] = max(table[i, j], table[i + 1, j - 1])
            for k in range(i + 1, j):
                table[i, j] = max(table[i, j], table[i, k] + table[k + 1, j])
    return table


def sparse_product(rows, columns, values, x):
    y = np.empty(rows.size - 1, values.dtype)
    for i in range(rows.size - 1):
        chosen = columns[rows[i] : rows[i + 1]]
        row = values[rows[i] : rows[i + 1]]
        y[i] = row @ x[chosen]
    return y


def gauss_seidel(A, steps):
    for _ in range(steps):
        for i in range(1, A.shape[0] - 1):
            for j in range(1, A.shape[1] - 1):
                A[i, j] = 0.25 * (A[i - 1, j] + A[i + 1, j] + A[i, j - 1] + A[i, j + 1])


def histogram(x, bins, low, high):
    width = (high - low) / len(bins)
    for i in range(len(x)):
        if low <= x[i] < high:
            bins[int((x[i] - low) / width)] += 1


def running_maximum(x):
    best = -np.inf
    place = -1
    for i in range(len(x)):
        if x[i] > best:
            best = x[i]
            place = i
    return best, place


def positive_sum(x):
    total = 0.0
    for i in range(len(x)):
        if x[i] > 0.5:
            total += x[i] * x[i]
    return total
