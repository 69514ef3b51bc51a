"""Modules: parameters, buffers and submodules as attributes, and a `forward` that can be traced or scripted."""

from gjit.module.base import Module, Parameter
from gjit.module.containers import ModuleDict, ModuleList, Sequential
from gjit.module.scripted import BoundScriptMethod, ScriptMethod, ScriptModule, script_method, set_script

__all__ = [
    "BoundScriptMethod",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ScriptMethod",
    "ScriptModule",
    "Sequential",
    "script_method",
    "set_script",
]
