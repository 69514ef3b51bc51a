"""What traced code holds instead of values and objects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gjit.ir.graph import Value


class Held:
    """What a stand-in stands for: an example of the value, and the graph value, recorded when it is first used.

    Args:
        recorder: the `Recorder` of the trace.
        example: a live object of which everything that is static (rank, dtype, type) is read.
        load: records how the graph reaches the value.
        early: load it where the graph starts: for objects whose place in the program the trace relies on.
    """

    __slots__ = ("recorder", "example", "_load", "_early", "_value", "__weakref__")

    def __init__(self, recorder: Any, example: object, load: Callable[[], Value], *, early: bool = False):
        self.recorder = recorder
        self.example = example
        self._load = load
        self._early = early
        self._value: Value | None = None

    def value(self) -> Value:
        """The graph value; loading an object of the user's program is recorded here, once."""
        if self._value is None:
            if self._early:
                with self.recorder.early():
                    self._value = self._load()
            else:
                self._value = self._load()
                self.recorder.note(self)
        return self._value

    def move(self, values: dict[Value, Value]) -> None:
        """Follow values that now leave a block as results of its node."""
        if self._value is not None:
            self._value = values.get(self._value, self._value)


class StandIn:
    """Base of everything that the traced code meets instead of a value, an object or a function."""

    __slots__ = ()  # each stand-in has room for `_gjit`; those that are lists or dictionaries cannot share a slot
    _gjit: Held
    is_function = False

    def __init__(self, held: Held):
        object.__setattr__(self, "_gjit", held)


def held_of(value: object) -> Held | None:
    """What `value` stands for, or None where it is an ordinary object."""
    return object.__getattribute__(value, "_gjit") if issubclass(type(value), StandIn) else None


def held_by(value: StandIn) -> Held:
    """What a stand-in stands for."""
    return object.__getattribute__(value, "_gjit")


def depends_on_trace(thing: object) -> bool:
    """Whether a stand-in for a value is in there: a call with such an argument must be recorded."""
    kind = type(thing)
    if issubclass(kind, StandIn):
        return not kind.is_function
    if isinstance(thing, (tuple, list, set, frozenset)):
        return any(map(depends_on_trace, thing))
    if kind is dict:
        return any(map(depends_on_trace, thing.keys())) or any(map(depends_on_trace, thing.values()))
    if kind is slice:
        return any(map(depends_on_trace, (thing.start, thing.stop, thing.step)))
    return is_copied_instance(thing) and depends_on_trace(vars(thing))


ORIGINAL = "__gjit_original__"
"""On the copy of a user's class: the class itself."""


def original_class(kind: type) -> type:
    """The user's class, where `kind` is the copy that traced code makes instances of."""
    return vars(kind).get(ORIGINAL, kind)


def is_copied_instance(thing: object) -> bool:
    """Whether `thing` was made while tracing, from the copy of a user's class."""
    return ORIGINAL in vars(type(thing)) and hasattr(thing, "__dict__")
