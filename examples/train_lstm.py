"""Train an LSTM to add the numbers of a sequence that are marked: `python -m examples.train_lstm`."""

from __future__ import annotations

import sys

import numpy as np

import gjit

PROGRAMS: list = []
"""Programs that are compared with NumPy bit by bit: training has its own test."""


class LSTM(gjit.Module):
    """One layer, and a linear map from its last state to one number."""

    def __init__(self, inputs: int, width: int, generator: np.random.Generator):
        scale = 1 / np.sqrt(width)
        self.width = width
        self.weight = gjit.Parameter(generator.uniform(-scale, scale, (inputs + width, 4 * width)))
        self.bias = gjit.Parameter(np.concatenate([np.ones(width), np.zeros(3 * width)]))
        self.last = gjit.Parameter(generator.uniform(-scale, scale, width))

    def forward(self, x: np.ndarray) -> np.ndarray:
        """A number for each sequence; `x` has the shape (steps, sequences, inputs)."""
        state = np.zeros((x.shape[1], self.width))
        memory = np.zeros((x.shape[1], self.width))
        for t in range(x.shape[0]):
            gates = np.concatenate((x[t], state), axis=1) @ self.weight + self.bias
            forget, take, give, new = np.split(gates, 4, axis=1)
            memory = memory / (1 + np.exp(-forget)) + np.tanh(new) / (1 + np.exp(-take))
            state = np.tanh(memory) / (1 + np.exp(-give))
        return state @ self.last


def loss(model: LSTM, x: np.ndarray, wanted: np.ndarray) -> float:
    """The mean squared error."""
    return np.mean((model(x) - wanted) ** 2)


def examples_of(count: int, steps: int, generator: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Sequences of a number and a mark, and the sums of the marked numbers."""
    x = np.zeros((steps, count, 2))
    x[:, :, 0] = generator.uniform(0, 1, (steps, count))
    for column in range(count):
        x[generator.choice(steps, 2, replace=False), column, 1] = 1.0
    return x, np.sum(x[:, :, 0] * x[:, :, 1], axis=0)


def train(rounds: int, steps: int = 8, width: int = 16, show: bool = False) -> list[float]:
    """The losses while a new model learns."""
    generator = np.random.default_rng(0)
    model = LSTM(2, width, generator)
    optimizer = gjit.optim.Adam(model, learning_rate=0.02)
    step = gjit.value_and_grad(loss)
    losses = []
    for number in range(rounds):
        value, gradients = step(model, *examples_of(64, steps, generator))
        optimizer.step(gradients)
        losses.append(float(value))
        if show:
            print(f"\r[{'#' * (30 * (number + 1) // rounds):30}] loss {value:.4f}", end="", file=sys.stderr)
    return losses


def main() -> None:
    """Train, and print the loss at both ends."""
    losses = train(300, show=sys.stderr.isatty())
    print(f"\nloss {losses[0]:.4f} -> {np.mean(losses[-10:]):.4f}")


if __name__ == "__main__":
    main()
