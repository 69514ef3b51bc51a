"""Shadows of containers and objects: the same structure, with shadows for what is in it."""

from __future__ import annotations

import copy
import dataclasses
import sys
import types
from collections.abc import Callable, Iterator, ValuesView
from types import SimpleNamespace
from typing import Any

import numpy as np

from gjit.errors import UnsupportedError

_NO_OBJECTS = (
    type,
    types.ModuleType,
    types.FunctionType,
    types.MethodType,
    types.BuiltinFunctionType,
    types.GeneratorType,
    np.ufunc,
    np.dtype,
    np.random.Generator,
)


_OTHERS = frozenset({"gjit", "numpy", "scipy", *sys.stdlib_module_names}) - {"__main__"}


def is_object(value: Any) -> bool:
    """Whether a value is a module, or an instance of a class that belongs to no library."""
    if hasattr(value, "_parameter_names"):
        return True
    package = type(value).__module__.partition(".")[0]
    return hasattr(value, "__dict__") and not isinstance(value, _NO_OBJECTS) and package not in _OTHERS


class Shadows:
    """Makes the shadow of a structure. An object that is in it twice has one shadow.

    Args:
        leaf: the shadow of anything that is no container: None for what has no derivative.
    """

    def __init__(self, leaf: Callable[[Any], Any]):
        self._leaf = leaf
        self._made: dict[int, Any] = {}

    def of(self, value: Any) -> Any:
        """A container of shadows: list, tuple, named tuple, dict, or the attributes of an object."""
        if isinstance(value, tuple):
            parts = [self._part(each) for each in value]
            return type(value)(*parts) if hasattr(value, "_fields") else tuple(parts)
        if type(value) is list:
            return [self._part(each) for each in value]
        if isinstance(value, dict):
            return {key: self._part(each) for key, each in value.items()}
        return self._object(value) if is_object(value) else None

    def _part(self, value: Any) -> Any:
        if isinstance(value, list | tuple | dict) or hasattr(value, "__dict__"):
            return self.of(value)
        return self._leaf(value)

    def _object(self, value: Any) -> SimpleNamespace | None:
        """Of a module its parameters and what holds modules; of another object all that has a derivative."""
        if id(value) in self._made:
            return self._made[id(value)]
        shadow = self._made[id(value)] = SimpleNamespace()
        wanted = getattr(value, "_parameter_names", None)
        for name, each in vars(value).items():
            if wanted is None or name in wanted:
                part = self._array(each) if isinstance(each, np.ndarray) else self._part(each)
            else:
                part = self._part(each) if holds_modules(each) else None
            if part is not None:
                setattr(shadow, name, part)
        if not vars(shadow):
            self._made[id(value)] = None
        return self._made[id(value)]

    def _array(self, array: np.ndarray) -> Any:
        """One shadow for an array that several modules share."""
        if id(array) not in self._made:
            self._made[id(array)] = self._leaf(array)
        return self._made[id(array)]


def contents(value: Any) -> Any:
    """What tells whether arrays and containers in a value were written: equal before and after where they were not."""
    if isinstance(value, np.ndarray):
        return value.tobytes() if value.dtype.kind in "fc" else None
    if isinstance(value, list | tuple):
        return [(id(each), contents(each)) for each in value]
    if isinstance(value, dict):
        return [(id(each), contents(each)) for each in value.values()]
    return None


def holds_modules(value: Any) -> bool:
    """Whether a value is a module, or a container with one in it."""
    if isinstance(value, list | tuple | dict):
        return any(map(holds_modules, value.values() if isinstance(value, dict) else value))
    return hasattr(value, "_parameter_names")


def finished_container(value: Any, shadow: Any, finished: Callable[[Any, Any], Any]) -> Any:
    """The gradient of a container: the same container; of a module, a dict by the names of its parameters."""
    kind = type(value)
    if isinstance(value, list | tuple):
        parts = [finished(each, part) for each, part in zip(value, shadow or [None] * len(value), strict=True)]
        return kind(*parts) if hasattr(value, "_fields") else kind(parts)
    if isinstance(value, dict):
        return {key: finished(each, (shadow or {}).get(key)) for key, each in value.items()}
    if hasattr(value, "_parameter_names"):
        return dict(_of_module(value, shadow, finished, "", set()))
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value)]
        changes = {name: finished(getattr(value, name), getattr(shadow, name, None)) for name in names}
        return dataclasses.replace(value, **changes)
    if is_object(value):
        found = copy.copy(value)
        for name, each in vars(value).items():
            found.__dict__[name] = finished(each, getattr(shadow, name, None))
        return found
    return None


def _of_module(
    module: Any, shadow: Any, finished: Callable, prefix: str, seen: set[int]
) -> Iterator[tuple[str, np.ndarray]]:
    """The gradients of a module and of those in it, each array under its first name."""
    seen.add(id(module))
    for name in module._parameter_names:
        array = vars(module).get(name)
        if array is not None and id(array) not in seen:
            seen.add(id(array))
            yield prefix + name, finished(array, getattr(shadow, name, None))
    held = held_shadows(module, shadow) if shadow is not None else {}
    for name, child in module.named_children():
        if id(child) not in seen:
            yield from _of_module(child, held.get(id(child)), finished, f"{prefix}{name}.", seen)


def held_shadows(owner: Any, shadow: SimpleNamespace) -> dict[int, Any]:
    """The shadows of what an object holds in its attributes and in containers there, by the identity of those."""
    found: dict[int, Any] = {}
    held = vars(owner)
    for name, part in vars(shadow).items():
        if name in held:
            _note(held[name], part, found)
    return found


def _note(value: Any, part: Any, found: dict[int, Any]) -> None:
    found[id(value)] = part
    if isinstance(part, list | tuple):
        for each, inner in zip(value, part, strict=True):
            _note(each, inner, found)
    elif isinstance(part, dict):
        for key, inner in part.items():
            _note(value[key], inner, found)


def paired(shadow: Any, cotangent: Any) -> Iterator[tuple[Any, Any]]:
    """The parts of a shadow, each with its part of a cotangent."""
    if isinstance(shadow, list | tuple):
        yield from zip(shadow, cotangent, strict=True)
    elif isinstance(shadow, dict):
        for key, each in shadow.items():
            yield each, cotangent[key]
    elif isinstance(shadow, SimpleNamespace):
        for name, each in vars(shadow).items():
            yield each, cotangent.get(name) if isinstance(cotangent, dict) else getattr(cotangent, name, None)
    elif isinstance(shadow, ValuesView):
        yield from zip(shadow, cotangent, strict=True)
    else:
        name = type(shadow).__name__
        raise UnsupportedError(f"a gradient cannot pass through {name!r} here", hint="make a list of it")


def stacked_container(rows: list, value: Any, like: Any, stacked: Callable[[list, Any, Any], Any]) -> Any:
    """The rows of a Jacobian for each part of a container."""
    if isinstance(like, dict):
        return {key: stacked([row[key] for row in rows], value, part) for key, part in like.items()}
    if isinstance(like, list | tuple):
        parts = [stacked([row[index] for row in rows], value, part) for index, part in enumerate(like)]
        return type(like)(*parts) if hasattr(like, "_fields") else type(like)(parts)
    if hasattr(like, "named_parameters"):
        return {name: stacked([row[name] for row in rows], value, part) for name, part in like.named_parameters()}
    return None
