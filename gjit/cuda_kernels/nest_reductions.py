"""Sums, products and extremes of short arrays in a nest."""

from __future__ import annotations

import numpy as np

from gjit.cuda_kernels.nest_arrays import address, allocated, element, in_memory
from gjit.cuda_kernels.nest_indexing import element_at, stride_of
from gjit.cuda_kernels.nest_values import ARRAYS, INT64, Array, Reference, Refused, Scalar, View
from gjit.cuda_kernels.nest_writer import Writer, is_usual
from gjit.ir.types import ArrayType
from gjit.ops.kernels import c_type, cast_text
from gjit.ops.rules import ufunc_dtypes


def total(name: str, value: Reference, writer: Writer) -> Scalar:
    """`sum`, `prod`, `min`, `max` and `mean` of all elements of an array with one axis."""
    if not isinstance(value, ARRAYS):
        raise Refused(f"`{name}` of a number")
    if len(value.extents) != 1:
        raise Refused(f"`{name}` of an array of several axes")
    dtype, kind = value.dtype, c_type(value.dtype)
    count = value.extents[0]
    if name in ("min", "max", "mean"):
        writer.bail(f"{count} == 0")
    if (dtype.kind == "f" and name in ("min", "max", "prod")) or (name == "mean" and dtype.kind != "f"):
        writer.exact = False  # of two zeros either one; products and casts in pieces
    if name in ("min", "max"):
        way = "np_minimum" if name == "min" else "np_maximum"
        text = f"nest_fold<{kind}>({_reader(value, dtype)}, {count}, {_combine(kind, f'{way}(a, b)')})"
        return Scalar(writer.temporary(kind, text), dtype)
    accumulator = _accumulator(dtype) if name != "mean" or dtype.kind == "f" else np.dtype("f8")
    held = c_type(accumulator)
    writer.floats |= accumulator.kind == "f"
    if name == "prod":
        text = f"nest_product<{held}>({_reader(value, accumulator)}, {count})"
    else:
        way = "nest_sum" if accumulator.kind == "f" else "nest_integer_sum"
        text = f"{way}<{held}>({_reader(value, accumulator)}, {count})"
    result = writer.temporary(held, text)
    if name == "mean":
        result = writer.temporary(held, f"{result} / ({held})(float64){count}")
    return Scalar(result, accumulator)


def _combine(kind: str, text: str) -> str:
    return f"[]({kind} a, {kind} b) {{ return {text}; }}"


def _accumulator(dtype: np.dtype) -> np.dtype:
    return dtype if dtype.kind == "f" else np.dtype("u8") if dtype.kind == "u" else INT64


def _reader(value: Array, dtype: np.dtype) -> str:
    """A function of the place of an element that gives it as `dtype`."""
    text = cast_text(element(value, ("k",)), value.dtype, dtype)
    return f"[&](int64 k) -> {c_type(dtype)} {{ return {text}; }}"


def product(left: Reference, right: Reference, *, writer: Writer) -> Reference:
    """`left @ right` and `numpy.dot` of arrays, of which one has one axis."""
    if not (isinstance(left, ARRAYS) and isinstance(right, ARRAYS)):
        raise Refused("a product with a number")
    shapes = len(left.extents), len(right.extents)
    if shapes == (1, 1):
        return _dot(left, right, writer)
    a, b = in_memory(left, writer), in_memory(right, writer)
    if shapes == (2, 1):
        return _columns(a, b, writer) if a.unit == 0 else _rows(a, b, writer)
    if shapes == (1, 2):
        turned = View(b.dtype, b.data, b.extents[::-1], b.strides[::-1], 1 - b.unit if b.unit >= 0 else -1, b.base)
        return _columns(turned, a, writer) if turned.unit == 0 else _rows(turned, a, writer)
    raise Refused("a product of matrices")


def _rows(matrix: View, vector: View, writer: Writer) -> View:
    dtype = _product_dtype(matrix, vector)
    made = allocated(matrix.extents[:1], dtype, writer)
    writer.bail(f"{matrix.extents[1]} != {vector.extents[0]}")
    row = writer.fresh("row")
    writer.open(f"for (int64 {row} = 0; {row} < {matrix.extents[0]}; ++{row}) {{")
    data = f"({matrix.data} + {row} * {stride_of(matrix, 0)})"
    unit = 0 if matrix.unit == 1 else -1
    line = View(matrix.dtype, data, matrix.extents[1:], (stride_of(matrix, 1),), unit, matrix.base)
    found = _dot(line, vector, writer)
    writer.line(f"{element_at(address(made, (row,)), dtype)} = {found.text};")
    writer.close()
    return made


def _columns(matrix: View, vector: View, writer: Writer) -> View:
    """A matrix whose columns lie side by side, times a vector: a multiple of each column is added."""
    dtype = _product_dtype(matrix, vector)
    kind = c_type(dtype)
    made = allocated(matrix.extents[:1], dtype, writer)
    writer.bail(f"{matrix.extents[1]} != {vector.extents[0]}")
    writer.exact = writer.exact and dtype.kind != "f"
    writer.floats |= dtype.kind == "f"
    writer.line(f"for (int64 k = 0; k < {matrix.extents[0]}; ++k) {element_at(address(made, ('k',)), dtype)} = 0;")
    column = writer.fresh("column")
    writer.open(f"for (int64 {column} = 0; {column} < {matrix.extents[1]}; ++{column}) {{")
    writer.line(f"const {kind} factor = {cast_text(element(vector, (column,)), vector.dtype, dtype)};")
    place = element_at(address(made, ("k",)), dtype)
    factor = cast_text(element(matrix, ("k", column)), matrix.dtype, dtype)
    writer.line("INDEPENDENT")
    writer.line(
        f"for (int64 k = 0; k < {matrix.extents[0]}; ++k) {place} = np_add({place}, np_multiply({factor}, factor));"
    )
    writer.close()
    return made


def _product_dtype(left: Array, right: Array) -> np.dtype:
    loops = ufunc_dtypes(np.matmul, (ArrayType(left.dtype, 1), ArrayType(right.dtype, 1)))
    if loops is None or loops[-1].kind not in "iuf" or not is_usual(loops[-1]):
        raise Refused(f"a product of {left.dtype} and {right.dtype}")
    return loops[-1]


def _dot(left: Array, right: Array, writer: Writer) -> Scalar:
    dtype = _product_dtype(left, right)
    kind = c_type(dtype)
    if left.extents != right.extents:
        writer.bail(f"{left.extents[0]} != {right.extents[0]}")
    texts = [cast_text(element(each, ("k",)), each.dtype, dtype) for each in (left, right)]
    count = left.extents[0]
    if dtype.kind != "f":
        reader = f"[&](int64 k) -> {kind} {{ return np_multiply({texts[0]}, {texts[1]}); }}"
        return Scalar(writer.temporary(kind, f"nest_integer_sum<{kind}>({reader}, {count})"), dtype)
    writer.exact = False
    writer.floats = True
    unit = [each.data for each in (left, right) if isinstance(each, View) and each.unit == 0 and each.dtype == dtype]
    if len(unit) == 2:
        text = f"nest_dot<{kind}>({unit[0]}, {unit[1]}, {count})"
        return Scalar(writer.temporary(kind, text), dtype)
    reader = f"[&](int64 k) -> {kind} {{ return {texts[0]} * {texts[1]}; }}"
    return Scalar(writer.temporary(kind, f"nest_lanes<{kind}>({reader}, {count})"), dtype)
