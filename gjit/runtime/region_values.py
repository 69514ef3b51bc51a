"""What is known of every value of a region once its inputs are there: dtype, shape, memory order.

NumPy itself is asked (`ufunc.resolve_dtypes`, `numpy.result_type`); what it does not promise to keep under tiling
raises `Unsupported`, and the region runs op by op.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gjit.ir.graph import Block, Constant, Node, Value
from gjit.ops.row import table
from gjit.ops.user import sampled_dtype
from gjit.runtime.layout import Order, Shape, broadcast, contiguous_strides, order_of
from gjit.runtime.region_items import WEAK_TYPES, Item, Step, Unsupported, is_supported, item_of
from gjit.runtime.region_samples import called_dtype, reduced
from gjit.scheduler.fusible import REDUCING, WIDE, Form, Operation, is_number_arithmetic, operation_of, total_is_exact
from gjit.scheduler.reductions import REDUCTIONS


class Typing:
    """Reads the body of a region from top to bottom; `steps` and `items` are what it finds.

    `target` is the view that the final store writes; it is looked up where it is not given. With `is_wide` reductions
    may run along any axes, and give what they give in another order of evaluation.
    """

    def __init__(
        self, body: Block, inputs: tuple[object, ...], target: np.ndarray | None = None, *, is_wide: bool = False
    ):
        self._is_wide = is_wide
        self.items: dict[Value, Item] = {}
        self.steps: list[Step] = []
        self._arguments = dict(zip(body.parameters, inputs, strict=True))
        self._target = target
        for parameter, value in zip(body.parameters, inputs, strict=True):
            self.items[parameter] = item_of(value)
        for node in body:
            self._read(node)

    def item(self, value: Value) -> Item:
        """The item of an operand; constants get theirs when they are met."""
        if isinstance(value, Constant) and value not in self.items:
            self.items[value] = item_of(value.value, constant=True)
        return self.items[value]

    def _argument(self, value: Value) -> object:
        return value.value if isinstance(value, Constant) else self._arguments[value]

    def value_of(self, item: Item) -> Value:
        """The graph value that an item describes."""
        return next(value for value, known in self.items.items() if known is item)

    def _read(self, node: Node) -> None:
        operation = operation_of(node)
        if operation is None or (operation.form in WIDE and not self._is_wide):
            raise Unsupported
        read = Typing._reduce if self._is_wide and operation.form in REDUCING else _READERS[operation.form]
        step = read(self, node, operation)
        step.position = len(self.steps)
        if step.result is not None:
            step.result.position = step.position
            self.items[node.result] = step.result
        self.steps.append(step)

    def _ufunc(self, node: Node, operation: Operation) -> Step:
        operands = tuple(map(self.item, operation.operands))
        if all(item.weak for item in operands):
            return self._number(node, operation, operands)
        out = None if operation.out is None else self.item(operation.out)
        function, operands = _select_ufunc(node, operation, operands)
        loops = _resolve(function, operands, out)
        _check_exponent(operation, loops)
        shape = _broadcast(operands)
        if out is not None:
            if out.weak or out.dtype is None or out.shape != _broadcast((*operands, out)) or shape == ():
                raise Unsupported
            result = Item(out.dtype, out.shape, out.order, out.strides, storage=out)
        else:
            result = _fresh(loops[-1], shape, operands)
        return Step(node, operation, function, operands, result, out, loops)

    def _number(self, node: Node, operation: Operation, operands: tuple[Item, ...]) -> Step:
        """Arithmetic of Python numbers; an exception that it raises is the twin's."""
        function = table[node.op].function
        if operation.out is not None or not is_number_arithmetic(operation, node):
            raise Unsupported
        try:
            kind = type(function(*(item.weak(1) for item in operands)))
        except TypeError:
            raise Unsupported from None
        if kind not in WEAK_TYPES:
            raise Unsupported
        return Step(node, operation, function, operands, Item(None, weak=kind))

    def _select(self, node: Node, operation: Operation) -> Step:
        condition, *choices = operands = tuple(map(self.item, operation.operands))
        if condition.weak or any(item.weak is None and item.dtype is None for item in operands):
            raise Unsupported
        samples = [item.weak(0) if item.weak else np.empty(0, item.dtype) for item in choices]
        dtype = np.where(np.empty(0, bool), *samples).dtype
        result = _fresh(dtype, _broadcast(operands), operands)
        return Step(node, operation, np.where, operands, result, loops=(condition.dtype, dtype, dtype))

    def _apply(self, node: Node, operation: Operation) -> Step:
        """The function is asked for its dtype; how it orders the axes of its result is known for C order alone."""
        operands = tuple(map(self.item, operation.operands))
        arrays = [item for item in operands if item.shape]
        if not arrays or any(item.shape != arrays[0].shape or Order.C not in item.order for item in arrays):
            raise Unsupported
        if any(item.weak is None and item.dtype is None for item in operands):
            raise Unsupported
        dtype = sampled_dtype(operation.function, [(item.weak or item.dtype, bool(item.shape)) for item in operands])
        if dtype is None:
            raise Unsupported
        result = _fresh(dtype, arrays[0].shape, arrays)
        common = np.result_type(*(item.weak(1) if item.weak else item.dtype for item in operands))
        loops = (*(common for _ in operands), dtype)
        return Step(node, operation, operation.function, operands, result, loops=loops)

    def _cast(self, node: Node, operation: Operation) -> Step:
        operand = self.item(operation.operands[0])
        dtype = operation.dtype
        if operand.dtype is None or not is_supported(dtype) or _drops_imaginary(operand.dtype, dtype):
            raise Unsupported
        result = _fresh(dtype, operand.shape, (operand,))
        return Step(node, operation, np.copyto, (operand,), result)

    def _reduce(self, node: Node, operation: Operation) -> Step:
        operands = tuple(map(self.item, operation.operands))
        result = reduced(operation.reduction, operation.function, operands[0], *operands[1:] or (None,))
        return Step(node, operation, operation.function, operands, result)

    def _call(self, node: Node, operation: Operation) -> Step:
        operand = self.item(operation.operands[0])
        if operand.dtype is None or not operand.shape:
            raise Unsupported
        dtype = called_dtype(operation.function, operand.dtype.char)
        result = _fresh(dtype, operand.shape, (operand,))
        return Step(node, operation, operation.function, (operand,), result, loops=(operand.dtype, dtype))

    def _rows(self, node: Node, operation: Operation) -> Step:
        operand = self.item(operation.operands[0])
        rank = len(operand.shape)
        if operand.dtype is None or rank < 2 or operation.axis not in (-1, rank - 1):
            raise Unsupported
        sample = operation.function(np.ones((1,) * rank, operand.dtype), axis=-1, keepdims=operation.keepdims)
        shape = (*operand.shape[:-1], 1) if operation.keepdims else operand.shape[:-1]
        result = _fresh(sample.dtype, shape, ())
        return Step(node, operation, operation.function, (operand,), result)

    def _total(self, node: Node, operation: Operation) -> Step:
        operand = self.item(operation.operands[0])
        if operand.dtype is None or operand.shape == ():
            raise Unsupported
        if not total_is_exact(REDUCTIONS[node.op], operand.dtype):
            raise Unsupported
        dtype = operation.function(np.ones(1, operand.dtype)).dtype
        return Step(node, operation, operation.function, (operand,), Item(dtype))

    def _view(self, node: Node, operation: Operation) -> Step:
        operand = self.item(operation.operands[0])
        if operand.dtype is None or not operand.shape or operand.root is not operand:
            raise Unsupported
        try:
            view = np.broadcast_to(np.empty((), operand.dtype), operand.shape)[operation.index]
        except IndexError:
            raise Unsupported from None
        strides = contiguous_strides(view.shape, operand.dtype.itemsize, operand.order)
        result = Item(
            operand.dtype, view.shape, order_of(view.shape, strides), strides, viewed=operand, index=operation.index
        )
        return Step(node, operation, operation.function, (operand,), result)

    def _store(self, node: Node, operation: Operation) -> Step:
        item, view = self.item(operation.operands[2]), self._target
        if view is None:
            owner, index = map(self._argument, operation.operands[:2])
            view = owner[index] if type(owner) is np.ndarray else None
        if item.dtype is None or type(view) is not np.ndarray:
            raise Unsupported
        if view.shape != item.shape or _drops_imaginary(item.dtype, view.dtype):
            raise Unsupported
        return Step(node, operation, np.copyto, (item,), None, out=item_of(view))


