"""Python's own arithmetic in a nest: ints are as long as they need to be, so what leaves 64 bits goes to the host."""

from __future__ import annotations

from collections.abc import Callable

from gjit.cuda_kernels.nest_values import BOOL, FLOAT64, INT64, LEAST, MOST, Refused, Scalar
from gjit.cuda_kernels.nest_writer import Writer

EXACT_INTEGERS = 1 << 53
"""Up to here every integer is a float64."""
_SIGNS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}
_COMPARISONS = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
Bounds = tuple[int, int]


def python_binary(name: str, a: Scalar, b: Scalar, writer: Writer) -> Scalar:
    """A binary operator on two of Python's numbers."""
    if "float" in (a.python, b.python):
        return _float_binary(name, as_float(a), as_float(b), writer)
    if name in ("and", "or", "xor") and a.python == b.python == "bool":
        return Scalar(f"({a.text} {_SIGNS[name]} {b.text})", BOOL, "bool", (0, 1))
    if name == "truediv":
        return _integer_quotient(a, b, writer)
    handler = _INTEGERS.get(name)
    if handler is None:
        raise Refused(f"`{name}` of integers")
    return handler(as_int(a), as_int(b), writer)


def as_int(value: Scalar) -> Scalar:
    """A Python int, or a bool as one."""
    return value if value.python == "int" else Scalar(f"(int64){value.text}", INT64, "int", (0, 1))


def as_float(value: Scalar) -> str:
    """A Python number as a float64, rounded as Python rounds."""
    return value.text if value.python == "float" else f"(float64){value.text}"


def python_unary(name: str, a: Scalar, writer: Writer) -> Scalar:
    """`-x`, `+x`, `~x`, `abs(x)`."""
    if a.python == "float":
        texts = {"neg": f"(-{a.text})", "pos": a.text, "abs": f"__builtin_fabs({a.text})"}
        if name not in texts:
            raise Refused("`~` of a float")
        return Scalar(texts[name], FLOAT64, "float")
    a = as_int(a)
    low, high = a.bounds
    match name:
        case "pos":
            return a
        case "invert":
            return Scalar(f"(~{a.text})", INT64, "int", (~high, ~low))
        case "neg":
            return _unless_overflowing("sub", Scalar("(int64)0", INT64, "int", (0, 0)), a, (-high, -low), writer)
    if low >= 0:
        return a
    negated = python_unary("neg", a, writer)
    return Scalar(f"({a.text} < 0 ? {negated.text} : {a.text})", INT64, "int", (0, min(max(-low, high), MOST)))


def python_compare(name: str, a: Scalar, b: Scalar, writer: Writer) -> Scalar:
    """A comparison of two of Python's numbers: of an int and a float by their exact values."""
    if "float" not in (a.python, b.python) or a.python == b.python:
        quiet = {"lt": "isless", "le": "islessequal", "gt": "isgreater", "ge": "isgreaterequal"}.get(name)
        if quiet and a.python == "float":
            return Scalar(f"(bool_)__builtin_{quiet}({a.text}, {b.text})", BOOL, "bool", (0, 1))
        return Scalar(f"({a.text} {_COMPARISONS[name]} {b.text})", BOOL, "bool", (0, 1))
    for each in (a, b):
        if each.python == "int":
            _check_exact(each, writer)
    first, second = (Scalar(as_float(each), FLOAT64, "float") for each in (a, b))
    return python_compare(name, first, second, writer)


def _check_exact(value: Scalar, writer: Writer) -> None:
    low, high = value.bounds
    if low < -EXACT_INTEGERS or high > EXACT_INTEGERS:
        writer.bail(f"{value.text} < -{EXACT_INTEGERS} || {value.text} > {EXACT_INTEGERS}")


def _float_binary(name: str, a: str, b: str, writer: Writer) -> Scalar:
    if name in ("add", "sub", "mul"):
        text = f"{a} {_SIGNS[name]} {b}"
    elif name == "truediv":
        writer.bail(f"{b} == 0")
        text = f"{a} / {b}"
    elif name == "floordiv":
        writer.bail(f"{b} == 0")
        text = f"np_floor_divide({a}, {b})"
    elif name == "mod":
        writer.bail(f"{b} == 0")
        text = f"np_remainder({a}, {b})"
    elif name == "pow":
        result = writer.temporary("float64", f"library_pow({a}, {b})")
        # What raises, what gives a complex number, and what Python decides by itself.
        writer.bail(f"!({a} > 0 || ({a} == 0 && {b} > 0) || {b} == __builtin_floor({b}))")
        writer.bail(f"{a} == 0 && {b} < 0")
        writer.bail(f"!(__builtin_fabs({result}) < __builtin_inf())")
        return Scalar(result, FLOAT64, "float")
    else:
        raise Refused(f"`{name}` of floats")
    writer.floats = True
    return Scalar(writer.temporary("float64", text), FLOAT64, "float")


def _integer_quotient(a: Scalar, b: Scalar, writer: Writer) -> Scalar:
    for each in (a, b):
        _check_exact(each, writer)
    writer.bail(f"{b.text} == 0")
    return Scalar(writer.temporary("float64", f"(float64){a.text} / (float64){b.text}"), FLOAT64, "float")


