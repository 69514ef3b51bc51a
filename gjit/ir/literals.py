"""Read constants and types from a graph text."""

from __future__ import annotations

import ast
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.ir.constants import SCALAR_CLASSES
from gjit.ir.dtypes import NESTING_LIMIT, read_dtype
from gjit.ir.graph import Parameter, ParameterKind
from gjit.ir.lexer import Token, Tokens
from gjit.ir.protocols import known_names
from gjit.ir.types import (
    CELL,
    PYTHON_TYPES,
    UNKNOWN,
    ArrayType,
    DictType,
    InstanceType,
    ListType,
    OptionalType,
    ScalarType,
    SetType,
    TupleType,
    Type,
)

_WORDS = {"None": None, "True": True, "False": False, "inf": float("inf"), "nan": float("nan")}


def parse_constant(text: str) -> object:
    """The object that `constant_text` printed.

    Raises:
        GraphTextError: a text that is no constant.

    >>> parse_constant('(1, 0x10, slice(None, 2, None), "a")')
    (1, 16, slice(None, 2, None), 'a')
    """
    return _whole(text, read_constant)


def parse_type(text: str) -> Type:
    """The type whose `str()` is `text`.

    >>> parse_type("tuple<array<float64, 2>, int>").elements[0].rank
    2
    """
    return _whole(text, read_type)


def read_constant(tokens: Tokens, depth: int = 0) -> object:
    """Parse one constant."""
    token = tokens.peek()
    if depth > NESTING_LIMIT:
        raise tokens.error(f"constants nest at most {NESTING_LIMIT} deep", token)
    if token.kind == "number":
        return tokens.decoded(tokens.next(), _number)
    if token.kind in ("string", "bytes"):
        return tokens.decoded(tokens.next(), ast.literal_eval)
    if tokens.accept("..."):
        return ...
    if tokens.at("("):
        return _read_tuple(tokens, depth + 1)
    if token.kind == "name":
        return _read_name(tokens, depth + 1)
    raise tokens.expected("a constant")


def read_type(tokens: Tokens, depth: int = 0) -> Type:
    """Parse one type."""
    token = tokens.take("name", "a type")
    if depth > NESTING_LIMIT:
        raise tokens.error(f"types nest at most {NESTING_LIMIT} deep", token)
    if token.text in _SIMPLE_TYPES and not tokens.at("<"):
        return _SIMPLE_TYPES[token.text]
    reader = _TYPE_READERS.get(token.text)
    if reader is None:
        raise tokens.error(f"{token} is not a type", token)
    tokens.expect("<")
    type_ = reader(tokens, depth + 1)
    tokens.expect(">")
    return type_


def _whole(text: str, read: Callable[[Tokens], Any]) -> Any:
    tokens = Tokens(text)
    result = read(tokens)
    tokens.take("end", "the end of the text")
    return result


def _number(text: str) -> int | float:
    if "x" in text:
        return int(text, 16)
    return float(text) if any(mark in text for mark in ".ein") else int(text)


def _read_tuple(tokens: Tokens, depth: int) -> tuple:
    """Elements in parentheses; a tuple of one has a comma at its end, as in Python."""
    tokens.expect("(")
    elements: list[object] = []
    while not tokens.accept(")"):
        elements.append(read_constant(tokens, depth))
        if not tokens.accept(","):
            if len(elements) == 1:
                raise tokens.expected("`,`")
            tokens.expect(")")
            break
    return tuple(elements)


def _read_name(tokens: Tokens, depth: int) -> object:
    token = tokens.next()
    if tokens.at("("):
        return _read_call(tokens, token, depth)
    if token.text in _WORDS:
        return _WORDS[token.text]
    return _named(tokens, token, token.text)


def _named(tokens: Tokens, token: Token, name: str) -> object:
    try:
        return known_names.lookup(name)
    except LookupError:
        raise tokens.error(f"no object is known by the name {name!r}", token) from None


