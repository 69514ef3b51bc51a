"""What each step of a nest writes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gjit.cuda_kernels.element import source_line
from gjit.cuda_kernels.nest_arrays import assign, buffered, elementwise
from gjit.cuda_kernels.nest_flow import Advance, Begin, Bind, Compare, Held, Item, Piece, Step
from gjit.cuda_kernels.nest_indexing import EXTENT_BOUNDS
from gjit.cuda_kernels.nest_iterables import count_of, item_at, ranged
from gjit.cuda_kernels.nest_library import library_call
from gjit.cuda_kernels.nest_live import lazy_values
from gjit.cuda_kernels.nest_objects import attribute, elements_of, flipped, length, made, made_like, part, store
from gjit.cuda_kernels.nest_reductions import product, total
from gjit.cuda_kernels.nest_scalars import COMPARISONS, absolute, as_class, binary, extreme, truth, unary
from gjit.cuda_kernels.nest_values import (
    ARRAYS,
    BOOL,
    INT64,
    Elementwise,
    Enumerate,
    Gathered,
    Known,
    Reference,
    Refused,
    Scalar,
    Slice,
    Tuple,
    View,
    Zip,
)
from gjit.cuda_kernels.nest_writer import Writer, is_usual, known, number
from gjit.ir.graph import Constant, Node, Value
from gjit.ops.kernels import c_type
from gjit.ops.operators import BINARY
from gjit.ops.row import Kind, Op, table

IN_PLACE = frozenset(f"i{name}" for name in BINARY)
_CLASSES = frozenset(("builtin.int", "builtin.float", "builtin.bool"))
_TOTALS = {"sum": "sum", "prod": "prod", "min": "min", "max": "max", "amin": "min", "amax": "max", "mean": "mean"}


def branch_truth(reference: Reference) -> str | bool:
    """The truth of a value: as text, or what it always is."""
    if isinstance(reference, Known):
        return bool(reference.value)
    if isinstance(reference, Scalar):
        return truth(reference)
    if isinstance(reference, Tuple):
        return bool(reference.elements)
    raise Refused("the truth of an array")


class Steps:
    """Writes the steps of one piece after the other.

    library   functions of the C library that are called, and how many operands they take
    """

    def __init__(self, writer: Writer):
        self.writer = writer
        self.library: dict[str, int] = {}
        self._lazy: set[Value] = set()
        self._shown = ""
        self._handlers: dict[str, Callable[[Node], Reference | None]] = {
            "getitem": lambda node: part(*self._operands(node), writer=self.writer),
            "setitem": lambda node: store(*self._operands(node), writer=self.writer),
            "tuple": lambda node: Tuple(tuple(self._operands(node))),
            "slice": lambda node: Slice(*self._operands(node)),
            "getattr": lambda node: attribute(node.attributes["name"], self._operand(node), self.writer),
            "unpack": self._unpack,
            "cell": lambda node: Known(...),
            "store": self._set_variable,
            "load": self._variable,
            "builtin.len": lambda node: length(self._operand(node)),
            "builtin.range": lambda node: ranged(self._operands(node)),
            "builtin.enumerate": lambda node: Enumerate(self._operand(node)),
            "builtin.zip": lambda node: Zip(tuple(self._operands(node))),
            "builtin.abs": self._abs,
            "builtin.min": lambda node: extreme("min", self._operands(node), self.writer),
            "builtin.max": lambda node: extreme("max", self._operands(node), self.writer),
            "numpy.dot": lambda node: product(*self._operands(node), writer=self.writer),
            "operator.matmul": lambda node: product(*self._operands(node), writer=self.writer),
            "numpy.flip": lambda node: flipped(self._operand(node), self.writer),
            "numpy.zeros": self._made,
            "numpy.ones": self._made,
            "numpy.empty": self._made,
            "numpy.zeros_like": lambda node: made_like("zeros_like", self._operand(node), self.writer),
            "numpy.empty_like": lambda node: made_like("empty_like", self._operand(node), self.writer),
        }

    def begin(self, piece: Piece) -> None:
        """Look at a piece before its steps are written: which arrays need not be computed before they are used."""
        self._lazy = lazy_values(piece, IN_PLACE)
        self._shown = ""

    def write(self, step: Step) -> None:
        """Write one step."""
        writer = self.writer
        match step:
            case Bind(result, source):
                writer.values[result] = writer[source]
            case Held(result, value):
                writer.values[result] = known(value)
            case Compare(result, name, left, right):
                writer.settle(result, binary(name, writer[left], writer[right], writer))
            case Begin(loop, count, first):
                writer.settle(count, count_of(writer[loop.inputs[0]], writer))
                writer.values[first] = Scalar("(int64)0", INT64, "int", EXTENT_BOUNDS)
            case Item(loop, counter):
                found = item_at(writer[loop.inputs[0]], number(writer[counter]), writer)
                writer.settle(loop.blocks[0].parameters[0], found)
            case Advance(counter, result):
                before = number(writer[counter])
                writer.values[result] = Scalar(f"{before.text} + 1", INT64, "int", EXTENT_BOUNDS)
            case Node():
                self._show(step)
                self._node(step)

    def _show(self, node: Node) -> None:
        """The user's line, where a new one begins."""
        line = source_line(node)
        if line and line != self._shown:
            self.writer.line(f"// {line}")
            self._shown = line

    def _node(self, node: Node) -> None:
        found = self._computed(node)
        if found is None:
            return
        if isinstance(found, Elementwise | Gathered) and node.result not in self._lazy:
            found = buffered(found, self.writer)
        self.writer.settle(node.result, found)

    def _computed(self, node: Node) -> Reference | None:
        handler = self._handlers.get(node.op)
        if handler is not None:
            return handler(node)
        module, _, name = node.op.rpartition(".")
        if module == "operator":
            return self._operator(name, node)
        if node.op in _CLASSES or _is_scalar_class(node.op):
            return as_class(node.op, self._operand(node), self.writer)
        if module == "numpy" and name in _TOTALS:
            return total(_TOTALS[name], self._operand(node), self.writer)
        if module == "math":
            return library_call(name, self._operands(node), self.writer, self.library)
        row = table.get(node.op)
        if row is None or row.kind is not Kind.ELEMENTWISE:
            raise Refused(f"`{node.op}`")
        return elementwise(row, self._operands(node), self.writer)

    def _operands(self, node: Node) -> list[Reference]:
        if any(node.labels):
            raise Refused(f"`{node.op}` with named arguments")
        return [self.writer[value] for value in node.inputs]

    def _operand(self, node: Node) -> Reference:
        operands = self._operands(node)
        if len(operands) != 1:
            raise Refused(f"`{node.op}` with {len(operands)} arguments")
        return operands[0]

    # Operators

    def _operator(self, name: str, node: Node) -> Reference:
        operands = self._operands(node)
        if name in ("is", "is_not"):
            return _identity(name, *operands)
        if name == "not":
            found = branch_truth(operands[0])
            return Known(not found) if isinstance(found, bool) else Scalar(f"!{found}", BOOL, "bool", (0, 1))
        if name in IN_PLACE:
            return self._in_place(name[1:], *operands)
        if any(isinstance(each, ARRAYS) for each in operands):
            return elementwise(_ufunc_row(name), operands, self.writer)
        if len(operands) == 1:
            return unary(name, operands[0], self.writer)
        if name in BINARY or name in COMPARISONS:
            left, right = operands
            return binary(name, left, right, self.writer)
        raise Refused(f"`{node.op}`")

    def _in_place(self, name: str, left: Reference, right: Reference) -> Reference:
        if not isinstance(left, ARRAYS):
            if isinstance(right, ARRAYS):
                return elementwise(_ufunc_row(name), [left, right], self.writer)
            return binary(name, left, right, self.writer)
        value = elementwise(_ufunc_row(name), [left, right], self.writer)
        if not isinstance(value, ARRAYS) or not np.can_cast(value.dtype, left.dtype, "same_kind"):
            raise Refused(f"the result of `{name}` in place of {left.dtype}")
        if not isinstance(left, View):
            return buffered(value, self.writer, left.extents, left.dtype)
        assign(left, value, self.writer)
        return left

    def _abs(self, node: Node) -> Reference:
        operand = self._operand(node)
        if isinstance(operand, ARRAYS):
            return elementwise(table["numpy.absolute"], [operand], self.writer)
        return absolute(operand, self.writer)

    # Objects

    def _unpack(self, node: Node) -> None:
        if node.attributes.get("star"):
            raise Refused("a value that is taken apart")
        for result, reference in zip(node.results, elements_of(self._operand(node), len(node.results)), strict=True):
            self.writer.settle(result, reference)

    def _set_variable(self, node: Node) -> None:
        """A variable keeps its value in places of its own, one for each type."""
        cell, value = node.inputs
        reference = self.writer[value]
        if isinstance(reference, Known) and not isinstance(reference.value, bool | int | float | np.generic):
            self.writer.values[cell] = reference
            return
        scalar = number(reference)
        name = self.writer.assign(self.writer.name(cell, scalar.code), c_type(scalar.dtype), scalar.text)
        self.writer.values[cell] = Scalar(name, scalar.dtype, scalar.python)

    def _variable(self, node: Node) -> Reference:
        """What a variable holds now: it may be set again while this value is still read."""
        reference = self._operand(node)
        if not isinstance(reference, Scalar):
            return reference
        name = self.writer.name(node.result, reference.code)
        self.writer.assign(name, c_type(reference.dtype), reference.text)
        return Scalar(name, reference.dtype, reference.python)

    def _made(self, node: Node) -> Reference:
        shape, *rest = node.positional()
        named = [node.keyword("dtype")] if any(node.labels) else []
        given = [*rest, *named]
        kinds = [each.value for each in given if isinstance(each, Constant)]
        if len(node.inputs) != 1 + len(given) or len(given) > 1 or len(kinds) != len(given):
            raise Refused(f"`{node.op}` with these arguments")
        dtype: np.dtype = np.dtype(kinds[0]) if kinds else np.dtype("f8")  # type: ignore[call-overload]
        return made(node.op.removeprefix("numpy."), self.writer[shape], dtype, self.writer)


def _ufunc_row(name: str) -> Op:
    """The ufunc of an operator; powers of arrays have short cuts of their own."""
    row = table[f"operator.{name}"]
    if name == "pow" or not row.ufunc:
        raise Refused(f"`{name}` of an array")
    return table[row.ufunc]


def _is_scalar_class(op: str) -> bool:
    kind = getattr(np, op.removeprefix("numpy."), None) if op.startswith("numpy.") else None
    return isinstance(kind, type) and issubclass(kind, np.generic) and is_usual(np.dtype(kind))


def _identity(name: str, left: Reference, right: Reference) -> Reference:
    for one, other in ((left, right), (right, left)):
        if one == Known(None):
            same = other == Known(None)
            return Known(same if name == "is" else not same)
    raise Refused("`is` of two values")
