"""The built-ins that traced code sees: those that take or give sizes record calls, the rest are Python's own."""

from __future__ import annotations

import builtins
import importlib
import sys

from gjit.capture.assumptions import assume_is, name_of
from gjit.capture.held import Held, StandIn, depends_on_trace, held_by, held_of, is_copied_instance, original_class
from gjit.capture.recorder import Recorder
from gjit.capture.standin_objects import Instance, Super
from gjit.capture.tracers import Tracer, static_length
from gjit.ir.graph import Constant

_RECORDED = "int float bool complex str repr ascii format hex oct bin chr ord hash range min max"
"""Called with a traced value these are recorded; without one they are called."""
_OF_ARRAYS = "sum any all sorted"
"""The same where their only operand is itself a traced value; lists of traced values are walked by Python."""


class Builtin(StandIn):
    """Stands for a built-in function or class."""

    __slots__ = ("_gjit", "_needs_itself")
    is_function = True

    def __init__(self, held: Held, needs_itself: bool):
        super().__init__(held)
        self._needs_itself = needs_itself

    def __call__(self, *arguments: object, **keywords: object) -> object:
        held = held_by(self)
        function = held.example
        if self._needs_itself:
            traced = bool(arguments) and type(arguments[0]) is Tracer and not isinstance(arguments[0], (tuple, list))
        else:
            traced = depends_on_trace((arguments, keywords))
        if not traced:
            return function(*map(_real, arguments), **keywords)
        return held.recorder.call(function, arguments, keywords)

    def __getattr__(self, name: str) -> object:
        return getattr(held_by(self).example, name)

    def __eq__(self, other: object) -> object:
        held = held_of(other)
        if type(other) is Tracer:
            return other == held_by(self).example
        return held_by(self).example is (other if held is None else held.example)

    def __hash__(self) -> int:
        return hash(held_by(self).example)

    def __mro_entries__(self, bases: tuple) -> tuple:
        return (held_by(self).example,)

    def __or__(self, other: object) -> object:
        return held_by(self).example | _real(other)

    def __ror__(self, other: object) -> object:
        return _real(other) | held_by(self).example

    def __getitem__(self, item: object) -> object:
        return held_by(self).example[item]


def tracing_builtins(recorder: Recorder) -> dict[str, object]:
    """The `__builtins__` of copied functions."""
    made = dict(vars(builtins))
    for name in (*_RECORDED.split(), *_OF_ARRAYS.split()):
        function = made[name]
        held = Held(recorder, function, lambda function=function: Constant(function))
        made[name] = Builtin(held, name in _OF_ARRAYS.split())
        recorder.known[id(function)] = function, made[name]
    made.update(
        len=_Length(recorder),
        print=lambda *arguments, **keywords: recorder.call(print, arguments, keywords),
        input=lambda *arguments: recorder.refuse("`input` cannot be traced"),
        isinstance=lambda thing, classes: _is_instance(recorder, thing, classes),
        callable=lambda thing: callable(_example(thing)),
        hasattr=lambda thing, name: _has_attribute(recorder, thing, name),
        issubclass=lambda kind, classes: issubclass(_real(kind), _real(classes)),
        type=_Type(recorder),
        super=_Super(recorder),
        __import__=lambda *arguments: _import(recorder, *arguments),
    )
    return made


def _real(thing: object) -> object:
    """The class or function itself, also inside tuples."""
    if type(thing) is tuple:
        return tuple(map(_real, thing))
    if isinstance(thing, type):
        return original_class(thing)
    held = held_of(thing)
    return held.example if held is not None and getattr(type(thing), "is_function", False) else thing


class _Length:
    """`len`: of an array it is a size, of a tuple it is part of the trace."""

    __slots__ = ("_recorder",)

    def __init__(self, recorder: Recorder):
        self._recorder = recorder

    def __call__(self, thing: object) -> object:
        if type(thing) is not Tracer:
            return len(thing)
        held = held_of(thing)
        return static_length(held) if type(held.example) is tuple else self._recorder.call(len, (thing,), {})


class _Type:
    """`type`: the class of a traced value is part of the trace."""

    __slots__ = ("_recorder",)

    def __init__(self, recorder: Recorder):
        self._recorder = recorder

    def __call__(self, *arguments: object) -> object:
        if len(arguments) != 1 or not issubclass(type(arguments[0]), (Tracer, Instance)):
            return type(*arguments)
        held = held_of(arguments[0])
        kind = type(held.example)
        if type(arguments[0]) is Tracer:
            found = self._recorder.add("builtin.type", [held.value()])
            assume_is(self._recorder, (held.value(), "type"), lambda: found, kind, f"the type is {name_of(kind)}")
        return self._recorder.stand_in(kind, lambda: self._recorder.load_object(kind, kind.__name__))


def _is_instance(recorder: Recorder, thing: object, classes: object) -> bool:
    classes = _real(classes)
    answer = isinstance(_example(thing), classes)
    if type(thing) is Tracer:
        value = held_by(thing).value()
        found = lambda: recorder.add("builtin.isinstance", [value, recorder.value_of(classes)])  # noqa: E731
        listed = ", ".join(map(name_of, classes)) if isinstance(classes, tuple) else name_of(classes)
        message = f"`isinstance` of {listed} is {answer}"
        assume_is(recorder, (value, "isinstance", classes), found, answer, message, early=recorder.is_early(value))
    return answer


def _has_attribute(recorder: Recorder, thing: object, name: str) -> bool:
    if type(thing) is not Tracer:
        return hasattr(thing, name)
    answer = hasattr(_example(thing), name)
    value = held_by(thing).value()
    found = lambda: recorder.add("builtin.hasattr", [value, Constant(name)])  # noqa: E731
    early = recorder.is_early(value)
    assume_is(recorder, (value, "hasattr", name), found, answer, f"having `.{name}` is {answer}", early=early)
    return answer


def _example(thing: object) -> object:
    held = held_of(thing)
    return thing if held is None else held.example


class _Super:
    """`super`, for objects with and without a stand-in."""

    __slots__ = ("_recorder",)

    def __init__(self, recorder: Recorder):
        self._recorder = recorder

    def __call__(self, *arguments: object) -> object:
        if not arguments:
            frame = sys._getframe(1)
            names = frame.f_locals
            arguments = names["__class__"], names[frame.f_code.co_varnames[0]]
        after, this = original_class(arguments[0]), arguments[1]
        if issubclass(type(this), Instance) or is_copied_instance(this):
            return Super(self._recorder, after, this)
        return super(after, this)


def _import(recorder: Recorder, name: str, *arguments: object) -> object:
    found = importlib.__import__(name, *arguments)
    return recorder.stand_in(found, lambda: recorder.load_object(found, name))
