"""Newton's method on arrays: a `while` loop that runs until the largest step is small.

Run: python examples/newton.py
"""

import numpy as np

import gjit


# Kepler's equation E - e sin(E) = M for many orbits at once: eccentric from mean anomaly.
@gjit.script
def kepler(mean_anomaly, eccentricity, tolerance=1e-12, limit=50):
    anomaly = mean_anomaly + eccentricity * np.sin(mean_anomaly)
    for iteration in range(1, limit + 1):
        error = anomaly - eccentricity * np.sin(anomaly) - mean_anomaly
        change = error / (1.0 - eccentricity * np.cos(anomaly))
        anomaly = anomaly - change
        if np.abs(change).max() < tolerance:
            return anomaly, iteration
    raise ArithmeticError(f"no solution after {limit} iterations")


# Only the elements that have not converged go on: boolean masks, and arrays whose length depends on the data.
@gjit.script
def cube_root(values, tolerance=1e-14):
    root = np.maximum(np.abs(values), 1.0)
    todo = np.arange(values.size)
    rounds = 0
    while len(todo) > 0:
        old = root[todo]
        new = (2.0 * old + np.abs(values[todo]) / old**2) / 3.0
        root[todo] = new
        todo = todo[np.abs(new - old) > tolerance * new]
        rounds += 1
    return np.copysign(root, values), rounds


def orbits(size):
    random = np.random.default_rng(1609)
    return random.uniform(-np.pi, np.pi, size), random.uniform(0.0, 0.8, size)


def numbers(size):
    return (np.random.default_rng(27).normal(scale=100.0, size=size),)


PROGRAMS = [
    (kepler, kepler.__wrapped__, orbits),
    (cube_root, cube_root.__wrapped__, numbers),
]


def main():
    mean_anomaly, eccentricity = orbits(100_000)
    anomaly, iterations = kepler(mean_anomaly, eccentricity)
    residual = np.abs(anomaly - eccentricity * np.sin(anomaly) - mean_anomaly).max()
    print(f"{anomaly.size} orbits, {iterations} iterations, residual {residual:.1e}")
    root, rounds = cube_root(np.array([-27.0, 8.0, 0.001, 1e9]))
    print(f"cube roots {root} after {rounds} rounds")
    print(kepler.graph)


if __name__ == "__main__":
    main()
