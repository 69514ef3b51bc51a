"""Derivatives: `grad`, `value_and_grad`, `vjp`, `jvp`, `jacobian`, `hessian`, `custom_gradient`, `checkpoint`.

Each gives a compiled function, whose graph holds `differentiate` nodes; they become the graphs of the derivative when
the types of a call are known.
"""

from __future__ import annotations

import functools
import types
import weakref
from collections.abc import Callable
from typing import Any

from gjit.api import script
from gjit.compiled import CompiledFunction
from gjit.runtime.derivative_functions import derivative_of
from gjit.runtime.derivative_graphs import Request

Argnums = int | tuple[int, ...]


def grad(f: Callable, argnums: Argnums = 0, has_aux: bool = False) -> CompiledFunction:
    """The gradient of a function that returns one real number.

    Args:
        f: a function, scripted or not, or a compiled one.
        argnums: the position of the argument to differentiate by, or a tuple of positions.
        has_aux: `f` returns a pair; its second part is returned beside the gradient.

    Returns:
        A compiled function with the arguments of `f` that gives the gradient: for an array an array of its shape and
        dtype, for a number a number, for a container the same container of gradients, for a module a dict by the names
        of its parameters. Integers and None in containers get None. A tuple for a tuple of positions.

    Raises:
        TypeError: (when called) the argument or the result has no derivative.
        UnsupportedError: (when called) a gradient would have to pass through what has none; the line is shown.

    >>> import numpy as np
    >>> grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _derivative(f, "grad", argnums, has_aux)


def value_and_grad(f: Callable, argnums: Argnums = 0, has_aux: bool = False) -> CompiledFunction:
    """As `grad`, but the compiled function gives a pair: what `f` returns, and the gradient.

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _derivative(f, "value_and_grad", argnums, has_aux)


def vjp(f: Callable, *primals: Any, argnums: Argnums | None = None) -> Any:
    """The product of a cotangent with the Jacobian, for a function that returns anything.

    Args:
        f: a function, scripted or not, or a compiled one.
        primals: arguments to evaluate at; without them a compiled function comes back.
        argnums: the positions to differentiate by: 0 without primals, all with them.

    Returns:
        Without primals a compiled function `(*arguments, cotangent) -> (value, gradient)`. With them the pair of the
        value and a function from a cotangent to the tuple of gradients.

    Raises:
        ValueError: (when called) the cotangent has not the shape of the result.

    >>> import numpy as np
    >>> vjp(lambda x: np.cumsum(x * x))(np.array([1.0, 2.0]), np.array([0.0, 1.0]))
    (array([1., 5.]), array([2., 4.]))
    """
    if not primals:
        return _derivative(f, "vjp", 0 if argnums is None else argnums, False)
    positions = tuple(range(len(primals))) if argnums is None else argnums
    value = (f if isinstance(f, CompiledFunction) else script(f))(*primals)
    pull = _derivative(f, "vjp", positions, False)
    return value, lambda cotangent: pull(*primals, cotangent)[1]


def jvp(f: Callable, *point: Any, argnums: Argnums = 0) -> Any:
    """The product of the Jacobian with a tangent: the derivative of a function in a direction.

    Args:
        f: a function, scripted or not, or a compiled one.
        point: a tuple of primals and a tuple of tangents; without them a compiled function comes back.
        argnums: the positions that the tangent is for, without a point.

    Returns:
        Without a point a compiled function `(*arguments, tangent) -> (value, tangent of the value)`, whose tangent is a
        tuple for a tuple of positions. With a point that pair, for all arguments.

    >>> jvp(lambda x, y: x * y, (3.0, 4.0), (1.0, 0.5))
    (12.0, 5.5)
    """
    if not point:
        return _derivative(f, "jvp", argnums, False)
    primals, tangents = point
    push = _derivative(f, "jvp", tuple(range(len(primals))), False)
    return push(*primals, tuple(tangents))


