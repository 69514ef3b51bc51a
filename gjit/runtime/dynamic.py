"""Calls whose callee is only known when they run.

A plan never runs the user's own bytecode. A Python function, method or class of the user that turns up as a value is scripted when
it is first called, for the program that called it; built-ins and NumPy's functions are called as they are; what cannot be
scripted is a host call and is counted.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable

import numpy as np

from gjit.capture.resolve import is_own_code, is_user_class, is_user_code
from gjit.errors import UnsupportedError
from gjit.ir.capturable import has_graph, is_ignored
from gjit.ops import names
from gjit.runtime.futures import fork
from gjit.runtime.statistics import Statistics

NATIVE = frozenset(
    {
        types.BuiltinFunctionType,
        types.MethodWrapperType,
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
        types.ClassMethodDescriptorType,
        np.ufunc,
        type(np.sum),
        type,
    }
)
"""Types of callables that are not written in Python; classes are looked at more closely."""

LANGUAGE_MODULES = frozenset({"abc", "collections", "copy", "dataclasses", "enum", "functools", "typing"})
"""Modules of the standard library that belong to the language: what they put into the user's classes is no host call."""

generated: dict[int, types.CodeType] = {}
"""Code objects of host programs by id: functions with this code are gjit's own and are called as they are."""


def register_generated(code: types.CodeType) -> None:
    """Remember a compiled host program, and the inner functions in it."""
    generated[id(code)] = code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            register_generated(constant)


class DynamicCalls:
    """The calls of one program: scripts what it meets, and keeps it.

    Args:
        script: makes the compiled entry of a Python function; raises UnsupportedError.
        statistics: counts host calls.
        package: the user's package, whose functions are scripted even where it is installed.
    """

    def __init__(self, script: Callable[[types.FunctionType], Callable], statistics: Statistics, package: str):
        self._script, self._statistics, self._package = script, statistics, package
        self._entries: dict[int, tuple[types.FunctionType, Callable]] = {}

    def call(self, callee: object, /, *arguments: object, **keywords: object) -> object:
        """What `callee(*arguments, **keywords)` gives."""
        kind = type(callee)
        if callee is fork:
            return fork(functools.partial(self.call, arguments[0]), *arguments[1:], **keywords)
        if kind is types.FunctionType:
            return self.entry(callee)(*arguments, **keywords)
        if kind is types.MethodType:
            return self._call_method(callee, arguments, keywords)
        if isinstance(callee, type):
            return self._construct(callee, arguments, keywords)
        if kind in NATIVE or has_graph(callee):
            return callee(*arguments, **keywords)
        if kind is functools.partial:
            return self.call(callee.func, *callee.args, *arguments, **{**callee.keywords, **keywords})
        return self._call_instance(callee, kind, arguments, keywords)

    def entry(self, function: types.FunctionType) -> Callable:
        """What runs in place of a Python function."""
        known = self._entries.get(id(function))
        if known is not None:
            return known[1]
        entry = self._find_entry(function)
        self._entries[id(function)] = function, entry
        return entry

    def _find_entry(self, function: types.FunctionType) -> Callable:
        if id(function.__code__) in generated or names.name_of(function) is not None:
            return function
        if function.__globals__.get("__name__") in LANGUAGE_MODULES or is_own_code(function):
            return function
        if not is_ignored(function) and is_user_code(function, self._package):
            try:
                return self._script(function)
            except UnsupportedError:
                if function.__code__.co_filename == "<string>":
                    return function  # made by `dataclass` or `namedtuple`: it has no source, and no array work
        return functools.partial(self._host_call, function)

    def _host_call(self, callee: Callable, /, *arguments: object, **keywords: object) -> object:
        self._statistics.host_calls += 1
        return callee(*arguments, **keywords)

    def _call_method(self, method: types.MethodType, arguments: tuple, keywords: dict) -> object:
        function = method.__func__
        if type(function) is types.FunctionType:
            return self.entry(function)(method.__self__, *arguments, **keywords)
        return self.call(function, method.__self__, *arguments, **keywords)

    def _call_instance(self, callee: object, kind: type, arguments: tuple, keywords: dict) -> object:
        method = getattr(kind, "__call__", None)
        if type(method) is types.FunctionType and is_user_class(kind):
            return self.entry(method)(callee, *arguments, **keywords)
        if method is None or not is_user_class(kind):
            return callee(*arguments, **keywords)
        return self.call(method, callee, *arguments, **keywords)

    def _construct(self, cls: type, arguments: tuple, keywords: dict) -> object:
        """An instance of `cls`, its `__init__` run as a graph where the user wrote it."""
        init = cls.__init__
        plain = type(cls) is type and type(init) is types.FunctionType and is_user_class(cls)
        if not plain or type(cls.__new__) is types.FunctionType:
            return cls(*arguments, **keywords)
        if cls.__new__ is object.__new__:
            instance = object.__new__(cls)
        else:
            instance = cls.__new__(cls, *arguments, **keywords)
        if isinstance(instance, cls) and self.entry(init)(instance, *arguments, **keywords) is not None:
            raise TypeError("__init__() should return None")
        return instance
