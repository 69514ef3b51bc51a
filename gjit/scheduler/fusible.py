"""What one node of a region does, in the few forms that the engines know.

`operation_of` reads a node through its row; it looks at the op, the labels and the constants, never at
inferred types, so that an engine may ask it again about the body of a region.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ops.row import Kind, Op, table
from gjit.ops.user import PREFIX as USER_PREFIX
from gjit.scheduler.reductions import PLAIN, REDUCTIONS, Reduction, read_reduction


class Form(Enum):
    """The kinds of work in a region."""

    UFUNC = auto()  # one ufunc on broadcast operands, into a new array or into `out`
    SELECT = auto()  # numpy.where(condition, x, y)
    APPLY = auto()  # an elementwise function of the user's
    CAST = auto()  # astype
    ROWS = auto()  # a plain reduction along one axis
    TOTAL = auto()  # a plain reduction of all elements to one scalar
    REDUCE = auto()  # any other reduction
    CALL = auto()  # a function of NumPy that is made of several ufuncs: round, nan_to_num, real
    VIEW = auto()  # array[:, None]: new axes of extent one
    STORE = auto()  # target[index] = value, the last node of a region


@dataclass(frozen=True, slots=True)
class Operation:
    """One node of a region, read.

    form        what kind of work it is
    function    the ufunc for UFUNC; for the other forms the function of the row
    operands    the values that are read: the target, index and value of a STORE
    out         the array that an in-place operator or `out=` writes, else None
    dtype       of a CAST
    axis        of ROWS, as the user wrote it
    keepdims    of ROWS
    reduction   of ROWS, TOTAL and REDUCE
    index       of VIEW
    exponent    of `**` with a Python number as its exponent, which NumPy may compute by another ufunc
    """

    form: Form
    function: Callable
    operands: tuple[Value, ...]
    out: Value | None = None
    dtype: np.dtype | None = None
    axis: int = -1
    keepdims: bool = False
    reduction: Reduction | None = None
    index: tuple = ()
    exponent: int | float | None = None


WIDE = frozenset({Form.REDUCE, Form.CALL})
"""What only engines take that compile regions."""
REDUCING = frozenset({Form.ROWS, Form.TOTAL, Form.REDUCE})
TOTALS = frozenset({"sum", "mean", "max", "min", "amax", "amin", "any", "all"})
"""Reductions of all elements whose order of evaluation an engine can keep, or need not keep."""
IN_PLACE = frozenset(
    f"operator.i{name}"
    for name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "lshift", "rshift", "and", "or", "xor")
)


def total_is_exact(name: str, dtype: np.dtype) -> bool:
    """Whether the reduction `name` of all elements of this dtype, evaluated in parts, can have NumPy's own bits.

    Sums of float32 and float64 are added along NumPy's own tree; means of integers and sums of float16 go through
    buffers of another dtype, and complex numbers have no order.

    >>> [total_is_exact("sum", np.dtype(name)) for name in ("f8", "f2", "i4")], total_is_exact("mean", np.dtype("i4"))
    ([True, False, True], False)
    """
    if name in ("sum", "mean"):
        return dtype.char in "fd" or (name == "sum" and dtype.kind in "biu")
    return dtype.kind != "c" or name in ("any", "all")


_ALIASES = frozenset({"real", "imag", "conj", "conjugate", "round", "around"})


def may_be_alias(operation: Operation, node: Node) -> bool:
    """Whether the result may be the operand itself or a view of it: its real part, its conjugate where it is real."""
    return operation.form is Form.CALL and (node.op == "getattr" or node.op.rpartition(".")[2] in _ALIASES)


def is_number_arithmetic(operation: Operation, node: Node) -> bool:
    """Whether the node, given Python numbers, is an operator whose result has a type that follows from theirs.

    Of `**` only those with an exponent that keeps it: `(-8.0) ** 0.5` is complex and `2 ** -1` a float.
    """
    if operation.form is not Form.UFUNC or operation.out is not None or not node.op.startswith("operator."):
        return False
    if node.op == "operator.pow":
        return type(operation.exponent) is int and 0 <= operation.exponent < 64
    return node.op != "operator.lshift"


def operation_of(node: Node) -> Operation | None:
    """What the node does in a region, or None where no engine can run it there."""
    if node.blocks or len(node.results) > 1:
        return None
    if node.op == "setitem":
        return Operation(Form.STORE, _store, tuple(node.inputs)) if not node.labels else None
    if node.op == "getitem":
        return _view(node)
    if node.op == "getattr":
        return _attribute(node)
    row = table.get(node.op)
    if row is None or row.function is None or any(label.startswith("*") for label in node.labels):
        return None
    if node.op in REDUCTIONS:
        return _reduction(node, row)
    read = _BY_NAME.get(node.op)
    if read is not None:
        return read(node, row)
    if row.kind is Kind.ELEMENTWISE and row.name.startswith(USER_PREFIX):
        return None if node.labels or not node.inputs else Operation(Form.APPLY, row.function, tuple(node.inputs))
    if row.kind is Kind.OPERATOR:
        return _operator(node, row)
    return _ufunc(node, row) if isinstance(row.function, np.ufunc) else _function(node, row)


def _view(node: Node) -> Operation | None:
    """Only what keeps every axis: `array[:, None]`, `array[..., numpy.newaxis]`."""
    owner, index = node.inputs
    parts = _constant_parts(index)
    if parts is None or isinstance(owner, Constant):
        return None
    if None not in parts or any(part not in (None, Ellipsis, slice(None)) for part in parts) or parts.count(...) > 1:
        return None
    return Operation(Form.VIEW, operator.getitem, (owner,), index=parts)


def _constant_parts(index: Value) -> tuple | None:
    """The parts of an index that is written as a constant, or as a tuple of constants."""
    if isinstance(index, Constant):
        parts = index.value if type(index.value) is tuple else (index.value,)
        return parts if all(type(part) in (slice, type(None), type(Ellipsis)) for part in parts) else None
    return None


def _store(target: np.ndarray, index: object, value: object) -> None:
    target[index] = value


def _ufunc(node: Node, row: Op) -> Operation | None:
    ufunc = row.function
    if row.kind is not Kind.ELEMENTWISE or not isinstance(ufunc, np.ufunc) or not _is_plain(ufunc):
        return None
    operands, out = node.positional(), node.keyword("out")
    if any(label not in ("", "out=") for label in node.labels):
        return None
    if len(operands) == ufunc.nin + 1 and out is None:
        out = operands.pop()
    if len(operands) != ufunc.nin or (out is not None and isinstance(out, Constant)):
        return None
    return Operation(Form.UFUNC, ufunc, tuple(operands), out)


def _function(node: Node, row: Op) -> Operation | None:
    """A function of NumPy that is no ufunc; a method that has the ufunc's name is that ufunc."""
    if row.kind is not Kind.ELEMENTWISE:
        return None
    if row.ufunc and not node.labels and len(node.inputs) == 1:
        return Operation(Form.CALL, row.function, tuple(node.inputs))
    return _call(node, row)


