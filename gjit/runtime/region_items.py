"""The values and steps of a region, as they are known for given inputs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from gjit.ir.graph import Node
from gjit.runtime.layout import Order, Shape, contiguous_strides, order_of
from gjit.scheduler.fusible import Operation

DTYPE_CHARACTERS = frozenset("?bBhHiIlLefdFD")
"""The dtypes that regions take: native booleans, integers, floats and complex numbers."""
WEAK_TYPES = (bool, int, float, complex)
_INDEX_TYPES = (int, slice, type(None), type(Ellipsis))


class Unsupported(Exception):
    """This region cannot be tiled for these inputs; its twin runs."""


@dataclass(slots=True, eq=False)
class Item:
    """One value of a region: an array, a scalar, or (without dtype) an index.

    weak        the Python type of a number that is weak in promotion
    order       the orders in which NumPy may walk it
    is_array    whether it is an array, rather than a scalar: only NumPy's reuse of temporaries tells them apart
    constant    whether its value is part of the graph
    position    of the node that makes it, or -1
    storage     the item whose memory it is: itself but for the results of in-place ops
    viewed      the item that it is a view of, and `index` what selects it there
    """

    dtype: np.dtype | None
    shape: Shape = ()
    order: Order = Order.ANY
    strides: tuple[int, ...] = ()
    weak: type | None = None
    is_array: bool = False
    constant: bool = False
    position: int = -1
    storage: Item | None = None
    viewed: Item | None = None
    index: tuple = ()

    @property
    def root(self) -> Item:
        return self if self.storage is None else self.storage.root

    @property
    def memory(self) -> Item:
        """The root whose memory it is, views included."""
        root = self.root
        return root if root.viewed is None else root.viewed.memory


@dataclass(slots=True)
class Step:
    """One node of the body, with everything decided: `function` is called with the operands, and `out` if any.

    `loops` are the dtypes of the ufunc's inner loop, operands first; `position` is the node's in the body.
    """

    node: Node
    operation: Operation
    function: object
    operands: tuple[Item, ...]
    result: Item | None
    out: Item | None = None
    loops: tuple[np.dtype, ...] = ()
    position: int = 0


def item_of(value: object, constant: bool = False) -> Item:
    """What is known of one input or constant."""
    kind = type(value)
    if kind in WEAK_TYPES:
        return Item(None, weak=kind, constant=constant)
    if kind is np.ndarray or (isinstance(value, np.generic) and kind is value.dtype.type):
        if not is_supported(value.dtype):
            raise Unsupported
        order = order_of(value.shape, value.strides)
        return Item(value.dtype, value.shape, order, value.strides, is_array=kind is np.ndarray, constant=constant)
    parts = value if kind is tuple else (value,)
    if all(type(part) in _INDEX_TYPES for part in parts):
        return Item(None, constant=constant)
    raise Unsupported


def is_supported(dtype: np.dtype) -> bool:
    """Whether regions take arrays of this dtype."""
    return dtype.char in DTYPE_CHARACTERS and dtype.isnative and dtype.metadata is None


def kept_promise(result: object, size: int, dtype: np.dtype) -> np.ndarray:
    """What an elementwise function of the user's made of one tile; Unsupported where that is not what it promised."""
    if type(result) is not np.ndarray or result.shape != (size,) or result.dtype != dtype:
        raise Unsupported
    return result


def memory_order(item: Item) -> str:
    """In which order NumPy allocates a result. Among axes in F order it has a place of its own for one of extent 1."""
    if item.strides == contiguous_strides(item.shape, item.dtype.itemsize, Order.C):
        return "C"
    if 1 in item.shape and Order.C not in item.order:
        raise Unsupported
    return "F"
