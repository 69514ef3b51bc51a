"""Floating-point warnings of tiles: collected while they run, issued once for each op afterwards."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CodeType

import numpy as np
from numpy._core.umath import _extobj_contextvar, _make_extobj

from gjit.source import Span

_KINDS = ("divide by zero", "overflow", "underflow", "invalid value")
_PREFIX = "Warning: "


@dataclass(frozen=True, slots=True)
class RegionSource:
    """Whose code a region is: the globals of the user's function, which name its module and hold its
    registry of warnings already shown."""

    globals: dict[str, object]


@dataclass(slots=True)
class Collector:
    """NumPy's log of floating-point errors: which op of the region they belong to, with NumPy's own text.

    `positions` gives the position of the op that stands on a line of generated `codes`; what comes from elsewhere
    belongs to `outside`.
    """

    codes: frozenset[CodeType]
    positions: dict[int, int]
    outside: int = 0
    events: set[tuple[int, int, str]] = field(default_factory=set)

    def write(self, message: str) -> None:
        """Called by NumPy, on the thread and inside the frame where the flags were seen."""
        text = message.removeprefix(_PREFIX).rstrip("\n")
        kind = next((index for index, name in enumerate(_KINDS) if text.startswith(name)), len(_KINDS))
        self.events.add((self._position(), kind, text))

    def _position(self) -> int:
        frame = sys._getframe(2)
        while frame is not None:
            if frame.f_code in self.codes:
                return self.positions[frame.f_lineno]
            frame = frame.f_back
        return self.outside

    def found(self) -> list[tuple[int, str]]:
        """Position and text of each error, in the order in which the ops run one by one report them."""
        return [(position, text) for position, _, text in sorted(self.events)]


@contextmanager
def collecting(modes: dict[str, str], collector: Collector) -> Iterator[None]:
    """Run tiles under these modes, as `numpy.errstate` does."""
    if not modes:
        yield
        return
    token = _extobj_contextvar.set(_make_extobj(**modes, call=collector))
    try:
        yield
    finally:
        _extobj_contextvar.reset(token)


def collecting_modes() -> dict[str, str] | None:
    """The error state to run tiles under: what would warn is logged instead.

    An empty dictionary where all errors are ignored; None where an error has to raise, print or call at the very
    operation, or a warnings filter turns warnings into exceptions.
    """
    global _last
    last, state = _last, _extobj_contextvar.get()
    if last[0] is not state:
        _last = last = state, _modes_of(np.geterr())
    return None if last[1] and _warnings_raise() else last[1]


def watched_errors() -> int | None:
    """The errors that checked kernels look for: 1 invalid, 2 division by zero, 4 overflow.

    Invalid operations always: they make a NaN. None where tiles may not run, or underflows count.
    """
    modes = collecting_modes()
    if modes is None:
        return None
    flags = modes.get("under") != "log" and 1 | 2 * (modes.get("divide") == "log") | 4 * (modes.get("over") == "log")
    return flags or None


def _modes_of(state: dict[str, str]) -> dict[str, str] | None:
    kinds = set(state.values())
    if kinds == {"ignore"}:
        return {}
    if not kinds <= {"ignore", "warn"}:
        return None
    return {kind: "log" if mode == "warn" else mode for kind, mode in state.items()}


_last: tuple[object, dict[str, str] | None] = (None, None)
"""The error state that was met last, and its modes; it is kept, so that no other one can come to lie at its place."""


def _warnings_raise() -> bool:
    """Whether a filter turns such warnings into exceptions; the answer for the filters that were met last is kept."""
    global _last_filters
    filters, last = tuple(warnings.filters), _last_filters
    if filters != last[0]:
        raises = any(entry[0] == "error" and issubclass(RuntimeWarning, entry[2]) for entry in filters)
        _last_filters = last = filters, raises
    return last[1]


_last_filters: tuple[tuple, bool] = ((), False)


def issue(found: list[tuple[int, str]], spans: list[Span | None], source: RegionSource) -> None:
    """Issue the warnings as the operations at these spans would have."""
    for position, text in found:
        span = spans[position] or Span("<unknown>", 1)
        module = source.globals.get("__name__", "<string>")
        registry = source.globals.setdefault("__warningregistry__", {})
        warnings.warn_explicit(text, RuntimeWarning, span.file, span.line, module, registry)
