"""Shadows of memory from outside of a differentiated function: its arguments, and what it captures.

Writing such memory is refused: what was there before has a gradient of its own, and of what is captured nothing is kept
from one reading to the next. Which memory a write reaches, through helpers, containers and views, is known when it
runs: a write looks up the owner of the shadow's memory.
"""

from __future__ import annotations

import sys
import weakref
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from gjit.errors import UnsupportedError
from gjit.ir.types import NONE
from gjit.ops.gradient_rows import FRESH, add_row, leaf_shadow, shadow_types, zeros
from gjit.ops.row import Effect
from gjit.source import Span

_PACKAGE = str(Path(__file__).parent.parent)
_owners: dict[int, weakref.ref] = {}


def outside(value: Any) -> Any:
    """The shadow of a value from outside of the function, which then cannot be written; None where there is none."""
    return _marked(zeros(value))


def leaf(value: Any) -> Any:
    """The shadow of an argument whose gradient is asked for.

    Raises:
        TypeError: it is no inexact array, number, or container of such.
    """
    return _marked(leaf_shadow(value))


def _marked(shadow: Any, seen: dict[int, Any] | None = None) -> Any:
    """The same shadow, known as one from outside; its containers refuse to be changed."""
    seen = {} if seen is None else seen
    if isinstance(shadow, np.ndarray):
        owner = _owner(shadow)
        number = id(owner)
        _owners[number] = weakref.ref(owner, lambda _: _owners.pop(number, None))
        return shadow
    if isinstance(shadow, SimpleNamespace):
        if id(shadow) not in seen:
            new = seen[id(shadow)] = OutsideObject()
            vars(new).update({name: _marked(each, seen) for name, each in vars(shadow).items()})
        return seen[id(shadow)]
    if isinstance(shadow, dict):
        return OutsideDict({key: _marked(each, seen) for key, each in shadow.items()})
    if isinstance(shadow, tuple):
        parts = [_marked(each, seen) for each in shadow]
        return type(shadow)(*parts) if hasattr(shadow, "_fields") else tuple(parts)
    return OutsideList([_marked(each, seen) for each in shadow]) if isinstance(shadow, list) else shadow


def _owner(array: np.ndarray) -> np.ndarray:
    """The array that owns the memory of a shadow."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array


def check_store(target: Any, shadow: Any) -> None:
    """Refuse to write an array from outside of the function.

    Raises:
        UnsupportedError: the shadow of the target is, or is a view of, one from outside.
    """
    if not isinstance(target, np.ndarray) or target.dtype.kind not in "fcO":
        return
    known = None if shadow is None else _owners.get(id(_owner(shadow)))
    if shadow is None or (known is not None and known() is _owner(shadow)):
        refuse_store()


def refuse_store(*_: Any, **__: Any) -> Any:
    """Raise the error for a write, at the line of the user that runs."""
    message = "an argument or a captured value is written, which a differentiated function may not do"
    raise UnsupportedError(message, user_line(), hint="copy it first")


def user_line() -> Span:
    """The line of the user that runs."""
    frame = sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return Span(frame.f_code.co_filename, frame.f_lineno)


class OutsideList(list):
    """The shadow of a list from outside."""

    append = extend = insert = pop = remove = clear = sort = reverse = refuse_store
    __setitem__ = __delitem__ = __iadd__ = __imul__ = refuse_store


class OutsideDict(dict):
    """The shadow of a dict from outside."""

    pop = popitem = update = setdefault = clear = refuse_store
    __setitem__ = __delitem__ = __ior__ = refuse_store


class OutsideObject(SimpleNamespace):
    """The shadow of an object from outside: what has no gradient may be replaced, and attributes may be added."""

    def __setattr__(self, name: str, part: Any) -> None:
        if name in vars(self) and part is not vars(self)[name]:
            refuse_store()
        vars(self)[name] = part


def has_parts(shadow: Any) -> bool:
    """Whether there is an array in a shadow."""
    if isinstance(shadow, list | tuple):
        return any(map(has_parts, shadow))
    if isinstance(shadow, dict):
        return any(map(has_parts, shadow.values()))
    return shadow is not None


add_row(outside, shadow_types, FRESH)
add_row(leaf, shadow_types, FRESH)
add_row(check_store, lambda node: [NONE], Effect.RAISES | Effect.READS | Effect.ORDERED)
