"""Recursion over nested blocks that does not use Python's stack.

A long `elif` chain nests as deep as it is long. A walk that is written as generators and run by `drive`
goes as deep as memory allows: where it would call itself it yields the inner generator, and gets its result back.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

Walk = Generator[Any, Any, Any]
"""A walk: yields the walks that it needs the results of, and returns its own result."""


def drive(task: Walk) -> Any:
    """Run a walk to its end and return its result; an exception passes through every walk that waits.

    >>> def depth(count):
    ...     return 0 if count == 0 else 1 + (yield depth(count - 1))
    >>> drive(depth(100_000))
    100000
    """
    waiting = [task]
    result: Any = None
    error: BaseException | None = None
    while waiting:
        try:
            inner = waiting[-1].send(result) if error is None else waiting[-1].throw(error)
        except StopIteration as stop:
            waiting.pop()
            result, error = stop.value, None
        except BaseException as raised:
            waiting.pop()
            result, error = None, raised
        else:
            waiting.append(inner)
            result = error = None
    if error is not None:
        raise error
    return result
