"""Streams and events of the emulated device: work is done at once, so that waiting for it has nothing to wait for."""

from __future__ import annotations

import threading
import time

from gjit.runtime.emulated.memory import check_alive

_local = threading.local()


class Stream:
    """An order of work; the current one is that of the innermost `with` of the thread."""

    def __init__(self, null: bool = False, non_blocking: bool = False):
        self.ptr = 0 if null else id(self)

    def __enter__(self) -> Stream:
        _streams().append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        _streams().pop()

    def synchronize(self) -> None:
        """Wait for the work; DeviceFault where a kernel has failed."""
        check_alive()


class Event:
    """A point in time on a stream."""

    def __init__(self) -> None:
        self.time = 0.0

    def record(self, stream: Stream | None = None) -> None:
        """Set the event to now."""
        check_alive()
        self.time = time.perf_counter()

    def synchronize(self) -> None:
        """Wait until the event has happened."""
        check_alive()


def get_elapsed_time(start: Event, end: Event) -> float:
    """Milliseconds between two events."""
    return (end.time - start.time) * 1e3


def get_current_stream() -> Stream:
    """The stream that work goes to."""
    streams = _streams()
    return streams[-1] if streams else NULL


def _streams() -> list[Stream]:
    if not hasattr(_local, "streams"):
        _local.streams = []
    return _local.streams


NULL = Stream(null=True)
