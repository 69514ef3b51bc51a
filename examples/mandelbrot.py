"""The Mandelbrot set: a loop round elementwise work, fused with the loop inside.

Run: python examples/mandelbrot.py
"""

import numpy as np

import gjit

ITERATIONS = 50


# Complex numbers, as one would write it first. A point that has escaped stays where it is, so nothing overflows.
@gjit.script
def escape_time(c):
    z = np.zeros_like(c)
    count = np.zeros(c.shape, dtype=np.int64)
    for _ in range(ITERATIONS):
        inside = np.abs(z) <= 2.0
        z = np.where(inside, z * z + c, z)
        count += inside
    return count


# The same set in real numbers: cheaper, since |z| needs no square root.
@gjit.script
def escape_time_real(x, y):
    real = np.zeros_like(x)
    imaginary = np.zeros_like(y)
    count = np.zeros(x.shape)
    for _ in range(ITERATIONS):
        real_squared = real * real
        imaginary_squared = imaginary * imaginary
        inside = real_squared + imaginary_squared <= 4.0
        imaginary = np.where(inside, 2.0 * real * imaginary + y, imaginary)
        real = np.where(inside, real_squared - imaginary_squared + x, real)
        count = count + inside
    return count


def plane(size):
    # A grid of about `size` points, twice as many columns as rows, of the shape that the loop works on.
    rows = max(2, int(np.sqrt(size / 2)))
    y, x = np.meshgrid(np.linspace(-1.25, 1.25, rows), np.linspace(-2.25, 0.75, 2 * rows), indexing="ij")
    return x, y


def complex_plane(size):
    x, y = plane(size)
    return (x + 1j * y,)


PROGRAMS = [
    (escape_time, escape_time.__wrapped__, complex_plane),
    (escape_time_real, escape_time_real.__wrapped__, plane),
]


def main():
    count = escape_time(*complex_plane(24 * 48))
    for row in count:
        print("".join(" .:-=+*#%@"[value * 9 // ITERATIONS] for value in row))
    print(escape_time_real.explain(*plane(1_000_000)))


if __name__ == "__main__":
    main()
