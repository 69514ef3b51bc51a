"""Compare two object graphs: values, exact types, layouts, and which objects are one and the same.

Both sides are walked together. An object that carries an identity (a list, an array, an instance) is paired with the
object that stands at the same place on the other side; wherever either is met again, the other must be met too. That
one rule covers results that are arguments, shared elements, and cycles.
"""

from __future__ import annotations

import collections
import enum
import functools
import io
import itertools
import random
import re
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from gjit.testing import arrays
from gjit.testing.strength import EXACT, Strength

_NUMBERS = (bool, int, float, complex, np.generic)
_ATOMS = (enum.Enum, str, bytes, bytearray, range, slice, np.dtype, type(None), type(...), type(NotImplemented))
_CODE = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, type, np.ufunc)
_ADDRESS = re.compile(r"0x[0-9a-f]{6,}")


def same(expected: object, actual: object) -> str | None:
    """Why two objects differ, or None where no program could tell them apart (but by identity).

    Numbers are compared by exact type and bit by bit (NaN equals NaN), arrays also by dtype, shape, strides and
    flags, containers and instances by their contents and by which of them are shared.

    >>> same([1, 2.0], [1, 2.0])
    >>> same([1, 2.0], [1, 2])
    '[1]: type: expected float, got int'
    """
    comparison = Comparison()
    comparison.compare(expected, actual, "")
    return comparison.reasons()[0] if comparison.reasons() else None


def without_addresses(text: str) -> str:
    """`text` with memory addresses (`<object at 0x7f...>`) replaced by a fixed one."""
    return _ADDRESS.sub("0x...", text)