_READERS = {
    Form.UFUNC: Typing._ufunc,
    Form.SELECT: Typing._select,
    Form.APPLY: Typing._apply,
    Form.CAST: Typing._cast,
    Form.ROWS: Typing._rows,
    Form.TOTAL: Typing._total,
    Form.VIEW: Typing._view,
    Form.STORE: Typing._store,
    Form.REDUCE: Typing._reduce,
    Form.CALL: Typing._call,
}


_MIRRORED = {
    "operator.lt": np.greater,
    "operator.le": np.greater_equal,
    "operator.gt": np.less,
    "operator.ge": np.less_equal,
}
"""Comparisons by the other side; the ufuncs report other floating-point errors, and name themselves in warnings."""


def _select_ufunc(node: Node, operation: Operation, operands: tuple[Item, ...]):
    """The ufunc that runs. `2 < x` is `x > 2`: Python asks the array, since a number does not know it. `**` with a
    Python number is another ufunc for some exponents, as in `ndarray.__pow__`."""
    mirrored = _MIRRORED.get(node.op)
    if mirrored is not None and operands[0].weak is not None:
        return mirrored, operands[::-1]
    if node.op not in ("operator.pow", "operator.ipow"):
        return operation.function, operands
    base, exponent = operands
    if exponent.weak is None:
        return operation.function, operands
    if base.dtype is None or base.dtype.kind == "b" or operation.exponent is None:
        raise Unsupported
    power = operation.exponent
    if base.dtype.kind in "fc":
        special = {(int, 2): np.square, (int, -1): np.reciprocal, (float, 0.5): np.sqrt}.get((type(power), power))
        return (operation.function, operands) if special is None else (special, operands[:1])
    return operation.function, operands


