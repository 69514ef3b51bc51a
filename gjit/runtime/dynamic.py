"""Calls whose callee is only known when they run.

A plan never runs the user's own bytecode. A Python function, method or class of the user that turns up as a value is
scripted when it is first called, for the program that called it; built-ins and NumPy's functions are called as they
are; what cannot be scripted is a host call and is counted.
"""

from __future__ import annotations

import collections
import functools
import threading
import types
import weakref
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from gjit.capture.resolve import is_own_code, is_user_class, is_user_code
from gjit.errors import UnsupportedError
from gjit.ir.capturable import has_graph, is_ignored
from gjit.ops import names
from gjit.runtime.futures import fork
from gjit.runtime.locks import add_lock
from gjit.runtime.statistics import Statistics
from gjit.source import has_source

NATIVE = frozenset(
    {
        types.BuiltinFunctionType,
        types.MethodWrapperType,
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
        types.ClassMethodDescriptorType,
        np.ufunc,
        type(np.sum),
    }
)
"""Types of callables that are not written in Python."""

LANGUAGE_MODULES = frozenset({"abc", "collections", "copy", "dataclasses", "enum", "functools", "typing"})
"""Modules of the standard library that belong to the language: what they put into classes is no host call."""


class HasEntry(Protocol):
    """A compiled function: `entry` is what a call of it runs now."""

    entry: Callable


MOST_CLOSURES = 32
"""How many closures over data a program keeps compiled; the oldest are forgotten first."""

_UNKNOWN: Any = object()

make_differentiated: list[Callable[[DynamicCalls], Callable]] = []
"""What makes the helper of gradient graphs; the module that defines it stands above this one."""

generated: weakref.WeakValueDictionary[int, types.CodeType] = weakref.WeakValueDictionary()
"""Code objects of host programs by id: functions with this code are gjit's own and are called as they are."""


def register_generated(code: types.CodeType) -> None:
    """Remember a compiled host program, and the inner functions in it."""
    generated[id(code)] = code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            register_generated(constant)


