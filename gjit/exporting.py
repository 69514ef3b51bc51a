"""Export compiled functions and modules to other formats."""

from __future__ import annotations

import inspect
from typing import Any

from gjit.compiled import CompiledFunction
from gjit.interchange.archive.container import Target
from gjit.interchange.onnx import write_model
from gjit.interchange.onnx.calls import call
from gjit.ir.capturable import graph_of, has_graph, receiver_of
from gjit.ir.graph import Parameter, ParameterKind
from gjit.module import Module


def export_onnx(obj: Any, path: Target, example_inputs: Any) -> None:
    """Write a compiled function or a module as an ONNX model, which runs without Python.

    The model has the dtypes and the number of axes of the example; extents and values are free, and control flow that
    depends on them stays control flow. Arrays that the program holds, parameters included, are part of the file.

    Args:
        obj: a compiled function, or a module, whose `forward` is exported.
        path: the file that is written, or an open binary file.
        example_inputs: an array, or a tuple with one value for each parameter. Arrays and numbers become inputs of the
            model, named like the parameters; other objects are part of it.

    Raises:
        UnsupportedError: something has no form in ONNX; the message names it and shows the line.
        ImportError: the package `onnx` is not installed.
    """
    examples = example_inputs if type(example_inputs) is tuple else (example_inputs,)
    if isinstance(obj, CompiledFunction):
        values = obj._compiled.bind(examples, {})
        parameters = obj._compiled.parameters
        kinds = (ParameterKind.KEYWORD_ONLY, ParameterKind.VARIADIC_KEYWORD)
        count = min(len(examples), sum(parameter.kind not in kinds for parameter in parameters))
        names = _names(parameters[:count])
        write_model(
            lambda walk, given: walk.graph(walk.enter(obj._compiled), given),
            names,
            values[:count],
            path,
            values[count:],
        )
    elif isinstance(obj, Module):
        bound = inspect.signature(obj.forward).bind(*examples)
        write_model(lambda walk, given: call(walk, obj, given, {}), list(bound.arguments), list(bound.args), path)
    elif has_graph(obj):
        receiver = receiver_of(obj)
        names = _names(graph_of(obj).parameters)[1:] if receiver is not None else _names(graph_of(obj).parameters)
        write_model(lambda walk, given: call(walk, obj, given, {}), names, list(examples), path)
    else:
        raise TypeError(f"gjit.export_onnx takes a compiled function or a module, not {type(obj).__name__}")


def _names(parameters: list[Parameter]) -> list[str]:
    return [parameter.name for parameter in parameters]
