"""What speaks for arrays where types are not known: elements of containers, attributes, results of methods.

Such values are grouped into regions only next to a sign that arrays are computed with. Plain operators on unknown
values alone are a program on Python objects, which is not to be slowed down by checks.
"""

from __future__ import annotations

from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import PYTHON_NUMBERS, UNKNOWN, ArrayType, ScalarType
from gjit.ops.row import table
from gjit.scheduler.fusible import Form, Operation, operation_of

_FORMS = frozenset({Form.UFUNC, Form.SELECT, Form.APPLY})
_MAKERS = frozenset({"operator.matmul", "library"})
_DEPTH = 16


def is_array(value: Value) -> bool:
    """Whether a value surely is an array with axes, or with an unknown number of them."""
    return isinstance(value.type, ArrayType) and value.type.rank != 0


def may_join(operation: Operation) -> bool:
    """Whether all operands may be what regions take, and one is of unknown type."""
    if operation.form not in _FORMS or operation.out is not None:
        return False
    return any(value.type == UNKNOWN for value in operation.operands) and all(map(may_be_operand, operation.operands))


def may_be_operand(value: Value) -> bool:
    """Whether a value may be an array or a number."""
    return value.type == UNKNOWN or value.type in PYTHON_NUMBERS or isinstance(value.type, ArrayType | ScalarType)


def is_evidence(node: Node, operation: Operation) -> bool:
    """Whether an operation most likely works on arrays: on a proven one, on what NumPy has made, or by a function for
    arrays."""
    if any(map(is_array, operation.operands)):
        return True
    if operation.form not in _FORMS:
        return False
    takes_arrays = operation.form is Form.APPLY or node.op.startswith("numpy.")
    return takes_arrays or any(map(_is_made_by_numpy, operation.operands))


def _is_made_by_numpy(value: Value) -> bool:
    maker = value.producer
    if isinstance(value, Constant) or value.type != UNKNOWN or not isinstance(maker, Node):
        return False
    if maker.op in _MAKERS:
        return True
    row = table.get(maker.op) if maker.op.startswith(("numpy.", "ndarray.")) else None
    return row is not None and not isinstance(row.function, type)  # `numpy.float32(x)` makes a scalar


def leads_to_evidence(node: Node) -> bool:
    """Whether the only user of the result, or the only user of that one's, most likely works on arrays."""
    block = node.block
    for _ in range(_DEPTH):
        if len(node.results) != 1 or sum(node.result.uses.values()) != 1:
            return False
        node = next(iter(node.result.uses))
        operation = operation_of(node) if node.block is block else None
        if operation is None or not may_join(operation):
            return False
        if is_evidence(node, operation):
            return True
    return False
