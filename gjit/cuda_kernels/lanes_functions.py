"""The functions of the rows on vectors of elements: by vector operations where there is such a form, else lane by lane.

static inline Lanes<bool_> np_less(Lanes<float64> a, Lanes<float64> b) {
    return truth(a.values < b.values);
}
static inline auto np_sin(Lanes<float64> a) {
    return lifted([](float64 a) { return np_sin(a); }, a);
}

The forms are those of the functions themselves, and give the same bits.
"""

from __future__ import annotations

import re

import numpy as np

from gjit.ops.kernels import c_type

Form = tuple[str, str, str]
"""The names of functions, the kinds of dtypes that a form is for, and the statements, in which `%` is the sign that
belongs to the name."""
_WRAPS = "return {(Vector)((Wrapping)a.values % (Wrapping)b.values)};"
_EXTREME = """const Mask first = ~(a.values % b.values);
    return {first ? (a.values != a.values ? a.values : (b.values == b.values ? a.values : b.values)) : b.values};"""
_CLIPPED = """const Vector risen = a.values < b.values ? b.values : a.values;
    const Vector clipped = risen > c.values ? c.values : risen;
    const Vector high = c.values != c.values ? c.values : clipped;
    return {b.values != b.values ? b.values : high};"""
_PARTWISE = "return {{a.real.values % b.real.values}, {a.imag.values % b.imag.values}};"
_PRODUCT = """return {
        {a.real.values * b.real.values - a.imag.values * b.imag.values},
        {a.real.values * b.imag.values + a.imag.values * b.real.values},
    };"""
_CHOICE = """const Mask first = __builtin_convertvector(a.values, Mask);
    return {{first ? b.real.values : c.real.values}, {first ? b.imag.values : c.imag.values}};"""
