"""What a trace relies on: checks in its graph, which raise TypeError where the examples and an input differ."""

from __future__ import annotations

import contextlib
import enum
import types
from collections.abc import Hashable, Sized

import numpy as np

from gjit.capture.held import Held, held_of
from gjit.capture.recorder import Load, Recorder
from gjit.capture.resolve import is_immutable
from gjit.ir.capturable import has_graph
from gjit.ir.graph import Constant, Value

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc)
_IDENTITIES = (type, types.ModuleType, enum.Enum, *_FUNCTIONS)


def assume(recorder: Recorder, key: Hashable, test: Load, message: str, *, early: bool = False) -> None:
    """Check once that what `test` records is true.

    Args:
        key: what the check is about; a second check with an equal key is not recorded.
        message: what holds for the examples, for the error.
        early: check at the start of the graph, so that the check parts no operations that belong together.
    """
    if key in recorder.assumed:
        return
    recorder.assumed.add(key)
    with recorder.early() if early else contextlib.nullcontext():
        builder = recorder.builder
        truth = test()
        node = builder.node("if", [truth], results=0)
        with builder.at(node.add_block()):
            builder.end("yield")
        with builder.at(node.add_block()):
            text = f"this trace was recorded where {message}; record another one for these inputs"
            builder.end("raise", [recorder.add("call", [Constant(TypeError), Constant(text)]), Constant(None)])


def assume_equal(
    recorder: Recorder, key: Hashable, found: Load, expected: object, what: str, *, early: bool = False
) -> None:
    """Check that a value equals an immutable object; where that is None or a bool, that it is that very object."""

    def test() -> Value:
        op = "operator.is" if expected is None or isinstance(expected, bool) else "operator.eq"
        return recorder.add(op, [found(), Constant(expected)])

    if expected == expected:  # NaN equals nothing
        assume(recorder, key, test, f"{what} is {expected!r}", early=early)


def assume_is(
    recorder: Recorder, key: Hashable, found: Load, expected: object, message: str, *, early: bool = False
) -> None:
    """Check that a value is one certain object."""

    def test() -> Value:
        return recorder.add("operator.is", [found(), recorder.value_of(expected)])

    assume(recorder, key, test, message, early=early)


def rely_on(recorder: Recorder, key: Hashable, load: Load, thing: object, what: str) -> None:
    """Check at the start of the graph that a place of the user's program still holds what it held while tracing.

    Numbers and texts are compared, functions and classes are the same objects, an instance has the same class, and what
    was met in two places is still one object. Arrays are loaded when they are used, whatever they are then.
    """
    if key in recorder.assumed or isinstance(thing, np.ndarray):
        return
    known = recorder.known.get(id(thing))
    if is_immutable(thing):
        assume_equal(recorder, key, load, thing, what, early=True)
    elif has_graph(thing) or isinstance(thing, _IDENTITIES):
        assume_is(recorder, key, load, thing, f"{what} is {name_of(thing)}", early=True)
    elif known is not None and held_of(known[1]) is not None:
        assume_is(recorder, key, load, known[1], f"{what} is an object that was met before", early=True)
    elif recorder.is_user_class(type(thing)):
        found = _type_of(recorder, load)
        assume_is(recorder, key, found, type(thing), f"{what} is an instance of {type(thing).__name__}", early=True)


def name_of(thing: object) -> str:
    """A function, class or compiled object in a message: without its address, so that equal traces have equal texts."""
    return f"`{getattr(thing, '__qualname__', None) or getattr(thing, '__name__', None) or type(thing).__name__}`"


def assume_length(recorder: Recorder, held: Held, container: Sized, what: str) -> None:
    """Check at the start of the graph that a container of the user's program has as many elements as while tracing."""
    found = lambda: recorder.add("builtin.len", [held.value()])  # noqa: E731
    assume_equal(recorder, (held, "len"), found, len(container), f"the length of {what}", early=True)


def _type_of(recorder: Recorder, load: Load) -> Load:
    return lambda: recorder.add("builtin.type", [load()])
