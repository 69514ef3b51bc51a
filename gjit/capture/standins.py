"""What traced code meets in the place of the objects of the user's program.

`stand_in` decides. Arrays become tracers that load them by reference; functions and classes of the user become copies
that see stand-ins in turn; modules, objects, lists and dictionaries answer for what is in them; calls of other
functions are recorded.
"""

from __future__ import annotations

import enum
import functools
import types
from collections.abc import Hashable

import numpy as np

from gjit.capture.assumptions import assume_length, rely_on
from gjit.capture.function_copies import copy_class, copy_function
from gjit.capture.held import Held, StandIn, held_by
from gjit.capture.recorder import Load, Recorder
from gjit.capture.resolve import is_immutable, is_stable_namespace, is_user_code
from gjit.capture.standin_containers import Entries, Items
from gjit.capture.standin_functions import TRANSPARENT, Compiled, Function
from gjit.capture.standin_objects import object_stand_in
from gjit.capture.tracers import Tracer
from gjit.ir.capturable import has_graph, is_ignored
from gjit.ir.graph import CaptureKind, Constant, Value
from gjit.ops import names, table


def stand_in(recorder: Recorder, thing: object, load: Load) -> object:
    """What traced code meets in the place of `thing`, which the graph reaches by `load`."""
    if issubclass(type(thing), StandIn) or is_immutable(thing) or isinstance(thing, (BaseException, enum.Enum)):
        return thing
    known = recorder.known.get(id(thing))
    if known is not None:
        return known[1]
    copied = recorder.copy(thing) if _is_copied(recorder, thing) else thing
    found = _made(recorder, copied, load)
    if not isinstance(thing, (np.ndarray, tuple)):  # one object is one stand-in, however it is reached
        recorder.known[id(thing)] = thing, found
        recorder.known[id(copied)] = copied, found
    return found


def _is_copied(recorder: Recorder, thing: object) -> bool:
    """Whether running the traced code could change `thing`: examples are computed on a copy then."""
    kind = type(thing)
    if has_graph(thing) or isinstance(thing, (type, types.ModuleType, types.FunctionType, types.MethodType)):
        return False
    return kind in (np.ndarray, list, dict) or recorder.is_user_class(kind) or not callable(thing)


def _made(recorder: Recorder, thing: object, load: Load) -> object:
    kind = type(thing)
    held = Held(recorder, thing, load, early=kind is not np.ndarray)
    if has_graph(thing):
        return Compiled(held)
    if kind is types.ModuleType:
        return Module(held)
    if kind is types.FunctionType:
        return copy_function(recorder, thing) if _is_traced(recorder, thing) else Function(held)
    if kind is types.MethodType:
        return _method(recorder, thing, held)
    if isinstance(thing, type):
        return _class(recorder, thing, held)
    if kind is tuple:
        return _tuple(recorder, thing, held)
    if kind in (list, dict):
        return Items(thing, held) if kind is list else Entries(thing, held)
    if kind is functools.partial:
        return _partial(recorder, thing, held)
    if recorder.is_user_class(kind):
        return object_stand_in(held)
    if callable(thing):
        return Function(held)
    return Tracer(held)


def _is_traced(recorder: Recorder, function: types.FunctionType) -> bool:
    """Whether calls of a Python function are traced through: the user's own, and modules written with gjit."""
    if table.of_function(function) is not None:
        return False
    mine = is_user_code(function, recorder.package) or is_user_code(function, "gjit")
    return mine and not is_ignored(function)


def _method(recorder: Recorder, method: types.MethodType, held: Held) -> object:
    receiver, function = method.__self__, method.__func__
    traced = type(function) is types.FunctionType and _is_traced(recorder, function)
    if not traced and not has_graph(function):
        return Function(held)
    this = stand_in(recorder, receiver, lambda: recorder.load_object(receiver, type(receiver).__name__))
    return types.MethodType(stand_in(recorder, function, _attribute(held, "__func__")), this)


def _class(recorder: Recorder, thing: type, held: Held) -> object:
    """Exceptions stay as they are: `except` needs the very class."""
    if issubclass(thing, BaseException) or thing.__module__ in TRANSPARENT:
        return thing
    return copy_class(recorder, thing) if recorder.is_user_class(thing) else Function(held)


def _tuple(recorder: Recorder, thing: tuple, held: Held) -> tuple:
    assume_length(recorder, held, thing, "a tuple")
    return tuple(_part(recorder, part, _item(held, index), (held, index)) for index, part in enumerate(thing))


def _partial(recorder: Recorder, thing: functools.partial, held: Held) -> functools.partial:
    """The same function and arguments, each as a stand-in; a partial object cannot be changed."""
    function = stand_in(recorder, thing.func, _attribute(held, "func"))
    arguments = [stand_in(recorder, part, _item_of(held, "args", place)) for place, part in enumerate(thing.args)]
    keywords = {key: stand_in(recorder, part, _item_of(held, "keywords", key)) for key, part in thing.keywords.items()}
    return functools.partial(function, *arguments, **keywords)


def _part(recorder: Recorder, part: object, load: Load, key: Hashable) -> object:
    rely_on(recorder, key, load, part, "an element of a tuple")
    return stand_in(recorder, part, load)


def _item(held: Held, key: object) -> Load:
    return lambda: held.recorder.add("getitem", [held.value(), Constant(key)])


def _attribute(held: Held, name: str) -> Load:
    return lambda: held.recorder.add("getattr", [held.value()], name=name)


def _item_of(held: Held, name: str, key: object) -> Load:
    return lambda: held.recorder.add("getitem", [_attribute(held, name)(), Constant(key)])


class Module(StandIn):
    """Stands for a module: what is read from it is a stand-in in turn."""

    __slots__ = ("_gjit",)
    is_function = True

    def __getattr__(self, name: str) -> object:
        held = held_by(self)
        recorder, scope = held.recorder, vars(held.example)
        thing = getattr(held.example, name)

        def load() -> Value:
            if names.name_of(thing) is not None:
                return Constant(thing)
            return recorder.load_name(name, CaptureKind.GLOBAL, thing, scope)

        if not is_stable_namespace(scope):
            rely_on(recorder, (id(scope), name), load, thing, f"`{held.example.__name__}.{name}`")
        return stand_in(recorder, thing, load)

    def __setattr__(self, name: str, thing: object) -> None:
        held = held_by(self)
        held.recorder.refuse(f"`{held.example.__name__}.{name}` is assigned while tracing", "return the value instead")
