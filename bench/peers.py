"""The peers: what a user would pick instead of gjit. Each is optional, and takes data in its own arrays."""

from __future__ import annotations

import functools
import importlib.util
import types
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gjit.errors import require


@dataclass(frozen=True, slots=True)
class Peer:
    """One peer.

    module      that has to be installed
    from_numpy  makes its program from the NumPy program and example arguments; None where it has to be rewritten
    take        its own arrays for NumPy's
    finish      waits for a result
    give        NumPy arrays for its own
    """

    name: str
    module: str
    from_numpy: Callable[[Callable, tuple], Callable] | None
    take: Callable[[tuple], tuple]
    finish: Callable[[object], object]
    give: Callable[[object], object]


def is_installed(peer: Peer) -> bool:
    """Whether the package of a peer can be imported, and its device is there."""
    if importlib.util.find_spec(peer.module) is None:
        return False
    return peer.module != "cupy" or require("cupy", extra="cuda").cuda.runtime.getDeviceCount() > 0


def same(value: object) -> object:
    """For peers that work on NumPy arrays."""
    return value


def with_module(function: Callable, module: object) -> Callable:
    """The same program with another module for NumPy, its helpers too: `jax.numpy` for `numpy`."""
    made: dict[Callable, Callable] = {}

    def rebuilt(each: types.FunctionType) -> Callable:
        if each not in made:
            namespace = dict(each.__globals__)
            made[each] = types.FunctionType(
                each.__code__, namespace, each.__name__, each.__defaults__, each.__closure__
            )
            for name in each.__code__.co_names:
                found = namespace.get(name)
                if found is np:
                    namespace[name] = module
                elif isinstance(found, types.FunctionType):
                    namespace[name] = rebuilt(found)
        return made[each]

    return rebuilt(function)


# Numba


def _numba(function: Callable, arguments: tuple) -> Callable:
    """As written, its helpers compiled too."""
    numba = require("numba", extra="bench")
    namespace = dict(function.__globals__)
    for name in function.__code__.co_names:
        if isinstance(namespace.get(name), types.FunctionType):
            namespace[name] = _numba(namespace[name], ())
    return numba.njit(types.FunctionType(function.__code__, namespace, function.__name__, function.__defaults__))


# JAX


@functools.cache
def jax():
    """JAX with 64-bit types, as NumPy has them."""
    module = require("jax", extra="bench")
    module.config.update("jax_enable_x64", True)
    return module


def _jax(function: Callable, arguments: tuple) -> Callable:
    fixed = tuple(place for place, value in enumerate(arguments) if type(value) in (int, bool))
    return jax().jit(with_module(function, jax().numpy), static_argnums=fixed)


def _to_jax(arguments: tuple) -> tuple:
    return tuple(jax().numpy.array(each) if isinstance(each, np.ndarray) else each for each in arguments)


def _from_jax(value: object) -> object:
    return jax().tree_util.tree_map(lambda each: np.asarray(each) if hasattr(each, "shape") else each, value)


# PyTorch


class TorchNumpy:
    """PyTorch under NumPy's names, as far as the programs need it."""

    def __getattr__(self, name: str) -> object:
        return getattr(require("torch", extra="bench"), name)

    def _pair(self, one: object, other: object) -> tuple:
        torch = require("torch", extra="bench")
        like = one if isinstance(one, torch.Tensor) else other
        return tuple(each if isinstance(each, torch.Tensor) else torch.full_like(like, each) for each in (one, other))

    def maximum(self, one: object, other: object) -> object:
        return require("torch", extra="bench").maximum(*self._pair(one, other))

    def minimum(self, one: object, other: object) -> object:
        return require("torch", extra="bench").minimum(*self._pair(one, other))


def _torch_compile(function: Callable, arguments: tuple) -> Callable:
    return require("torch", extra="bench").compile(with_module(function, TorchNumpy()))


def _torchscript(function: Callable, arguments: tuple) -> Callable:
    """Traced, with the numbers among the arguments as constants."""
    torch, program = require("torch", extra="bench"), with_module(function, TorchNumpy())
    places = [place for place, value in enumerate(arguments) if isinstance(value, np.ndarray)]

    def of_arrays(*arrays: object) -> object:
        values = list(arguments)
        for place, array in zip(places, arrays, strict=True):
            values[place] = array
        return program(*values)

    traced = torch.jit.trace(
        of_arrays, tuple(_to_torch(tuple(arguments[place] for place in places))), check_trace=False
    )
    return lambda *values: traced(*(values[place] for place in places))


def _to_torch(arguments: tuple) -> tuple:
    torch = require("torch", extra="bench")
    return tuple(torch.from_numpy(each.copy()) if isinstance(each, np.ndarray) else each for each in arguments)


def _from_torch(value: object) -> object:
    if isinstance(value, tuple | list):
        return tuple(map(_from_torch, value))
    return value.numpy() if hasattr(value, "numpy") else value


# CuPy


def _cupy(function: Callable, arguments: tuple) -> Callable:
    return with_module(function, require("cupy", extra="cuda"))


def _cupy_fuse(function: Callable, arguments: tuple) -> Callable:
    cupy = require("cupy", extra="cuda")
    return cupy.fuse(with_module(function, cupy))


def _to_cupy(arguments: tuple) -> tuple:
    cupy = require("cupy", extra="cuda")
    return tuple(cupy.asarray(each) if isinstance(each, np.ndarray) else each for each in arguments)


def _finish_cupy(value: object) -> object:
    require("cupy", extra="cuda").cuda.Device().synchronize()
    return value


def _from_cupy(value: object) -> object:
    if isinstance(value, tuple | list):
        return tuple(map(_from_cupy, value))
    return value.get() if hasattr(value, "get") else value


PEERS = {
    peer.name: peer
    for peer in (
        Peer("numexpr", "numexpr", None, same, same, same),
        Peer("numba", "numba", _numba, same, same, same),
        Peer("jax", "jax", _jax, _to_jax, lambda value: jax().block_until_ready(value), _from_jax),
        Peer("torch.compile", "torch", _torch_compile, _to_torch, same, _from_torch),
        Peer("torchscript", "torch", _torchscript, _to_torch, same, _from_torch),
        Peer("cupy", "cupy", _cupy, _to_cupy, _finish_cupy, _from_cupy),
        Peer("cupy.fuse", "cupy", _cupy_fuse, _to_cupy, _finish_cupy, _from_cupy),
    )
}
ON_CPU = ("numexpr", "numba", "jax", "torch.compile", "torchscript")
ON_GPU = ("cupy", "cupy.fuse")


def numexpr_program(expression: str, *names: str) -> Callable[[], Callable]:
    """What makes the program of a numexpr user: one expression over the arguments, by their names."""

    def make() -> Callable:
        numexpr = require("numexpr", extra="bench")
        return lambda *values: numexpr.evaluate(expression, dict(zip(names, values, strict=False)), {})

    return make


def numba_program(function: Callable) -> Callable[[], Callable]:
    """What makes the program of a Numba user: loops."""
    return lambda: require("numba", extra="bench").njit(function)


def numba_elements(function: Callable) -> Callable[[], Callable]:
    """What makes a ufunc of Numba's: the program for one element."""
    return lambda: require("numba", extra="bench").vectorize(function)
