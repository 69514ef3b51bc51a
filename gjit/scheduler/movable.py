"""Nodes that may run earlier than they stand: nobody can tell, since they cannot fail, write or be observed."""

from __future__ import annotations

from gjit.ir.graph import Constant, Graph, Node, Value
from gjit.ir.types import ELLIPSIS, FLOAT, INT, NONE, SLICE, ArrayType, TupleType, Type
from gjit.ops.row import Effect, effects_of, table

_METADATA = frozenset({"shape", "ndim", "size", "dtype", "itemsize", "nbytes", "strides", "T"})
_NEVER_FAILS = frozenset(f"operator.{name}" for name in ("add", "sub", "mul", "neg", "pos"))


def is_movable(node: Node, graph: Graph) -> bool:
    """Whether the node, moved up to where its inputs exist, gives the same result and no sign of having moved."""
    if node.op in table and effects_of(node) & ~Effect.ALLOCATES == Effect.NONE:
        return True
    rule = _RULES.get(node.op)
    if rule is not None:
        return rule(node, graph)
    if node.op == "operator.truediv":
        return _is_safe_division(*node.inputs)
    return node.op in _NEVER_FAILS and _is_python_arithmetic(node)


def _is_safe_division(dividend: Value, divisor: Value) -> bool:
    """A float by a number that is not zero: what is too large becomes infinite."""
    if not isinstance(divisor, Constant) or type(divisor.value) not in (int, float):
        return False
    return dividend.type == FLOAT and 0 < abs(divisor.value) < 2**53


def _is_python_arithmetic(node: Node) -> bool:
    """Sums and products of floats never fail; an int joins them only where it is known to fit a float."""
    if all(value.type == INT for value in node.inputs):
        return True
    return all(
        value.type == FLOAT or (isinstance(value, Constant) and value.type == INT and abs(value.value) < 2**53)
        for value in node.inputs
    )


def _is_capture(node: Node, graph: Graph) -> bool:
    return graph.captures[node.attributes["slot"]].guarded


def _is_display(node: Node, graph: Graph) -> bool:
    return not any(node.labels)


def _is_metadata(node: Node, graph: Graph) -> bool:
    return node.attributes.get("name") in _METADATA and isinstance(node.inputs[0].type, ArrayType)


def _is_view(node: Node, graph: Graph) -> bool:
    """`array[1:-1, ...]` with no more slices than the array has axes, or an element of a tuple of known length."""
    owner, index = node.inputs
    if isinstance(owner.type, TupleType) and isinstance(index, Constant) and owner.type.elements is not None:
        size = len(owner.type.elements)
        return type(index.value) is int and -size <= index.value < size
    if not isinstance(owner.type, ArrayType) or owner.type.rank is None:
        return False
    parts = parts_of_index(index)
    if parts is None or not all(_is_safe_slice(part) for part in parts):
        return False
    takes_axis = [part for part in parts if _type_of_part(part) == SLICE]
    ellipses = [part for part in parts if _type_of_part(part) == ELLIPSIS]
    return len(takes_axis) <= owner.type.rank and len(ellipses) <= 1


_RULES = {
    "capture": _is_capture,
    "slice": _is_display,
    "tuple": _is_display,
    "getattr": _is_metadata,
    "getitem": _is_view,
}


def parts_of_index(index: Value) -> list[object] | None:
    """The parts of an index: values, or plain objects where they are constants; None where they are not known."""
    if isinstance(index, Constant):
        return list(index.value) if type(index.value) is tuple else [index.value]
    if isinstance(index.producer, Node) and index.producer.op == "tuple" and not any(index.producer.labels):
        return [value.value if isinstance(value, Constant) else value for value in index.producer.inputs]
    return None if isinstance(index.type, TupleType) else [index]


def _type_of_part(part: object) -> Type:
    return part.type if isinstance(part, Value) else Constant(part).type


def _is_safe_slice(part: object) -> bool:
    if part is None or part is Ellipsis:
        return True
    if isinstance(part, slice):
        return part.step != 0 and all(type(end) in (int, type(None)) for end in (part.start, part.stop, part.step))
    if not isinstance(part, Value) or not isinstance(part.producer, Node) or part.producer.op != "slice":
        return False
    start, stop, step = part.producer.inputs
    return (
        all(value.type in (INT, NONE) for value in (start, stop))
        and isinstance(step, Constant)
        and step.value != 0
        and type(step.value) in (int, type(None))
    )


def is_basic_index(index: Value) -> bool:
    """Whether an index surely selects a view: integers, slices, `None`, `...` and tuples of those."""
    if isinstance(index, Constant):
        parts = index.value if type(index.value) is tuple else (index.value,)
        return all(type(part) in (int, slice, type(None), type(Ellipsis)) for part in parts)
    types = index.type.elements if isinstance(index.type, TupleType) else (index.type,)
    return types is not None and all(type_ in (INT, SLICE, NONE, ELLIPSIS) for type_ in types)
