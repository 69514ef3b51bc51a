"""Jacobi iteration for Laplace's equation on a square: slices updated in place in a time loop.

The functions return nothing: they work by writing into the arrays of the caller, as much NumPy code does.

Run: python examples/jacobi.py
"""

import numpy as np

import gjit

STEPS = 10


# Two arrays that take turns: each store reads one array and writes the other, so it needs no temporary.
@gjit.script
def jacobi(a, b, steps):
    for _ in range(steps):
        b[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
        a[1:-1, 1:-1] = 0.25 * (b[1:-1, :-2] + b[1:-1, 2:] + b[:-2, 1:-1] + b[2:, 1:-1])


# One array: the right-hand side reads what the store writes, at other places. NumPy evaluates it as a whole first, and
# so does gjit.
@gjit.script
def relax(a, steps):
    for _ in range(steps):
        a[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])


# Until the largest change is small: the number of steps depends on the data.
@gjit.script
def relax_until(a, tolerance, limit):
    change = np.inf
    steps = 0
    while change > tolerance and steps < limit:
        before = a[1:-1, 1:-1].copy()
        a[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[:-2, 1:-1] + a[2:, 1:-1])
        change = np.abs(a[1:-1, 1:-1] - before).max()
        steps += 1
    return steps, change


def hot_wall(size):
    side = max(3, int(np.sqrt(size)))
    a = np.zeros((side, side))
    a[0] = 100.0
    return a


def two_arrays(size):
    a = hot_wall(size)
    return a, a.copy(), STEPS


def one_array(size):
    return hot_wall(size), STEPS


def one_array_and_tolerance(size):
    return hot_wall(size), 1e-3, 4 * STEPS


PROGRAMS = [
    (jacobi, jacobi.__wrapped__, two_arrays),
    (relax, relax.__wrapped__, one_array),
    (relax_until, relax_until.__wrapped__, one_array_and_tolerance),
]


def main():
    a = hot_wall(8 * 8)
    steps, change = relax_until(a, 1e-3, 1000)
    print(f"{steps} steps, last change {change:.1e}")
    print(np.round(a, 1))
    print(jacobi.graph)


if __name__ == "__main__":
    main()
