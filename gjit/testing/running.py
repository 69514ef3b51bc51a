"""Run a plain and a compiled function on equal arguments and compare everything that can be seen of a call."""

from __future__ import annotations

import contextlib
import io
import os
import random
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gjit.testing.comparison import Comparison, short, without_addresses
from gjit.testing.copying import copy_arguments
from gjit.testing.strength import EXACT, Strength, strength_of

_NUMPY = os.path.dirname(np.__file__) + os.sep


@dataclass(slots=True)
class Outcome:
    """What one call did: its value or exception, the warnings it issued and the text it printed."""

    value: object = None
    exception: Exception | None = None
    warnings: list[tuple[str, str, str, int]] = field(default_factory=list)  # category, text, file, line
    printed: str = ""

    def describe(self) -> str:
        """The value or the exception in a few words."""
        if self.exception is None:
            return f"returned {short(self.value)}"
        return f"raised {type(self.exception).__name__}: {without_addresses(str(self.exception))}"


def assert_same_as_numpy(
    f: Callable,
    *args: object,
    calls: int = 1,
    check_warnings: bool = True,
    plain: Callable | None = None,
    strength: Strength | None = None,
    **kwargs: object,
) -> None:
    """Assert that a compiled function does what the plain function does.

    Both run on deep copies of the arguments, in which arrays keep strides, alignment, byte order and flags, and
    arrays that share memory go on sharing it. Compared are results (exact types, dtypes, shapes, strides, flags, bases,
    values bit by bit but for the payload of NaN), the arguments after the calls, which objects and which memory results
    and arguments share, exceptions (class, text, arguments, cause, line), warnings (category, text, line, count),
    printed text, and the state of the global random generators.

    Args:
        f: the compiled function.
        *args: positional arguments; they are not changed.
        calls: how often to call with the same arguments; every result is kept and compared at the end.
        check_warnings: whether warnings must be equal too.
        plain: the function to compare with; `f.__wrapped__` by default.
        strength: how near numbers have to be; by default what the engine that `f` runs on promises.
        **kwargs: keyword arguments.

    Raises:
        AssertionError: with one line for each difference.
        TypeError: `f` has no `__wrapped__` and no `plain` is given, or an argument cannot be copied.

    >>> assert_same_as_numpy(lambda x: x + 1, np.zeros(2), plain=lambda x: x + 1.0)
    >>> assert_same_as_numpy(lambda x: x.copy(), np.zeros(2), plain=lambda x: x)
    Traceback (most recent call last):
    AssertionError: <lambda> differs from NumPy in 1 way:
      result: identity: expected the object at argument 0, got another one
    """
    plain = getattr(f, "__wrapped__", None) if plain is None else plain
    if plain is None:
        raise TypeError("give a compiled function, or the function to compare with as `plain=`")
    before = random_states()
    expected = run_side(plain, args, kwargs, calls)
    restore_random_states(before)
    actual = run_side(f, args, kwargs, calls)
    strength = strength_of(f) if strength is None else strength
    strength = strength.for_arguments((*args, *kwargs.values()))
    text = difference_text(plain, expected, actual, check_warnings, strength)
    if text:
        raise AssertionError(text) from actual.outcomes[-1].exception


@dataclass(slots=True)
class Side:
    """One function's arguments after the calls, what the calls did, and the random states they left."""

    args: tuple
    kwargs: dict[str, object]
    outcomes: list[Outcome]
    random_states: dict[str, object]


def difference_text(
    plain: Callable, expected: Side, actual: Side, check_warnings: bool, strength: Strength = EXACT
) -> str:
    """What differs between the calls of a plain function and of the compiled one, a line each; empty if nothing."""
    found = _differences(expected, actual, _file(plain), check_warnings, strength)
    if not found:
        return ""
    name = getattr(plain, "__qualname__", None) or type(plain).__name__
    ways = "1 way" if len(found) == 1 else f"{len(found)} ways"
    return f"{name} differs from NumPy in {ways}:" + "".join(f"\n  {difference}" for difference in found[:20])


def run_side(function: Callable, args: tuple, kwargs: dict[str, object], calls: int) -> Side:
    """Call a function on copies of the arguments, which keep their layout and what they share."""
    args, kwargs = copy_arguments((args, kwargs))
    outcomes = [run(function, args, kwargs) for _ in range(calls)]
    return Side(args, kwargs, outcomes, random_states())