def _operator(node: Node, row: Op) -> Operation | None:
    ufunc = getattr(np, row.ufunc.removeprefix("numpy."), None) if row.ufunc else None
    if not isinstance(ufunc, np.ufunc) or not _is_plain(ufunc) or node.labels or len(node.inputs) != ufunc.nin:
        return None
    out = node.inputs[0] if node.op in IN_PLACE else None
    if out is not None and isinstance(out, Constant):
        return None
    exponent = None
    if node.op in ("operator.pow", "operator.ipow"):
        power = node.inputs[1]
        if isinstance(power, Constant) and type(power.value) in (int, float):
            exponent = power.value
    return Operation(Form.UFUNC, ufunc, tuple(node.inputs), out, exponent=exponent)


def _is_plain(ufunc: np.ufunc) -> bool:
    """One result, no core dimensions, and NumPy's own: others report floating-point errors in their own way."""
    return ufunc.nout == 1 and ufunc.signature is None and getattr(np, ufunc.__name__, None) is ufunc


def _absolute(node: Node, row: Op) -> Operation | None:
    if node.labels or len(node.inputs) != 1:
        return None
    return Operation(Form.UFUNC, np.absolute, tuple(node.inputs))


def _where(node: Node, row: Op) -> Operation | None:
    if node.labels or len(node.inputs) != 3:
        return None
    return Operation(Form.SELECT, np.where, tuple(node.inputs))


def _astype(node: Node, row: Op) -> Operation | None:
    if node.labels or len(node.inputs) != 2 or not isinstance(node.inputs[1], Constant):
        return None
    kind = node.inputs[1].value
    if kind is None or not isinstance(kind, str | type | np.dtype):
        return None
    try:
        dtype = np.dtype(kind)
    except TypeError:
        return None
    return Operation(Form.CAST, row.function, (node.inputs[0],), dtype=dtype)


def _clip(node: Node, row: Op) -> Operation | None:
    bounds: dict[str, Value] = {}
    names = iter(("x", "min", "max"))
    for index, value in enumerate(node.inputs):
        label = node.label(index)
        name = next(names, "") if label == "" else label[:-1].removeprefix("a_")
        if name not in ("x", "min", "max") or name in bounds:
            return None
        bounds[name] = value
    if set(bounds) != {"x", "min", "max"} or any(_is_none(value) for value in bounds.values()):
        return None
    return Operation(Form.UFUNC, _CLIP, (bounds["x"], bounds["min"], bounds["max"]))


_CLIP = np._core.umath.clip
_BY_NAME: dict[str, Callable[[Node, Op], Operation | None]] = {
    "builtin.abs": _absolute,
    "numpy.where": _where,
    "numpy.astype": _astype,
    "ndarray.astype": _astype,
    "numpy.clip": _clip,
    "ndarray.clip": _clip,
}


def _reduction(node: Node, row: Op) -> Operation | None:
    reduction = read_reduction(node)
    if reduction is None:
        return None
    operands = (reduction.operand,) if reduction.where is None else (reduction.operand, reduction.where)
    axes, keepdims = reduction.axes, reduction.keepdims
    form, axis = Form.REDUCE, -1
    if reduction.is_plain and reduction.name in PLAIN:
        if axes is None and not keepdims and reduction.name in TOTALS:
            form = Form.TOTAL
        elif axes is not None and len(axes) == 1:
            form, axis = Form.ROWS, axes[0]
    function = getattr(np, reduction.name)
    return Operation(form, function, operands, axis=axis, keepdims=keepdims, reduction=reduction)


def _call(node: Node, row: Op) -> Operation | None:
    """A call with nothing but operands, of a row that has a kernel."""
    if node.labels or row.kernel is None or len(node.inputs) != 1 or isinstance(node.inputs[0], Constant):
        return None
    return Operation(Form.CALL, row.function, tuple(node.inputs))


def _attribute(node: Node) -> Operation | None:
    """The real or imaginary part, where the program says `array.real`."""
    function = {"real": np.real, "imag": np.imag}.get(node.attributes.get("name", ""))
    if function is None or isinstance(node.inputs[0], Constant):
        return None
    return Operation(Form.CALL, function, tuple(node.inputs))


def _is_none(value: Value) -> bool:
    return isinstance(value, Constant) and value.value is None
