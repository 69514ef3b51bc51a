"""What higher layers tell the graph: objects that a text knows by name."""

from __future__ import annotations

import builtins
from collections.abc import Callable

import numpy as np

Lookup = Callable[[str], object]
NameOf = Callable[[object], "str | None"]


class KnownNames:
    """Objects that may stand in a text as a bare dotted name: classes and functions of Python and NumPy.

    Pairs of functions are asked in the order of their registration; behind them stand the built-in classes
    (`builtin.int`) and NumPy's scalar classes (`numpy.float64`).

    >>> known_names.name_of(int), known_names.lookup("numpy.float32") is np.float32
    ('builtin.int', True)
    """

    def __init__(self) -> None:
        self._sources: list[tuple[Lookup, NameOf]] = []

    def register(self, lookup: Lookup, name_of: NameOf) -> None:
        """Add a source: `lookup` raises LookupError for an unknown name, `name_of` gives None for an unknown object."""
        self._sources.append((lookup, name_of))

    def lookup(self, name: str) -> object:
        """The object of this name; LookupError when there is none."""
        for lookup, _ in self._sources:
            try:
                return lookup(name)
            except LookupError:
                continue
        return _BASIC[name]

    def name_of(self, value: object) -> str | None:
        """A name under which `lookup` finds this very object, or None."""
        for _, name_of in (*self._sources, (None, _basic_name)):
            name = name_of(value)
            if name is not None and self._finds(name, value):
                return name
        return None

    def _finds(self, name: str, value: object) -> bool:
        try:
            return self.lookup(name) is value
        except LookupError:
            return False


def _basic_names() -> dict[str, object]:
    known = [value for name, value in vars(builtins).items() if isinstance(value, type) and value.__name__ == name]
    classes: dict[str, object] = {f"builtin.{value.__name__}": value for value in known}
    scalars: dict[str, object] = {f"numpy.{kind.__name__}": kind for kind in (*np.sctypeDict.values(), np.generic)}
    return classes | scalars


_BASIC = _basic_names()
_NAMES = {id(value): name for name, value in _BASIC.items()}
known_names = KnownNames()
"""The registry that printing and parsing of constants ask."""


def _basic_name(value: object) -> str | None:
    return _NAMES.get(id(value))
