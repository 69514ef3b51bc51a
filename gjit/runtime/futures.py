"""Asynchronous calls: `fork` starts one on a pool of threads, `wait` gives its result."""

from __future__ import annotations

import contextvars
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future as _ThreadFuture
from typing import Any, Generic, TypeVar

R = TypeVar("R")


class Future(Generic[R]):
    """The result of a call that `fork` has started; `wait` gives it."""

    __slots__ = ("_future",)

    def __init__(self, future: _ThreadFuture):
        self._future = future

    def done(self) -> bool:
        """Whether the call has ended, with a result or an exception."""
        return self._future.done()

    def __repr__(self) -> str:
        return f"<gjit future, {'done' if self.done() else 'running'}>"


def fork(fn: Callable[..., R], /, *arguments: Any, **keywords: Any) -> Future[R]:
    """Start `fn(*arguments, **keywords)` on another thread and go on.

    It sees the context (such as `numpy.errstate`) of its caller. A call that waits for others does not hold up those
    that it waits for: each call that finds no idle thread gets a new one. Arguments are shared, not copied.

    >>> wait(fork(pow, 2, 10))
    1024
    """
    future: _ThreadFuture = _ThreadFuture()
    context = contextvars.copy_context()
    _threads().start(future, lambda: context.run(fn, *arguments, **keywords))
    return Future(future)


def wait(future: Future[R]) -> R:
    """The result of a call that `fork` has started; raises the exception that it raised.

    Raises:
        TypeError: `future` does not come from `fork`.
    """
    if not isinstance(future, Future):
        raise TypeError(f"gjit.wait takes a future of gjit.fork, not {type(future).__name__}")
    return future._future.result()


class _Threads:
    """Threads that wait for work. A fixed number of them would deadlock when forked calls fork and wait in turn."""

    def __init__(self) -> None:
        self._ready = threading.Condition()
        self._waiting: list[tuple[_ThreadFuture, Callable[[], Any]]] = []
        self._idle = 0

    def start(self, future: _ThreadFuture, work: Callable[[], Any]) -> None:
        with self._ready:
            self._waiting.append((future, work))
            if self._idle >= len(self._waiting):
                self._ready.notify()
            else:
                threading.Thread(target=self._run, daemon=True, name="gjit fork").start()

    def _run(self) -> None:
        while True:
            with self._ready:
                self._idle += 1
                while not self._waiting:
                    if not self._ready.wait(_IDLE_SECONDS) and not self._waiting:
                        self._idle -= 1
                        return
                self._idle -= 1
                future, work = self._waiting.pop(0)
            _finish(future, work)
            del future, work  # the thread may idle for long, and must not keep arguments and results alive


def _finish(future: _ThreadFuture, work: Callable[[], Any]) -> None:
    try:
        result = work()
    except BaseException as error:  # whoever waits gets it, KeyboardInterrupt included
        future.set_exception(error)
    else:
        future.set_result(result)


_IDLE_SECONDS = 10.0
_pools: dict[int, _Threads] = {}


def _threads() -> _Threads:
    """The threads of this process: a forked child starts its own."""
    return _pools.setdefault(os.getpid(), _Threads())