def run(function: Callable, args: tuple, kwargs: dict[str, object]) -> Outcome:
    """Call a function and record what can be seen of the call; nothing is printed or warned of."""
    outcome = Outcome()
    stream = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(stream):
        warnings.simplefilter("always")
        try:
            outcome.value = function(*args, **kwargs)
        except Exception as error:  # whatever the program raises is what is compared
            outcome.exception = error
    outcome.warnings = [
        (entry.category.__name__, without_addresses(str(entry.message)), *_place(entry.filename, entry.lineno))
        for entry in caught
    ]
    outcome.printed = without_addresses(stream.getvalue())
    return outcome


def _place(file: str, line: int) -> tuple[str, int]:
    """Where a warning points to; `np.sum(x)` and `x.sum()` warn at different lines of NumPy, which is one place."""
    return ("inside numpy", 0) if file.startswith(_NUMPY) else (file, line)


def _differences(expected: Side, actual: Side, file: str | None, check_warnings: bool, strength: Strength) -> list[str]:
    comparison = Comparison(strength)
    for index, argument in enumerate(expected.args):
        comparison.compare(argument, actual.args[index], f"argument {index}")
    for name, argument in expected.kwargs.items():
        comparison.compare(argument, actual.kwargs[name], f"argument {name!r}")
    for index, (one, other) in enumerate(zip(expected.outcomes, actual.outcomes, strict=True)):
        suffix = f" of call {index + 1}" if len(expected.outcomes) > 1 else ""
        _compare_outcomes(comparison, one, other, suffix, file)
        if check_warnings:
            ours, theirs = one.warnings, other.warnings
            if not strength.warnings:
                ours, theirs = _without_errors(ours), _without_errors(theirs)
            _compare_warnings(comparison, ours, theirs, suffix)
    for name, state in expected.random_states.items():
        comparison.compare(state, actual.random_states[name], f"state of {name}")
    return comparison.reasons()


def _compare_outcomes(comparison: Comparison, one: Outcome, other: Outcome, suffix: str, file: str | None) -> None:
    if one.exception is None and other.exception is None:
        comparison.compare(one.value, other.value, "result" + suffix)
    elif one.exception is None or other.exception is None:
        comparison.report("outcome" + suffix, f"expected to have {one.describe()}; {other.describe()}")
    else:
        comparison.compare(one.exception, other.exception, "exception" + suffix)
        line, other_line = _line(one.exception, file), _line(other.exception, file)
        if line != other_line:
            comparison.report("exception" + suffix, f"line: expected {line}, got {other_line}")
    if one.printed != other.printed:
        comparison.report("printed text" + suffix, f"expected {one.printed!r}, got {other.printed!r}")


def _compare_warnings(comparison: Comparison, expected: list, actual: list, suffix: str) -> None:
    if expected != actual:
        text = f"expected{_warnings_text(expected)}\n   got{_warnings_text(actual)}"
        comparison.report("warnings" + suffix, text)


def _without_errors(entries: list[tuple[str, str, str, int]]) -> list[tuple[str, str, str, int]]:
    """The warnings that are not of floating-point errors."""
    return [entry for entry in entries if not entry[1].startswith(_FLOATING_POINT)]


_FLOATING_POINT = ("divide by zero", "overflow", "underflow", "invalid value")


def _warnings_text(entries: list[tuple[str, str, str, int]]) -> str:
    lines = [f"\n    {category}: {text} ({file}:{line})" for category, text, file, line in entries]
    return "".join(lines) or " none"


def _file(function: Callable) -> str | None:
    code = getattr(function, "__code__", None)
    return None if code is None else code.co_filename


def _line(exception: Exception, file: str | None) -> int | None:
    """The line of `file` that was running when the exception was raised."""
    lines = [frame.lineno for frame in traceback.extract_tb(exception.__traceback__) if frame.filename == file]
    return lines[-1] if lines else None


def random_states() -> dict[str, Any]:
    """The states of the global random generators, of NumPy and of Python."""
    return {"numpy.random": np.random.get_state(legacy=False), "random": random.getstate()}


def restore_random_states(states: dict[str, Any]) -> None:
    """Put the global random generators back into the states that `random_states` gave."""
    np.random.set_state(states["numpy.random"])
    random.setstate(states["random"])
