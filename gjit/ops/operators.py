"""Python's operators. `function` runs the operator, `ufunc` is what it is on an ndarray operand."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.ir.types import BOOL
from gjit.ops.effects_operator import contains, in_place, partial, total, truth
from gjit.ops.exactness import LAYOUT_FREE_UFUNCS
from gjit.ops.row import Effect, Kind, Op, table
from gjit.ops.rules import fixed
from gjit.ops.rules_operator import binary_types, in_place_types, matmul_types, power_types, unary_types


def contained_in(item: object, container: object) -> bool:
    """`item in container`, in the order of the operands."""
    return item in container  # type: ignore[operator]


def not_contained_in(item: object, container: object) -> bool:
    """`item not in container`, in the order of the operands."""
    return item not in container  # type: ignore[operator]


BINARY = {
    # name: (symbol, function, augmented function, ufunc, effects)
    "add": ("+", operator.add, operator.iadd, np.add, total),
    "sub": ("-", operator.sub, operator.isub, np.subtract, total),
    "mul": ("*", operator.mul, operator.imul, np.multiply, total),
    "matmul": ("@", operator.matmul, operator.imatmul, np.matmul, partial),
    "truediv": ("/", operator.truediv, operator.itruediv, np.true_divide, partial),
    "floordiv": ("//", operator.floordiv, operator.ifloordiv, np.floor_divide, partial),
    "mod": ("%", operator.mod, operator.imod, np.remainder, partial),
    "pow": ("**", operator.pow, operator.ipow, np.power, partial),
    "lshift": ("<<", operator.lshift, operator.ilshift, np.left_shift, partial),
    "rshift": (">>", operator.rshift, operator.irshift, np.right_shift, partial),
    "and": ("&", operator.and_, operator.iand, np.bitwise_and, total),
    "or": ("|", operator.or_, operator.ior, np.bitwise_or, total),
    "xor": ("^", operator.xor, operator.ixor, np.bitwise_xor, total),
}
COMPARISONS = {
    "eq": ("==", operator.eq, np.equal),
    "ne": ("!=", operator.ne, np.not_equal),
    "lt": ("<", operator.lt, np.less),
    "le": ("<=", operator.le, np.less_equal),
    "gt": (">", operator.gt, np.greater),
    "ge": (">=", operator.ge, np.greater_equal),
}
UNARY = {
    "neg": ("-", operator.neg, np.negative, total),
    "pos": ("+", operator.pos, np.positive, total),
    "invert": ("~", operator.invert, np.invert, partial),
}
_OWN_RULES = {"matmul": matmul_types, "pow": power_types}


def _row(name: str, symbol: str, function: Callable, ufunc: np.ufunc | None = None, **rest) -> None:
    full = "" if ufunc is None else f"numpy.{ufunc.__name__}"
    exact = ufunc is None or ufunc in LAYOUT_FREE_UFUNCS
    rest = {"function": function, "symbol": symbol, "ufunc": full, "layout_free": exact, **rest}
    table.add(Op(name=f"operator.{name}", kind=Kind.OPERATOR, **rest))


_function: Any  # what mypy joins different callables to cannot be called
for _name, (_symbol, _function, _augmented, _ufunc, _effects) in BINARY.items():
    _types = _OWN_RULES.get(_name) or binary_types(_function, _ufunc)
    _row(_name, _symbol, _function, _ufunc, types=_types, effects=_effects)
    _types = in_place_types(_types)
    _row(f"i{_name}", f"{_symbol}=", _augmented, _ufunc, types=_types, effects=in_place, views=(0,), writes=(0,))
for _name, (_symbol, _function, _ufunc) in COMPARISONS.items():
    _row(_name, _symbol, _function, _ufunc, types=binary_types(_function, _ufunc), effects=total)
for _name, (_symbol, _function, _ufunc, _effects) in UNARY.items():
    _row(_name, _symbol, _function, _ufunc, types=unary_types(_function, _ufunc), effects=_effects)

_row("not", "not", operator.not_, types=fixed(BOOL), effects=truth)
_row("is", "is", operator.is_, types=fixed(BOOL), effects=Effect.NONE)
_row("is_not", "is not", operator.is_not, types=fixed(BOOL), effects=Effect.NONE)
_row("in", "in", contained_in, types=fixed(BOOL), effects=contains)
_row("not_in", "not in", not_contained_in, types=fixed(BOOL), effects=contains)
