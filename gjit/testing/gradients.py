"""Gradients against central differences."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.api import script
from gjit.compiled import CompiledFunction
from gjit.gradients import vjp


def check_grads(
    f: Callable,
    args: tuple,
    order: int = 2,
    *,
    rtol: float = 1e-5,
    atol: float = 1e-6,
    step: float = 1e-5,
    seed: int = 0,
) -> None:
    """Compare the derivatives of a function with central differences, in random directions.

    Args:
        f: a function of arrays, numbers and containers of them, that returns the same.
        args: where to differentiate, by every argument with inexact arrays or numbers. Use float64 and complex128.
        order: derivatives up to this one; each is the derivative of the one before.
        rtol, atol: how far both may differ, relative to the size of the derivative.
        step: of the differences.
        seed: of the random directions.

    Raises:
        AssertionError: they differ.

    >>> check_grads(lambda x: np.sin(x) * x, (np.array([0.3, 2.0]),))
    """
    compiled: Any = f if isinstance(f, CompiledFunction) else script(f)
    generator = np.random.default_rng(seed)
    for level in range(1, order + 1):
        value = compiled(*args)
        cotangent = _mapped(lambda leaf: _random(leaf, generator), value)
        positions = tuple(index for index, given in enumerate(args) if _leaves(given))
        pull = vjp(compiled, argnums=positions)
        _, gradients = pull(*args, cotangent)
        tangents = [_mapped(lambda leaf: _random(leaf, generator), args[index]) for index in positions]
        found = sum(_inner(gradient, tangent) for gradient, tangent in zip(gradients, tangents, strict=True))
        ends = [_moved(args, positions, tangents, sign * step) for sign in (1, -1)]
        high, low = (_inner(cotangent, compiled(*end)) for end in ends)
        expected = (high - low) / (2 * step)
        np.testing.assert_allclose(found, expected, rtol, atol, err_msg=f"derivative {level} of {_name(f)} at {args!r}")
        compiled, args = pull, (*args, cotangent)


def _name(f: Callable) -> str:
    return getattr(f, "__qualname__", repr(f))


def _is_leaf(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.inexact | float | complex) and np.asarray(value).dtype.kind in "fc"


def _leaves(value: Any) -> list[Any]:
    """The inexact arrays and numbers in a nest of containers."""
    if _is_leaf(value):
        return [value]
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [leaf for part in parts for leaf in _leaves(part)]


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    """The same nest with another value for each leaf; None for what is no leaf."""
    if _is_leaf(value):
        return function(value)
    if isinstance(value, dict):
        return {key: _mapped(function, part) for key, part in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_mapped(function, part) for part in value))
    return type(value)(_mapped(function, part) for part in value) if isinstance(value, list | tuple) else None


def _random(leaf: Any, generator: np.random.Generator) -> Any:
    """Random numbers of the kind, shape and dtype of a leaf."""
    shape = np.shape(leaf)
    found = generator.uniform(0.5, 1.5, shape) * generator.choice([-1.0, 1.0], shape)
    if np.iscomplexobj(leaf):
        found = found + 1j * generator.uniform(-1, 1, shape)
    found = np.asarray(found, np.asarray(leaf).dtype)
    return found if isinstance(leaf, np.ndarray) else type(leaf)(found)


def _inner(left: Any, right: Any) -> float:
    """The real inner product of two nests."""
    pairs = zip(_leaves(left), _leaves(right), strict=True)
    return float(sum(np.sum(np.real(np.conjugate(one) * other)) for one, other in pairs))


def _moved(args: tuple, positions: tuple[int, ...], tangents: list[Any], step: float) -> tuple:
    """The arguments a step further in the direction of the tangents, as copies."""
    found = list(args)
    for index, tangent in zip(positions, tangents, strict=True):
        found[index] = _sum(args[index], tangent, step)
    return tuple(found)


def _sum(value: Any, tangent: Any, step: float) -> Any:
    if _is_leaf(value):
        moved = value + step * tangent
        return np.asarray(moved, value.dtype) if isinstance(value, np.ndarray) else type(value)(moved)
    if isinstance(value, dict):
        return {key: _sum(part, tangent[key], step) for key, part in value.items()}
    if isinstance(value, list | tuple):
        parts = [_sum(part, other, step) for part, other in zip(value, tangent, strict=True)]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value