_HYPOTENUSE = "return lifted([](Part x, Part y) { return np_hypot(x, y); }, a.real, a.imag);"
_FORMS: list[Form] = [
    ("add+ subtract- multiply*", "iuf", _WRAPS),
    ("divide/", "f", "return {a.values / b.values};"),
    ("square*", "iuf", _WRAPS.replace("b.", "a.")),
    ("negative-", "iuf", "return {(Vector)(%(Wrapping)a.values)};"),
    ("positive conjugate real", "biufe", "return a;"),
    ("absolute fabs", "f", "return {(Vector)((Mask)a.values & ~(Mask)all_lanes(-(Element)0).values)};"),
    ("equal== not_equal!= less< less_equal<= greater> greater_equal>=", "iuf", "return truth(a.values % b.values);"),
    ("isnan", "f", "return truth(a.values != a.values);"),
    ("where", "iuf", "return {__builtin_convertvector(a.values, Mask) ? b.values : c.values};"),
    ("where", "b", "return {a.values ? b.values : c.values};"),
    ("where", "c", _CHOICE),
    ("maximum<= minimum>=", "iuf", _EXTREME),
    ("fmax> fmin<", "iuf", "return {(b.values != b.values) | (a.values % b.values) ? a.values : b.values};"),
    ("clip", "iuf", _CLIPPED),
    ("bitwise_and& bitwise_or| bitwise_xor^", "biu", "return {a.values % b.values};"),
    ("add| multiply& logical_and& logical_or| logical_xor^", "b", "return {a.values % b.values};"),
    ("invert~ logical_not~", "b", "return {%a.values};"),
    ("invert~", "iu", "return {%a.values};"),
    ("add+ subtract-", "c", _PARTWISE),
    ("multiply", "c", _PRODUCT),
    ("square", "c", _PRODUCT.replace("b.", "a.")),
    ("negative-", "c", "return {{%a.real.values}, {%a.imag.values}};"),
    ("conjugate-", "c", "return {a.real, {%a.imag.values}};"),
    ("real", "c", "return a.real;"),
    ("imag", "c", "return a.imag;"),
    ("absolute", "c", _HYPOTENUSE),
]
_TRUTHS = frozenset({"equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "isnan"})
_PARTS = frozenset({"real", "imag", "absolute"})
_EXACT_CASTS = frozenset("ilq")
"""Casts of floats to these integers are one conversion; smaller ones go through another dtype."""


def function_text(name: str, dtypes: tuple[np.dtype, ...]) -> str:
    """The overload of the function `name` for vectors of these dtypes."""
    parameters = ", ".join(f"Lanes<{c_type(dtype)}> {letter}" for letter, dtype in zip("abc", dtypes, strict=False))
    result, body = _form(name, dtypes)
    if not body:
        return _lifted(name, dtypes, parameters)
    return f"static inline Lanes<{c_type(result)}> {name}({parameters}) {{\n    {_types(dtypes[-1], body)}{body}\n}}\n"


def is_by_lane(name: str, dtypes: tuple[np.dtype, ...]) -> bool:
    """Whether the function is called for each lane.

    >>> is_by_lane("np_add", (np.dtype("f8"),) * 2), is_by_lane("np_sin", (np.dtype("f8"),))
    (False, True)
    """
    body = _form(name, dtypes)[1]
    return not body or "lifted" in body


def _form(name: str, dtypes: tuple[np.dtype, ...]) -> tuple[np.dtype, str]:
    """The dtype of the result and the statements; none where each lane is computed by itself."""
    target = _target_of_cast(name)
    if target is not None:
        return target, _cast(dtypes[0], target)
    plain, last = name.removeprefix("np_"), dtypes[-1]
    alike = dtypes[1:] if plain == "where" else dtypes
    if any(dtype != last for dtype in alike):
        return last, ""
    kind = "e" if last.char == "e" else last.kind
    for names, kinds, body in _FORMS:
        for entry in names.split():
            word = entry.rstrip("+-*/<>=!&|^~")
            if word == plain and kind in kinds:
                result = np.dtype(bool) if plain in _TRUTHS else part_of(last) if plain in _PARTS else last
                return result, body.replace("%", entry[len(word) :])
    return last, ""


def part_of(dtype: np.dtype) -> np.dtype:
    """The dtype of the parts of complex numbers; other dtypes are their own.

    >>> part_of(np.dtype("c8")), part_of(np.dtype("i4"))
    (dtype('float32'), dtype('int32'))
    """
    return np.empty(0, dtype).real.dtype


def _types(dtype: np.dtype, body: str) -> str:
    """The types that the statements speak of, as those of the last operand."""
    part = c_type(part_of(dtype))
    known = {word: f"Lanes<{part}>::{word}" for word in ("Vector", "Mask", "Wrapping")}
    known |= {"Element": c_type(dtype), "Part": part}
    return "".join(
        f"typedef {meaning} {word};\n    " for word, meaning in known.items() if re.search(rf"(?<!:){word}\b", body)
    )


def _lifted(name: str, dtypes: tuple[np.dtype, ...], parameters: str) -> str:
    letters = "abc"[: len(dtypes)]
    taken = ", ".join(f"{c_type(dtype)} {letter}" for letter, dtype in zip(letters, dtypes, strict=True))
    call = f"lifted([]({taken}) {{ return {name}({', '.join(letters)}); }}, {', '.join(letters)})"
    return f"static inline auto {name}({parameters}) {{\n    return {call};\n}}\n"


def _target_of_cast(name: str) -> np.dtype | None:
    word = name.removeprefix("np_cast_")
    return None if word == name else np.dtype(word.rstrip("_"))


def _cast(source: np.dtype, target: np.dtype) -> str:
    to = f"Lanes<{c_type(target)}>"
    if source.kind == "c" and part_of(source) == target:
        return "return a.real;"
    if "e" in (source.char, target.char) or source.kind == "c":
        return ""
    if target.kind == "c":
        part = part_of(target)
        values = f"__builtin_convertvector({_number(source)}, Lanes<{c_type(part)}>::Vector)"
        return f"return {{{{{values}}}, all_lanes(({c_type(part)})0)}};"
    if target.kind == "b":
        return "return truth(a.values != (Element)0);"
    if source.kind == "f" and target.kind in "iu" and target.char not in _EXACT_CASTS:
        return ""
    return f"return {{__builtin_convertvector({_number(source)}, {to}::Vector)}};"


def _number(source: np.dtype) -> str:
    """The lanes of true ones hold -1."""
    return "-a.values" if source.kind == "b" else "a.values"
