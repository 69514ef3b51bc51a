"""Calls: of functions of the op table, of the program's own, of methods and modules."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from gjit.errors import UnsupportedError
from gjit.interchange.onnx import indexing
from gjit.interchange.onnx.rules import RULES
from gjit.interchange.onnx.values import Closure, Method, Sequence, Tensor, Unwritable, holds_tensor
from gjit.ir.capturable import graph_of, has_graph, is_ignored, receiver_of
from gjit.ir.evaluation import EVALUATED, python_function
from gjit.ir.graph import Graph, Node
from gjit.ops.row import table
from gjit.runtime.compiled import scripted

UNROLLED = 1000
"""Items of a known sequence that a program may go over, each with its own nodes."""


def call(walk: Any, callee: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    """What a callee gives for these arguments."""
    match callee:
        case Method():
            return method(walk, callee, positional, keywords)
        case Closure():
            return call_closure(walk, callee, positional, keywords)
        case types.MethodType() if not has_graph(callee):
            return call(walk, callee.__func__, [callee.__self__, *positional], keywords)
    row = _row_of(callee)
    if row is not None:
        return walk.operation(row.name, positional, keywords)
    if has_graph(callee):
        return call_graph(walk, callee, positional, keywords)
    if isinstance(callee, types.FunctionType):
        if is_ignored(callee):
            raise Unwritable(f"{callee.__qualname__} is left to the interpreter, and a model has none")
        return walk.invoked(scripted_function(walk, callee), positional, keywords)
    forward = _forward_of(callee)
    if forward is not None:
        return call(walk, forward, positional, keywords)
    return _known_call(walk, callee, positional, keywords)


def _row_of(callee: Any) -> Any:
    try:
        return table.of_function(callee)
    except TypeError:
        return None


def _known_call(walk: Any, callee: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    name = getattr(callee, "__qualname__", type(callee).__name__)
    if isinstance(callee, type) and issubclass(callee, BaseException):
        raise Unwritable(f"an exception ({name}) that depends on the inputs has no form in a model")
    owner = getattr(callee, "__self__", None)
    if isinstance(owner, list | dict) and name.split(".")[-1] in (
        "append",
        "extend",
        "insert",
        "pop",
        "update",
        "clear",
    ):
        _check_container(walk, owner)
        return callee(*positional, **keywords)
    is_builtin = isinstance(callee, types.BuiltinFunctionType | types.MethodWrapperType | np.dtype | type(np.sum))
    is_query = isinstance(owner, str | tuple | list | dict | int | float | range)
    if holds_tensor((positional, list(keywords.values()))) and not is_query:
        raise Unwritable(f"{name} has no form in a model")
    if is_query or (is_builtin and isinstance(owner, types.ModuleType | type | None)) or callee in _PLAIN_CLASSES:
        return walk.constants(callee(*positional, **keywords))
    raise Unwritable(f"{name} has no form in a model")


_PLAIN_CLASSES = (np.dtype, tuple, list, dict, set, frozenset, str, slice, range, np.errstate, object)


def _check_container(walk: Any, owner: Any) -> None:
    if walk.lists.get(id(owner)) != walk.builder.depth:
        raise Unwritable("a container is changed that was made outside of this branch or loop")


def scripted_function(walk: Any, function: types.FunctionType) -> Graph:
    """The graph of a function of the program."""
    if function not in walk.scripted:
        try:
            walk.scripted[function] = walk.enter(scripted(function, strict=True))
        except UnsupportedError as error:
            raise Unwritable(str(error)) from None
    return walk.scripted[function]


def call_graph(walk: Any, callee: Any, positional: list[Any], keywords: dict[str, Any]) -> Any:
    """A call of what has a graph."""
    receiver = receiver_of(callee)
    given = positional if receiver is None else [receiver, *positional]
    method = getattr(callee, "_method", callee)
    compiled = getattr(getattr(method, "compiled", method), "_compiled", None)
    graph = graph_of(callee) if compiled is None else walk.enter(compiled)
    return walk.invoked(graph, given, keywords)


def bound(walk: Any, name: str, parameters: Any, defaults: list[Any], body: Any) -> Any:
    """A Python function with these parameters that hands one value for each to `body`."""
    held = [walk.held(value) for value in defaults]
    return python_function(name, parameters, held, body)


def closure(walk: Any, graph: Graph, node: Node, inputs: list[Any]) -> Closure:
    count = len(inputs) - len(node.attributes.get("annotations", ()))
    return Closure(node, walk.around, inputs[:count], graph)


def call_closure(walk: Any, callee: Closure, positional: list[Any], keywords: dict[str, Any]) -> Any:
    node = callee.node
    block = node.blocks[0]

    def body(*values: Any) -> Any:
        return walk.inner_function(
            callee.graph, block, {**callee.values, **dict(zip(block.parameters, values, strict=True))}
        )

    attributes = node.attributes
    return bound(walk, attributes["name"], attributes["parameters"], callee.defaults, body)(*positional, **keywords)


def _forward_of(callee: Any) -> Any:
    """`forward` of a module without hooks."""
    kind = type(callee)
    if not hasattr(kind, "named_parameters") or not hasattr(callee, "_pre_hooks"):
        return None
    if callee._pre_hooks or callee._hooks:
        raise Unwritable(f"the hooks of {kind.__name__} have no form in a model: remove them")
    return callee.forward


def method(walk: Any, callee: Method, positional: list[Any], keywords: dict[str, Any]) -> Any:
    row = table.of_method(callee.name)
    if row is None:
        raise Unwritable(f"the method {callee.name} has no form in a model")
    if callee.name == "fill":
        (value,) = positional
        walk.boxes.write(callee.owner, indexing.written(walk.builder, callee.owner, Ellipsis, value))
        return None
    return walk.operation(row.name, [callee.owner, *positional], keywords)


def attribute(walk: Any, owner: Any, name: str) -> Any:
    """`owner.name`."""
    if isinstance(owner, Tensor):
        return _of_tensor(walk, owner, name)
    if isinstance(owner, Sequence | Closure | Method):
        raise Unwritable(f"the attribute {name} of this has no form in a model")
    found = getattr(type(owner), name, None) if not isinstance(owner, type) else None
    if isinstance(found, property) and found.fget is not None:
        return call(walk, found.fget, [owner], {})
    return walk.held(getattr(owner, name)) if not isinstance(owner, types.ModuleType) else getattr(owner, name)


def _of_tensor(walk: Any, owner: Tensor, name: str) -> Any:
    match name:
        case "ndim":
            return owner.rank
        case "dtype":
            return owner.dtype
        case "itemsize":
            return owner.dtype.itemsize
        case "shape":
            return extents(walk, owner)
        case "size":
            count = (
                walk.builder.emit("ReduceProd", walk.builder.shape(owner), keepdims=0)
                if owner.rank
                else walk.builder.integer(1)
            )
            return walk.builder.array(count, np.int64, 0, "python")
        case "T":
            return walk.operation("numpy.transpose", [owner], {}) if owner.is_array else owner
        case "mT":
            return walk.operation("numpy.matrix_transpose", [owner], {})
        case "real":
            return owner
    return Method(owner, name)


def extents(walk: Any, owner: Tensor) -> tuple:
    if owner.constant is not None:
        return tuple(np.shape(owner.constant))
    shape = walk.builder.shape(owner) if owner.rank else ""
    picked = [walk.builder.emit("Gather", shape, walk.builder.constant(np.int64(axis))) for axis in range(owner.rank)]
    return tuple(walk.builder.array(name, np.int64, 0, "python") for name in picked)


def item(walk: Any, owner: Any, index: Any) -> Any:
    """`owner[index]`."""
    if isinstance(owner, Tensor):
        made = indexing.read(walk.builder, owner, index)
        if made.is_array and indexing.is_basic(index):
            made.bases, made.index = [(owner, owner.version)], index
        return made
    if isinstance(owner, Sequence):
        return owner.item(index)
    if holds_tensor(index):
        if isinstance(owner, tuple | list) and isinstance(index, Tensor):
            stacked = RULES["numpy.array"](walk.builder, list(owner))
            found = indexing.read(walk.builder, stacked, index)
            if all(type(each) in (int, float, bool) for each in owner):
                found.kind = "python"
                return found
        raise Unwritable("a container is read at a place that depends on the inputs")
    found = type(owner).__getitem__
    if isinstance(found, types.FunctionType):
        return call(walk, found, [owner, index], {})
    return walk.boxes.fresh(owner[index]) if holds_tensor(owner[index]) else walk.held(owner[index])


def unpacked(walk: Any, node: Node, value: Any) -> tuple:
    if isinstance(value, Tensor):
        if node.attributes["star"]:
            raise Unwritable("a starred target takes a number of items that depends on the inputs")
        value = tuple(item(walk, value, index) for index in range(node.attributes["before"]))
    return EVALUATED["unpack"](node, list(known_items(walk, value)))


def known_items(walk: Any, value: Any) -> list[Any]:
    """The items of a sequence whose length is known."""
    if isinstance(value, Sequence) and isinstance(value.length, int):
        return [value.item(index) for index in range(value.length)]
    if isinstance(value, Tensor | Sequence):
        raise Unwritable("the number of items depends on the inputs: write a loop over an index")
    if hasattr(type(value), "_pre_hooks") or hasattr(value, "_pre_hooks"):
        return list(value)
    items = list(value)
    if len(items) > UNROLLED:
        raise Unwritable(f"{len(items)} items are too many to be written one by one")
    return [walk.held(each) if isinstance(each, np.ndarray) else _read_again(walk, each) for each in items]


def _read_again(walk: Any, value: Any) -> Any:
    return walk.boxes.fresh(value) if isinstance(value, Tensor | tuple) else value


def text(walk: Any, node: Node, inputs: list[Any]) -> str:
    if holds_tensor(inputs):
        raise Unwritable("a text of a value that depends on the inputs has no form in a model")
    return EVALUATED["format"](node, *inputs)
