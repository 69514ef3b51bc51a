"""TorchScript for NumPy: one typed graph from an ordinary NumPy function, fused, and bit-identical to NumPy.

A public name is imported when it is first used, so that `import gjit` costs a program no more than it uses.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from gjit import optim
    from gjit.api import explain, rewrite, script, trace
    from gjit.compiled import CompiledFunction, bind
    from gjit.errors import (
        ArchiveError,
        CompileError,
        DeviceError,
        DeviceLostError,
        GjitError,
        InternalError,
        TraceError,
        UnsupportedError,
    )
    from gjit.exporting import export_onnx
    from gjit.freezing import freeze
    from gjit.gradients import (
        checkpoint,
        custom_gradient,
        grad,
        hessian,
        jacobian,
        jvp,
        value_and_grad,
        vjp,
    )
    from gjit.ir import Graph, parse_graph
    from gjit.ir.interpreter import Interpreter
    from gjit.marks import Final, annotate, export, ignore, interface, unused
    from gjit.module import Module, ModuleDict, ModuleList, Parameter, ScriptModule, Sequential, script_method
    from gjit.ops.user import register_op
    from gjit.passes.pipelines import register_pass
    from gjit.runtime.backend import register_backend
    from gjit.runtime.device import asarray, device, devices, synchronize, to_numpy
    from gjit.runtime.futures import Future, fork, wait
    from gjit.saving import load, save
    from gjit.settings import config

__version__ = "0.1.0"

_HOMES = {
    "gjit.api": "explain rewrite script trace",
    "gjit.compiled": "CompiledFunction bind",
    "gjit.errors": "ArchiveError CompileError DeviceError DeviceLostError GjitError InternalError TraceError "
    "UnsupportedError",
    "gjit.freezing": "freeze",
    "gjit.exporting": "export_onnx",
    "gjit.gradients": "checkpoint custom_gradient grad hessian jacobian jvp value_and_grad vjp",
    "gjit.ir": "Graph parse_graph",
    "gjit.ir.interpreter": "Interpreter",
    "gjit.marks": "Final annotate export ignore interface unused",
    "gjit.module": "Module ModuleDict ModuleList Parameter ScriptModule Sequential script_method",
    "gjit.ops.user": "register_op",
    "gjit.passes.pipelines": "register_pass",
    "gjit.runtime.device": "asarray device devices synchronize to_numpy",
    "gjit.runtime.backend": "register_backend",
    "gjit.runtime.futures": "Future fork wait",
    "gjit.saving": "load save",
    "gjit.settings": "config",
}
"""Where each public name is defined."""

_home_of = {name: module for module, names in _HOMES.items() for name in names.split()}

__all__ = [
    "ArchiveError",
    "CompileError",
    "CompiledFunction",
    "DeviceError",
    "DeviceLostError",
    "Final",
    "Future",
    "GjitError",
    "Graph",
    "InternalError",
    "Interpreter",
    "Module",
    "ModuleDict",
    "ModuleList",
    "Parameter",
    "ScriptModule",
    "Sequential",
    "TraceError",
    "UnsupportedError",
    "annotate",
    "asarray",
    "bind",
    "checkpoint",
    "config",
    "custom_gradient",
    "device",
    "devices",
    "explain",
    "export",
    "export_onnx",
    "fork",
    "freeze",
    "grad",
    "hessian",
    "ignore",
    "interface",
    "jacobian",
    "jvp",
    "load",
    "optim",
    "parse_graph",
    "register_backend",
    "register_op",
    "register_pass",
    "rewrite",
    "save",
    "script",
    "script_method",
    "synchronize",
    "to_numpy",
    "trace",
    "unused",
    "value_and_grad",
    "vjp",
    "wait",
]


def __getattr__(name: str) -> object:
    if name == "optim":
        return importlib.import_module("gjit.optim")
    if name not in _home_of:
        raise AttributeError(f"module 'gjit' has no attribute {name!r}")
    if _home_of[name] == "gjit.module":
        importlib.import_module("gjit.api")  # hands `script` to the modules, which stand below it
    value = getattr(importlib.import_module(_home_of[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