class Comparison:
    """One walk over both sides; several roots may be compared in turn, and identities hold across them."""

    def __init__(self, strength: Strength = EXACT) -> None:
        self.strength = strength
        self.differences: list[str] = []
        self.arrays: list[tuple[str, np.ndarray, np.ndarray]] = []
        self._expected_at: dict[int, tuple[object, object, str]] = {}
        self._actual_at: dict[int, tuple[object, object, str]] = {}

    def reasons(self) -> list[str]:
        """Every difference found so far, those of shared memory last."""
        return self.differences + arrays.memory_differences(self.arrays)

    def report(self, path: str, text: str) -> None:
        """Add a difference found at `path`."""
        self.differences.append(f"{path}: {text}" if path else text)

    def compare(self, expected: object, actual: object, path: str) -> None:
        """Compare two objects found at the same place."""
        if type(expected) is not type(actual):
            self.report(path, f"type: expected {_type_text(expected, actual)}, got {_type_text(actual, expected)}")
        elif isinstance(expected, _NUMBERS):
            self._number(expected, actual, path)
        elif isinstance(expected, _ATOMS):
            if expected != actual:
                self.report(path, f"value: expected {short(expected)}, got {short(actual)}")
        elif isinstance(expected, tuple):
            self._sequence(expected, actual, path)
        elif isinstance(expected, frozenset):
            self._set(expected, actual, path)
        elif isinstance(expected, _CODE):
            self._code(expected, actual, path)
        elif self._is_new_pair(expected, actual, path):
            self._contents(expected, actual, path)

    def _is_new_pair(self, expected: object, actual: object, path: str) -> bool:
        """Record that two objects correspond; False where one was met before (and report a mismatch)."""
        met = self._expected_at.get(id(expected))
        if met is not None:
            if met[1] is not actual:
                self.report(path, f"identity: expected the object at {met[2] or 'the top'}, got another one")
            return False
        met = self._actual_at.get(id(actual))
        if met is not None:
            self.report(path, f"identity: expected an object of its own, got the object at {met[2] or 'the top'}")
            return False
        self._expected_at[id(expected)] = self._actual_at[id(actual)] = (expected, actual, path)
        return expected is not actual or isinstance(expected, np.ndarray)

    def _contents(self, expected: Any, actual: Any, path: str) -> None:
        if isinstance(expected, np.ndarray):
            self._array(expected, actual, path)
            return
        for kind, method in _CONTENTS:
            if isinstance(expected, kind):
                method(self, expected, actual, path)
                self._attributes(state(expected), state(actual), path)
                return
        if _is_iterator(expected):
            self._iterator(expected, actual, path)
        elif state(expected) or state(actual):
            self._attributes(state(expected), state(actual), path)
        elif _has_own_equality(expected) and expected != actual:
            self.report(path, f"value: expected {short(expected)}, got {short(actual)}")

    def _number(self, expected: object, actual: object, path: str) -> None:
        if type(expected) is int or type(expected) is bool:
            if expected != actual:
                self.report(path, f"value: expected {short(expected)}, got {short(actual)}")
            return
        one, other = np.asarray(expected), np.asarray(actual)
        reason = arrays.header_difference(one, other) or arrays.value_difference(one, other, self.strength)
        if reason is not None:
            self.report(path, reason)

    def _array(self, expected: Any, actual: Any, path: str) -> None:
        self.arrays.append((path, expected, actual))
        reason = arrays.header_difference(expected, actual)
        if reason is not None:
            self.report(path, reason)
        if expected.dtype != actual.dtype or expected.shape != actual.shape:
            return
        self._base(expected.base, actual.base, path + ".base")
        if isinstance(expected, np.ma.MaskedArray):
            self.compare(np.ma.getmaskarray(expected), np.ma.getmaskarray(actual), path + ".mask")
            expected, actual = expected.filled(), actual.filled()
        if expected.dtype == object:
            for index in np.ndindex(expected.shape):
                self.compare(expected[index], actual[index], f"{path}{list(index)}")
            return
        reason = arrays.value_difference(np.asarray(expected), np.asarray(actual), self.strength)
        if reason is not None:
            self.report(path, reason)

    def _base(self, expected: Any, actual: Any, path: str) -> None:
        """Bases must be the same argument or result, or arrays of one layout; what a view does not show is ignored."""
        if type(expected) is not type(actual):
            self.report(path, f"type: expected {_type_text(expected, actual)}, got {_type_text(actual, expected)}")
        elif isinstance(expected, np.ndarray) and self._is_new_pair(expected, actual, path):
            reason = arrays.header_difference(expected, actual)
            if reason is not None:
                self.report(path, reason)
            self._base(expected.base, actual.base, path + ".base")

    def _sequence(self, expected: Any, actual: Any, path: str) -> None:
        if len(expected) != len(actual):
            texts = f"{short(expected)}, {short(actual)}"
            self.report(path, f"length: expected {len(expected)}, got {len(actual)}: {texts}")
            return
        for index, (one, other) in enumerate(zip(expected, actual, strict=True)):
            self.compare(one, other, f"{path}[{index}]")

    def _mapping(self, expected: dict, actual: dict, path: str) -> None:
        before = len(self.differences)
        self._sequence(list(expected), list(actual), path + ".keys()")
        if len(self.differences) == before:
            for (key, one), other in zip(expected.items(), actual.values(), strict=True):
                self.compare(one, other, f"{path}[{short(key)}]")

    def _set(self, expected: Any, actual: Any, path: str) -> None:
        """Sets have no order: elements are paired by class and text."""
        order = _set_order
        self._sequence(sorted(expected, key=order), sorted(actual, key=order), path)

    def _code(self, expected: Any, actual: Any, path: str) -> None:
        """Functions made by the program are compared by name, everything else by identity."""
        if expected is actual:
            return
        if isinstance(expected, types.MethodType | types.BuiltinFunctionType):
            self.compare(expected.__self__, actual.__self__, path + ".__self__")
        made_here = not isinstance(expected, type | types.ModuleType | np.ufunc)
        if not made_here or expected.__name__ != actual.__name__:
            self.report(path, f"identity: expected {short(expected)}, got {short(actual)}")

    def _iterator(self, expected: Iterator, actual: Iterator, path: str) -> None:
        """Consume two iterators; what they would give is what they are."""
        left = [list(itertools.islice(iterator, 1000)) for iterator in (expected, actual)]
        self._sequence(left[0], left[1], path)

    def _partial(self, expected: functools.partial, actual: functools.partial, path: str) -> None:
        self.compare(expected.func, actual.func, path + ".func")
        self.compare(expected.args, actual.args, path + ".args")
        self.compare(expected.keywords, actual.keywords, path + ".keywords")

    def _exception(self, expected: BaseException, actual: BaseException, path: str) -> None:
        one, other = without_addresses(str(expected)), without_addresses(str(actual))
        if one != other:
            self.report(path, f"text: expected {short(one)}, got {short(other)}")
        else:
            self.compare(tuple(map(_argument, expected.args)), tuple(map(_argument, actual.args)), path + ".args")
        self.compare(expected.__cause__, actual.__cause__, path + ".__cause__")
        self.compare(expected.__suppress_context__, actual.__suppress_context__, path + ".__suppress_context__")

    def _attributes(self, expected: dict, actual: dict, path: str) -> None:
        if list(expected) != list(actual):
            self.report(path, f"attributes: expected {list(expected)}, got {list(actual)}")
            return
        for name, value in expected.items():
            self.compare(value, actual[name], f"{path}.{name}")


