"""Temporaries that NumPy may reuse for a sum or product: they die in the expression that reads them."""

from __future__ import annotations

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import PYTHON_NUMBERS, ArrayType, ScalarType
from gjit.scheduler.fusible import IN_PLACE
from gjit.scheduler.movable import is_basic_index

SWAPPING = frozenset({"operator.add", "operator.mul"})
"""Operators that may write into their right operand, and then take it first: which NaN stays, and the bits of complex
products, depend on that."""
_FRESH = frozenset({"operator.matmul", "numpy.matmul", "numpy.dot", "numpy.outer", "numpy.linalg.cholesky"})
"""What makes arrays that own their memory."""
_OWNED_ELSEWHERE = frozenset({"capture", "load", "getattr"})


def dies_on_the_right(node: Node) -> bool:
    """Whether the right operand of a sum or product may be a fresh array of floats that nobody else sees."""
    if node.op not in SWAPPING or len(node.inputs) != 2:
        return False
    left, right = node.inputs
    return may_be_temporary(right) and _may_hold_floats(right) and _may_have_one_shape(left, right)


def writes_left_at_most(node: Node) -> bool:
    """Whether NumPy writes such a sum or product into the left operand or into neither, and nobody sees which: that is
    a fresh array of the same dtype and rank, and the result is only stored."""
    left, right = (value.type for value in node.inputs)
    maker, result = node.inputs[0].producer, node.result
    if not isinstance(left, ArrayType) or not isinstance(right, ArrayType) or left.dtype is None or left.rank is None:
        return False
    if left != right or not isinstance(maker, Node) or maker.op not in _FRESH or sum(result.uses.values()) != 1:
        return False
    user = next(iter(result.uses))
    is_stored = user.op == "setitem" or user.op in IN_PLACE
    return is_stored and user is node.next and user.inputs[-1] is result and user.inputs[0] is not result


def may_be_temporary(value: Value) -> bool:
    """Whether a value, for which the user's program has no name, may be a fresh array that its one user may reuse."""
    maker = value.producer
    if isinstance(value, Constant) or not isinstance(maker, Node) or value.name or sum(value.uses.values()) != 1:
        return False
    return next(iter(value.uses)).block is maker.block and maker.op not in _OWNED_ELSEWHERE and not _is_view(maker)


def _is_view(maker: Node) -> bool:
    return maker.op == "getitem" and isinstance(maker.inputs[0].type, ArrayType) and is_basic_index(maker.inputs[1])


def _may_hold_floats(value: Value) -> bool:
    type_ = value.type
    if type_ in PYTHON_NUMBERS or isinstance(type_, ScalarType):
        return False
    return not isinstance(type_, ArrayType) or type_.dtype is None or type_.dtype.kind in "fc"


def _may_have_one_shape(left: Value, right: Value) -> bool:
    """The left operand has no axes, or those of the right one."""
    if not isinstance(left.type, ArrayType) or not isinstance(right.type, ArrayType):
        return True
    return left.type.rank in (None, 0) or right.type.rank is None or left.type.rank == right.type.rank