def _resolve(ufunc: np.ufunc, operands: tuple[Item, ...], out: Item | None) -> tuple[np.dtype, ...]:
    if all(item.dtype is None for item in operands):
        raise Unsupported
    kinds = [np.dtype(bool) if item.weak is bool else item.weak or item.dtype for item in operands]
    if any(kind is None for kind in kinds):
        raise Unsupported
    try:
        loops = ufunc.resolve_dtypes((*kinds, None if out is None else out.dtype))
    except TypeError:
        raise Unsupported from None
    if not all(map(is_supported, loops)):
        raise Unsupported
    return loops


def _check_exponent(operation: Operation, loops: tuple[np.dtype, ...]) -> None:
    """A negative exponent of an integer raises; only a constant is known not to be one."""
    if operation.function is np.power and loops[0].kind in "iu":
        exponent = operation.operands[1]
        if not isinstance(exponent, Constant) or type(exponent.value) is not int or exponent.value < 0:
            raise Unsupported


def _broadcast(operands: tuple[Item, ...]) -> Shape:
    try:
        return broadcast(*(item.shape for item in operands))
    except ValueError:
        raise Unsupported from None


def _fresh(dtype: np.dtype, shape: Shape, operands: Iterable[Item]) -> Item:
    """A new array in the order that NumPy gives it: that of its operands, C where they leave it open."""
    items, order = list(operands), Order.ANY
    for item in items:
        order &= item.order
    if order is Order.NONE and _settles_for_c(shape, items):
        order = Order.C
    if order is Order.NONE or not is_supported(dtype):
        raise Unsupported
    if order is Order.F and not any(item.shape == shape and _counts_everywhere(item) for item in items):
        raise Unsupported
    strides = contiguous_strides(shape, dtype.itemsize, order)
    return Item(dtype, shape, order_of(shape, strides), strides)


def _settles_for_c(shape: Shape, operands: list[Item]) -> bool:
    """Of operands in C and in F order: NumPy swaps no two axes whose order one of them insists on.

    A temporary in F order may be taken for the result, in its own order.
    """
    if any(item.order is Order.NONE or (item.order is Order.F and item.position >= 0) for item in operands):
        return False
    return any(item.shape == shape and item.order is Order.C and _counts_everywhere(item) for item in operands)


def _counts_everywhere(item: Item) -> bool:
    """Whether an operand moves along all its axes; two axes that no operand moves along stay as they are."""
    return all(stride for extent, stride in zip(item.shape, item.strides, strict=True) if extent > 1)


def _drops_imaginary(source: np.dtype, target: np.dtype) -> bool:
    """NumPy warns of it by a class of its own."""
    return source.kind == "c" and target.kind not in "cb"
