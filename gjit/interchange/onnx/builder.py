"""Nodes of a model: emitting them, constants, conversions of dtypes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from gjit.errors import require
from gjit.interchange.onnx.values import Tensor, Unwritable, kind_of

SUPPORTED = frozenset("?bBhHiIlLqQefd")
"""The dtypes of NumPy that tensors of a model have here."""

_WIDER = {"b": "i4", "B": "i4", "h": "i4", "H": "i4", "?": "i4", "I": "i8", "e": "f4", "L": "i8", "Q": "i8"}


def working_dtype(dtype: np.dtype) -> np.dtype:
    """The dtype that runtimes compute in where they lack kernels for a small one; the result is cut to it again.

    Sums, differences and products that wrap around, and float16 results rounded from float32, are the same.
    """
    return np.dtype(_WIDER.get(dtype.char, dtype))


class Builder:
    """Collects the nodes of a model. Names are unique in the whole model, so inner blocks see outer values."""

    def __init__(self) -> None:
        self.onnx: Any = require("onnx", extra="onnx")
        self.helper: Any = self.onnx.helper
        self.nodes: list[Any] = []
        self.depth = 0
        self.initializers: dict[str, Any] = {}
        self._known: dict[tuple, str] = {}
        self._numbers = itertools.count()

    def fresh(self, hint: str = "v") -> str:
        return f"{hint}_{next(self._numbers)}"

    def type_number(self, dtype: np.dtype) -> int:
        """ONNX's number of a dtype."""
        if dtype.char not in SUPPORTED:
            raise Unwritable(f"tensors of dtype {dtype} have no form in a model")
        return int(self.helper.np_dtype_to_tensor_dtype(dtype))

    def emit(self, op: str, *inputs: Any, outputs: int = 1, **attributes: Any) -> Any:
        """Add a node of names and Python values; its output name, or names."""
        names = [self.operand(value) for value in inputs]
        made = [self.fresh(op.lower()) for _ in range(outputs)]
        self.nodes.append(self.helper.make_node(op, names, made, **attributes))
        return made[0] if outputs == 1 else made

    def operand(self, value: Any) -> str:
        """A name: of a tensor, of a constant, or the name itself."""
        if isinstance(value, str):
            return value
        if isinstance(value, Tensor):
            return self.name_of(value)
        return self.constant(np.asarray(value, np.int64) if isinstance(value, int | list | tuple) else value)

    def constant(self, value: Any) -> str:
        """An array as an initializer, each value once."""
        array = np.ascontiguousarray(value).reshape(np.shape(value))
        key = array.dtype.str, array.shape, array.tobytes()
        if key not in self._known:
            self.type_number(array.dtype)
            name = self.fresh("constant")
            self.initializers[name] = self.onnx.numpy_helper.from_array(array, name)
            self._known[key] = name
        return self._known[key]

    def name_of(self, tensor: Tensor) -> str:
        if tensor.name is None:
            tensor.name = self.constant(tensor.constant)
        return tensor.name

    def tensor(self, value: Any) -> Tensor:
        """A tensor for a number, a NumPy scalar or an array."""
        if isinstance(value, Tensor):
            return value
        array = np.asarray(value)
        if array.dtype.char not in SUPPORTED:
            raise Unwritable(
                f"a value of {array.dtype if array.dtype != object else type(value)} has no form in a model"
            )
        return Tensor(None, array.dtype, array.ndim, kind_of(value), self.depth, constant=array)

    def made(self, name: str, like: Any, rank: int | None = None) -> Tensor:
        """The tensor of an output, of the type of a value of NumPy's or of another tensor."""
        if isinstance(like, Tensor):
            return Tensor(name, like.dtype, like.rank if rank is None else rank, like.kind, self.depth)
        dtype, kind = np.asarray(like).dtype, kind_of(like)
        self.type_number(dtype)
        return Tensor(name, dtype, np.ndim(like) if rank is None else rank, kind, self.depth)

    def array(self, name: str, dtype: Any, rank: int, kind: str = "array") -> Tensor:
        return Tensor(name, np.dtype(dtype), rank, kind, self.depth)

    def cast(self, value: Any, dtype: Any) -> str:
        """The name of the value with this dtype."""
        tensor, dtype = self.tensor(value), np.dtype(dtype)
        if tensor.constant is not None:
            with np.errstate(all="ignore"):
                return self.constant(np.asarray(tensor.constant).astype(dtype))
        if tensor.dtype == dtype:
            return self.name_of(tensor)
        return self.cast_name(self.name_of(tensor), tensor.dtype, dtype)

    def cast_name(self, name: str, source: Any, dtype: Any) -> str:
        if np.dtype(source) == np.dtype(dtype):
            return name
        return self.emit("Cast", name, to=self.type_number(np.dtype(dtype)))

    def integer(self, value: Any) -> str:
        """A scalar int64."""
        return self.cast(value, np.int64) if isinstance(value, Tensor) else self.constant(np.int64(value))

    def integers(self, values: Any) -> str:
        """A vector of int64 made of numbers and tensors, or of one tensor that is a vector."""
        if isinstance(values, Tensor) and values.rank == 1:
            return self.cast(values, np.int64)
        parts = list(values) if isinstance(values, tuple | list) else [values]
        if not any(isinstance(part, Tensor) for part in parts):
            return self.constant(np.array(parts, np.int64).reshape(-1))
        rows = [self.emit("Reshape", self.integer(part), [1]) for part in parts]
        return self.emit("Concat", *rows, axis=0)

    def shape(self, value: Any) -> str:
        return self.emit("Shape", self.tensor(value))

    @contextmanager
    def inner(self) -> Iterator[list]:
        """Nodes go into a block of their own."""
        outer, self.nodes = self.nodes, []
        self.depth += 1
        try:
            yield self.nodes
        finally:
            self.nodes = outer
            self.depth -= 1

    def described(self, name: str, dtype: np.dtype, rank: int, extents: list | None = None) -> Any:
        """The type of an input or output."""
        return self.helper.make_tensor_value_info(name, self.type_number(dtype), extents or [None] * rank)

    def block(self, name: str, nodes: list, inputs: list[Any], outputs: list[Any]) -> Any:
        """A block of an If or Loop."""
        return self.helper.make_graph(nodes, self.fresh(name), inputs, outputs)
