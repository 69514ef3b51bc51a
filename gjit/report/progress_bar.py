"""Progress of what takes a while: a bar where `rich` is installed, else a line that counts; on a terminal alone."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import TypeVar

from gjit.errors import require

T = TypeVar("T")


def progress(items: Sequence[T], title: str) -> Iterator[T]:
    """Each item in turn; standard error shows how many are done, if it is a terminal.

    >>> list(progress("abc", "letters"))
    ['a', 'b', 'c']
    """
    if not sys.stderr.isatty():
        yield from items
        return
    try:
        rich = require("rich.progress", extra="viz"), require("rich.console", extra="viz")
    except ImportError:
        yield from _counted(items, title)
    else:
        yield from rich[0].track(items, title, console=rich[1].Console(stderr=True))


def _counted(items: Sequence[T], title: str) -> Iterator[T]:
    for number, item in enumerate(items, 1):
        print(f"\r{title} {number} of {len(items)}", end="", file=sys.stderr, flush=True)
        yield item
    if items:
        print(file=sys.stderr, flush=True)