def _unless_overflowing(name: str, a: Scalar, b: Scalar, bounds: Bounds, writer: Writer) -> Scalar:
    low, high = bounds
    if low >= LEAST and high <= MOST:
        return Scalar(f"({a.text} {_SIGNS[name]} {b.text})", INT64, "int", bounds)
    result = writer.fresh("r")
    writer.line(f"int64 {result};")
    writer.bail(f"__builtin_{name}_overflow({a.text}, {b.text}, &{result})")
    return Scalar(result, INT64, "int", (max(low, LEAST), min(high, MOST)))


def _add(a: Scalar, b: Scalar, writer: Writer) -> Scalar:
    return _unless_overflowing("add", a, b, (a.bounds[0] + b.bounds[0], a.bounds[1] + b.bounds[1]), writer)


def _sub(a: Scalar, b: Scalar, writer: Writer) -> Scalar:
    return _unless_overflowing("sub", a, b, (a.bounds[0] - b.bounds[1], a.bounds[1] - b.bounds[0]), writer)


def _mul(a: Scalar, b: Scalar, writer: Writer) -> Scalar:
    products = [x * y for x in a.bounds for y in b.bounds]
    return _unless_overflowing("mul", a, b, (min(products), max(products)), writer)


def _bits(name: str) -> Callable[[Scalar, Scalar, Writer], Scalar]:
    def operate(a: Scalar, b: Scalar, writer: Writer) -> Scalar:
        return Scalar(f"({a.text} {_SIGNS[name]} {b.text})", INT64, "int", _bits_bounds(name, a.bounds, b.bounds))

    return operate


def _bits_bounds(name: str, a: Bounds, b: Bounds) -> Bounds:
    if name == "and":
        highs = [high for low, high in (a, b) if low >= 0]
        return (0, min(highs)) if highs else (LEAST, MOST)
    if a[0] >= 0 and b[0] >= 0:
        return 0, (1 << max(a[1].bit_length(), b[1].bit_length())) - 1
    return LEAST, MOST


def _rshift(a: Scalar, b: Scalar, writer: Writer) -> Scalar:
    if b.bounds[0] < 0:
        writer.bail(f"{b.text} < 0")
    amount = b.text if b.bounds[1] < 64 else f"({b.text} > 63 ? 63 : {b.text})"
    low, high = a.bounds
    least, most = max(b.bounds[0], 0), min(max(b.bounds[1], 0), 63)
    bounds = (low >> (least if low < 0 else most), high >> (most if high < 0 else least))
    return Scalar(f"({a.text} >> {amount})", INT64, "int", bounds)


def _lshift(a: Scalar, b: Scalar, writer: Writer) -> Scalar:
    if b.bounds[0] < 0 or b.bounds[1] > 62:
        writer.bail(f"{b.text} < 0 || {b.text} > 62")
    least, most = max(b.bounds[0], 0), max(min(b.bounds[1], 62), 0)
    power = Scalar(f"((int64)1 << {b.text})", INT64, "int", (1 << least, 1 << most))
    return _mul(a, power, writer)


def _floordiv(a: Scalar, b: Scalar, writer: Writer) -> Scalar:
    _check_divisor(a, b, writer)
    bounds = (LEAST, MOST)
    if b.bounds[0] > 0:
        quotients = [x // y for x in a.bounds for y in b.bounds]
        bounds = (min(quotients), max(quotients))
    return Scalar(writer.temporary("int64", f"np_floor_divide({a.text}, {b.text})"), INT64, "int", bounds)


def _mod(a: Scalar, b: Scalar, writer: Writer) -> Scalar:
    _check_divisor(a, b, writer)
    bounds = (0, b.bounds[1] - 1) if b.bounds[0] > 0 else (LEAST, MOST)
    if a.bounds[0] >= 0 and b.bounds[0] > 0:  # the usual case needs no correction of the sign
        return Scalar(writer.temporary("int64", f"{a.text} % {b.text}"), INT64, "int", bounds)
    return Scalar(writer.temporary("int64", f"np_remainder({a.text}, {b.text})"), INT64, "int", bounds)


def _check_divisor(a: Scalar, b: Scalar, writer: Writer) -> None:
    if b.bounds[0] <= 0 <= b.bounds[1]:
        writer.bail(f"{b.text} == 0")
    if b.bounds[0] <= -1 <= b.bounds[1] and a.bounds[0] == LEAST:
        writer.bail(f"{b.text} == -1 && {a.text} == {LEAST + 1}LL - 1")


def _pow(a: Scalar, b: Scalar, writer: Writer) -> Scalar:
    if b.bounds[0] < 0:
        writer.bail(f"{b.text} < 0")
    result = writer.fresh("r")
    writer.line(f"int64 {result};")
    writer.bail(f"!nest_power({a.text}, {b.text}, &{result})")
    return Scalar(result, INT64, "int", (0 if b.bounds[0] == b.bounds[1] and b.bounds[0] % 2 == 0 else LEAST, MOST))


_INTEGERS: dict[str, Callable[[Scalar, Scalar, Writer], Scalar]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "and": _bits("and"),
    "or": _bits("or"),
    "xor": _bits("xor"),
    "rshift": _rshift,
    "lshift": _lshift,
    "floordiv": _floordiv,
    "mod": _mod,
    "pow": _pow,
}
