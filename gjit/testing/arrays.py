"""How two arrays differ: values bit by bit, layout, flags, and the memory that arrays share."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjit.testing.strength import EXACT, Strength

_FLAGS = ("c_contiguous", "f_contiguous", "owndata", "writeable", "aligned", "writebackifcopy")
_SEARCH_STEPS: Any = 10_000  # an exact answer can take exponential time


def header_difference(expected: np.ndarray, actual: np.ndarray) -> str | None:
    """The first difference of dtype, shape, strides and flags.

    >>> header_difference(np.zeros(3), np.zeros(3, "f4"))
    'dtype: expected float64, got float32'
    """
    if expected.dtype != actual.dtype or expected.dtype.char != actual.dtype.char:
        return f"dtype: expected {_dtype_text(expected, actual)}, got {_dtype_text(actual, expected)}"
    if expected.shape != actual.shape:
        return f"shape: expected {expected.shape}, got {actual.shape}"
    if expected.strides != actual.strides:
        return f"strides: expected {expected.strides}, got {actual.strides}"
    different = [flag for flag in _FLAGS if getattr(expected.flags, flag) != getattr(actual.flags, flag)]
    if different:
        return f"flags: expected {_flag_text(expected, different)}, got {_flag_text(actual, different)}"
    return None


def _dtype_text(array: np.ndarray, other: np.ndarray) -> str:
    return str(array.dtype) if str(array.dtype) != str(other.dtype) else f"{array.dtype} ({array.dtype.char!r})"


def _flag_text(array: np.ndarray, names: list[str]) -> str:
    return ", ".join(f"{name.upper()}={getattr(array.flags, name)}" for name in names)


def value_difference(expected: np.ndarray, actual: np.ndarray, strength: Strength = EXACT) -> str | None:
    """The first differing element of two arrays of equal dtype (not object) and shape.

    NaN equals NaN whatever its payload; zeros of different sign differ.

    >>> value_difference(np.array([1.0, 0.0]), np.array([1.0, -0.0]))
    'value: 1 of 2 elements differ; at [1] expected 0.0, got -0.0'
    """
    if expected.size == 0:
        return None
    different = _unequal(expected, actual)
    if strength.units and different.any():
        different = np.asarray(different & ~_near(expected, actual, strength))
    count = int(np.count_nonzero(different))
    if count == 0:
        return None
    where = tuple(int(index) for index in np.argwhere(different)[0])
    values = f"expected {_element_text(expected[where])}, got {_element_text(actual[where])}"
    if expected.ndim == 0:
        return f"value: {values}"
    return f"value: {count} of {expected.size} elements differ; at {list(where)} {values}"


def _unequal(expected: np.ndarray, actual: np.ndarray) -> np.ndarray:
    """True where elements differ."""
    dtype = expected.dtype
    if dtype.names is not None:
        fields = [_unequal(expected[name], actual[name]) for name in dtype.names]
        return np.any([_per_record(field, expected.ndim) for field in fields], axis=0)
    if dtype.kind == "c":
        return _unequal(expected.real, actual.real) | _unequal(expected.imag, actual.imag)
    if dtype.kind == "f":
        with np.errstate(all="ignore"):
            numbers = (expected == actual) & (np.signbit(expected) == np.signbit(actual))
            return np.asarray(~(numbers | (np.isnan(expected) & np.isnan(actual))))
    if dtype.kind in "mM":
        return np.asarray(expected.astype("i8") != actual.astype("i8"))
    if dtype.kind == "V":
        return np.frompyfunc(lambda one, other: bytes(one) != bytes(other), 2, 1)(expected, actual).astype(bool)
    return np.asarray(expected != actual)


def _near(expected: np.ndarray, actual: np.ndarray, strength: Strength) -> np.ndarray:
    """True where elements differ by no more than a strength allows."""
    if expected.dtype.kind == "c":
        parts = ((expected.real, actual.real), (expected.imag, actual.imag))
        near = [_near(one, other, strength) | ~_unequal(one, other) for one, other in parts]
        return np.logical_and(*near)
    if expected.dtype.char not in strength.units:
        return np.zeros(expected.shape, bool)
    finite = np.abs(expected[np.isfinite(expected)])
    largest = float(finite.max()) if finite.size else 0.0
    with np.errstate(all="ignore"):
        distance = np.abs(expected.astype("d") - actual.astype("d"))
    return np.asarray(distance <= strength.distance(expected.dtype, largest))


def _per_record(field: np.ndarray, rank: int) -> np.ndarray:
    """A field may be an array itself: one truth value for each record."""
    return np.asarray(field.any(axis=tuple(range(rank, field.ndim))))


def _element_text(value: object) -> str:
    if isinstance(value, np.floating) and np.isfinite(value) and value.dtype.itemsize <= 8 and value != 0:
        return f"{value!s} ({float(value).hex()})"
    return str(value)


def memory_differences(arrays: list[tuple[str, np.ndarray, np.ndarray]], limit: int = 3) -> list[str]:
    """Pairs of arrays that share memory on one side only, or at another distance.

    `arrays` holds a path, the expected and the actual array; the sides are compared pair by pair.
    """
    found: list[str] = []
    filled = [entry for entry in arrays if entry[1].size]
    for index, (path, expected, actual) in enumerate(filled):
        for other_path, other_expected, other_actual in filled[:index]:
            should, does = _distance(expected, other_expected), _distance(actual, other_actual)
            if should != does:
                texts = _sharing_text(should, other_path), _sharing_text(does, other_path)
                found.append(f"{path}: memory: expected {texts[0]}, got {texts[1]}")
                if len(found) == limit:
                    return found
    return found


def _distance(one: np.ndarray, other: np.ndarray) -> int | None:
    """The bytes between the first elements of two arrays that share memory, or None where they do not.

    A view that only spans another without touching it (`x[::2]`, `x[1::2]`) does not share memory.
    """
    if not np.may_share_memory(one, other):
        return None
    try:
        if not np.shares_memory(one, other, max_work=_SEARCH_STEPS):
            return None
    except np.exceptions.TooHardError:
        pass
    return one.__array_interface__["data"][0] - other.__array_interface__["data"][0]


def _sharing_text(distance: int | None, path: str) -> str:
    if distance is None:
        return f"no memory shared with {path}"
    return f"memory shared with {path} at byte {distance:+d}"
