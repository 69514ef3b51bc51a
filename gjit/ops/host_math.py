"""`math`, `cmath` and the other modules of the standard library whose functions programs call on numbers."""

from __future__ import annotations

import cmath
import copy
import functools
import itertools
import math
import types

from gjit.ir.graph import Node
from gjit.ir.types import BOOL, COMPLEX, FLOAT, INT, PYTHON_NUMBERS, UNKNOWN, TupleType, Type
from gjit.ops.host import on_plain
from gjit.ops.row import Kind, Op, TypeRule, table
from gjit.ops.rules import fixed


def _rounded(node: Node) -> list[Type]:
    """`math.floor` and its kind ask the operand, and Python's numbers answer with an int."""
    return [INT if node.inputs and node.inputs[0].type in PYTHON_NUMBERS else UNKNOWN]


_FUNCTIONS: dict[str, tuple[types.ModuleType, TypeRule | None, str]] = {
    "math.float": (
        math,
        fixed(FLOAT),
        "acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh degrees dist erf erfc exp exp2 expm1 fabs fmod "
        "fsum gamma hypot ldexp lgamma log log10 log1p log2 nextafter pow radians remainder sin sinh sqrt tan tanh ulp",
    ),
    "math.int": (math, fixed(INT), "comb factorial gcd isqrt lcm perm"),
    "math.bool": (math, fixed(BOOL), "isclose isfinite isinf isnan"),
    "math.rounded": (math, _rounded, "ceil floor trunc"),
    "math.frexp": (math, fixed(TupleType((FLOAT, INT))), "frexp"),
    "math.modf": (math, fixed(TupleType((FLOAT, FLOAT))), "modf"),
    "math.prod": (math, None, "prod"),
    "cmath.complex": (
        cmath,
        fixed(COMPLEX),
        "acos acosh asin asinh atan atanh cos cosh exp log log10 rect sin sinh sqrt tan tanh",
    ),
    "cmath.float": (cmath, fixed(FLOAT), "phase"),
    "cmath.bool": (cmath, fixed(BOOL), "isclose isfinite isinf isnan"),
    "cmath.polar": (cmath, fixed(TupleType((FLOAT, FLOAT))), "polar"),
}

for _module, _types, _names in _FUNCTIONS.values():
    for _name in _names.split():
        _full = f"{_module.__name__}.{_name}"
        table.add(Op(name=_full, kind=Kind.HOST, function=getattr(_module, _name), types=_types, effects=on_plain))
for _module, _names in (
    (functools, "reduce partial"),
    (copy, "copy deepcopy"),
    (itertools, "accumulate chain combinations count cycle islice pairwise permutations product repeat starmap"),
):
    for _name in _names.split():
        table.add(Op(name=f"{_module.__name__}.{_name}", kind=Kind.HOST, function=getattr(_module, _name)))
