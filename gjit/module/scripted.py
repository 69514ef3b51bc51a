"""Modules with compiled methods.

Compiling is the work of a higher layer, which hands its `script` to `set_script` when it is imported.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from gjit.ir.graph import Graph
from gjit.module.base import Module

_script: list[Callable[[Callable], Any]] = []


def set_script(script: Callable[[Callable], Any]) -> None:
    """Say what compiles the methods that `script_method` marks: a function from a function to a compiled one."""
    _script[:] = [script]


class ScriptMethod:
    """A method that is compiled from its source when it is first called; see `script_method`."""

    def __init__(self, function: Callable):
        functools.update_wrapper(self, function)
        self._function = function

    @functools.cached_property
    def compiled(self) -> Any:
        """The compiled function, which takes the module as its first argument."""
        if not _script:
            raise RuntimeError("import gjit before a script method is called")
        return _script[0](self._function)

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self.compiled(*arguments, **keywords)

    def __get__(self, instance: object, owner: type | None = None) -> ScriptMethod | BoundScriptMethod:
        return self if instance is None else BoundScriptMethod(self, instance)

    def __gjit_graph__(self) -> Graph:
        return self.compiled.__gjit_graph__()

    def __gjit_archive__(self) -> tuple[Callable, tuple]:
        """What makes it again, and of what."""
        return script_method, (self._function,)

    def __deepcopy__(self, memo: dict) -> ScriptMethod:
        return self

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or name == "_function":
            raise AttributeError(name)
        return getattr(self.compiled, name)


class BoundScriptMethod:
    """A script method of one module. `graph`, `code`, `statistics` and the like are those of the compiled function."""

    def __init__(self, method: ScriptMethod, instance: object):
        functools.update_wrapper(self, functools.partial(method, instance), assigned=())
        self.__wrapped__ = method._function.__get__(instance)
        self.__name__, self.__doc__ = method._function.__name__, method._function.__doc__
        self._method = method
        self.__gjit_receiver__ = instance

    def __call__(self, *arguments: Any, **keywords: Any) -> Any:
        return self._method.compiled(self.__gjit_receiver__, *arguments, **keywords)

    def __gjit_graph__(self) -> Graph:
        return self._method.__gjit_graph__()

    def __reduce__(self) -> tuple:
        return getattr, (self.__gjit_receiver__, self.__name__)

    def __repr__(self) -> str:
        return f"<script method {self.__wrapped__.__qualname__} of {type(self.__gjit_receiver__).__name__}>"

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        found = getattr(self._method.compiled, name)
        takes_arguments = name in ("graph_for", "plan_for", "explain", "profile", "compile")
        return functools.partial(found, self.__gjit_receiver__) if takes_arguments else found


def script_method(function: Callable) -> ScriptMethod:
    """Decorate a method of a `ScriptModule`: it is compiled at its first call, and traces keep its control flow."""
    return ScriptMethod(function)


class Stages:
    """What a module whose `forward` is compiled shows of it."""

    forward: Any

    @property
    def graph(self) -> Graph:
        """The captured graph of `forward`."""
        return self.forward.graph

    @property
    def code(self) -> str:
        """The generated host programs of `forward`, as Python source."""
        return self.forward.code


class ScriptModule(Stages, Module):
    """A module whose methods marked by `script_method` are compiled from their source."""
