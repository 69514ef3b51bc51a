"""What reaches attributes by a name that is made when the program runs, and modules, as a loaded archive gets them.

A loaded graph has `guarded.getattr` where the saved one had `builtin.getattr`: the same, but names go by the lists of
`gjit.ops.archived`. In place of a module it has a view that shows what is on the lists. Saved again they are what they
were.
"""

from __future__ import annotations

import importlib
import re
import string
import types
from collections.abc import Callable
from typing import Any

from gjit.errors import ArchiveError
from gjit.ops import names
from gjit.ops.archived import MODULES, is_allowed_attribute, is_allowed_function
from gjit.ops.row import Kind, Op, table

GUARDED = ("getattr", "setattr", "delattr", "hasattr")
"""The built-ins that have a guarded form."""
FORMATS = ("format", "format_map")
"""Methods of strings that reach attributes by name."""


def checked(name: object, *, written: bool = False) -> Any:
    """A name that a loaded program may use.

    Raises:
        ArchiveError: it may not.
    """
    if type(name) is str and not is_allowed_attribute(name, written=written):
        raise ArchiveError(f"a loaded program may not use the attribute {name!r}")
    return name


def guarded_getattr(thing: object, name: str, *default: object) -> object:
    """The built-in `getattr`, where the program may use the name."""
    return getattr(thing, checked(name), *default)


def guarded_hasattr(thing: object, name: str) -> bool:
    """The built-in `hasattr`, where the program may use the name."""
    return hasattr(thing, checked(name))


def guarded_setattr(thing: object, name: str, value: object) -> None:
    """The built-in `setattr`, where the program may write the name."""
    setattr(thing, checked(name, written=True), value)


def guarded_delattr(thing: object, name: str) -> None:
    """The built-in `delattr`, where the program may write the name."""
    delattr(thing, checked(name, written=True))


def guarded_format(text: Any) -> Callable:
    """`text.format`, where the text is a string; its fields may not reach attributes that a graph may not."""
    if not isinstance(text, str) or type(text).format is not str.format:
        return text.format

    def format(*arguments: Any, **keywords: Any) -> str:
        _check_fields(text)
        return text.format(*arguments, **keywords)

    return format


def guarded_format_map(text: Any) -> Callable:
    """`text.format_map`, in the same way."""
    if not isinstance(text, str) or type(text).format_map is not str.format_map:
        return text.format_map

    def format_map(mapping: Any) -> str:
        _check_fields(text)
        return text.format_map(mapping)

    return format_map


def _check_fields(text: str) -> None:
    for _, field, spec, _ in string.Formatter().parse(text):
        for name in _INDEX.sub("", field or "").split(".")[1:]:
            checked(name)
        if spec:
            _check_fields(spec)


class ModuleView:
    """A module of which only what a loaded program may use can be reached."""

    __slots__ = ("_module",)

    def __init__(self, name: str):
        self._module = importlib.import_module(name)

    @property
    def __name__(self) -> str:
        return self._module.__name__

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        value = getattr(self._module, checked(name))
        full = f"{self._module.__name__.replace('builtins', 'builtin')}.{name}"
        if isinstance(value, types.ModuleType):
            if value.__name__ in MODULES.values():
                return ModuleView(value.__name__)
        elif callable(value):
            if is_allowed_function(full) or is_allowed_function(names.name_of(value) or ""):
                return value
        elif isinstance(value, int | float | complex | str | None) or name in INDEX_OBJECTS:
            return value
        raise ArchiveError(f"a loaded program may not use {full!r}")

    def __repr__(self) -> str:
        return f"<gjit view of {self._module!r}>"


INDEX_OBJECTS = frozenset({"r_", "c_", "s_", "index_exp", "mgrid", "ogrid"})
"""Objects of NumPy that are indexed for what they give."""


def guarded_import(module: str, name: str) -> Any:
    """What an import statement gives: a view of the module, or one of its members."""
    view = ModuleView(module)
    return getattr(view, name) if name else view


_INDEX = re.compile(r"\[[^\]]*\]?")

for _name, _function in {
    "getattr": guarded_getattr,
    "hasattr": guarded_hasattr,
    "setattr": guarded_setattr,
    "delattr": guarded_delattr,
    "format": guarded_format,
    "format_map": guarded_format_map,
    "import": guarded_import,
}.items():
    table.add(Op(name=f"guarded.{_name}", kind=Kind.HOST, function=_function))
    names.add(f"guarded.{_name}", _function)
