"""Constant folding: what Python and NumPy say about constants, asked once; and branches that are decided."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjit.ir.analysis import splice
from gjit.ir.constants import is_constant
from gjit.ir.graph import Block, Constant, Graph, Node
from gjit.ir.types import ArrayType
from gjit.ops import Effect, Kind, effects_of, table
from gjit.passes.facts import known_truth

_PURE_KINDS = frozenset({Kind.OPERATOR, Kind.ELEMENTWISE})
_PURE_BUILTINS = frozenset(
    f"builtin.{name}" for name in ("abs", "bool", "complex", "divmod", "float", "int", "len", "max", "min", "round")
)
_GROWING = frozenset({"math.comb", "math.factorial", "math.perm", "math.prod", "math.lcm"})
_DISPLAYS = {"tuple": lambda *elements: elements, "slice": slice}
_KEEPS_OUT = Effect.READS | Effect.WRITES | Effect.ORDERED
_TESTS = frozenset({"operator.is", "operator.is_not", "operator.not", "builtin.isinstance"})

LARGEST_INT = 1 << 12
"""Bits of the largest int that folding makes; also the largest length of a string, and of a tuple times 16."""


def fold(graph: Graph) -> bool:
    """Replace operations on constants by their results, and branches on known conditions by the block that runs.

    An operation that raises or warns stays and does so when the program runs, whatever the floating-point error
    state is then. Results that are large stay too, and so does everything whose result can be mutated.

    >>> from gjit.ir.parser import parse_graph
    >>> graph = parse_graph('''graph f(%x) {
    ...   %0 = operator.add(2, 3)
    ...   %1 = operator.mul(%0, 0.5)
    ...   %2 = operator.truediv(1, 0)
    ...   %3 = if(True) {
    ...     then { yield %1 }
    ...     else { yield %x }
    ...   }
    ...   return %3
    ... }''')
    >>> fold(graph)
    True
    >>> print(graph)
    graph f(%x) {
      %0 = operator.truediv(1, 0)
      return 2.5
    }
    """
    changed = False
    for node in list(graph.all_nodes()):
        if _is_detached(node):
            continue
        changed |= _fold_node(node)
    return changed


def _is_detached(node: Node) -> bool:
    return node.block is None


def _fold_node(node: Node) -> bool:
    if node.op == "if":
        return _fold_if(node)
    if node.op in ("and", "or"):
        return _fold_and_or(node)
    if node.op in _TESTS and (truth := known_truth(node.result)) is not None:
        node.replace_with([Constant(truth)])
        return True
    constant = known_attribute(node) if node.op == "getattr" else constant_result(node)
    if constant is None:
        return False
    node.replace_with([constant])
    return True


def _fold_if(node: Node) -> bool:
    truth = known_truth(node.inputs[0])
    if truth is None:
        return False
    taken = node.blocks[0 if truth else 1]
    if taken.terminator.op != "yield":
        return False
    splice(taken, node)
    return True


def _fold_and_or(node: Node) -> bool:
    left = node.inputs[0]
    truth = known_truth(left)
    if truth is None:
        return False
    if truth is (node.op == "or"):
        node.replace_with([left])
        return True
    right: Block = node.blocks[0]
    if right.terminator.op != "yield":
        return False
    splice(right, node)
    return True


def constant_result(node: Node) -> Constant | None:
    """The constant that a node on constants gives, or None where it must stay.

    >>> constant_result(Node("operator.truediv", [Constant(1.0), Constant(0.0)])) is None
    True
    """
    if len(node.results) != 1 or node.blocks or not all(isinstance(value, Constant) for value in node.inputs):
        return None
    function = _function_of(node)
    arguments = [value.value for value in node.inputs]
    if function is None or any(node.labels) or not _is_small_work(node.op, arguments):
        return None
    try:
        with np.errstate(all="raise"):
            result = function(*arguments)
    except Exception:
        return None  # it raises, or would warn: when the program runs
    return Constant(result) if _is_small_constant(result) else None


def known_attribute(node: Node) -> Constant | None:
    """`ndim` and `dtype` of an array whose type tells them."""
    type_ = node.inputs[0].type
    if isinstance(type_, ArrayType):
        if node.attributes["name"] == "ndim" and type_.rank is not None:
            return Constant(type_.rank)
        if node.attributes["name"] == "dtype" and type_.dtype is not None and is_constant(type_.dtype):
            return Constant(type_.dtype)
    return None


def _function_of(node: Node):
    if node.op in _DISPLAYS:
        return _DISPLAYS[node.op]
    row = table.get(node.op)
    if row is None or row.function is None or effects_of(node) & _KEEPS_OUT:
        return None
    if row.kind in _PURE_KINDS or node.op in _PURE_BUILTINS:
        return row.function
    return row.function if node.op.startswith("math.") and node.op not in _GROWING else None


def _is_small_work(op: str, arguments: list[object]) -> bool:
    """Whether running the op takes little time and memory; and issues no warning beyond floating-point ones."""
    if not all(map(_is_small_constant, arguments)):
        return op == "builtin.isinstance"
    if op == "operator.invert":
        return not isinstance(arguments[0], bool)  # deprecated: the warning belongs to the run
    if op in ("operator.mod", "operator.imod"):
        return not isinstance(arguments[0], str | bytes)  # text formatting may ask for any width
    if len(arguments) < 2 or not _can_grow(arguments):
        return True
    left, right = arguments[:2]
    if op in ("operator.pow", "operator.ipow") and isinstance(right, int):
        return not isinstance(left, int) or left.bit_length() * abs(right) <= LARGEST_INT
    if op in ("operator.lshift", "operator.ilshift"):
        return not isinstance(right, int) or right <= LARGEST_INT
    if op in ("operator.mul", "operator.imul"):
        return _product_size(left, right) <= LARGEST_INT
    return True


def _can_grow(arguments: list[object]) -> bool:
    return any(isinstance(value, int | str | bytes | tuple) for value in arguments)


def _product_size(left: object, right: object) -> int:
    if isinstance(left, int) and isinstance(right, str | bytes | tuple):
        left, right = right, left
    if isinstance(left, str | bytes | tuple):
        return (len(left) + 1) * (abs(right) if isinstance(right, int) else 1)
    return left.bit_length() + right.bit_length() if isinstance(left, int) and isinstance(right, int) else 0


def _is_small_constant(value: Any) -> bool:
    """Whether a value is immutable, of an exact class that graphs print, and small."""
    kind = type(value)
    if kind is int:
        return value.bit_length() <= LARGEST_INT
    if kind in (str, bytes):
        return len(value) <= LARGEST_INT
    if kind is tuple:
        return len(value) <= LARGEST_INT // 16 and all(map(_is_small_constant, value))
    if kind is slice:
        return all(map(_is_small_constant, (value.start, value.stop, value.step)))
    if isinstance(value, np.generic):
        return kind is value.dtype.type and value.dtype.kind in "biufc" and value.dtype.char not in "gG"
    return kind in (bool, float, complex, type(None), type(Ellipsis)) or isinstance(value, np.dtype)
