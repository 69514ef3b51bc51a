"""Functions of Python: conversions, lengths, mathematics of one number."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from gjit.interchange.onnx.builder import Builder
from gjit.interchange.onnx.rules import RULES, rule
from gjit.interchange.onnx.rules_elementwise import WRITERS
from gjit.interchange.onnx.values import Sequence, Tensor, Unwritable

MATH = {"sqrt": "sqrt", "exp": "exp", "sin": "sin", "cos": "cos", "tan": "tan", "tanh": "tanh", "asin": "arcsin"}
MATH |= {"acos": "arccos", "atan": "arctan", "sinh": "sinh", "cosh": "cosh", "asinh": "arcsinh", "acosh": "arccosh"}
MATH |= {"atanh": "arctanh", "fabs": "fabs", "log1p": "log1p", "expm1": "expm1", "degrees": "degrees"}
MATH |= {"radians": "radians", "log2": "log2", "log10": "log10"}
TESTS = {"isnan": "isnan", "isinf": "isinf", "isfinite": "isfinite"}
WHOLE = {"floor": "floor", "ceil": "ceil", "trunc": "trunc"}


def one_number(builder: Builder, value: Any) -> str:
    """The name of the only element of a value, as a scalar."""
    tensor = builder.tensor(value)
    return (
        builder.emit("Reshape", tensor, builder.constant(np.zeros(0, np.int64)))
        if tensor.rank
        else builder.name_of(tensor)
    )


def _number(builder: Builder, value: Any, dtype: Any) -> Tensor:
    tensor = builder.tensor(value)
    name = builder.cast_name(one_number(builder, tensor), tensor.dtype, dtype)
    return builder.array(name, dtype, 0, "python")


@rule("builtin.int")
def integer(builder: Builder, value: Any) -> Tensor:
    return _number(builder, value, np.int64)


@rule("builtin.float")
def floating(builder: Builder, value: Any) -> Tensor:
    return _number(builder, value, np.float64)


@rule("builtin.bool")
def truth(builder: Builder, value: Any) -> Tensor:
    if isinstance(value, Sequence):
        raise Unwritable("whether a sequence is empty has no form in a model")
    return _number(builder, value, np.bool_)


@rule("operator.not")
def negation(builder: Builder, value: Any) -> Tensor:
    return builder.array(builder.emit("Not", truth(builder, value)), bool, 0, "python")


@rule("ndarray.item")
def item(builder: Builder, value: Any, *index: Any) -> Tensor:
    if index:
        raise Unwritable("item with an index has no form in a model: index the array")
    tensor = builder.tensor(value)
    kind = {"b": np.bool_, "f": np.float64}.get(tensor.dtype.kind, np.int64)
    return _number(builder, value, kind)


@rule("builtin.len")
def length(builder: Builder, value: Any) -> Any:
    if isinstance(value, Sequence):
        return value.length
    tensor = builder.tensor(value)
    if not tensor.rank:
        raise Unwritable("len() of an unsized object")
    return builder.array(
        builder.emit("Gather", builder.shape(tensor), builder.constant(np.int64(0))), np.int64, 0, "python"
    )


@rule("builtin.abs")
def absolute(builder: Builder, value: Any) -> Any:
    found = RULES["numpy.absolute"](builder, value)
    found.kind = builder.tensor(value).kind if builder.tensor(value).kind == "python" else found.kind
    return found


def _extreme(name: str, comparison: str) -> Any:
    def write(builder: Builder, *values: Any) -> Any:
        values = tuple(values[0]) if len(values) == 1 and isinstance(values[0], tuple | list) else values
        if len(values) < 2:
            raise Unwritable(f"builtin {name} of an array has no form in a model: write numpy.{name}")
        found = values[0]
        for value in values[1:]:
            chosen = RULES[comparison](builder, value, found)
            kind = "python" if all(_is_python(each) for each in (found, value)) else "scalar"
            found = RULES["numpy.where"](builder, truth(builder, chosen), value, found)
            found.kind = kind
        return found

    return write


RULES["builtin.max"], RULES["builtin.min"] = _extreme("max", "operator.gt"), _extreme("min", "operator.lt")


def _is_python(value: Any) -> bool:
    return value.kind == "python" if isinstance(value, Tensor) else type(value) in (bool, int, float)


@rule("builtin.round")
def rounded(builder: Builder, value: Any, digits: Any = None) -> Any:
    if digits is not None:
        raise Unwritable("round to digits has no form in a model: write numpy.round")
    tensor = builder.tensor(value)
    if tensor.dtype.kind != "f":
        return value
    return integer(builder, builder.array(builder.emit("Round", floating(builder, tensor)), np.float64, 0, "python"))


@rule("builtin.sum")
def total(builder: Builder, values: Any, start: Any = 0) -> Any:
    if not isinstance(values, tuple | list):
        raise Unwritable("builtin sum of an array has no form in a model: write numpy.sum")
    for value in values:
        start = RULES["operator.add"](builder, start, value)
    return start


def _mathematics(name: str, dtype: Any) -> Any:
    def write(builder: Builder, value: Any) -> Tensor:
        found = WRITERS[name](builder, np.dtype(np.float64), builder.name_of(floating(builder, value)))
        came = np.bool_ if dtype is np.bool_ else np.float64
        return builder.array(builder.cast_name(found, came, dtype), dtype, 0, "python")

    return write


for _names, _dtype in ((MATH, np.float64), (TESTS, np.bool_), (WHOLE, np.int64)):
    for _name, _ufunc in _names.items():
        RULES[f"math.{_name}"] = _mathematics(_ufunc, _dtype)


@rule("math.log")
def logarithm(builder: Builder, value: Any, base: Any = math.e) -> Tensor:
    found = builder.array(builder.emit("Log", floating(builder, value)), np.float64, 0, "python")
    if base == math.e:
        return found
    other = builder.array(builder.emit("Log", floating(builder, base)), np.float64, 0, "python")
    return RULES["operator.truediv"](builder, found, other)


def _scalar_class(kind: type) -> Any:
    def write(builder: Builder, value: Any = 0) -> Tensor:
        tensor = builder.tensor(value)
        found = builder.array(builder.cast(tensor, kind), kind, tensor.rank)
        found.kind = "array" if tensor.rank else "scalar"
        return found

    return write


for _kind in (np.bool_, np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64):
    RULES[f"numpy.{_kind.__name__}"] = _scalar_class(_kind)
for _float in (np.float16, np.float32, np.float64):
    RULES[f"numpy.{_float.__name__}"] = _scalar_class(_float)
