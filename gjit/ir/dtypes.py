"""Dtypes as text and back, exactly: byte order, field offsets, titles, subarrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from gjit.ir.lexer import Tokens, quote

NESTING_LIMIT = 200
"""How deep tuples, types and dtypes may nest in the text."""


def dtype_text(dtype: np.dtype) -> str:
    """The dtype as it stands in types and after `dtype` in constants.

    Raises:
        ValueError: a dtype that no text can hold, like a `StringDType` with its own missing value.

    >>> dtype_text(np.dtype("f8")), dtype_text(np.dtype(">f8"))
    ('float64', "'>f8'")
    >>> dtype_text(np.dtype([("a", "f4"), ("b", "i8", (2,))]))
    'struct(20, False, ("a", float32, 0), ("b", sub(int64, 2), 4))'
    """
    if dtype.subdtype is not None:
        base, shape = dtype.subdtype
        return f"sub({', '.join([dtype_text(base), *map(str, shape)])})"
    if dtype.names is not None:
        return _struct_text(dtype)
    if dtype.kind == "T":
        return _string_text(dtype)
    bare = (dtype.name, dtype.type.__name__) if dtype.kind in "biufcO" or dtype.isbuiltin == 2 else ()
    for name in bare if dtype.isnative else ():
        if _reads_as(name, dtype):
            return name
    for name in (dtype.str, dtype.byteorder + dtype.char):
        if _reads_as(name, dtype):
            return repr(name)
    raise ValueError(f"{dtype!r} has no text: NumPy knows no name for it")


def has_metadata(dtype: np.dtype) -> bool:
    """Whether the dtype, or one inside it, carries metadata: equality and the text ignore it."""
    if dtype.metadata:
        return True
    if dtype.subdtype is not None:
        return has_metadata(dtype.subdtype[0])
    return any(has_metadata(field[0]) for field in (dtype.fields or {}).values())


def read_dtype(tokens: Tokens, depth: int = 0) -> np.dtype:
    """Parse what `dtype_text` prints."""
    token = tokens.peek()
    if depth > NESTING_LIMIT:
        raise tokens.error(f"dtypes nest at most {NESTING_LIMIT} deep", token)
    if token.kind == "name" and tokens.at("(", 1):
        reader = _READERS.get(token.text)
        if reader is None:
            raise tokens.expected(f"one of {', '.join(_READERS)}")
        tokens.next()
        tokens.expect("(")
        dtype = tokens.decoded(token, lambda _: reader(tokens, depth + 1))
        tokens.expect(")")
        return dtype
    return tokens.decoded(token, np.dtype, tokens.word("a dtype"))


def _reads_as(name: str, dtype: np.dtype) -> bool:
    """Whether NumPy reads `name` as this very dtype: `int64` is not the equal `longlong`."""
    try:
        found = np.dtype(name)
    except TypeError:
        return False
    return found == dtype and found.char == dtype.char


def _struct_text(dtype: np.dtype) -> str:
    parts = [str(dtype.itemsize), str(dtype.isalignedstruct)]
    fields: Any = dtype.fields
    for name in dtype.names or ():
        field, offset, *title = fields[name]
        titles = [quote(title[0])] if title else []
        parts.append(f"({', '.join([quote(name), dtype_text(field), str(offset), *titles])})")
    text = f"struct({', '.join(parts)})"
    return f"record({text})" if dtype.type is np.record else text


def _string_text(dtype: np.dtype) -> str:
    if hasattr(dtype, "na_object"):
        raise ValueError(f"{dtype!r} has no text: it holds a missing value of its own")
    return f"string({getattr(dtype, 'coerce', True)})"


def _read_struct(tokens: Tokens, depth: int) -> np.dtype:
    itemsize = tokens.whole_number("the size of an item")
    tokens.expect(",")
    aligned = _read_flag(tokens)
    description: Any = {"names": [], "formats": [], "offsets": [], "titles": [], "itemsize": itemsize}
    while tokens.accept(","):
        tokens.expect("(")
        description["names"].append(tokens.string("the name of a field"))
        tokens.expect(",")
        description["formats"].append(read_dtype(tokens, depth))
        tokens.expect(",")
        description["offsets"].append(tokens.whole_number("the offset of a field"))
        description["titles"].append(tokens.string("the title of a field") if tokens.accept(",") else None)
        tokens.expect(")")
    return np.dtype(description, align=aligned)


def _read_record(tokens: Tokens, depth: int) -> np.dtype:
    return np.dtype((np.record, read_dtype(tokens, depth)))


def _read_sub(tokens: Tokens, depth: int) -> np.dtype:
    base, shape = read_dtype(tokens, depth), []
    while tokens.accept(","):
        shape.append(tokens.whole_number("an extent"))
    return np.dtype((base, tuple(shape)))


def _read_string(tokens: Tokens, depth: int) -> np.dtype:
    return np.dtypes.StringDType(coerce=_read_flag(tokens))


def _read_flag(tokens: Tokens) -> bool:
    if tokens.accept("True"):
        return True
    if tokens.accept("False"):
        return False
    raise tokens.expected("`True` or `False`")


_READERS = {"struct": _read_struct, "record": _read_record, "sub": _read_sub, "string": _read_string}
