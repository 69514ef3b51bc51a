"""One thread of the process that compiles while the program runs: at low priority, and never waited for."""

from __future__ import annotations

import atexit
import contextlib
import logging
import os
import queue
import threading
from collections.abc import Callable, Hashable

from gjit import settings
from gjit.runtime.compiler import end_compilations

_NICENESS = 10
_SECONDS_TO_END = 10.0
Job = Callable[[], None]


class Worker:
    """Runs jobs one after the other on a daemon thread that the first job starts.

    >>> import threading
    >>> worker, done = Worker(), threading.Event()
    >>> worker.submit("a job", done.set)
    >>> done.wait(10)
    True
    >>> worker.end()
    """

    def __init__(self) -> None:
        self._reset({})

    def _reset(self, pending: dict[Hashable, Job]) -> None:
        self._lock = threading.Lock()
        self._idle = threading.Condition(self._lock)
        self._pending = pending
        self._queue: queue.SimpleQueue[Hashable | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._is_ending = False
        for key in pending:
            self._queue.put(key)

    def submit(self, key: Hashable, job: Job) -> None:
        """Run a job soon, once for all that are submitted under one key before it has ended."""
        with self._lock:
            if self._is_ending:
                return
            if key not in self._pending:
                self._pending[key] = job
                self._queue.put(key)
            if self._thread is None:
                self._start()

    def wake(self) -> None:
        """Go on with what is pending, where a fork has left no thread."""
        if self._pending and self._thread is None:
            with self._lock:
                if self._thread is None and not self._is_ending:
                    self._start()

    def _start(self) -> None:
        self._thread = threading.Thread(target=self._work, name="gjit-compile", daemon=True)
        try:
            self._thread.start()
        except RuntimeError:  # the interpreter is going down and starts no more threads
            self._thread = None

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is left to do; whether that was before the timeout, in seconds."""
        with self._idle:
            return self._idle.wait_for(lambda: not self._pending, timeout)

    def end(self) -> None:
        """Give up what is left, with the compiler that runs."""
        with self._lock:
            self._is_ending = True
            thread = self._thread
        self._queue.put(None)
        if thread is not None:
            end_compilations()
            thread.join(_SECONDS_TO_END)

    def restart(self) -> None:
        """In a forked child, which has no thread: what was left to do is done after the next job, or `wake`."""
        self._reset(self._pending)

    def _work(self) -> None:
        _lower_priority()
        while True:
            key = self._queue.get()
            if key is None or self._is_ending:
                return
            try:
                self._pending[key]()
            except Exception:  # a region that has no kernel stays on NumPy; the next one may have one
                settings.log(logging.WARNING, "compiling in the background failed", exc_info=True)
            with self._idle:
                self._pending.pop(key, None)
                self._idle.notify_all()


def _lower_priority() -> None:
    if hasattr(os, "setpriority"):
        with contextlib.suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICENESS)


worker = Worker()
atexit.register(worker.end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=worker.restart)
