"""A whole model: the inputs of an example, the nodes, the outputs."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from gjit.errors import UnsupportedError
from gjit.interchange.onnx import (
    rules_create,
    rules_elementwise,
    rules_host,
    rules_linalg,
    rules_reduce,
    rules_shape,
)
from gjit.interchange.onnx.builder import Builder
from gjit.interchange.onnx.joining import output_of
from gjit.interchange.onnx.unused import without_unused
from gjit.interchange.onnx.values import Tensor, Unwritable, is_number, kind_of
from gjit.interchange.onnx.walk import Walk
from gjit.ir.room import with_room

OPSET = 18
"""The version of ONNX's operators that models are written in."""

IR_VERSION = 8
LARGEST = (1 << 31) - (1 << 20)
"""A model of more bytes keeps its arrays in a file beside it."""

FAMILIES = (rules_elementwise, rules_reduce, rules_shape, rules_create, rules_linalg, rules_host)
"""The modules that hold the rules; importing them fills `RULES`."""


def write_model(
    run: Callable[[Walk, list[Any]], Any],
    names: Sequence[str],
    examples: list[Any],
    path: Any,
    fixed: Sequence[Any] = (),
) -> None:
    """Write what a program does with these arguments as a model.

    Args:
        run: follows the program: takes the walk and one value per parameter, gives the result.
        names: of the parameters.
        examples: their values, whose types the model has.
        fixed: values of further parameters, which become part of the model.
        path: the file, or an open binary file.

    Raises:
        UnsupportedError: something of the program has no form in a model; the message shows the line.
    """
    try:
        model = with_room(lambda: _model(run, names, examples, fixed))
    except Unwritable as error:
        raise UnsupportedError(f"this has no form in ONNX: {error}") from None
    _save(model, path)


def _model(
    run: Callable[[Walk, list[Any]], Any], names: Sequence[str], examples: list[Any], fixed: Sequence[Any]
) -> Any:
    builder = Builder()
    walk = Walk(builder)
    inputs: list[Any] = []
    arguments = [_input(builder, name, value, inputs) for name, value in zip(names, examples, strict=True)]
    result = walk.boxes.fresh(run(walk, [*arguments, *map(walk.held, fixed)]))
    outputs: list[Any] = []
    _outputs(builder, "output", result, outputs)
    if not outputs:
        raise Unwritable("the program returns no number and no array")
    helper = builder.helper
    graph = helper.make_graph(builder.nodes, "gjit", inputs, outputs, list(builder.initializers.values()))
    without_unused(graph)
    opsets = [helper.make_opsetid("", OPSET)]
    model = helper.make_model(graph, opset_imports=opsets, producer_name="gjit", ir_version=IR_VERSION)
    if model.ByteSize() < LARGEST:
        builder.onnx.checker.check_model(model)
    return model


def _input(builder: Builder, name: str, value: Any, inputs: list[Any]) -> Any:
    """What stands for an argument: inputs for its arrays and numbers, other objects are part of the model."""
    if type(value) in (tuple, list):
        return type(value)(_input(builder, f"{name}.{number}", each, inputs) for number, each in enumerate(value))
    if type(value) is dict:
        return {key: _input(builder, f"{name}.{key}", each, inputs) for key, each in value.items()}
    if not is_number(value) or isinstance(value, Tensor):
        return value
    array = np.asarray(value)
    if type(value) is not np.ndarray and isinstance(value, np.ndarray):
        raise Unwritable(f"arguments of type {type(value).__name__} have no form in a model")
    extents = [f"{name}_{axis}" for axis in range(array.ndim)]
    inputs.append(builder.described(name, array.dtype, array.ndim, extents))
    return Tensor(name, array.dtype, array.ndim, kind_of(value), 0, frozen="an argument")


def _outputs(builder: Builder, name: str, value: Any, outputs: list[Any]) -> None:
    if type(value) in (tuple, list) or (isinstance(value, tuple) and hasattr(value, "_fields")):
        keys = getattr(value, "_fields", range(len(value)))
        items = list(zip(keys, value, strict=True))
    elif type(value) is dict:
        items = list(value.items())
    elif is_number(value):
        return _output(builder, name, builder.tensor(value), outputs)
    elif value is None:
        return None
    else:
        raise Unwritable(f"a result of type {type(value).__name__} has no form in a model")
    for key, each in items:
        _outputs(
            builder,
            f"{name}.{key}" if name != "output" else str(key) if type(key) is str else f"{name}_{key}",
            each,
            outputs,
        )
    return None


def _output(builder: Builder, name: str, tensor: Tensor, outputs: list[Any]) -> None:
    made = output_of(builder, tensor, tensor)
    builder.nodes.append(builder.helper.make_node("Identity", [made], [name]))
    outputs.append(builder.described(name, tensor.dtype, tensor.rank))


def _save(model: Any, path: Any) -> None:
    from_path = isinstance(path, str | os.PathLike)
    data = model.SerializeToString()
    if not from_path:
        path.write(data)
        return
    with open(path, "wb") as file:
        file.write(data)
