"""Stand-ins for what is called: functions that are not the user's, compiled functions, managers of `with` blocks."""

from __future__ import annotations

import inspect
from collections.abc import Callable

import numpy as np

from gjit.capture.assumptions import assume_is
from gjit.capture.held import Held, StandIn, depends_on_trace, held_by, held_of
from gjit.capture.preserve import captured_objects, preserved
from gjit.capture.recorder import Load, Recorder
from gjit.capture.resolve import is_immutable
from gjit.capture.tracers import Tracer, static_value
from gjit.ir.capturable import graph_of, receiver_of
from gjit.ir.graph import Parameter, Value
from gjit.ir.graph import ParameterKind as Kind
from gjit.ops import names

TRANSPARENT = {"functools", "_functools", "itertools", "operator", "_operator", "copy", "typing", "collections"}
TRANSPARENT |= {"contextlib", "dataclasses", "enum", "abc", "numbers", "types", "string", "re", "keyword", "builtins"}
"""Modules whose functions only pass on what they get: they run on stand-ins as they are."""
_STATIC = {np.issubdtype, np.iscomplexobj, np.isrealobj, np.ndim, np.isscalar, np.iterable, np.can_cast}
"""Questions about types, which are answered while tracing."""


class Function(StandIn):
    """Stands for a function or class that is not the user's: of NumPy, the standard library, a package."""

    __slots__ = ("_gjit",)
    is_function = True

    def __call__(self, *arguments: object, **keywords: object) -> object:
        held = held_by(self)
        recorder, function = held.recorder, held.example
        if function in (np.errstate, np.printoptions):
            return Manager(held_by(recorder.call(function, arguments, keywords)))
        if function in _STATIC and depends_on_trace((arguments, keywords)):
            return _static_call(recorder, function, arguments, keywords)
        if _module_of(function) in TRANSPARENT:
            return function(*arguments, **keywords)
        if depends_on_trace((arguments, keywords)):
            return recorder.call(function, arguments, keywords, held)
        if _is_repeatable(function):
            found = recorder.run(function, *arguments, **keywords)
            if is_immutable(found):
                return found
        return recorder.call(function, arguments, keywords, held)

    def __getattr__(self, name: str) -> object:
        held = held_by(self)
        return held.recorder.stand_in(getattr(held.example, name), _attribute(held, name))

    def __eq__(self, other: object) -> object:
        if type(other) is Tracer:
            return other == held_by(self).example
        held = held_of(other)
        return held_by(self).example == (other if held is None else held.example)

    def __hash__(self) -> int:
        return hash(held_by(self).example)

    def __repr__(self) -> str:
        return repr(held_by(self).example)

    def __mro_entries__(self, bases: tuple) -> tuple:
        return (held_by(self).example,)

    def __or__(self, other: object) -> object:
        held = held_of(other)
        return held_by(self).example | (other if held is None else held.example)


def _static_call(recorder: Recorder, function: Callable, arguments: tuple, keywords: dict) -> object:
    """A question about types, answered while tracing and asked again by the graph."""
    found = recorder.run(function, *arguments, **keywords)
    answer = recorder.call(function, arguments, keywords)
    return static_value(held_by(answer)) if type(answer) is Tracer else found


def _module_of(function: object) -> str:
    return getattr(function, "__module__", None) or ""


def _is_repeatable(function: Callable) -> bool:
    """Whether equal arguments always give equal results: such a call need not be recorded."""
    name = names.name_of(function) or ""
    return name.startswith(("numpy.", "math.", "cmath.")) and not name.startswith("numpy.random.")


class Manager(StandIn):
    """`np.errstate(...)`: what is recorded inside the `with` stands in the block of a `with` node."""

    __slots__ = ("_gjit", "_node", "_outer", "_real")

    def __init__(self, held: Held):
        super().__init__(held)
        self._real = held.example

    def __enter__(self) -> object:
        held = held_by(self)
        builder = held.recorder.builder
        builder.span = held.recorder.span()
        self._node = builder.node("with", [held.value()], results=0)
        self._outer, builder.block = builder.block, self._node.add_block(1)
        held.recorder.open_block()
        return self._real.__enter__()

    def __exit__(self, *exception: object) -> bool | None:
        recorder = held_by(self).recorder
        reachable = recorder.close_block()
        inside = list(dict.fromkeys(held.value() for held in reachable))
        recorder.builder.end("yield", inside)
        self._node.results = [Value(value.type, self._node, value.name) for value in inside]
        moved = dict(zip(inside, self._node.results, strict=True))
        for held in reachable:
            held.move(moved)
        recorder.builder.block = self._outer
        return self._real.__exit__(*exception)


class Compiled(StandIn):
    """Stands for something that has a graph: its calls are calls of that graph, with its control flow."""

    __slots__ = ("_gjit",)
    is_function = True

    def __call__(self, *arguments: object, **keywords: object) -> object:
        held = held_by(self)
        recorder, callee = held.recorder, held.example
        graph = graph_of(callee)
        placed, labels = _placed(callee, graph.parameters, (*_receiver(recorder, callee), *arguments), keywords)
        memo: dict[int, Value] = {}
        inputs = [recorder.value_of(argument, memo) for argument in placed]
        with preserved(captured_objects(graph)):
            example = recorder.run(callee, *arguments, **keywords)
        value = recorder.add("invoke", inputs, labels=labels, function=recorder.linker.adopt(graph))
        if example is None:
            assume_is(recorder, value, lambda: value, None, f"{graph.name} returns None")
        return recorder.result(example, value)

    def __getattr__(self, name: str) -> object:
        held = held_by(self)
        return held.recorder.stand_in(getattr(held.example, name), _attribute(held, name))


def _attribute(held: Held, name: str) -> Load:
    return lambda: held.recorder.add("getattr", [held.value()], name=name)


def _receiver(recorder: Recorder, callee: object) -> tuple:
    this = receiver_of(callee)
    if this is None:
        return ()
    name = type(this).__name__
    return (recorder.stand_in(this, lambda: recorder.load_object(this, name)),)


def _placed(
    callee: object, parameters: list[Parameter], arguments: tuple, keywords: dict
) -> tuple[list[object], tuple[str, ...]]:
    """Every argument in the order of the parameters, defaults filled in, with the labels of an `invoke`."""
    kinds = {
        Kind.POSITIONAL_ONLY: inspect.Parameter.POSITIONAL_ONLY,
        Kind.NORMAL: inspect.Parameter.POSITIONAL_OR_KEYWORD,
        Kind.VARIADIC: inspect.Parameter.VAR_POSITIONAL,
        Kind.KEYWORD_ONLY: inspect.Parameter.KEYWORD_ONLY,
        Kind.VARIADIC_KEYWORD: inspect.Parameter.VAR_KEYWORD,
    }
    defaults = {parameter.name: parameter.default for parameter in inspect.signature(callee).parameters.values()}
    signature = inspect.Signature(
        inspect.Parameter(p.name, kinds[p.kind], default=defaults[p.name] if p.has_default else inspect.Parameter.empty)
        for p in parameters
    )
    bound = signature.bind(*arguments, **keywords)
    bound.apply_defaults()
    placed = [*bound.args, *bound.kwargs.values()]
    return placed, ("",) * len(bound.args) + tuple(f"{name}=" for name in bound.kwargs)
