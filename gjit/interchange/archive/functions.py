"""Functions as graphs: what a compiled or plain function becomes in an archive."""

from __future__ import annotations

import re
import types
from collections.abc import Callable
from typing import Any

from gjit.errors import ArchiveError, UnsupportedError, excerpt
from gjit.interchange.archive.known import described
from gjit.ir.capturable import is_ignored
from gjit.ir.graph import Graph
from gjit.runtime.binding import Captures, captures_of
from gjit.runtime.compiled import scripted
from gjit.source import Span

MISSING = "__gjit_missing__"
"""An attribute of the stand-in of a function that could not be saved: why."""


def graph_and_captures(function: Any) -> tuple[Graph, Captures]:
    """The graph of a function, with those that it calls, and what they refer to.

    Raises:
        ArchiveError: the function is left to the interpreter, or cannot be scripted.
    """
    if is_ignored(function):
        what = f"{described(function)} is left to the interpreter, and an archive holds graphs"
        raise ArchiveError(f"{what}{_place(function)}")
    if type(function) is not types.FunctionType:
        return function.graph, function.captures
    try:
        graph, program = scripted(function, strict=True).program
    except UnsupportedError as error:
        raise ArchiveError(f"{described(function)} cannot be saved: {error}") from None
    return graph, captures_of(program)


def _place(function: Any) -> str:
    code = getattr(function, "__code__", None)
    return f"\n{excerpt(Span(code.co_filename, code.co_firstlineno))}" if code is not None else ""


def without_folders(message: str) -> str:
    """A message that shows no path of the machine where it was written: of files, the names."""
    return re.sub(r'File "[^"\n]*[/\\]([^"/\\\n]+)"', r'File "\1"', message)


def missing(name: str, reason: str) -> Callable:
    """A function that stands for one that could not be saved."""

    def refuse(*arguments: object, **keywords: object) -> object:
        raise ArchiveError(f"{name!r} is not in the archive: {reason}")

    refuse.__name__ = refuse.__qualname__ = name
    setattr(refuse, MISSING, reason)
    return refuse
