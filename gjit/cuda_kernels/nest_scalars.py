"""Arithmetic of single numbers in a nest, by Python's rules for Python's numbers and by NumPy's for NumPy's.

What Python would do beyond 64 bits, and what NumPy would warn of or raise, goes back to the host.
"""

from __future__ import annotations

import numpy as np

from gjit.cuda_kernels.nest_python import python_binary, python_compare, python_unary
from gjit.cuda_kernels.nest_values import BOOL, FLOAT64, INT64, LEAST, MOST, PYTHON_DTYPES, Reference, Refused, Scalar
from gjit.cuda_kernels.nest_writer import Writer, number
from gjit.ir.types import BOOL as BOOL_TYPE
from gjit.ir.types import FLOAT, INT, PythonType, ScalarType
from gjit.ops.kernels import c_type, cast_text
from gjit.ops.row import Dtypes, Op, table
from gjit.ops.rules import ufunc_dtypes

TYPES: dict[str, PythonType] = {"bool": BOOL_TYPE, "int": INT, "float": FLOAT}
COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_CHECKED = {"numpy.add": "add", "numpy.subtract": "sub", "numpy.multiply": "mul"}
_QUIET_COMPARISONS = {"lt": "isless", "le": "islessequal", "gt": "isgreater", "ge": "isgreaterequal"}


def type_of(scalar: Scalar) -> PythonType | ScalarType:
    """The type of a number, for NumPy's rules of promotion."""
    return TYPES[scalar.python] if scalar.python else ScalarType(scalar.dtype)


def bounds_of(scalar: Scalar) -> tuple[int, int]:
    """Between what an integer lies."""
    if scalar.dtype.kind == "b":
        return max(scalar.bounds[0], 0), min(scalar.bounds[1], 1)
    limits = np.iinfo(scalar.dtype)
    low, high = int(limits.min), int(limits.max)
    return max(low, scalar.bounds[0]), high if scalar.dtype == np.uint64 else min(high, scalar.bounds[1])


def binary(name: str, left: Reference, right: Reference, writer: Writer) -> Scalar:
    """The operator `name` (without an `i` in front) on two numbers."""
    a, b = number(left), number(right)
    if a.python and b.python:
        if name in COMPARISONS:
            return python_compare(name, a, b, writer)
        return python_binary(name, a, b, writer)
    row = table[table[f"operator.{name}"].ufunc]
    return apply(row, (a, b), writer, is_operator=True)


def unary(name: str, operand: Reference, writer: Writer) -> Scalar:
    """`-x`, `+x`, `~x`."""
    a = number(operand)
    if a.python:
        return python_unary(name, a, writer)
    return apply(table[table[f"operator.{name}"].ufunc], (a,), writer, is_operator=True)


def apply(row: Op, operands: tuple[Scalar, ...], writer: Writer, *, is_operator: bool = False) -> Scalar:
    """A ufunc on numbers of which the result is NumPy's. Operators warn where integers overflow, ufuncs wrap."""
    loops = loops_of(row, operands)
    text = row.kernel_text(loops)
    if text is None:
        raise Refused(f"`{row.name}` of {', '.join(map(str, loops))}")
    values = [converted(value, dtype, writer) for value, dtype in zip(operands, loops, strict=False)]
    result = loops[-1]
    is_power = is_operator and row.name == "numpy.power" and result.kind == "f"  # the C library's, as NumPy's is
    if not is_power and not row.kernel_exact(loops):
        writer.exact = False
    if any(dtype.kind == "f" for dtype in loops):
        writer.floats = True
    if is_operator and loops[0].kind in "iu":
        checked = _integer_operator(row, values, loops, writer)
        if checked is not None:
            return Scalar(checked, result)
    if is_power:
        suffix = "f" if result == np.float32 else ""
        return Scalar(writer.temporary(c_type(result), f"library_pow{suffix}({values[0]}, {values[1]})"), result)
    quiet = _QUIET_COMPARISONS.get(_comparison_of(row))
    if quiet is not None and loops[0].kind == "f":
        return Scalar(f"(bool_)__builtin_{quiet}({values[0]}, {values[1]})", BOOL)
    text = text.format(*values)
    return Scalar(writer.temporary(c_type(result), text), result)


def loops_of(row: Op, operands: tuple[Scalar, ...]) -> Dtypes:
    """The dtypes of the loop that NumPy takes."""
    types = [type_of(each) for each in operands]
    if all(each.python for each in operands):  # numbers of Python's alone become arrays first
        weak = {"bool": BOOL, "int": INT64, "float": FLOAT64}
        types = [ScalarType(weak[each.python]) for each in operands]
    if not isinstance(row.function, np.ufunc) or len(operands) != row.function.nin or row.function.nout != 1:
        raise Refused(f"`{row.name}`")
    loops = ufunc_dtypes(row.function, types)
    if loops is None:
        raise Refused(f"`{row.name}` of {', '.join(map(str, types))}")
    return loops


def _comparison_of(row: Op) -> str:
    names = {"less": "lt", "less_equal": "le", "greater": "gt", "greater_equal": "ge"}
    return names.get(row.name.removeprefix("numpy."), "")


