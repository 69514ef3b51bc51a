"""Logistic regression and a network on scikit-learn's digits: `python -m examples.train_digits`.

Needs scikit-learn; with matplotlib and `--plot FILE` the losses become a picture.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterator

import numpy as np

import gjit
from gjit.errors import require

PROGRAMS: list = []
"""Programs that are compared with NumPy bit by bit: training has its own test."""


def logits_of_regression(parameters: dict, x: np.ndarray) -> np.ndarray:
    """One linear map."""
    return x @ parameters["weight"] + parameters["bias"]


def logits_of_network(parameters: dict, x: np.ndarray) -> np.ndarray:
    """A hidden layer of rectified units, then a linear map."""
    hidden = np.maximum(x @ parameters["hidden"] + parameters["offset"], 0.0)
    return hidden @ parameters["weight"] + parameters["bias"]


def cross_entropy(logits: np.ndarray, labels: np.ndarray) -> float:
    """The mean of minus the logarithm of the probability of the label."""
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    normalizer = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(normalizer - shifted[np.arange(len(labels)), labels])


def regression_loss(parameters: dict, x: np.ndarray, labels: np.ndarray) -> float:
    """The loss of logistic regression."""
    return cross_entropy(logits_of_regression(parameters, x), labels)


def network_loss(parameters: dict, x: np.ndarray, labels: np.ndarray) -> float:
    """The loss of the network."""
    return cross_entropy(logits_of_network(parameters, x), labels)


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Images of 64 pixels between zero and one, and their labels."""
    found = require("sklearn.datasets", extra="examples").load_digits()
    return found.data / 16.0, found.target


def initial(network: bool, generator: np.random.Generator, width: int = 32) -> dict:
    """Parameters to start with."""
    inner = width if network else 64
    parameters = {"weight": generator.normal(0, 0.1, (inner, 10)), "bias": np.zeros(10)}
    if network:
        parameters |= {"hidden": generator.normal(0, 0.2, (64, width)), "offset": np.zeros(width)}
    return parameters


def batches(x: np.ndarray, labels: np.ndarray, size: int, generator: np.random.Generator) -> Iterator[tuple]:
    """The data in random order, cut into batches."""
    order = generator.permutation(len(x))
    for start in range(0, len(x), size):
        chosen = order[start : start + size]
        yield x[chosen], labels[chosen]


def train(loss: Callable, parameters: dict, x: np.ndarray, labels: np.ndarray, epochs: int, show: bool = False) -> list:
    """Train in place; the mean loss of each epoch."""
    step = gjit.value_and_grad(loss)
    optimizer = gjit.optim.Adam(parameters, learning_rate=0.01)
    generator = np.random.default_rng(0)
    losses = []
    for epoch in range(epochs):
        values = []
        for inputs, targets in batches(x, labels, 64, generator):
            value, gradients = step(parameters, inputs, targets)
            optimizer.step(gradients)
            values.append(value)
        losses.append(float(np.mean(values)))
        if show:
            bar = "#" * (30 * (epoch + 1) // epochs)
            print(f"\r{loss.__name__:16} [{bar:30}] loss {losses[-1]:.4f}", end="", file=sys.stderr)
    if show:
        print(file=sys.stderr)
    return losses


def plot(curves: dict[str, list], file: str) -> None:
    """The losses by epoch as a picture."""
    figures = require("matplotlib.figure", extra="bench")
    figure = figures.Figure(figsize=(6, 4))
    axes = figure.subplots()
    for name, losses in curves.items():
        axes.semilogy(losses, label=name)
    axes.set_xlabel("epoch")
    axes.set_ylabel("loss")
    axes.legend()
    figure.savefig(file)


def main(arguments: list[str] | None = None) -> None:
    """Train both models and print how many digits they read."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--epochs", type=int, default=20)
    parser.add_argument("--plot", metavar="FILE")
    options = parser.parse_args(arguments)
    try:
        x, labels = digits()
    except ImportError as error:
        print(error)
        return
    curves = {}
    models = {"regression": (regression_loss, logits_of_regression), "network": (network_loss, logits_of_network)}
    for name, (loss, logits) in models.items():
        parameters = initial(name == "network", np.random.default_rng(1))
        curves[name] = train(loss, parameters, x[:1400], labels[:1400], options.epochs, show=sys.stderr.isatty())
        right = np.mean(np.argmax(logits(parameters, x[1400:]), axis=1) == labels[1400:])
        print(f"{name}: {100 * right:.1f}% of the digits that it has not seen")
    if options.plot:
        plot(curves, options.plot)


if __name__ == "__main__":
    main()
