"""One pool of threads for the process, and running one task on several of them at once."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor

_lock = threading.Lock()
_executor: ThreadPoolExecutor | None = None
_size = 0


def run_on_threads(task: Callable[[], None], count: int) -> None:
    """Run `task` on up to `count` threads at once, one of them the caller's, each in a copy of its context.

    Tasks share their work, so one that has not begun when the caller's ends is not needed any more. Returns when all
    have ended; an exception of any of them is raised here.

    >>> work, done = iter(range(1000)), []
    >>> run_on_threads(lambda: done.extend(work), 3)
    >>> sorted(done) == list(range(1000))
    True
    """
    futures = [future for _ in range(count - 1) if (future := _submit(task, count - 1)) is not None]
    try:
        task()
    finally:
        for future in futures:
            future.cancel()
        errors = [future.exception() for future in futures if not future.cancelled()]
    for error in errors:
        if error is not None:
            raise error


def _submit(task: Callable[[], None], size: int) -> Future | None:
    """None where the interpreter is going down and takes no more work: the caller then does it alone."""
    try:
        return _pool(size).submit(contextvars.copy_context().run, task)
    except RuntimeError:
        return None


def _pool(size: int) -> ThreadPoolExecutor:
    global _executor, _size
    with _lock:
        if _executor is None or _size < size:
            if _executor is not None:
                _executor.shutdown(wait=False)
            _executor, _size = ThreadPoolExecutor(size, thread_name_prefix="gjit"), size
        return _executor


def _forget() -> None:
    """A forked child has none of its parent's threads, and its lock may be held by one of them."""
    global _executor, _size, _lock
    _executor, _size, _lock = None, 0, threading.Lock()


os.register_at_fork(after_in_child=_forget)
