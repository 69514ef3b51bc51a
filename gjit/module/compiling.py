"""Compile a module: a twin of it whose methods are scripted, with the same arrays."""

from __future__ import annotations

import functools
import types
import weakref
from typing import Any, TypeVar

from gjit.marks import EXPORT_MARK
from gjit.module.base import Module
from gjit.module.scripted import ScriptModule, Stages

M = TypeVar("M", bound=Module)
Script = functools.partial
"""Compiles a Python function; its keywords are the options."""

_classes: weakref.WeakKeyDictionary[type, dict[tuple, type]] = weakref.WeakKeyDictionary()


def compile_module(module: M, script: Script) -> M:
    """A copy of `module` and of all modules in it whose `forward` and exported methods are compiled.

    Parameters, buffers and every other attribute are the same objects, so training either trains both. The copy is an
    instance of the module's class; a module that is held in two places is copied once.

    Args:
        module: not changed.
        script: compiles a Python function.
    """
    return _Compiler(script).module(module)


class _Compiler:
    def __init__(self, script: Script):
        self.script = script
        self.made: dict[int, Any] = {}

    def module(self, module: Any) -> Any:
        if id(module) not in self.made:
            cls: Any = compiled_class(type(module), self.script)
            copy = self.made[id(module)] = cls.__new__(cls)
            copy.__dict__.update({name: self.value(value) for name, value in module.__dict__.items()})
            for registry in ("_parameter_names", "_buffer_names", "_pre_hooks", "_hooks"):
                copy.__dict__[registry] = dict(module.__dict__[registry])
        return self.made[id(module)]

    def value(self, value: Any) -> Any:
        """An attribute: modules in it are compiled, a container without modules stays the object that it is."""
        if isinstance(value, Module):
            return self.module(value)
        if type(value) in (list, tuple) and any(isinstance(item, Module) for item in value):
            return type(value)(self.value(item) for item in value)
        if type(value) is dict and any(isinstance(item, Module) for item in value.values()):
            return {key: self.value(item) for key, item in value.items()}
        return value


def compiled_class(cls: type, script: Script) -> type:
    """A subclass of a module's class with compiled entry points; one for each class and the options of `script`."""
    if issubclass(cls, ScriptModule):
        return cls
    made = _classes.setdefault(cls, {})
    options = tuple(script.keywords.items())
    if options not in made:
        names = [name for name in dir(cls) if _is_entry_point(name, getattr(cls, name, None))]
        members: dict[str, Any] = {name: script(getattr(cls, name)) for name in names}
        members["__module__"], members["__doc__"] = cls.__module__, cls.__doc__
        members["__reduce_ex__"] = functools.partialmethod(_reduced, cls, script)
        made[options] = type(cls.__name__, (cls, Stages), {"__qualname__": cls.__qualname__, **members})
    return made[options]


def _reduced(module: Module, cls: type, script: Script, protocol: int) -> tuple:
    """How a compiled module is copied and pickled: its class is made again where it arrives."""
    return _empty, (cls, script), module.__dict__


def _empty(cls: type, script: Script) -> Module:
    made: Any = compiled_class(cls, script)
    return made.__new__(made)


def _is_entry_point(name: str, member: object) -> bool:
    return type(member) is types.FunctionType and (name == "forward" or bool(getattr(member, EXPORT_MARK, False)))
