"""Whether a region pays on NumPy, and from which size on: what both the host program and the planner go by."""

from __future__ import annotations

from gjit.ir.graph import Node, Value
from gjit.ir.types import UNKNOWN, ArrayType, Type
from gjit.scheduler.bases import is_likely_disturbed
from gjit.scheduler.dying import may_be_temporary
from gjit.scheduler.fusible import Form, Operation, operation_of

_USUAL_ITEM, _SMALLEST_FLOAT = 8, 4
MOST = 4
"""The largest factor."""
_MAKES_FRESH = frozenset({Form.UFUNC, Form.SELECT, Form.APPLY, Form.CAST, Form.ROWS})
OWN_ARRAYS = frozenset({Form.ROWS, Form.SELECT, Form.APPLY})
"""Steps that make their own result, rather than write it into a given array."""


def size_factor(forms: set[Form], steps: int, made: int, outputs: int) -> int | None:
    """How many times as large as the usual minimum arrays have to be; None where plain calls are as fast at any size.

    An array that is not made saves most, for fresh memory is slow; row reductions, selections and
    functions of the user's make arrays of their own for each tile.

    Args:
        forms: of the steps.
        steps: how many there are.
        made: how many of them make an array where NumPy reuses none.
        outputs: how many arrays have to be made.

    >>> size_factor({Form.UFUNC}, 3, 2, 1), size_factor({Form.UFUNC}, 2, 1, 1)
    (1, None)
    """
    if steps <= outputs:
        return None
    if made <= outputs and Form.STORE not in forms:
        return MOST if steps >= 3 else None
    return 1 if OWN_ARRAYS.isdisjoint(forms) else 2


def least_elements(region: Node, smallest_bytes: int) -> int | None:
    """The least number of elements with which a region can pay, as far as its types tell; None where none can.

    Args:
        region: the node.
        smallest_bytes: the size of the smallest array that is worth a region.
    """
    body = region.blocks[0]
    steps = [(node, operation) for node in body if (operation := operation_of(node)) is not None]
    steps = [step for step in steps if step[1].form is not Form.VIEW and any(map(_may_be_array, step[1].operands))]
    forms = {operation.form for _, operation in steps}
    fresh = {node.result for node, operation in steps if operation.out is None and operation.form in _MAKES_FRESH}
    outputs = len(fresh.intersection(body.terminator.inputs))
    made = [sum(_makes(node, operation, types) for node, operation in steps) for types in (ArrayType, Type)]
    count = len(steps)
    if Form.STORE in forms and is_deferred(region):
        forms, count, outputs = forms - {Form.STORE}, count - 1, outputs + 1
    surely, likely = (size_factor(forms, count, each, outputs) for each in made)
    if surely is None:
        return None
    return -(-(likely or MOST) * smallest_bytes // largest_item(region))


def is_deferred(region: Node) -> bool:
    """Whether what a region stores most likely has to be made first: the store writes into what the steps read."""
    pairs = dict(zip(region.blocks[0].parameters, region.inputs, strict=True))
    store = region.blocks[0].last
    target = pairs[store.inputs[0]]
    return is_likely_disturbed(target, [value for value in pairs.values() if _may_be_array(value)])


def _may_be_array(value: Value) -> bool:
    return isinstance(value.type, ArrayType) or value.type == UNKNOWN


def _makes(node: Node, operation: Operation, types: type[Type]) -> bool:
    """Whether a step makes an array; NumPy reuses temporaries whose type is one of `types`."""
    if operation.out is not None or operation.form is Form.STORE:
        return False
    is_operator = operation.form is Form.UFUNC and node.op.startswith("operator.")
    return not (is_operator and any(_is_reused(value, node.result, types) for value in node.inputs))


def _is_reused(value: Value, result: Value, types: type[Type]) -> bool:
    """Whether NumPy writes the result of an operator into this operand: a fresh array without a name."""
    maker = value.producer
    if not isinstance(maker, Node) or not may_be_temporary(value) or not isinstance(value.type, types):
        return False
    operation = operation_of(maker)
    is_fresh = operation is not None and operation.out is None and operation.form in _MAKES_FRESH
    return is_fresh and value.type == result.type


def largest_item(region: Node) -> int:
    """The bytes of the largest element of all values; those that are not known are like the floats among the others."""
    values = [*region.inputs, *(result for node in region.blocks[0] for result in node.results)]
    types = [value.type for value in values if _may_be_array(value)]
    dtypes = [type_.dtype if isinstance(type_, ArrayType) else None for type_ in types]
    known = max((dtype.itemsize for dtype in dtypes if dtype is not None), default=0)
    is_known = known >= _SMALLEST_FLOAT or (known > 0 and None not in dtypes)
    return known if is_known else _USUAL_ITEM
