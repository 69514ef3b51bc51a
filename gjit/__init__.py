"""TorchScript for NumPy: one typed graph from an ordinary NumPy function, fused, and bit-identical to NumPy."""

from gjit.api import CompiledFunction, bind, explain, rewrite, script, trace
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
from gjit.ir import Graph, parse_graph
from gjit.ir.interpreter import Interpreter
from gjit.marks import Final, annotate, export, ignore, interface, unused
from gjit.module import Module, ModuleDict, ModuleList, Parameter, ScriptModule, Sequential, script_method
from gjit.passes.pipelines import register_pass
from gjit.runtime.futures import Future, fork, wait
from gjit.settings import config

__version__ = "0.1.0"

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
    "bind",
    "config",
    "explain",
    "export",
    "fork",
    "ignore",
    "interface",
    "parse_graph",
    "register_pass",
    "rewrite",
    "script",
    "script_method",
    "trace",
    "unused",
    "wait",
]
