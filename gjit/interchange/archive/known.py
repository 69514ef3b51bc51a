"""Objects that an archive refers to by name: classes and functions of Python, NumPy and gjit that compute only."""

from __future__ import annotations

import abc
import collections
import contextlib
import dataclasses
import enum
import functools
import types
import typing
import warnings

import numpy as np

from gjit.ops.names import name_of
from gjit.runtime.futures import Future, fork, wait

BASES: dict[str, type] = {
    "object": object,
    "abc.ABC": abc.ABC,
    "enum.Enum": enum.Enum,
    "enum.IntEnum": enum.IntEnum,
    "enum.StrEnum": enum.StrEnum,
    "enum.Flag": enum.Flag,
    "enum.IntFlag": enum.IntFlag,
    "numpy.ndarray": np.ndarray,
    "collections.deque": collections.deque,
    "collections.OrderedDict": collections.OrderedDict,
    "collections.defaultdict": collections.defaultdict,
    "collections.Counter": collections.Counter,
}
"""Classes that a saved class may derive from, besides the built-in ones."""

BIT_GENERATORS = ("PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64")
"""NumPy's sources of random bits, whose states are saved."""

_OBJECTS: dict[str, object] = {
    **BASES,
    "gjit.fork": fork,
    "gjit.wait": wait,
    "gjit.Future": Future,
    "abc.abstractmethod": abc.abstractmethod,
    "collections.namedtuple": collections.namedtuple,
    "contextlib.contextmanager": contextlib.contextmanager,
    "dataclasses.dataclass": dataclasses.dataclass,
    "dataclasses.field": dataclasses.field,
    "dataclasses.InitVar": dataclasses.InitVar,
    "enum.auto": enum.auto,
    "enum.unique": enum.unique,
    "functools.cache": functools.cache,
    "functools.lru_cache": functools.lru_cache,
    "functools.total_ordering": functools.total_ordering,
    "functools.wraps": functools.wraps,
    "typing.NamedTuple": typing.NamedTuple,
    "typing.Generic": typing.Generic,
    "dataclasses.replace": dataclasses.replace,
    "dataclasses.asdict": dataclasses.asdict,
    "dataclasses.astuple": dataclasses.astuple,
    "dataclasses.fields": dataclasses.fields,
    "dataclasses.is_dataclass": dataclasses.is_dataclass,
    "dataclasses.MISSING": dataclasses.MISSING,
    "contextlib.nullcontext": contextlib.nullcontext,
    "contextlib.suppress": contextlib.suppress,
    "functools.cached_property": functools.cached_property,
    "types.SimpleNamespace": types.SimpleNamespace,
    "warnings.warn": warnings.warn,
    "NotImplemented": NotImplemented,
    **{f"numpy.{name}": getattr(np, name) for name in ("r_", "c_", "s_", "index_exp", "mgrid", "ogrid")},
}


class KnownObjects:
    """The objects that have a name in archives.

    Args:
        more: those of higher layers, by name.
    """

    def __init__(self, more: dict[str, object]):
        self._objects = {**_OBJECTS, **more}
        self._names = {id(value): name for name, value in self._objects.items()}

    def name_of(self, value: object) -> str | None:
        """The name of an object, or None."""
        return self._names.get(id(value))

    def named(self, name: object) -> object:
        """The object of a name; KeyError where there is none."""
        return self._objects[str(name)]


def described(value: object) -> str:
    """What an object is, for a message.

    >>> described(np.sqrt), described(3.5)
    ("the function 'numpy.sqrt'", "3.5, a 'float'")
    """
    name = name_of(value)
    if name is not None:
        return f"the function {name!r}"
    if isinstance(value, type | types.FunctionType):
        return f"{'the class' if isinstance(value, type) else 'the function'} {value.__module__}.{value.__qualname__}"
    text = object.__repr__(value) if type(value).__repr__ is object.__repr__ else repr(value)
    return f"{text[:80]}, a {type(value).__name__!r}"