def _integer_operator(row: Op, values: list[str], loops: Dtypes, writer: Writer) -> str | None:
    """What an operator on NumPy integers needs besides the kernel of its ufunc: where it warns, the host does it."""
    kind = c_type(loops[0])
    if row.name in _CHECKED:
        name = writer.fresh("r")
        writer.line(f"{kind} {name};")
        writer.bail(f"__builtin_{_CHECKED[row.name]}_overflow({values[0]}, {values[1]}, &{name})")
        return name
    if row.name in ("numpy.floor_divide", "numpy.remainder"):
        writer.bail(f"{values[1]} == 0")
        if loops[0].kind == "i":
            writer.bail(f"{values[1]} == -1 && {values[0]} == {np.iinfo(loops[0]).min + 1} - 1")
    elif row.name == "numpy.power":
        name = writer.fresh("r")
        writer.line(f"{kind} {name};")
        writer.bail(f"!nest_power({values[0]}, {values[1]}, &{name})")
        return name
    elif row.name in ("numpy.negative", "numpy.absolute"):
        name = writer.fresh("r")
        writer.line(f"{kind} {name};")
        if loops[0].kind == "i" or row.name == "numpy.negative":
            writer.bail(f"__builtin_sub_overflow(({kind})0, {values[0]}, &{name})")
        if row.name == "numpy.absolute":
            return f"({values[0]} < 0 ? {name} : {values[0]})" if loops[0].kind == "i" else values[0]
        return name
    return None


def converted(value: Scalar, dtype: np.dtype, writer: Writer) -> str:
    """A number as an operand of a loop of this dtype; a Python int that does not fit goes back to the host."""
    if value.python == "int" and dtype.kind in "iu":
        fit(value, dtype, writer)
        return value.text if dtype == INT64 else f"({c_type(dtype)}){value.text}"
    if value.python == "int" and dtype.kind == "f":
        return f"({c_type(dtype)})(float64){value.text}" if dtype != FLOAT64 else f"(float64){value.text}"
    if value.dtype != dtype and dtype.kind == "f":
        writer.floats = True
    return cast_text(value.text, value.dtype, dtype)


def fit(value: Scalar, dtype: np.dtype, writer: Writer) -> None:
    """Go back to the host where an integer is not one of this dtype."""
    low, high = bounds_of(value)
    limits = np.iinfo(dtype)
    if low < int(limits.min):
        writer.bail(f"{value.text} < {_integer(int(limits.min))}")
    if high > int(limits.max):
        writer.bail(f"{value.text} > {_integer(int(limits.max))}")


def _integer(value: int) -> str:
    if value == LEAST:
        return f"({LEAST + 1}LL - 1)"
    return f"{value}{'ULL' if value > MOST else 'LL'}"


def to_element(value: Reference, dtype: np.dtype, writer: Writer) -> str:
    """A number as it is stored into an array; what does not fit, and what is cut, goes back to the host."""
    scalar = number(value)
    if scalar.dtype.kind == "f" and dtype.kind in "iu":
        raise Refused("a float that is stored as an integer")
    if scalar.dtype.kind in "iu" and dtype.kind in "iu":
        fit(scalar, dtype, writer)
        return scalar.text if scalar.dtype == dtype else f"({c_type(dtype)}){scalar.text}"
    return converted(scalar, dtype, writer)


def as_class(name: str, operand: Reference, writer: Writer) -> Scalar:
    """`int(x)`, `float(x)`, `bool(x)`, `numpy.float64(x)` of a number."""
    scalar = number(operand)
    python = name.removeprefix("builtin.") if name.startswith("builtin.") else ""
    dtype = PYTHON_DTYPES[python] if python else np.dtype(name.removeprefix("numpy."))
    if dtype.kind == "b":
        return Scalar(truth(scalar), dtype, python, (0, 1))
    if dtype.kind == "f":
        return Scalar(writer.temporary(c_type(dtype), converted(scalar, dtype, writer)), dtype, python)
    if scalar.dtype.kind == "f":
        limit = float(1 << 8 * dtype.itemsize - (dtype.kind == "i"))
        low = -limit if dtype.kind == "i" else -1.0
        # The bound below is open for floats that are cut towards zero; one that is exactly on it is left to the host.
        writer.bail(f"!({scalar.text} > {low!r} && {scalar.text} < {limit!r})")
        return Scalar(writer.temporary(c_type(dtype), f"({c_type(dtype)}){scalar.text}"), dtype, python)
    fit(scalar, dtype, writer)
    low, high = bounds_of(scalar)
    bounds = (max(low, LEAST), min(high, MOST))
    return Scalar(f"({c_type(dtype)}){scalar.text}", dtype, python, bounds)


def truth(scalar: Scalar) -> str:
    """The truth of a number, as text."""
    return scalar.text if scalar.dtype.kind == "b" else f"({scalar.text} != 0)"


def absolute(operand: Reference, writer: Writer) -> Scalar:
    """`abs(x)`."""
    scalar = number(operand)
    if scalar.python:
        return python_unary("abs", scalar, writer)
    return apply(table["numpy.absolute"], (scalar,), writer, is_operator=True)


def extreme(name: str, operands: list[Reference], writer: Writer) -> Scalar:
    """`min` and `max` of numbers of one type."""
    first, *rest = map(number, operands)
    sign = "<" if name == "min" else ">"
    for each in rest:
        if (each.python, each.dtype) != (first.python, first.dtype):
            raise Refused(f"`{name}` of numbers of two types")
        text = f"{each.text} {sign} {first.text}"
        if first.dtype.kind == "f":
            text = f"__builtin_{'isless' if name == 'min' else 'isgreater'}({each.text}, {first.text})"
        chosen = writer.temporary(c_type(first.dtype), f"{text} ? {each.text} : {first.text}")
        combine = min if name == "min" else max
        bounds = (combine(first.bounds[0], each.bounds[0]), combine(first.bounds[1], each.bounds[1]))
        first = Scalar(chosen, first.dtype, first.python, bounds)
    return first
