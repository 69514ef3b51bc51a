"""Type rules of functions that make arrays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import FLOAT, INT, PYTHON_NUMBERS, STR, UNKNOWN, ArrayType, ScalarType, Type
from gjit.ops.arguments import bind, is_array, is_numeric
from gjit.ops.probe import probed
from gjit.ops.row import TypeRule

_SMALL = 2**31


def arange_types(node: Node) -> list[Type]:
    """`arange`: ints give int64 unless they do not fit in it, which bounds that are not known may not."""
    arguments = bind(node, np.arange)
    if arguments is None or len(node.results) != 1:
        return [UNKNOWN]
    found = _arange(node)
    if found[0] != UNKNOWN:
        return found
    bounds = [value for name, value in arguments.items() if name in ("start_or_stop", "start", "stop", "step")]
    ints = [value for value in bounds if value.type == INT]
    known = all(value.type in (INT, FLOAT) for value in bounds) and "dtype" not in arguments
    if not known:
        return [UNKNOWN]
    if not ints:
        return [ArrayType(np.dtype(float), 1)]
    return [ArrayType(np.dtype(int) if all(map(_is_small, bounds)) else None, 1)]


_arange = probed(np.arange)


def _is_small(value: Value) -> bool:
    """Whether the int is small for sure: a constant, a length, an extent. Others may not fit in int64."""
    if isinstance(value, Constant):
        return type(value.value) is int and abs(value.value) < _SMALL
    node = value.producer
    if not isinstance(node, Node):
        return False
    if node.op in ("getitem", "unpack"):
        node = node.inputs[0].producer
        return isinstance(node, Node) and node.op == "getattr" and _is_extent_of_array(node, ("shape",))
    return node.op == "builtin.len" or (node.op == "getattr" and _is_extent_of_array(node, ("size", "ndim")))


def _is_extent_of_array(node: Node, names: tuple[str, ...]) -> bool:
    return isinstance(node.inputs[0].type, ArrayType) and node.attributes["name"] in names


def scalar_class_types(kind: type[np.generic]) -> TypeRule:
    """`numpy.float32(x)`: a scalar for a number, an array for an array with dimensions."""
    dtype = np.dtype(kind)

    def rule(node: Node) -> list[Type]:
        if any(node.labels) or len(node.inputs) > 1:
            return [UNKNOWN]
        type_ = node.inputs[0].type if node.inputs else FLOAT
        if is_array(type_) and is_numeric(type_):
            return [ArrayType(dtype, type_.rank)]
        single = is_numeric(type_) and getattr(type_, "rank", 0) == 0
        return [ScalarType(dtype) if single or type_ in (*PYTHON_NUMBERS, STR) else UNKNOWN]

    return rule


def filled_types(function: Callable) -> TypeRule:
    """`full`: as other makers of arrays, and an int value beside a constant dtype cannot decide anything."""
    plain = probed(function, "fill_value a", shape="shape")
    with_dtype = probed(function, "a", weak="fill_value", shape="shape")

    def rule(node: Node) -> list[Type]:
        arguments = bind(node, function) or {}
        given = "dtype" in arguments or function is np.full_like
        return with_dtype(node) if given else plain(node)

    return rule
