"""Stand-ins for instances of the user's classes: methods are traced through, arrays are loaded, writes are recorded."""

from __future__ import annotations

import dis
import functools
import sys
import types
from collections.abc import Callable

from gjit.capture.assumptions import rely_on
from gjit.capture.function_copies import copy_function
from gjit.capture.held import Held, StandIn, held_by
from gjit.capture.recorder import Recorder
from gjit.ir.capturable import has_graph
from gjit.ir.graph import Value

_NOT_FORWARDED = {"__init__", "__new__", "__del__", "__init_subclass__", "__class_getitem__", "__repr__", "__str__"}
_NOT_FORWARDED |= {"__getattr__", "__getattribute__", "__setattr__", "__delattr__", "__dir__", "__reduce__"}


class Instance(StandIn):
    """Stands for one object. What traced code assigns is kept here and recorded; the object stays as it is."""

    __slots__ = ("_gjit", "_written")

    def __init__(self, held: Held):
        super().__init__(held)
        object.__setattr__(self, "_written", {})

    @property
    def __class__(self) -> type:
        return type(held_by(self).example)

    def __getattr__(self, name: str) -> object:
        written = object.__getattribute__(self, "_written")
        if name in written:
            return written[name]
        held = held_by(self)
        found = class_attribute(held.example, name)
        if isinstance(found, property) and type(found.fget) is types.FunctionType:
            return copy_function(held.recorder, found.fget)(self)
        if _is_method(found) and name not in getattr(held.example, "__dict__", ()):
            return types.MethodType(method_of(held.recorder, found), self)
        return read_attribute(held, name, sys._getframe(1).f_code)

    def __setattr__(self, name: str, thing: object) -> None:
        held = held_by(self)
        found = class_attribute(held.example, name)
        if isinstance(found, property) and type(found.fset) is types.FunctionType:
            copy_function(held.recorder, found.fset)(self, thing)
            return
        value = held.recorder.value_of(thing)
        held.recorder.effect("setattr", [held.value(), value], name=name)
        held.recorder.run(setattr, self, name, thing)
        object.__getattribute__(self, "_written")[name] = held.recorder.stored(thing, value)

    def __delattr__(self, name: str) -> None:
        held_by(self).recorder.refuse(f"the attribute {name!r} of an object outside the traced function is deleted")


def object_stand_in(held: Held) -> Instance:
    """The stand-in for `held.example`, with the special methods that its class defines."""
    kind = type(held.example)
    return _class_for(held.recorder, kind)(held)


def _is_method(found: object) -> bool:
    return type(found) is types.FunctionType or (has_graph(found) and hasattr(type(found), "__get__"))


def read_attribute(held: Held, name: str, reader: types.CodeType) -> object:
    """An attribute of an object. Immutable values are part of the trace, which checks that they stay the same; numbers
    that the reading code also assigns, as in `self.count += 1`, are values."""
    thing = getattr(held.example, name)
    recorder = held.recorder

    def load() -> Value:
        return recorder.add("getattr", [held.value()], name=name)

    if type(thing) in (int, float, complex) and name in _assigned_attributes(reader):
        return recorder.result(thing, load())
    rely_on(recorder, (held, name), load, thing, f"`{type(held.example).__name__}.{name}`")
    return recorder.stand_in(thing, load)


@functools.cache
def _assigned_attributes(code: types.CodeType) -> frozenset[str]:
    return frozenset(step.argval for step in dis.get_instructions(code) if step.opname == "STORE_ATTR")


def class_attribute(thing: object, name: str) -> object:
    """What the classes of `thing` say about an attribute, descriptors unbound; None where they say nothing."""
    return next((vars(kind)[name] for kind in type(thing).__mro__ if name in vars(kind)), None)


class Super:
    """Stands for `super()` in the methods of stand-ins and of objects made while tracing: what it finds are copies."""

    __slots__ = ("_found_for",)

    def __init__(self, recorder: Recorder, after: type, this: object):
        self._found_for = recorder, after, this

    def __getattribute__(self, name: str) -> object:
        recorder, after, this = object.__getattribute__(self, "_found_for")
        order = type(recorder.example_of(this)).__mro__
        for kind in order[order.index(after) + 1 :]:
            found = vars(kind).get(name)
            if _is_method(found) and recorder.is_user_class(kind):
                return types.MethodType(method_of(recorder, found), this)
            if isinstance(found, property) and type(found.fget) is types.FunctionType:
                return copy_function(recorder, found.fget)(this)
        thing = getattr(super(after, recorder.example_of(this)), name)
        return recorder.stand_in(thing, lambda: recorder.load_object(thing, name))


def _class_for(recorder: Recorder, kind: type) -> type[Instance]:
    """A class of stand-ins that forwards the special methods which `kind` defines in Python."""
    methods: dict[str, object] = {"__slots__": ()}
    for parent in reversed(kind.__mro__[:-1]):
        for name, found in vars(parent).items():
            if name.startswith("__") and _is_method(found) and name not in _NOT_FORWARDED:
                methods[name] = _forwarded(recorder, found)
    return type(kind.__name__, (Instance,), methods)


def _forwarded(recorder: Recorder, function: Callable) -> Callable:
    def forward(self: Instance, *arguments: object, **keywords: object) -> object:
        return method_of(recorder, function)(self, *arguments, **keywords)

    return forward


def method_of(recorder: Recorder, function: Callable) -> Callable:
    """A function of a class as traced code sees it, without a receiver."""
    found = recorder.stand_in(function, lambda: recorder.load_object(function, function.__name__))
    assert callable(found)
    return found
