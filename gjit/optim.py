"""Optimisers that update parameters in place, each array by one fused kernel."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from gjit.api import script
from gjit.module import Module


def _sgd(parameter, gradient, velocity, learning_rate, momentum, weight_decay, nesterov):
    step = gradient + weight_decay * parameter
    if momentum != 0.0:
        velocity *= momentum
        velocity += step
        step = step + momentum * velocity if nesterov else velocity
    parameter -= learning_rate * step


def _adam(parameter, gradient, mean, square, learning_rate, beta1, beta2, epsilon, weight_decay, decoupled, count):
    if decoupled:
        parameter *= 1.0 - learning_rate * weight_decay
    elif weight_decay != 0.0:
        gradient = gradient + weight_decay * parameter
    mean *= beta1
    mean += (1.0 - beta1) * gradient
    square *= beta2
    square += (1.0 - beta2) * (gradient * gradient)
    step = learning_rate / (1.0 - beta1**count)
    parameter -= step * mean / (np.sqrt(square / (1.0 - beta2**count)) + epsilon)


_sgd_update: Any = script(_sgd)
_adam_update: Any = script(_adam)


class Optimizer:
    """The base of optimisers.

    Args:
        parameters: a module, or an array or a nest of lists, tuples and dicts of arrays. The arrays are updated in
            place; integers, None and the like in the nest are left alone.

    Raises:
        TypeError: there is no inexact array among the parameters.
    """

    def __init__(self, parameters: Any):
        self._parameters = dict(_leaves(parameters))
        if not self._parameters:
            raise TypeError("an optimiser needs parameters: a module, or a nest of float arrays")
        self.count = 0

    def step(self, gradients: Any) -> None:
        """Update every parameter that has a gradient.

        Args:
            gradients: as `gjit.grad` gives them for the parameters: the same nest, or a dict by names for a module.

        Raises:
            ValueError: the gradients do not fit the parameters.
        """
        given = dict(_leaves(gradients))
        unknown = given.keys() - self._parameters.keys()
        wrong = [name for name in given.keys() - unknown if given[name].shape != self._parameters[name].shape]
        if unknown or wrong:
            raise ValueError(f"gradients do not fit the parameters at {sorted(map(str, [*unknown, *wrong]))}")
        self.count += 1
        for name, gradient in given.items():
            self._update(name, self._parameters[name], gradient)

    def _update(self, name: Any, parameter: np.ndarray, gradient: np.ndarray) -> None:
        raise AssertionError("a subclass updates")

    def _zeros(self) -> dict[Any, np.ndarray]:
        return {name: np.zeros_like(parameter) for name, parameter in self._parameters.items()}


class SGD(Optimizer):
    """Gradient descent, with momentum where that is not zero.

    >>> parameters = {"w": np.array([1.0, 2.0])}
    >>> SGD(parameters, learning_rate=0.5).step({"w": np.array([1.0, -1.0])})
    >>> parameters["w"]
    array([0.5, 2.5])
    """

    def __init__(
        self,
        parameters: Any,
        learning_rate: float = 0.01,
        momentum: float = 0.0,
        weight_decay: float = 0.0,
        nesterov: bool = False,
    ):
        super().__init__(parameters)
        self.learning_rate, self.momentum = learning_rate, momentum
        self.weight_decay, self.nesterov = weight_decay, nesterov
        self._velocity = self._zeros()

    def _update(self, name: Any, parameter: np.ndarray, gradient: np.ndarray) -> None:
        numbers = float(self.learning_rate), float(self.momentum), float(self.weight_decay)
        _sgd_update(parameter, gradient, self._velocity[name], *numbers, self.nesterov)


class Adam(Optimizer):
    """Adam: steps scaled by running means of the gradient and of its square. Weights decay by the gradient."""

    decoupled = False

    def __init__(
        self,
        parameters: Any,
        learning_rate: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
        weight_decay: float = 0.0,
    ):
        super().__init__(parameters)
        self.learning_rate, self.betas, self.epsilon, self.weight_decay = learning_rate, betas, epsilon, weight_decay
        self._mean, self._square = self._zeros(), self._zeros()

    def _update(self, name: Any, parameter: np.ndarray, gradient: np.ndarray) -> None:
        numbers = float(self.learning_rate), *map(float, self.betas), float(self.epsilon), float(self.weight_decay)
        _adam_update(parameter, gradient, self._mean[name], self._square[name], *numbers, self.decoupled, self.count)


class AdamW(Adam):
    """Adam whose decay of weights is a step of its own, proportional to the weights."""

    decoupled = True

    def __init__(
        self,
        parameters: Any,
        learning_rate: float = 0.001,
        betas: tuple[float, float] = (0.9, 0.999),
        epsilon: float = 1e-8,
        weight_decay: float = 0.01,
    ):
        super().__init__(parameters, learning_rate, betas, epsilon, weight_decay)


def _leaves(value: Any, path: tuple = ()) -> Iterator[tuple[tuple, np.ndarray]]:
    """The inexact arrays of a nest, by their paths; of a module by their names."""
    if isinstance(value, Module):
        value = dict(value.named_parameters())
    if isinstance(value, np.ndarray):
        if value.dtype.kind in "fc":
            yield path, value
    elif isinstance(value, Mapping):
        for key, part in value.items():
            yield from _leaves(part, (*path, key))
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        for index, part in enumerate(value):
            yield from _leaves(part, (*path, index))
