"""Every knob of gjit, in one typed table: environment variable, `gjit.config(...)` and `with` alike."""

from __future__ import annotations

import contextlib
import contextvars
import logging
import os
import types
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Knob:
    """One knob: `GJIT_<NAME>` in the environment, `name` in `gjit.config`."""

    name: str
    default: bool | int | str
    parse: Callable[[str], object]
    help: str

    @property
    def variable(self) -> str:
        return "GJIT_" + self.name.upper()


def _flag(text: str) -> bool:
    if text.lower() in ("", "0", "false", "no", "off"):
        return False
    if text.lower() in ("1", "true", "yes", "on"):
        return True
    raise ValueError("give 1 or 0")


def _count(text: str) -> int:
    if not text.isdigit():
        raise ValueError("give a whole number")
    return int(text)


_NUMBERED = ("cuda", "emulated")
"""Devices of which there may be several: `cuda:1`."""


def _one_of(*choices: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        kind, colon, number = text.partition(":")
        if text in choices or (kind in _NUMBERED and kind in choices and colon and number.isdigit()):
            return text
        raise ValueError(f"give one of {', '.join(choices)}")

    return parse


ENGINES = ["auto", "numpy", "native"]
"""The engines for a CPU; `register_backend` adds its own."""


def _engine(text: str) -> str:
    return _one_of(*ENGINES)(text)


KNOBS = {
    knob.name: knob
    for knob in (
        Knob("disable", False, _flag, "run the plain Python functions"),
        Knob("device", "auto", _one_of("auto", "cpu", "cuda", "cuda:free", "emulated"), "where programs run"),
        Knob("engine", "auto", _engine, "how they run on a CPU"),
        Knob(
            "compile",
            "background",
            _one_of("background", "wait", "never"),
            "when `auto` compiles hot regions",
        ),
        Knob("hot", 1 << 25, _count, "elements times operations after which a region is hot"),
        Knob("threads", 0, _count, "threads for large work; 0 is one per core"),
        Knob("cache_dir", "", str, "folder that keeps compiled kernels; the platform's cache folder unless given"),
        Knob("cache_size", 1 << 30, _count, "bytes of compiled kernels that are kept; what was used last goes last"),
        Knob("dump", "", str, "folder for one numbered file per pass, plan and kernel"),
        Knob("log", "", _one_of("", "debug", "info", "warning"), "level of the logger `gjit`, written to stderr"),
        Knob("check", False, _flag, "verify the graph after each pass and compare every call with NumPy"),
    )
}


_EACH_CALL = frozenset({"disable", "check"})
"""Knobs that change what every call does."""

_DISPATCH = _EACH_CALL | {"device", "engine"}
"""Knobs that decide which plan a call runs."""


class config:
    """Set knobs for the process, or for a `with` block.

    Called plainly the values hold until they are set again; as a context manager they are taken back at
    the end of the block, in this thread (and this task) alone.

    Args:
        **values: `disable`, `device`, `engine`, `compile`, `hot`, `threads`, `cache_dir`, `cache_size`, `dump`, `log`,
            `check`.

    Raises:
        TypeError: a name that is no knob.
        ValueError: a value that the knob does not take.

    >>> with config(threads=1):
    ...     get("threads")
    1
    """

    def __init__(self, **values: object):
        self._values = {name: checked(name, value) for name, value in values.items()}
        self._before, self._epoch = dict(_process), epoch.cell_contents
        self._token: contextvars.Token | None = None
        _set_process({**_process, **self._values})

    def __enter__(self) -> config:
        _set_process(self._before)
        epoch.cell_contents = self._epoch
        self._token = _local.set({**_local.get(), **self._values})
        if self._values.keys() & _DISPATCH:
            overrides.append(self)
        return self

    def __exit__(self, *exception: object) -> None:
        if self in overrides:
            overrides.remove(self)
        if self._token is not None:
            _local.reset(self._token)


def _set_process(values: dict[str, object]) -> None:
    before = [_process.get(name) for name in _DISPATCH]
    _process.clear()
    _process.update(values)
    overrides[:] = [each for each in overrides if each != "process"]
    if _process.keys() & _EACH_CALL:
        overrides.append("process")
    if before != [_process.get(name) for name in _DISPATCH]:
        epoch.cell_contents = object()


overrides: list[object] = ["environment"] if any("GJIT_" + name.upper() in os.environ for name in _EACH_CALL) else []
"""Not empty while a `with` block or a knob changes how calls run; compiled functions look at this list on each call."""

epoch = types.CellType(object())
"""Holds another object after each change of a knob of the process that decides which plan a call runs; the generated
entry of a compiled function has this cell as a free variable."""

_process: dict[str, object] = {}
_local: contextvars.ContextVar[dict[str, object]] = contextvars.ContextVar("gjit.settings", default={})


def get(name: str, chosen: object = None) -> object:
    """The value of a knob: innermost `with`, then `chosen` (by a decorator, unless it is None), then `config(...)`,
    then the environment, then the default."""
    local = _local.get()
    return local[name] if name in local else lasting(name, chosen)


@contextlib.contextmanager
def here(**values: object) -> Iterator[None]:
    """Set knobs for a block in this thread and task alone, where a knob that decides how calls run is set already."""
    token = _local.set({**_local.get(), **values})
    try:
        yield
    finally:
        _local.reset(token)


def lasting(name: str, chosen: object = None) -> object:
    """The value of a knob outside every `with` block."""
    if chosen is not None:
        return chosen
    if name in _process:
        return _process[name]
    knob = KNOBS[name]
    text = os.environ.get(knob.variable)
    return knob.default if text is None else checked(name, text)


def threads() -> int:
    """How many threads large work may use."""
    count = int(str(get("threads")))
    return count or len(os.sched_getaffinity(0))


def dump_folder() -> Path | None:
    """The folder of GJIT_DUMP, made when it is missing, or None."""
    folder = get("dump")
    if not folder:
        return None
    path = Path(str(folder))
    path.mkdir(parents=True, exist_ok=True)
    return path


def checked(name: str, value: Any) -> object:
    """A value that a knob takes, from a text or as it is.

    Raises:
        TypeError: there is no such knob.
        ValueError: the knob does not take the value.
    """
    knob = KNOBS.get(name)
    if knob is None:
        raise TypeError(f"gjit has no knob {name!r}; it has {', '.join(KNOBS)}")
    try:
        return knob.parse(value) if isinstance(value, str) else type(knob.default)(value)
    except ValueError as error:
        raise ValueError(f"{knob.variable}={value!r}: {error}") from None


def log(level: int, message: str, *arguments: object, exc_info: bool = False) -> None:
    """Write to the logger `gjit`. The knob `log` lets messages of its level through, to stderr if nothing is set up."""
    logger = logging.getLogger("gjit")
    wanted = str(get("log"))
    if wanted:
        logger.setLevel(wanted.upper())
        if not logger.hasHandlers():
            logger.addHandler(logging.StreamHandler())
    logger.log(level, message, *arguments, exc_info=exc_info)
