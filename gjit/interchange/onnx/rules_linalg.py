"""Products of matrices, and triangles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.interchange.onnx.builder import Builder, working_dtype
from gjit.interchange.onnx.rules import RULES, result_of, rule
from gjit.interchange.onnx.rules_shape import expand_dims, ravel, transpose
from gjit.interchange.onnx.values import Tensor, Unwritable


@rule("numpy.matmul", "operator.matmul")
def matmul(builder: Builder, a: Any, b: Any) -> Tensor:
    return _product(builder, "MatMul", np.matmul, a, b)


@rule("numpy.dot", "ndarray.dot")
def dot(builder: Builder, a: Any, b: Any) -> Tensor:
    one, other = builder.tensor(a), builder.tensor(b)
    if one.rank == 0 or other.rank == 0:
        return RULES["numpy.multiply"](builder, a, b)
    if one.rank > 2 or other.rank > 2:
        raise Unwritable("numpy.dot of more than two axes has no form in a model: write matmul")
    return _product(builder, "MatMul", np.dot, a, b)


def _product(builder: Builder, op: str, function: Callable, a: Any, b: Any, **attributes: Any) -> Tensor:
    like = result_of(function, a, b)
    work = working_dtype(np.asarray(like).dtype)
    names = [builder.cast_name(builder.cast(each, like.dtype), like.dtype, work) for each in (a, b)]
    if np.asarray(like).dtype.char == "?":
        raise Unwritable("a product of matrices of truth values has no form in a model")
    return builder.made(builder.cast_name(builder.emit(op, *names, **attributes), work, like.dtype), like)


@rule("numpy.inner")
def inner(builder: Builder, a: Any, b: Any) -> Tensor:
    other = builder.tensor(b)
    return dot(builder, a, b if other.rank < 2 else transpose(builder, b))


@rule("numpy.outer")
def outer(builder: Builder, a: Any, b: Any) -> Tensor:
    column = expand_dims(builder, ravel(builder, a), 1)
    return RULES["numpy.multiply"](builder, column, ravel(builder, b))


@rule("numpy.vecdot")
def vecdot(builder: Builder, a: Any, b: Any) -> Tensor:
    return RULES["numpy.sum"](builder, RULES["numpy.multiply"](builder, a, b), -1, result_of(np.vecdot, a, b).dtype)


@rule("numpy.einsum")
def einsum(builder: Builder, subscripts: Any, *operands: Any) -> Tensor:
    like = result_of(lambda *arrays: np.einsum(subscripts, *arrays), *operands)
    work = working_dtype(like.dtype)
    names = [builder.cast_name(builder.cast(each, like.dtype), like.dtype, work) for each in operands]
    found = builder.emit("Einsum", *names, equation=subscripts)
    return builder.made(builder.cast_name(found, work, like.dtype), like)


def _triangle(upper: bool) -> Callable[..., Tensor]:
    def write(builder: Builder, m: Any, k: Any = 0) -> Tensor:
        tensor = builder.tensor(m)
        work = np.dtype("i4") if tensor.dtype.char == "?" else working_dtype(tensor.dtype)
        name = builder.cast_name(builder.cast(tensor, tensor.dtype), tensor.dtype, work)
        found = builder.emit("Trilu", name, builder.integer(k), upper=int(upper))
        return builder.array(builder.cast_name(found, work, tensor.dtype), tensor.dtype, tensor.rank)

    return write


RULES["numpy.triu"], RULES["numpy.tril"] = _triangle(True), _triangle(False)