class DynamicCalls:
    """The callees of one program: scripts what it meets, and keeps it.

    Args:
        script: compiles a Python function; raises UnsupportedError.
        statistics: counts host calls.
        package: the user's package, whose functions are scripted even where it is installed.
    """

    lock: threading.RLock

    def __init__(self, script: Callable[[types.FunctionType], HasEntry], statistics: Statistics, package: str):
        self._script, self._statistics, self._package = script, statistics, package
        self._compiled: dict[types.FunctionType, HasEntry | None] = {}
        self._closures: collections.deque[types.FunctionType] = collections.deque()
        self._constructors: dict[type, functools.partial] = {}
        self._local_classes: collections.deque[type] = collections.deque()
        add_lock(self)
        self.scripted = self._fast_path()

    def _fast_path(self) -> Callable[[object], Any]:
        """What host programs call with a callee: gives what to call in its place, so that no frame stands between a
        warning and the user's line. A method that has been met before takes one look-up in one function."""
        known, bound, find, constructors = self._compiled.get, types.MethodType, self._find, self._constructors

        def scripted(callee: object) -> object:
            if type(callee) is bound:
                compiled = known(callee.__func__)
                if compiled is not None:
                    return bound(compiled.entry, callee.__self__)
            elif type(callee) is type:
                return constructors.get(callee) or find(callee)
            return find(callee)

        return scripted

    @functools.cached_property
    def differentiated(self) -> Callable:
        """As `scripted`, for graphs of gradients; see `gjit.runtime.derivative_functions`."""
        return make_differentiated[0](self)

    def compiled_for_gradients(self, function: types.FunctionType) -> Any:
        """The compiled function, whose graph can be differentiated, or None."""
        return self._compile(function)

    def _find(self, callee: object) -> object:
        """What to call in place of `callee`: the graph of a user's function or method, else the thing itself."""
        kind = type(callee)
        if kind is types.MethodType:
            return self._method(callee)
        if kind is types.FunctionType:
            return self._function(callee)
        if kind in NATIVE:
            return callee
        if isinstance(callee, type):
            return self._class(callee)
        if kind is functools.partial:
            return functools.partial(self.scripted(callee.func), *callee.args, **callee.keywords)
        if has_graph(callee):
            return callee
        return self._instance(callee, kind)

    def _function(self, function: types.FunctionType) -> Callable:
        if id(function.__code__) in generated:
            return function
        compiled = self._compiled.get(function, _UNKNOWN)
        if compiled is _UNKNOWN:
            compiled = self._meet(function)
        if compiled is not None:
            return compiled.entry
        if function is fork:
            return self._fork
        if not self._is_native(function):
            self._statistics.host_calls += 1
        return function

    def _meet(self, function: types.FunctionType) -> HasEntry | None:
        """Compile a function once, whichever thread comes first."""
        with self.lock:
            compiled = self._compiled.get(function, _UNKNOWN)
            return self._remember(function, self._compile(function)) if compiled is _UNKNOWN else compiled

    def _remember(self, function: types.FunctionType, compiled: HasEntry | None) -> HasEntry | None:
        """Keep what was found. Closures over data, and what `dataclass` puts into local classes, are only kept while
        they are among the newest: a program may make them without end, and each keeps its arrays or its class."""
        self._compiled[function] = compiled
        if _holds_data(function) or (compiled is None and "<locals>" in function.__qualname__):
            self._closures.append(function)
            if len(self._closures) > MOST_CLOSURES:
                self._compiled.pop(self._closures.popleft(), None)
        return compiled

    def _compile(self, function: types.FunctionType) -> HasEntry | None:
        if self._is_native(function) or is_ignored(function) or not is_user_code(function, self._package):
            return None
        try:
            return self._script(function)
        except UnsupportedError:
            return None

    def _is_native(self, function: types.FunctionType) -> bool:
        """Functions that are gjit's own or belong to the language, such as the `__init__` that `dataclass` makes."""
        if id(function.__code__) in generated or is_own_code(function) or names.name_of(function) is not None:
            return True
        module, file = function.__globals__.get("__name__"), function.__code__.co_filename
        return module in LANGUAGE_MODULES or (file == "<string>" and not has_source(function))

    def _fork(self, fn: object, /, *arguments: object, **keywords: object) -> object:
        return fork(self.scripted(fn), *arguments, **keywords)

    def _method(self, method: types.MethodType) -> Callable:
        function = method.__func__
        if type(function) is types.FunctionType:
            return types.MethodType(self._function(function), method.__self__)
        return method if has_graph(function) else functools.partial(self.scripted(function), method.__self__)

    def _instance(self, callee: object, kind: Any) -> object:
        """An object with `__call__`."""
        if not callable(callee) or not is_user_class(kind):
            return callee
        return functools.partial(self.scripted(kind.__call__), callee)

    def _class(self, cls: type) -> object:
        if not _is_plain_class(cls):
            return cls
        constructor = self._constructors[cls] = functools.partial(self._construct, cls)
        if "<locals>" in cls.__qualname__:  # a program may make such classes without end
            self._local_classes.append(cls)
            if len(self._local_classes) > MOST_CLOSURES:
                self._constructors.pop(self._local_classes.popleft(), None)
        return constructor

    def _construct(self, cls: type, /, *arguments: object, **keywords: object) -> object:
        """An instance of `cls`, its `__init__` run as a graph."""
        new: Callable = cls.__new__
        instance: Any = new(cls) if new is object.__new__ else new(cls, *arguments, **keywords)
        if isinstance(instance, cls) and self._function(cls.__init__)(instance, *arguments, **keywords) is not None:
            raise TypeError("__init__() should return None")
        return instance


def _is_plain_class(cls: type) -> bool:
    """Whether making an instance is `__new__` and an `__init__` that the user wrote, which no host program made."""
    if type(cls) is not type or type(cls.__init__) is not types.FunctionType:
        return False
    return id(cls.__init__.__code__) not in generated and is_user_class(cls)


def _holds_data(function: types.FunctionType) -> bool:
    """Whether a free variable may keep memory alive; the class that `super()` needs and other functions do not."""
    return any(not isinstance(_content(cell), _LIGHT) for cell in function.__closure__ or ())


def _content(cell: types.CellType) -> object:
    try:
        return cell.cell_contents
    except ValueError:  # not bound yet
        return None


_LIGHT = (type, types.FunctionType, types.ModuleType, bool, int, float, complex, str, type(None))
