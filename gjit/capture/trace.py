"""Trace a function: run a copy of it on tracers, and keep what the tracers wrote down."""

from __future__ import annotations

import inspect
import types
from collections.abc import Callable

import numpy as np

from gjit.capture.assumptions import assume_equal, assume_is, name_of
from gjit.capture.held import Held
from gjit.capture.preserve import quiet
from gjit.capture.recorder import Recorder
from gjit.capture.resolve import is_immutable
from gjit.capture.signature import signature_of
from gjit.capture.standin_builtins import tracing_builtins
from gjit.capture.standins import stand_in
from gjit.capture.tracers import Tracer, static_length
from gjit.errors import TraceError
from gjit.ir.capturable import has_graph
from gjit.ir.graph import Graph, Value
from gjit.source import Span

_FUNCTIONS = (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, np.ufunc)


def trace_function(function: Callable, example_inputs: tuple, *, name: str | None = None) -> Graph:
    """Record `function` on copies of `example_inputs` as an untyped graph.

    The graph holds the operations that the function did, not the numbers it did them with: it runs on inputs of other
    sizes and values, and of other dtypes and ranks where the function never asked for them. What it did ask for
    (`x.ndim`, `x.dtype == ...`, `isinstance`, an attribute of an object that is a number) is checked when the graph
    runs, with a TypeError. Loops over Python's own ranges and lists are unrolled. Functions and methods of the user are
    traced through; what has a graph keeps it, with its control flow. Arrays outside the function are loaded by
    reference.

    Args:
        function: a Python function, a bound method, or an object with `forward` or `__call__`, such as a module.
        example_inputs: examples of the positional parameters; others keep their defaults. They stay as they are, and
            so do random generators, standard output and captured objects.
        name: of the graph; the function's own by default.

    Raises:
        TraceError: the function asked for data (a branch, a conversion, a loop over an array), with the user's line.
    """
    function = python_function(function)
    plain = function.__func__ if isinstance(function, types.MethodType) else function
    parameters = signature_of(plain)[1:] if plain is not function else signature_of(plain)
    place = Span(plain.__code__.co_filename, plain.__code__.co_firstlineno)
    graph = Graph(name or _graph_name(plain), parameters, span=place)
    package = (plain.__module__ or "").partition(".")[0]
    recorder = Recorder(graph, package, Tracer, stand_in)
    recorder.builtins = tracing_builtins(recorder)
    with quiet():
        try:
            result = _run(recorder, function, example_inputs)
            value = recorder.value_of(result)
        except Exception:
            if recorder.refusal is not None:
                raise recorder.refusal from None
            raise
    recorder.finish(value)
    return graph


def python_function(function: Callable) -> types.FunctionType | types.MethodType:
    """The function or bound method that a call of `function` runs."""
    if isinstance(function, types.FunctionType):
        return function
    bound = function
    if not isinstance(function, types.MethodType):
        bound = getattr(function, "forward", None) or function.__call__
    if isinstance(bound, types.MethodType) and isinstance(bound.__func__, types.FunctionType):
        return bound
    raise TraceError(f"{function!r} is not a Python function", hint="trace a function that calls it")


def _graph_name(function: types.FunctionType) -> str:
    return function.__name__ if function.__name__.isidentifier() else "lambda_function"


def _run(recorder: Recorder, function: Callable, examples: tuple) -> object:
    """Call the copy of `function`."""
    signature = inspect.signature(function, follow_wrapped=False)
    bound = signature.bind(*(recorder.copy(example) for example in examples))
    given = set(bound.arguments)
    bound.apply_defaults()
    positional: list[object] = []
    keywords: dict[str, object] = {}
    for parameter, value in zip(signature.parameters.values(), recorder.graph.block.parameters, strict=True):
        example = bound.arguments[parameter.name]
        if parameter.kind is inspect.Parameter.VAR_POSITIONAL:
            positional.extend(_input(recorder, example, value))
        elif parameter.kind is inspect.Parameter.VAR_KEYWORD:
            static_length(Held(recorder, example, lambda value=value: value))
        elif parameter.kind is inspect.Parameter.KEYWORD_ONLY:
            keywords[parameter.name] = _default(recorder, example, value)
        else:
            positional.append((_input if parameter.name in given else _default)(recorder, example, value))
    copied = stand_in(recorder, function, lambda: recorder.load_object(function, "function"))
    return copied(*positional, **keywords)


def _default(recorder: Recorder, thing: object, value: Value) -> object:
    """A default that no example replaces: numbers become part of the trace too, and calls must leave them alone."""
    if is_immutable(thing):
        assume_equal(recorder, (value, "itself"), lambda: value, thing, value.name, early=True)
        return thing
    return _input(recorder, thing, value)


def _input(recorder: Recorder, example: object, value: Value) -> object:
    """The stand-in for an input. None, texts, functions and the like become part of the trace, which checks them."""
    if example is None or isinstance(example, (str, bytes, types.EllipsisType)):
        return _default(recorder, example, value)
    if is_immutable(example) or isinstance(example, (np.ndarray, tuple, list, dict, set)):
        return Tracer(Held(recorder, example, lambda: value))
    if has_graph(example) or isinstance(example, _FUNCTIONS):
        message = f"{value.name} is {name_of(example)}"
        assume_is(recorder, (value, "itself"), lambda: value, example, message, early=True)
    return stand_in(recorder, example, lambda: value)
