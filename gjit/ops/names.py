"""Names of the functions and classes that a graph may hold as constants.

A graph is text, so a live function in it needs a name that finds it again. Only a closed set of modules is
searched: the language's built-ins, a few modules of the standard library, NumPy, and SciPy where the user has
imported it. Everything else is a captured object.
"""

from __future__ import annotations

import copy
import functools
import importlib
import sys
import types

import numpy as np

MODULES = {
    "builtin": "builtins",
    "math": "math",
    "cmath": "cmath",
    "operator": "operator",
    "itertools": "itertools",
    "numpy": "numpy",
    "numpy.linalg": "numpy.linalg",
    "numpy.fft": "numpy.fft",
    "numpy.random": "numpy.random",
    "numpy.lib.stride_tricks": "numpy.lib.stride_tricks",
    "scipy.special": "scipy.special",
    "scipy.linalg": "scipy.linalg",
}
"""Prefix of a name, and the module that it stands for."""

_SINGLE: dict[str, object] = {
    "functools.reduce": functools.reduce,
    "functools.partial": functools.partial,
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
}
_named: dict[int, tuple[object, str]] = {}  # holds the objects, so that an id stays theirs
_scanned: set[str] = set()


def give_name(name: str, value: object) -> None:
    """Let a graph hold a function of gjit's own under this name."""
    _SINGLE[name] = value
    _named[id(value)] = value, name


def name_of(value: object) -> str | None:
    """The name of a function or class of the closed set, or None.

    >>> name_of(np.abs), name_of(len), name_of(np.ndarray.reshape)
    ('numpy.absolute', 'builtin.len', 'ndarray.reshape')
    >>> name_of(lambda: 0) is None
    True
    """
    _scan()
    found = _named.get(id(value))
    return found[1] if found is not None and found[0] is value else None


def add(name: str, function: object) -> None:
    """Give a function of gjit's own a name."""
    _SINGLE[name] = function
    _named[id(function)] = function, name


def object_named(name: str) -> object:
    """The function or class with this name; LookupError where there is none.

    >>> object_named("numpy.linalg.norm") is np.linalg.norm
    True
    """
    if name in _SINGLE:
        return _SINGLE[name]
    prefix, _, attribute = name.rpartition(".")
    if prefix == "ndarray" and attribute in vars(np.ndarray):
        return getattr(np.ndarray, attribute)
    module = _module(prefix)
    value = None if module is None or attribute.startswith("_") else getattr(module, attribute, None)
    if not _is_nameable(value):
        raise LookupError(f"no function or class is named {name!r}")
    return value


def _module(prefix: str) -> types.ModuleType | None:
    """The module of a prefix. SciPy is only seen once the user has imported it."""
    name = MODULES.get(prefix, "")
    if name.startswith("scipy"):
        return sys.modules.get(name)
    return importlib.import_module(name) if name else None


def _is_nameable(value: object) -> bool:
    return callable(value) and not isinstance(value, types.ModuleType)


def _scan() -> None:
    """Note the functions of every module that is loaded by now: what is not loaded, nobody can hold."""
    for prefix, name in MODULES.items():
        if prefix not in _scanned and name in sys.modules:
            _scanned.add(prefix)
            _scan_module(prefix, sys.modules[name])
    if "ndarray" not in _scanned:
        _scanned.add("ndarray")
        for name, value in _SINGLE.items():
            _named[id(value)] = value, name
        for name, value in vars(np.ndarray).items():
            if callable(value) and not name.startswith("_"):
                _named[id(value)] = value, f"ndarray.{name}"


def _scan_module(prefix: str, module: types.ModuleType) -> None:
    """An object with several names is called by its own `__name__` where that is one of them."""
    for attribute, value in sorted(vars(module).items()):
        if attribute.startswith("_") or not _is_nameable(value):
            continue
        known = _named.get(id(value))
        if known is None or (getattr(value, "__name__", "") == attribute and known[1].startswith(prefix)):
            _named[id(value)] = value, f"{prefix}.{attribute}"
