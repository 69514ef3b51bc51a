"""The functions that kernel texts call, for one dialect: exactly those that a text uses.

A source is C++ but for four letters. A definition with `F` is made for float32, float64 and, by way of float32,
float16; `C` is a complex type and `R` its parts; `I`, `T` and `U` are template parameters. `sinF` is `sinf` or `sin`.
What is defined for a type by name goes before what a letter gives.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter

from gjit.cuda_kernels import prelude_arithmetic, prelude_functions, prelude_logic, prelude_types
from gjit.cuda_kernels.dialect import Dialect

_SOURCES = (prelude_types.SOURCE, prelude_arithmetic.SOURCE, prelude_logic.SOURCE, prelude_functions.SOURCE)
_WORD = re.compile(r"\b[A-Za-z_]\w*\b")
_HEAD = re.compile(r"(?P<result>\w+) (?P<name>np_\w+)\((?P<parameters>[^)]*)\)")
_SIMPLE_TYPES = """typedef bool bool_;
typedef signed char int8;
typedef short int16;
typedef int int32;
typedef long long int64;
typedef unsigned char uint8;
typedef unsigned short uint16;
typedef unsigned int uint32;
typedef unsigned long long uint64;
typedef float float32;
typedef double float64;
"""
_STRUCTURES = {
    # name: (bytes, members, the simple type that its functions are made of)
    "float16": (2, "uint16 bits;", "float32"),
    "complex64": (8, "float32 real, imag;", "float32"),
    "complex128": (16, "float64 real, imag;", "float64"),
}
_FLOATS = {"float32": "f", "float64": ""}
_COMPLEX = {"complex64": "float32", "complex128": "float64"}
_MATH = {
    "acos acosh asin asinh atan atanh cbrt ceil cos cosh erf erfc exp exp2 expm1 fabs floor lgamma log log10 log1p "
    "log2 rint sin sinh sqrt tan tanh tgamma trunc": "{0} {1}({0});",
    "atan2 copysign fmod hypot nextafter pow": "{0} {1}({0}, {0});",
    "ldexp": "{0} {1}({0}, int);",
}
_TYPES = frozenset((*_FLOATS, *_STRUCTURES))


@dataclass(frozen=True, slots=True)
class Function:
    """One overload: its definition without what the dialect puts in front, and the words in it.

    `derived` is the float16 form that a definition with `F` gives.
    """

    name: str
    text: str
    template: str
    types: frozenset[str]
    words: frozenset[str]
    derived: bool = False

    def printed(self, dialect: Dialect) -> str:
        return f"{self.template}{dialect.function} {self.text}\n"


def prelude(text: str, dialect: Dialect) -> str:
    """The types and exactly the functions that the kernels in `text` need; `text` names the types of all its values.

    >>> from gjit.cuda_kernels.dialect import NATIVE
    >>> print(prelude("float32 y = np_sqrt(x);", NATIVE))  # doctest: +ELLIPSIS
    typedef bool bool_;
    ...
    extern "C" float sqrtf(float);
    static inline float32 np_sqrt(float32 x) { return sqrtf(x); }
    """
    words = set(_WORD.findall(text))
    types = (words | {word.removeprefix("np_cast_") for word in words}) & _TYPES
    types |= {_STRUCTURES[name][2] for name in types if name in _STRUCTURES}
    functions = _functions(dialect.definitions)
    chosen = _with_dependencies(words, types, functions)
    used = set().union(words, *(function.words for function in chosen))
    parts = [_SIMPLE_TYPES]
    parts += [_structure(name, dialect) for name in _STRUCTURES if name in types]
    if dialect.declares:
        parts += _declarations(used, dialect)
    parts += [function.printed(dialect) for function in chosen]
    return "".join(parts)


def _with_dependencies(words: set[str], types: set[str], functions: dict[str, list[Function]]) -> list[Function]:
    """The overloads for `types` of the functions named in `words` and of those that they call, callees first."""
    graph: dict[str, set[str]] = {}
    chosen: dict[str, list[Function]] = {}
    pending = [name for name in functions if name in words]
    while pending:
        name = pending.pop()
        if name not in graph:
            chosen[name] = [overload for overload in functions[name] if overload.types <= types]
            called = set().union(*(overload.words for overload in chosen[name])) & functions.keys()
            graph[name] = called - {name}
            pending += graph[name]
    return [overload for name in TopologicalSorter(graph).static_order() for overload in chosen[name]]


def _structure(name: str, dialect: Dialect) -> str:
    size, members, _ = _STRUCTURES[name]
    return f"{dialect.structure.format(size=size)} {name} {{ {members} }};\n"


def _declarations(words: set[str], dialect: Dialect) -> Iterator[str]:
    for names, form in _MATH.items():
        for name in names.split():
            vector = '__attribute__((simd("notinbranch"))) ' if name in dialect.vectorised else ""
            for type_, suffix in (("double", ""), ("float", "f")):
                if name + suffix in words:
                    yield f'extern "C" {vector}{form.format(type_, name + suffix)}\n'


@functools.cache
def _functions(own: str) -> dict[str, list[Function]]:
    """All overloads by name; `own` is the source of the dialect."""
    functions: dict[str, list[Function]] = {}
    for source in (own, *_SOURCES):
        for text in source.strip().split("\n\n"):
            for function in _expanded(text):
                functions.setdefault(function.name, []).append(function)
    return {name: _without_doubles(overloads) for name, overloads in functions.items()}


def _without_doubles(overloads: list[Function]) -> list[Function]:
    """What is defined for float16 by name stands instead of what `F` gave."""
    explicit = {_parameter_types(function.text) for function in overloads if not function.derived}
    return [one for one in overloads if not one.derived or _parameter_types(one.text) not in explicit]


def _parameter_types(text: str) -> tuple[str, ...]:
    head = _HEAD.match(text)
    assert head is not None, text
    return tuple(parameter.split()[0] for parameter in head["parameters"].split(", "))


def _expanded(text: str) -> Iterator[Function]:
    """The overloads that one definition stands for."""
    head = _HEAD.match(text)
    assert head is not None, text
    letters = set(_WORD.findall(head["parameters"]))
    if "F" in letters:
        for type_, suffix in _FLOATS.items():
            yield _function(re.sub(r"\b([a-z0-9]+)F\(", rf"\1{suffix}(", _replaced(text, F=type_)))
        yield replace(_function(_forwarding(head)), derived=True)
    elif "C" in letters:
        for type_, part in _COMPLEX.items():
            yield _function(_replaced(text, C=type_, R=part))
    else:
        yield _function(text, [letter for letter in "ITU" if letter in letters])


def _replaced(text: str, **letters: str) -> str:
    return re.sub(rf"\b[{''.join(letters)}]\b", lambda match: letters[match[0]], text)


def _forwarding(head: re.Match[str]) -> str:
    """The float16 form of a function of floats: rounded once, from the result in float32."""
    parameters = [parameter.split() for parameter in head["parameters"].split(", ")]
    taken = ", ".join(f"{'float16' if type_ == 'F' else type_} {name}" for type_, name in parameters)
    passed = ", ".join(f"np_single({name})" if type_ == "F" else name for type_, name in parameters)
    call = f"{head['name']}({passed})"
    result = f"np_half({call})" if head["result"] == "F" else call
    type_ = "float16" if head["result"] == "F" else head["result"]
    return f"{type_} {head['name']}({taken}) {{ return {result}; }}"


def _function(text: str, parameters: Iterable[str] = ()) -> Function:
    head = _HEAD.match(text)
    assert head is not None, text
    template = f"template <{', '.join(f'class {name}' for name in parameters)}> " if parameters else ""
    types = frozenset(_WORD.findall(head["parameters"])) & _TYPES
    return Function(head["name"], text, template, types, frozenset(_WORD.findall(text)))
