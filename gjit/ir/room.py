"""Room for deep programs: work that runs out of stack is done once more on a thread that has a large one.

A chain of a thousand `elif` branches, or a sum of a thousand terms, is a tree a thousand levels deep. Walks of syntax
trees are recursive, as are Python's own parser and compiler. Few programs need it, so the first attempt is an ordinary
call.
"""

from __future__ import annotations

import contextvars
import os
import sys
import threading
from collections.abc import Callable
from typing import TypeVar

from gjit.errors import UnsupportedError

T = TypeVar("T")

STACK_BYTES = 512 << 20
"""The stack of the thread; the system gives memory to the part that is used."""

RECURSION_LIMIT = 60_000
"""Levels of Python code that fit into it."""

_inside: contextvars.ContextVar[bool] = contextvars.ContextVar("gjit.room", default=False)
_one_at_a_time = threading.Lock()


def with_room(work: Callable[[], T]) -> T:
    """What `work` gives. It may be called twice, and must leave nothing behind where it raises.

    Only the outermost call tries again: the locks that are taken inside have been released by then.

    Raises:
        UnsupportedError: even the large stack is too small.
    """
    if _inside.get():
        return work()
    token = _inside.set(True)
    try:
        return work()
    except RecursionError:
        return _on_large_stack(work)
    finally:
        _inside.reset(token)


def _on_large_stack(work: Callable[[], T]) -> T:
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            errors.append(error)

    with _one_at_a_time:
        limit, size = sys.getrecursionlimit(), threading.stack_size(STACK_BYTES)
        try:
            sys.setrecursionlimit(max(limit, RECURSION_LIMIT))
            thread = threading.Thread(target=contextvars.copy_context().run, args=(run,), name="gjit-room")
            thread.start()
            thread.join()
        finally:
            threading.stack_size(size)
            sys.setrecursionlimit(limit)
    if errors and isinstance(errors[0], RecursionError):
        hint = "split it into functions, or look the branches up in a dictionary"
        raise UnsupportedError("the program nests too deeply", hint=hint) from errors[0]
    if errors:
        raise errors[0]
    return results[0]


def _forget_lock() -> None:
    """A forked child does not have the thread that may hold the lock."""
    global _one_at_a_time
    _one_at_a_time = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_lock)