def _read_call(tokens: Tokens, token: Token, depth: int) -> object:
    tokens.expect("(")
    if token.text == "dtype":
        value: object = read_dtype(tokens, depth)
    elif token.text == "type":
        value = read_type(tokens, depth)
    elif token.text == "scalar":
        value = _read_scalar(tokens, token, depth)
    elif token.text == "named":
        value = _named(tokens, token, tokens.string("a name"))
    else:
        return _construct(tokens, token, depth)
    tokens.expect(")")
    return value


def _construct(tokens: Tokens, token: Token, depth: int) -> object:
    """A constructor whose arguments are constants: `slice(1, None, 2)`."""
    if token.text not in _CONSTRUCTORS:
        raise tokens.error(f"{token} makes no constant", token)
    arguments: list[object] = []
    while not tokens.accept(")"):
        if arguments:
            tokens.expect(",")
        arguments.append(read_constant(tokens, depth))
    return tokens.decoded(token, lambda _: _CONSTRUCTORS[token.text](*arguments))


def _read_scalar(tokens: Tokens, token: Token, depth: int) -> object:
    dtype = read_dtype(tokens, depth)
    tokens.expect(",")
    content = read_constant(tokens, depth)
    if type(content) is int and dtype.kind in "mM":
        return tokens.decoded(token, lambda _: np.array(content, "i8").view(dtype)[()])
    if type(content) is not bytes or len(content) != dtype.itemsize or dtype.hasobject:
        raise tokens.error(f"a scalar of {dtype} needs {dtype.itemsize} bytes", token)
    if not content:
        return np.zeros((), dtype)[()]
    return tokens.decoded(token, lambda _: np.frombuffer(content, dtype, 1)[0])


def _nan(bits: int) -> float:
    (value,) = struct.unpack("<d", struct.pack("<Q", bits))
    if value == value:
        raise ValueError("these are not the bits of a NaN")
    return value


def _complex(real: float, imaginary: float) -> complex:
    return complex(float(real), float(imaginary))


def _parameter(name: str, kind: str, has_default: bool = False) -> Parameter:
    return Parameter(str(name), ParameterKind(kind), bool(has_default))


_CONSTRUCTORS: dict[str, Callable] = {
    "nan": _nan,
    "complex": _complex,
    "slice": lambda start, stop, step: slice(start, stop, step),
    "parameter": _parameter,
    "str_": np.str_,
    "bytes_": np.bytes_,
    **SCALAR_CLASSES,
}


def _read_array_type(tokens: Tokens, depth: int) -> Type:
    dtype = _read_optional_dtype(tokens, depth)
    tokens.expect(",")
    return ArrayType(dtype, None if tokens.accept("?") else tokens.whole_number("a rank"))


def _read_optional_dtype(tokens: Tokens, depth: int) -> np.dtype | None:
    return None if tokens.accept("?") else read_dtype(tokens, depth)


def _read_tuple_type(tokens: Tokens, depth: int) -> Type:
    elements: list[Type] = []
    while not tokens.at(">"):
        if elements:
            tokens.expect(",")
        elements.append(read_type(tokens, depth))
    return TupleType(tuple(elements))


def _read_dict_type(tokens: Tokens, depth: int) -> Type:
    key = read_type(tokens, depth)
    tokens.expect(",")
    return DictType(key, read_type(tokens, depth))


_SIMPLE_TYPES: dict[str, Type] = {**PYTHON_TYPES, "unknown": UNKNOWN, "cell": CELL, "tuple": TupleType(None)}
_TYPE_READERS: dict[str, Callable[[Tokens, int], Type]] = {
    "array": _read_array_type,
    "scalar": lambda tokens, depth: ScalarType(_read_optional_dtype(tokens, depth)),
    "tuple": _read_tuple_type,
    "list": lambda tokens, depth: ListType(read_type(tokens, depth)),
    "set": lambda tokens, depth: SetType(read_type(tokens, depth)),
    "dict": _read_dict_type,
    "optional": lambda tokens, depth: OptionalType(read_type(tokens, depth)),
    "instance": lambda tokens, depth: InstanceType(tokens.word("the name of a class")),
}
