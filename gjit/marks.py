"""Marks on functions, classes and annotations that scripting looks at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from gjit.ir.capturable import IGNORE_MARK

__all__ = ["EXPORT_MARK", "Final", "annotate", "export", "ignore", "interface", "unused"]

F = TypeVar("F", bound=Callable)
T = TypeVar("T")
C = TypeVar("C", bound=type)

EXPORT_MARK = "__gjit_export__"
"""An attribute that is true on methods which are entry points of a compiled module besides `forward`."""


def ignore(fn: F) -> F:
    """Leave a function to the interpreter: a scripted caller makes a host call, which `statistics.host_calls` counts.

    >>> @ignore
    ... def logged(x):
    ...     return x
    >>> logged(3)
    3
    """
    setattr(fn, IGNORE_MARK, True)
    return fn


def unused(fn: Callable) -> Callable:
    """Say that scripted code never calls a function: calling it from there raises RuntimeError.

    The plain function is `fn.__wrapped__`.

    >>> @unused
    ... def training_only(x):
    ...     return x
    >>> training_only(3)
    Traceback (most recent call last):
    RuntimeError: 'training_only' is marked unused, and was called
    """

    def refuse(*arguments: Any, **keywords: Any) -> Any:
        raise RuntimeError(f"{fn.__qualname__!r} is marked unused, and was called")

    refuse.__name__, refuse.__qualname__, refuse.__doc__ = fn.__name__, fn.__qualname__, fn.__doc__
    refuse.__wrapped__ = fn  # type: ignore[attr-defined]
    setattr(refuse, IGNORE_MARK, True)
    return refuse


def export(fn: F) -> F:
    """Make a method of a module an entry point of the compiled module, besides `forward`."""
    setattr(fn, EXPORT_MARK, True)
    return fn


def interface(cls: C) -> C:
    """Mark a class that only says which methods others have. Python's own rules decide what fits."""
    return cls


def annotate(type: Any, value: T) -> T:
    """`value`, with a type for readers. Annotations are hints that never convert.

    >>> annotate(list[int], [])
    []
    """
    return value
