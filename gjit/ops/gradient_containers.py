"""Shadows of containers and objects: the same structure, with shadows for what is in it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from types import SimpleNamespace
from typing import Any


def shadow_of_container(value: Any, zeros: Callable[[Any], Any]) -> Any:
    """A container of shadows: list, tuple, named tuple, dict, or the attributes of an object; None for other things."""
    kind = type(value)
    if isinstance(value, tuple):
        parts = [zeros(each) for each in value]
        return kind(*parts) if hasattr(value, "_fields") else tuple(parts)
    if kind is list:
        return [zeros(each) for each in value]
    if isinstance(value, dict):
        return {key: zeros(each) for key, each in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return SimpleNamespace(**{f.name: zeros(getattr(value, f.name)) for f in dataclasses.fields(value)})
    if hasattr(value, "named_parameters"):
        return shadow_of_module(value, zeros)
    return None


def shadow_of_module(module: Any, zeros: Callable[[Any], Any]) -> SimpleNamespace:
    """The shadow of a module: of its parameters and submodules."""
    names = module._parameter_names
    parts: dict[str, Any] = {}
    for name, value in vars(module).items():
        if name in names:
            parts[name] = zeros(value)
        elif hasattr(value, "named_parameters") or (isinstance(value, list | tuple | dict) and _holds_modules(value)):
            parts[name] = shadow_of_container(value, zeros)
    return SimpleNamespace(**parts)


def _holds_modules(value: Any) -> bool:
    items = value.values() if isinstance(value, dict) else value
    return any(hasattr(item, "named_parameters") for item in items)


def finished_container(value: Any, shadow: Any, finished: Callable[[Any, Any], Any]) -> Any:
    """The gradient of a container: the same container; of a module, a dict by the names of its parameters."""
    kind = type(value)
    if isinstance(value, tuple):
        parts = [finished(each, part) for each, part in zip(value, shadow or [None] * len(value), strict=True)]
        return kind(*parts) if hasattr(value, "_fields") else tuple(parts)
    if kind is list:
        return [finished(each, part) for each, part in zip(value, shadow or [None] * len(value), strict=True)]
    if isinstance(value, dict):
        return {key: finished(each, (shadow or {}).get(key)) for key, each in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [f.name for f in dataclasses.fields(value)]
        changes = {name: finished(getattr(value, name), getattr(shadow, name)) for name in names}
        return dataclasses.replace(value, **changes)
    if hasattr(value, "named_parameters"):
        return {name: finished(array, _at(shadow, name)) for name, array in value.named_parameters()}
    return None


def _at(shadow: Any, path: str) -> Any:
    for name in path.split("."):
        if shadow is None:
            return None
        shadow = shadow[int(name)] if isinstance(shadow, list | tuple) else getattr(shadow, name, None)
    return shadow


def paired(shadow: Any, cotangent: Any) -> Iterator[tuple[Any, Any]]:
    """The parts of a shadow, each with its part of a cotangent."""
    if isinstance(shadow, list | tuple):
        yield from zip(shadow, cotangent, strict=True)
    elif isinstance(shadow, dict):
        for key, each in shadow.items():
            yield each, cotangent[key]
    elif isinstance(shadow, SimpleNamespace):
        for name, each in vars(shadow).items():
            yield each, getattr(cotangent, name, None)


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