def _through(read: Callable[[Any], object], suffix: str) -> Callable:
    """A comparison of what `read` gives for each side."""

    def compare(comparison: Comparison, expected: object, actual: object, path: str) -> None:
        comparison.compare(read(expected), read(actual), path + suffix)

    return compare


_CONTENTS: tuple[tuple[type | tuple[type, ...], Callable], ...] = (
    ((list, collections.deque), Comparison._sequence),
    (dict, Comparison._mapping),
    (set, Comparison._set),
    (functools.partial, Comparison._partial),
    (BaseException, Comparison._exception),
    (np.random.Generator, _through(lambda generator: generator.bit_generator, ".bit_generator")),
    (np.random.BitGenerator, _through(lambda generator: generator.state, ".state")),
    (np.random.RandomState, _through(lambda generator: generator.get_state(legacy=False), ".state")),
    (random.Random, _through(lambda generator: generator.getstate(), ".state")),
    (io.StringIO, _through(lambda stream: stream.getvalue(), ".getvalue()")),
)


def state(instance: object) -> dict[str, object]:
    """The attributes that an instance holds itself, in `__dict__` and in slots."""
    attributes = dict(getattr(instance, "__dict__", {}))
    for owner in type(instance).__mro__:
        slots = owner.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            mangled = _mangled(name, owner)
            if name not in ("__dict__", "__weakref__") and hasattr(instance, mangled):
                attributes[mangled] = getattr(instance, mangled)
    return attributes


def _mangled(name: str, owner: type) -> str:
    private = name.startswith("__") and not name.endswith("__")
    return f"_{owner.__name__.lstrip('_')}{name}" if private else name


def short(value: object, limit: int = 120) -> str:
    """The representation of `value`, shortened to one line."""
    text = " ".join(without_addresses(repr(value)).split())
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _argument(value: object) -> object:
    """Texts in the arguments of an exception may show addresses."""
    return without_addresses(value) if type(value) is str else value


def _type_text(value: object, other: object) -> str:
    one, two = type(value), type(other)
    return one.__name__ if one.__name__ != two.__name__ else f"{one.__module__}.{one.__qualname__}"


def _set_order(value: object) -> tuple[str, str]:
    return type(value).__name__, short(value)


def _is_iterator(value: object) -> bool:
    return isinstance(value, Iterator) and type(value).__module__ in ("builtins", "itertools")


def _has_own_equality(value: object) -> bool:
    return type(value).__eq__ is not object.__eq__
