"""Modules that hold other modules: in a list, by name, or one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from gjit.module.base import Module


class ModuleList(Module):
    """A list of modules; each is named by its place: `layers.0.weight`."""

    def __init__(self, modules: Iterable[Module] = ()):
        self._items: list[Any] = []
        for module in modules:
            self.append(module)

    def append(self, module: Module) -> ModuleList:
        """Add a module at the end, and return the list."""
        self._items.append(_module(module))
        return self

    def extend(self, modules: Iterable[Module]) -> ModuleList:
        """Add modules at the end, and return the list."""
        for module in modules:
            self.append(module)
        return self

    def named_children(self) -> Iterator[tuple[str, Module]]:
        for index, item in enumerate(self._items):
            if isinstance(item, Module):
                yield str(index), item

    def __iter__(self) -> Iterator[Any]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, index: int | slice) -> Any:
        return type(self)(self._items[index]) if isinstance(index, slice) else self._items[index]

    def __setitem__(self, index: int, module: Module) -> None:
        self._items[index] = _module(module)


class Sequential(ModuleList):
    """Calls its parts one after the other; besides modules they may be functions, scripted or traced ones too.

    >>> import numpy as np
    >>> Sequential(np.negative, np.abs)(np.array([-3.0]))
    array([3.])
    """

    def __init__(self, *parts: Callable):
        self._items = list(parts[0] if len(parts) == 1 and isinstance(parts[0], list) else parts)

    def append(self, module: Callable) -> Sequential:
        """Add a part at the end, and return the module."""
        self._items.append(module)
        return self

    def forward(self, value: Any) -> Any:
        """The value after all parts."""
        for part in self._items:
            value = part(value)
        return value


class ModuleDict(Module):
    """Modules by name: `blocks.first.weight`."""

    def __init__(self, modules: Mapping[str, Module] | None = None):
        self._items = {name: _module(module) for name, module in (modules or {}).items()}

    def named_children(self) -> Iterator[tuple[str, Module]]:
        yield from self._items.items()

    def keys(self) -> Iterable[str]:
        """The names."""
        return self._items.keys()

    def values(self) -> Iterable[Module]:
        """The modules."""
        return self._items.values()

    def items(self) -> Iterable[tuple[str, Module]]:
        """Names and modules."""
        return self._items.items()

    def __iter__(self) -> Iterator[str]:
        return iter(self._items)

    def __len__(self) -> int:
        return len(self._items)

    def __contains__(self, name: str) -> bool:
        return name in self._items

    def __getitem__(self, name: str) -> Module:
        return self._items[name]

    def __setitem__(self, name: str, module: Module) -> None:
        self._items[name] = _module(module)

    def __delitem__(self, name: str) -> None:
        del self._items[name]


def _module(value: object) -> Module:
    if not isinstance(value, Module):
        raise TypeError(f"a module is needed here, not {type(value).__name__}")
    return value
