"""Single nodes of a region on NumPy, before the region itself: values, calls, whether they gave what is expected."""

from __future__ import annotations

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ops.row import table
from gjit.runtime.region_items import Item


def live(values: dict[Value, object], value: Value) -> object:
    """The object that a value stands for."""
    return value.value if isinstance(value, Constant) else values[value]


def call_step(node: Node, values: dict[Value, object]) -> np.ndarray | np.generic:
    """What NumPy gives for one node."""
    operands = [live(values, value) for value in node.inputs]
    if node.op == "getattr":
        return getattr(operands[0], node.attributes["name"])
    keywords = {node.label(place)[:-1]: value for place, value in enumerate(operands) if node.label(place)}
    return table[node.op].function(*[v for place, v in enumerate(operands) if not node.label(place)], **keywords)


def is_expected(found: object, item: Item) -> bool:
    """Whether a step on NumPy has given what the kernel was made for."""
    if item.weak is not None:
        return type(found) is item.weak
    is_alike = found.dtype == item.dtype and found.shape == item.shape
    places = zip(item.shape, found.strides, item.strides, strict=True) if is_alike else ()
    return is_alike and all(one == other or extent == 1 for extent, one, other in places)
