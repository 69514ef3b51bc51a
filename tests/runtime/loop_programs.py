"""Loops over whole arrays as users write them, for tests of loop regions."""

from __future__ import annotations

import numpy as np


def ode(x, dt, n):
    for _ in range(n):
        x = x + dt * (x - x * x * x)
    return x


def ode_in_place(x, dt, n):
    for _ in range(n):
        x += dt * (x - x * x * x)
    return x


def mandelbrot(cr, ci, n):
    zr, zi = np.zeros_like(cr), np.zeros_like(ci)
    count = np.zeros(cr.shape, np.int64)
    for _ in range(n):
        zr2, zi2 = zr * zr, zi * zi
        alive = zr2 + zi2 < 4.0
        new = zr2 - zi2 + cr
        zi = np.where(alive, 2.0 * zr * zi + ci, zi)
        zr = np.where(alive, new, zr)
        count += alive
    return count, zr


def complex_mandelbrot(c, n):
    z = 0
    count = np.zeros(c.shape, np.int32)
    for _ in range(n):
        z = z * z + c
        count += np.abs(z) < 2.0
        z = np.where(np.abs(z) < 2.0, z, 2.0)
    return z, count


def slope(t, y):
    return -y + np.sin(t)


def runge_kutta(y, t0, dt, n):
    for i in range(n):
        t = t0 + i * dt
        k1 = slope(t, y)
        k2 = slope(t + dt / 2, y + dt / 2 * k1)
        k3 = slope(t + dt / 2, y + dt / 2 * k2)
        k4 = slope(t + dt, y + dt * k3)
        y = y + dt / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    return y


def oscillator(x, v, dt, n):
    for _ in range(n):
        v = v - dt * x
        x = x + dt * v
    return x, v


def fibonacci(a, b, n):
    for _ in range(n):
        a, b = b, a + b
    return a, b


def branches(x, y, n):
    last = -1
    for i in range(n):
        if i % 3 == 0:
            x = x * 0.5
        elif i % 3 == 1:
            x, y = y, x
            continue
        else:
            y = y + i
        if i > 6:
            break
        x = x + y
        last = i
    return x, y, last


def until(x, limit):
    t = 0.0
    while t < limit:
        x = x + 0.1 * (1 - x)
        if t > 1.0:
            x = x * 0.5
        t += 0.25
    else:
        t = -t
    return x, t


def nested(x, n):
    for i in range(n):
        for j in range(i):
            x = x + 0.01 * j
        x = x * 0.5
    return x


def swapped(x, y, n):
    old = x
    for _ in range(n):
        old = x
        x = x + y
    return x, old


def into_buffer(x, out, n):
    for _ in range(n):
        np.multiply(x, 2.0, out=out)
        x = out + x
    return x


def weighted(x, weights, n):
    for i in range(n):
        x = x + weights[i] * x
    return x


def broadcast(x, row, column, n):
    for i in range(n):
        x = x + i * (row - column) * 0.125
    return x


def changing(x, n):
    total = 0
    for _ in range(n):
        total = total + x
        x = x * 0.5
    return total, x


def integers(x, n):
    for i in range(n):
        x = (x * 5 + 3) & 0x7FFF
        x ^= x >> 2
    return x


def newton(a, n):
    x = np.ones_like(a)
    for _ in range(n):
        x = 0.5 * (x + a / x)
    return x


def dividing(x, y, n):
    for i in range(n):
        x = x / y
        y = y - 1.0 / (3 - i)
    return x


def fed_by_numpy_scalars(x, n):
    for i in range(n):
        s = np.float32(i) * np.float32(0.5)
        x = x + s
    return x


def several_results_of_one_array(x, n):
    y = x
    for _ in range(n):
        x = x * 0.5
        y = x
    return x, y


def without_axes(x, y, k, n):
    for i in range(n):
        x = x + y
        if i >= 0:
            y = np.float64(i) * k
    return x, y


def parts(c, n):
    z = np.zeros_like(c)
    count = np.zeros(c.shape, int)
    for _ in range(n):
        z = z * z * 0.5 + c
        count += z.real**2 + z.imag**2 < 4
    return z, count


def written_part(z, n):
    for _ in range(n):
        real = z.real
        z *= 0.5
        z += real
    return z


def large_numbers(x, n):
    for i in range(n):
        x = x + i * 10**18
    return x


def casts(x, n):
    for _ in range(n):
        x = (x * 1.5).astype(np.float32) + np.clip(x, -5, 5).astype(int)
    return x
