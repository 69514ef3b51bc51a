"""One form for what types prove to be the same, bit for bit."""

from __future__ import annotations

from collections.abc import Callable

from gjit.ir.constants import constant_key
from gjit.ir.graph import Constant, Graph, Node, Value
from gjit.ir.types import (
    BOOL,
    COMPLEX,
    ELLIPSIS,
    FLOAT,
    INT,
    NONE,
    PYTHON_NUMBERS,
    SLICE,
    STR,
    ArrayType,
    ScalarType,
    TupleType,
    Type,
)

Rule = Callable[[Node], bool]
"""Changes the node and says so, or leaves it and returns False."""


def canonicalise(graph: Graph) -> bool:
    """Apply the rules below to every node once, in order.

    >>> from gjit.ir.parser import parse_graph
    >>> graph = parse_graph('''graph f(%u: array<float64, 2>, %e: float) {
    ...   %v = getitem(%u, slice(0, 2, None)) : array<float64, 2>
    ...   %n = operator.iadd(%v, %e) : array<float64, 2>
    ...   setitem(%u, slice(0, 2, None), %n)
    ...   return %u
    ... }''')
    >>> canonicalise(graph)
    True
    >>> print(graph)
    graph f(%u: array<float64, 2>, %e: float) {
      %v = getitem(%u, slice(0, 2, None)) : array<float64, 2>
      %n = operator.iadd(%v, %e) : array<float64, 2>
      return %u
    }
    """
    changed = False
    for node in list(graph.all_nodes()):
        rule = RULES.get(node.op)
        if rule is not None and node.block is not None:
            changed |= rule(node)
    return changed


def _drop_store_of_own_view(node: Node) -> bool:
    """`u[i] = n` where n is what an in-place operation on the view `u[i]` gave: it already wrote through the view,
    and storing a view into itself does nothing."""
    target, index, value = node.inputs
    update = value.producer
    if not isinstance(update, Node) or update.op not in IN_PLACE:
        return False
    view, operand = update.inputs
    source = view.producer
    if not isinstance(source, Node) or source.op != "getitem" or source.inputs[0] is not target:
        return False
    if not (_is_same(source.inputs[1], index) and _is_basic(index) and _keeps_the_array(target, view, operand)):
        return False
    node.remove()
    return True


def _is_same(left: Value, right: Value) -> bool:
    if isinstance(left, Constant) and isinstance(right, Constant):
        return constant_key(left.value) == constant_key(right.value)
    return left is right


def _is_basic(index: Value) -> bool:
    return _is_basic_type(index.type)


def _is_basic_type(type_: Type) -> bool:
    if isinstance(type_, TupleType):
        return type_.elements is not None and all(map(_is_basic_type, type_.elements))
    return type_ in (INT, SLICE, NONE, ELLIPSIS)


def _keeps_the_array(target: Value, view: Value, operand: Value) -> bool:
    """Whether `view op= operand` surely gives the view itself, and the view is one of the target.

    The rank of the target is only known in programs that assign no shape in place; then an index means the
    same part of it later.
    """
    known = isinstance(target.type, ArrayType) and target.type.rank is not None and isinstance(view.type, ArrayType)
    plain = isinstance(operand.type, ArrayType | ScalarType) or operand.type in PYTHON_NUMBERS
    return known and plain and target.type.dtype is not None and not target.type.dtype.hasobject


def _same_object(*types: Type) -> Rule:
    """The rule of a conversion that returns its argument itself where that has one of the types exactly."""

    def rule(node: Node) -> bool:
        if len(node.inputs) != 1 or node.labels or node.inputs[0].type not in types:
            return False
        node.replace_with([node.inputs[0]])
        return True

    return rule


def _asarray(node: Node) -> bool:
    """`np.asarray(x)` of an array is x."""
    if len(node.inputs) != 1 or node.labels or not isinstance(node.inputs[0].type, ArrayType):
        return False
    node.replace_with([node.inputs[0]])
    return True


def _item_of_display(node: Node) -> bool:
    """`(a, b)[1]` is b, the very object."""
    display, index = node.inputs
    elements = _elements(display)
    if elements is None or not isinstance(index, Constant) or type(index.value) is not int:
        return False
    if not -len(elements) <= index.value < len(elements):
        return False
    node.replace_with([elements[index.value]])
    return True


def _unpack_display(node: Node) -> bool:
    """`x, y = a, b` binds the very objects."""
    elements = _elements(node.inputs[0])
    if elements is None or node.attributes.get("star") or len(elements) != len(node.results):
        return False
    node.replace_with(list(elements))
    return True


def _length_of_display(node: Node) -> bool:
    elements = _elements(node.inputs[0]) if len(node.inputs) == 1 else None
    if elements is None:
        return False
    node.replace_with([Constant(len(elements))])
    return True


def _elements(value: Value) -> list[Value] | None:
    node = value.producer
    if isinstance(value, Constant) and type(value.value) is tuple:
        return [Constant(element) for element in value.value]
    if isinstance(node, Node) and node.op == "tuple" and not any(node.labels):
        return node.inputs
    return None


IN_PLACE = frozenset(
    f"operator.i{name}"
    for name in ["add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor"]
)
RULES: dict[str, Rule] = {
    "setitem": _drop_store_of_own_view,
    "getitem": _item_of_display,
    "unpack": _unpack_display,
    "builtin.len": _length_of_display,
    "builtin.int": _same_object(INT),
    "builtin.float": _same_object(FLOAT),
    "builtin.bool": _same_object(BOOL),
    "builtin.complex": _same_object(COMPLEX),
    "builtin.str": _same_object(STR),
    "numpy.asarray": _asarray,
}
"""One rule for each op."""