def jacobian(f: Callable, argnums: Argnums = 0) -> CompiledFunction:
    """All partial derivatives of a function that returns a real array or number.

    Returns:
        A compiled function that gives, for an array argument, an array of the shape of the result followed by the
        shape of the argument; for containers the same container of such arrays.

    >>> import numpy as np
    >>> jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _derivative(f, "jacobian", argnums, False)


def hessian(f: Callable, argnums: int = 0) -> CompiledFunction:
    """The second derivatives of a function that returns one real number.

    Returns:
        A compiled function that gives an array with the shape of the argument twice.

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([1.0, 2.0]))
    array([[4., 2.],
           [2., 0.]])
    """
    return jacobian(grad(f, argnums), argnums)


_known: weakref.WeakKeyDictionary[Any, dict[tuple, CompiledFunction]] = weakref.WeakKeyDictionary()


def _derivative(f: Callable, mode: str, argnums: Argnums, has_aux: bool) -> CompiledFunction:
    """The compiled derivative; asked for again, the same one, so that a call in a loop finds its plans."""
    positions = argnums if isinstance(argnums, tuple) else (argnums,)
    if not positions or not all(type(position) is int for position in positions):
        raise TypeError(f"argnums is an int or a tuple of ints, not {argnums!r}")
    key = (mode, argnums, type(argnums), has_aux)
    known = _known.setdefault(f, {}) if _is_weak(f) else {}
    if key not in known:
        known[key] = _made(f, mode, positions, not isinstance(argnums, tuple), has_aux)
    return known[key]


def _is_weak(f: object) -> bool:
    return type(f) is types.FunctionType and f.__closure__ is None


def _made(f: Callable, mode: str, positions: tuple[int, ...], single: bool, has_aux: bool) -> CompiledFunction:
    base = f if isinstance(f, CompiledFunction) else script(f)
    if not isinstance(base, CompiledFunction):
        raise TypeError(f"gjit.{mode} takes a function, not {type(f).__name__}")
    inner = base._compiled
    count = len(inner.parameters)
    if not all(-count <= position < count for position in positions):
        raise ValueError(f"argnums is {positions!r}, but the function takes {count} arguments")
    request = Request(mode, tuple(position % count for position in positions), single, has_aux)
    compiled = derivative_of(inner, request)
    return CompiledFunction.of(compiled, compiled.function)


class CustomGradient:
    """A function with a gradient of the user's own; see `custom_gradient`."""

    __gjit_gradient__ = "custom"

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)
        self.__wrapped__ = function

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.__wrapped__(*arguments, **keywords)[0]


class Checkpoint:
    """A function that is run again where its gradient is needed; see `checkpoint`."""

    __gjit_gradient__ = "checkpoint"

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)
        self.__wrapped__ = function

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.__wrapped__(*arguments, **keywords)


def custom_gradient(function: Callable) -> CustomGradient:
    """Decorate a function that brings its own gradient.

    Args:
        function: returns a pair: the result, and a function from the cotangent of the result to that of the argument,
            or to a tuple of cotangents for several arguments.

    Returns:
        A function that gives the result alone. Gradients of functions that call it use the second part. Second
        derivatives through it are an error.

    >>> import numpy as np
    >>> @custom_gradient
    ... def clipped(x):
    ...     return x, lambda cotangent: np.clip(cotangent, -1.0, 1.0)
    >>> grad(lambda x: np.sum(clipped(x) * 5.0))(np.ones(2))
    array([1., 1.])
    """
    return CustomGradient(function)


def checkpoint(function: Callable) -> Checkpoint:
    """Save memory: keep the arguments of a function for the gradient, not what it computes on the way.

    Args:
        function: makes new arrays, and gives the same for the same arguments; it runs once more where its gradient is
            needed.

    Returns:
        The same function; only gradients of functions that call it do anything else. Second derivatives through it are
        an error.

    >>> checkpoint(abs)(-2.0)
    2.0
    """
    return Checkpoint(function)
