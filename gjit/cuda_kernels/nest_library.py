"""`math` in a nest: the functions of the C library that Python's module calls; Python's errors are left to the host."""

from __future__ import annotations

import math

from gjit.cuda_kernels.nest_values import BOOL, FLOAT64, INT64, Reference, Refused, Scalar
from gjit.cuda_kernels.nest_writer import Writer, number
from gjit.ops.kernels import cast_text

_ONE_NAMES = "acos asin atan acosh asinh atanh cos cosh erf erfc exp expm1 log log10 log1p sin sinh tan tanh"
_ONE = frozenset(_ONE_NAMES.split())
_TWO = frozenset({"atan2", "fmod", "pow", "copysign"})
_TESTS = {"isnan": "{0} != {0}", "isinf": "__builtin_isinf({0}) != 0", "isfinite": "__builtin_isfinite({0}) != 0"}
_ROUNDING = {"floor": "__builtin_floor", "ceil": "__builtin_ceil", "trunc": "__builtin_trunc"}


def library_call(name: str, operands: list[Reference], writer: Writer, library: dict[str, int]) -> Scalar:
    """A function of `math`; where its result is no finite number Python may raise, and the host decides."""
    numbers = [number(each) for each in operands]
    values = [_float(each) for each in numbers]
    if name in _TESTS and len(values) == 1:
        return Scalar(writer.temporary("bool_", _TESTS[name].format(*values)), BOOL, "bool", (0, 1))
    if name in _ROUNDING and len(values) == 1:
        return _rounded(name, numbers[0], writer)
    if len(values) == 1 and name in ("sqrt", "fabs"):
        text = f"__builtin_{name}({values[0]})"
    elif len(values) == 1 and name in ("degrees", "radians"):
        factor = (180.0 / math.pi if name == "degrees" else math.pi / 180.0).hex()
        text = f"{values[0]} * {factor}"
    elif name in (_ONE if len(values) == 1 else _TWO if len(values) == 2 else ()):
        library[name] = len(values)
        text = f"library_{name}({', '.join(values)})"
    else:
        raise Refused(f"`math.{name}`")
    result = writer.temporary("float64", text)
    writer.bail(f"!(__builtin_fabs({result}) < __builtin_inf())")
    return Scalar(result, FLOAT64, "float")


def _float(value: Scalar) -> str:
    return f"({cast_text(value.text, value.dtype, FLOAT64)})"


def _rounded(name: str, value: Scalar, writer: Writer) -> Scalar:
    if value.dtype.kind in "iu" and value.python:
        return value
    if value.dtype.kind != "f" or (not value.python and value.dtype != FLOAT64):
        raise Refused(f"`math.{name}` of this")
    result = writer.temporary("float64", f"{_ROUNDING[name]}({value.text})")
    writer.bail(f"!(__builtin_fabs({result}) < {float(1 << 62)!r})")
    return Scalar(f"(int64){result}", INT64, "int", (-(1 << 62), 1 << 62))
