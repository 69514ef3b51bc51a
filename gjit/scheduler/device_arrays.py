"""Programs on arrays that lie on a device: where their kinds differ from NumPy's, the values must not.

A reduction and an element are arrays without axes there, which can be written; NumPy gives scalars, which cannot. An
index that is out of range is an error in NumPy; a device reads some other element.
"""

from __future__ import annotations

from collections.abc import Iterator

from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.types import UNKNOWN, ArrayType, ScalarType

ELEMENT, CHECK = "element", "check_index"
"""Functions of the runtime that take the place of a subscript, and that go before one."""


def with_device_kinds(graph: Graph) -> None:
    """Change the nodes of a graph, in which regions have been formed, to what is right for device arrays."""
    for node in list(_nodes_outside_regions(graph.block)):
        if node.op.startswith("operator.i") and len(node.inputs) == 2 and _is_scalar(node.inputs[0]):
            node.op = f"operator.{node.op.removeprefix('operator.i')}" if _is_augmented(node.op) else node.op
        elif node.op == "getitem" and _is_scalar(node.result) and isinstance(node.inputs[0].type, ArrayType):
            element = Node(
                "settle", node.inputs, attributes={"how": ELEMENT}, results=[node.result.type], span=node.span
            )
            node.block.insert(element, node)
            node.replace_with([element.result])
        elif node.op in ("getitem", "setitem") and _chooses_by_array(node.inputs[1]):
            check = Node("settle", node.inputs[:2], attributes={"how": CHECK}, span=node.span)
            node.block.insert(check, node)


def _nodes_outside_regions(block: Block) -> Iterator[Node]:
    stack = [block]
    while stack:
        for node in stack.pop():
            yield node
            if node.op != "region":
                stack += node.blocks


def _is_scalar(value: Value) -> bool:
    return isinstance(value.type, ScalarType)


def _is_augmented(op: str) -> bool:
    return op not in ("operator.is", "operator.is_not", "operator.in", "operator.invert")


def _chooses_by_array(index: Value) -> bool:
    """Whether an index may be an array of integers, or hold one."""
    if isinstance(index, Constant):
        return False
    if isinstance(index.producer, Node) and index.producer.op == "tuple":
        return any(map(_chooses_by_array, index.producer.inputs))
    if isinstance(index.type, ArrayType):
        return index.type.dtype is None or index.type.dtype.kind in "iu"
    return index.type == UNKNOWN
