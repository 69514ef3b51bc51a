"""Fit the parameters of an ordinary differential equation through its solver: `python -m examples.fit_ode`.

The gradient passes a hundred Runge-Kutta steps of a predator-prey model.
"""

from __future__ import annotations

import numpy as np

import gjit

PROGRAMS: list = []
"""Programs that are compared with NumPy bit by bit: fitting has its own test."""
TRUE = np.array([1.1, 0.4, 0.1, 0.4])


def rates(state: np.ndarray, parameters: np.ndarray) -> np.ndarray:
    """Prey and predators."""
    prey, predators = state[0], state[1]
    growth = parameters[0] * prey - parameters[1] * prey * predators
    return np.array([growth, parameters[2] * prey * predators - parameters[3] * predators])


def solve(parameters: np.ndarray, steps: int = 100, width: float = 0.1) -> np.ndarray:
    """The states after each step, written into one array."""
    path = np.zeros((steps + 1, 2))
    path[0] = np.array([10.0, 5.0])
    for i in range(steps):
        state = path[i]
        first = rates(state, parameters)
        second = rates(state + 0.5 * width * first, parameters)
        third = rates(state + 0.5 * width * second, parameters)
        fourth = rates(state + width * third, parameters)
        path[i + 1] = state + width / 6 * (first + 2 * second + 2 * third + fourth)
    return path


def misfit(parameters: np.ndarray, observed: np.ndarray) -> float:
    """The mean squared distance from what was observed."""
    return np.mean((solve(parameters, len(observed) - 1) - observed) ** 2)


def fit(start: np.ndarray, observed: np.ndarray, rounds: int = 150) -> tuple[np.ndarray, list]:
    """Parameters after some rounds of Adam, and the losses."""
    parameters = start.copy()
    optimizer = gjit.optim.Adam(parameters, learning_rate=0.01)
    step = gjit.value_and_grad(misfit)
    losses = []
    for _ in range(rounds):
        value, gradient = step(parameters, observed)
        optimizer.step(gradient)
        losses.append(float(value))
    return parameters, losses


def main() -> None:
    """Fit, and print the parameters."""
    parameters, losses = fit(TRUE * 1.1, solve(TRUE))
    print(f"misfit {losses[0]:.4f} -> {losses[-1]:.6f}; parameters {np.round(parameters, 3)}, true {TRUE}")


if __name__ == "__main__":
    main()
