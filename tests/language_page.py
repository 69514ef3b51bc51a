"""Writes docs/language.md from the tests of the language: `python -m tests.language_page`.

What the page calls supported is a construct that stands in a program which a test in `tests/semantics` compares with
plain Python; what it calls refused is a case of `tests/capture/test_refusals.py`, with the message that it gives.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import gjit
from tests.capture.test_refusals import REFUSED

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "docs" / "language.md"
COMPARING = {"check", "assert_same_as_numpy", "compare", "agree"}
MOST_FILES = 3

Definition = ast.FunctionDef | ast.Lambda | ast.ClassDef
Predicate = Callable[[ast.AST], bool]


def kind(*kinds: type[ast.AST]) -> Predicate:
    return lambda node: isinstance(node, kinds)


def loop_with_else(node: ast.AST) -> bool:
    return isinstance(node, (ast.For, ast.While)) and bool(node.orelse)


def calls(name: str) -> Predicate:
    return lambda node: isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name


def has_arguments(field: str) -> Predicate:
    return lambda node: isinstance(node, ast.arguments) and bool(getattr(node, field))


def handles(field: str) -> Predicate:
    return lambda node: isinstance(node, ast.Try) and bool(getattr(node, field))


def stores(target: type[ast.AST]) -> Predicate:
    return lambda node: isinstance(node, target) and isinstance(node.ctx, ast.Store)  # type: ignore[attr-defined]


def deletes(node: ast.AST) -> bool:
    return isinstance(node, ast.Delete)


def is_slice_of_several_axes(node: ast.AST) -> bool:
    return isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Tuple)


def defines_class_inside(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and any(isinstance(statement, ast.ClassDef) for statement in node.body)


def is_decorated(node: ast.AST) -> bool:
    return bool(getattr(node, "decorator_list", ()))


CONSTRUCTS: dict[str, dict[str, Predicate]] = {
    "Statements": {
        "`if`, `elif`, `else`": kind(ast.If),
        "`for`": kind(ast.For),
        "`while`": kind(ast.While),
        "`else` of a loop": loop_with_else,
        "`break`": kind(ast.Break),
        "`continue`": kind(ast.Continue),
        "`return`": kind(ast.Return),
        "`pass`": kind(ast.Pass),
        "`raise`, `raise ... from`": kind(ast.Raise),
        "`try` with `except`": handles("handlers"),
        "`try` with `except*`": kind(ast.TryStar),
        "`else` of a `try`": handles("orelse"),
        "`finally`": handles("finalbody"),
        "`with`": kind(ast.With),
        "`assert`": kind(ast.Assert),
        "`match`": kind(ast.Match),
        "`del`": deletes,
        "`import` and `from ... import`": kind(ast.Import, ast.ImportFrom),
        "`nonlocal`": kind(ast.Nonlocal),
        "augmented assignment": kind(ast.AugAssign),
        "annotated assignment": kind(ast.AnnAssign),
        "assignment to an attribute": stores(ast.Attribute),
        "assignment to an index or slice": stores(ast.Subscript),
        "unpacking with a starred name": stores(ast.Starred),
        "inner functions": kind(ast.FunctionDef),
        "classes, in any form": defines_class_inside,
        "decorators": is_decorated,
    },
    "Expressions": {
        "arithmetic": kind(ast.BinOp),
        "`@`": kind(ast.MatMult),
        "unary operators": kind(ast.UnaryOp),
        "comparisons, chained too": kind(ast.Compare),
        "`and`, `or`": kind(ast.BoolOp),
        "`... if ... else ...`": kind(ast.IfExp),
        "`:=`": kind(ast.NamedExpr),
        "`lambda`": kind(ast.Lambda),
        "f-strings": kind(ast.JoinedStr),
        "lists": kind(ast.List),
        "tuples": kind(ast.Tuple),
        "sets": kind(ast.Set),
        "dictionaries": kind(ast.Dict),
        "list comprehensions": kind(ast.ListComp),
        "set comprehensions": kind(ast.SetComp),
        "dictionary comprehensions": kind(ast.DictComp),
        "generator expressions": kind(ast.GeneratorExp),
        "`*` and `**` in calls and displays": kind(ast.Starred),
        "indices and slices": kind(ast.Subscript),
        "indices of several axes": is_slice_of_several_axes,
        "attributes": kind(ast.Attribute),
        "`yield` in a function that the program makes": kind(ast.Yield),
        "`yield from` in such a function": kind(ast.YieldFrom),
        "`super()`": calls("super"),
    },
    "Parameters": {
        "positional only": has_arguments("posonlyargs"),
        "keyword only": has_arguments("kwonlyargs"),
        "defaults": has_arguments("defaults"),
        "`*args`": has_arguments("vararg"),
        "`**kwargs`": has_arguments("kwarg"),
    },
    "Patterns of `match`": {
        "values": kind(ast.MatchValue),
        "`None`, `True`, `False`": kind(ast.MatchSingleton),
        "sequences": kind(ast.MatchSequence),
        "mappings": kind(ast.MatchMapping),
        "classes": kind(ast.MatchClass),
        "`*rest`": kind(ast.MatchStar),
        "names, `_` and `as`": kind(ast.MatchAs),
        "alternatives": kind(ast.MatchOr),
    },
}


def page() -> str:
    """The whole page."""
    programs = {file.stem.removeprefix("test_"): list(compared(file)) for file in test_files()}
    parts = [INTRODUCTION]
    for title, constructs in CONSTRUCTS.items():
        parts.append(f"### {title}\n\n| construct | tested with |\n|---|---|\n" + rows(constructs, programs))
    parts.append(f"### Built-in functions\n\nCalled in the tests: {called_builtins(programs)}.\n")
    parts += [RULES, HOST.format(cases=host_cases()), REFUSALS + refused_rows()]
    return "\n".join(parts)


def test_files() -> list[Path]:
    return sorted((ROOT / "tests" / "semantics").glob("test_*.py"))


def rows(constructs: dict[str, Predicate], programs: dict[str, list[ast.AST]]) -> str:
    lines = []
    for construct, predicate in constructs.items():
        files = [file for file, nodes in programs.items() if any(predicate(node) for node in nodes)]
        assert files, f"no test compares a program with {construct}: add one, or take it off the page"
        more = "" if len(files) <= MOST_FILES else f" and {len(files) - MOST_FILES} more"
        lines.append(f"| {construct} | {', '.join(files[:MOST_FILES])}{more} |\n")
    return "".join(lines)


def called_builtins(programs: dict[str, list[ast.AST]]) -> str:
    called = {
        node.func.id
        for nodes in programs.values()
        for node in nodes
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    known = {name for name in called if hasattr(builtins, name) and name[0].islower()}
    return ", ".join(f"`{name}`" for name in sorted(known))


# Programs in the tests


def compared(file: Path) -> Iterator[ast.AST]:
    """Every node of the programs that a test in `file` compares with plain Python, and of what they use."""
    tree = ast.parse(file.read_text())
    top = {node.name: node for node in tree.body if isinstance(node, Definition) and not is_test(node)}
    tests = [test for test in tree.body if is_test(test) and compares(test)]
    waiting = [definition for test in tests for definition in definitions(test)]
    waiting += [top[name] for test in tests for name in sorted(names(test) & top.keys())]
    seen: set[int] = set()
    while waiting:
        definition = waiting.pop()
        if id(definition) not in seen:
            seen.add(id(definition))
            yield from ast.walk(definition)
            waiting += [top[name] for name in names(definition) & top.keys()]


def is_test(node: ast.AST) -> bool:
    return isinstance(node, ast.FunctionDef) and node.name.startswith("test_")


def compares(test: ast.AST) -> bool:
    return bool(COMPARING & names(test))


def names(tree: ast.AST) -> set[str]:
    return {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}


def definitions(test: ast.AST) -> list[Definition]:
    """The functions, lambdas and classes inside a test."""
    return [node for node in ast.walk(test) if isinstance(node, Definition) and node is not test]


def host_cases() -> str:
    """The tests whose programs make host calls, with their names as sentences."""
    found = []
    for file in test_files():
        for test in ast.parse(file.read_text()).body:
            keywords = [node for node in ast.walk(test) if isinstance(node, ast.keyword) and node.arg == "host_calls"]
            if is_test(test) and any(getattr(keyword.value, "value", 1) != 0 for keyword in keywords):
                text = test.name.removeprefix("test_").replace("_", " ")  # type: ignore[attr-defined]
                found.append(f"* {text} ({file.stem.removeprefix('test_')})")
    return "\n".join(sorted(found)) or "* none"


# Refusals


def refused_rows() -> str:
    return "".join(
        f"| `{line.replace('|', chr(92) + '|')}` | {shown(problem)} | {shown(hint)} |\n"
        for line, problem, hint in map(refusal, REFUSED)
    )


def refusal(case: tuple) -> tuple[str, str, str]:
    """The line that is refused, the problem, and what to write instead, from the message itself."""
    try:
        gjit.script(case[0]).graph  # noqa: B018 - captures
    except gjit.UnsupportedError as error:
        return case[3], error.problem, error.hint
    raise AssertionError(f"{case[0].__name__} is not refused")


def shown(text: str) -> str:
    return re.sub(r"\s+", " ", text).replace("|", "\\|")


INTRODUCTION = """\
# The language

<!-- Written by `python -m tests.language_page` from the tests; a test fails when the page is out of date. -->

A scripted function is Python. Everything that stands in the tables below is compared with plain Python and NumPy by
the tests of the named kind (`tests/semantics`): in values, types, layouts, aliasing, exceptions, warnings and printed
text. Their printed graphs also run in another process, which knows nothing of the module that the program came from.

## Supported
"""

RULES = """\
## Names

* **A local variable** that is assigned and read in one function is a value of the graph. It becomes a *cell*, a
  variable as Python has it, when an inner function shares it, when a `try` assigns it, when it is deleted, or when it
  may be unbound where it is read; `UnboundLocalError` and `NameError` are then Python's own.
* **Globals and free variables** are read when the function is called. A name that holds a number, a string, a
  function, a class or a module is *guarded*: the graph relies on the object, and every call first tests that the name
  still refers to it. When it does not, the function is captured again (`statistics.guard_failures`); a name that
  changes eight times is from then on looked up at each use. Arrays, lists and other objects that can change are
  always looked up, so a change of their contents is seen.
* **While a program runs**, code that it calls may assign a global that holds a number. If the program calls code that
  is only known when it runs, such globals are read again at each use.
* **A file that is edited and reloaded** gives new functions: they are scripted anew where they are decorated, and a
  guarded name that refers to one is a change like any other.

## Objects

* Functions and methods of your own that a program calls are scripted with it; the graph names them. Where a callee is
  only known when the program runs, it is scripted at its first call.
* Classes need no decoration. Where the type of an operand is not known, an operator on it is printed as that
  operator, so that Python's own dispatch decides: `__add__`, `__radd__`, `__array_ufunc__`, `__bool__`, `__getattr__`
  and the rest are called by the interpreter, in Python's order. The methods that Python calls in this way run as
  plain Python.
* Annotations are hints. They never raise and never convert.
"""

HOST = """\
## Run by the interpreter

Two things are *host calls*: calls of functions that gjit does not script, made by the interpreter, with the same
result. They cost what they cost in Python, nothing is fused across them, and `statistics.host_calls` and `explain`
show them.

* A function of yours that uses something from the table of refusals, called by a scripted function (with
  `strict=True` it is an error).
* A function of another package that is written in Python. NumPy's and SciPy's own functions, built-ins and the parts
  of the standard library that belong to the language (`functools`, `collections`, `dataclasses`, ...) are called as
  they are and not counted.

The tests with host calls:

{cases}
"""

REFUSALS = """\
## Refused

In a scripted function itself these are a `gjit.UnsupportedError`, which shows the line and what to write instead.

| code | message | instead |
|---|---|---|
"""


if __name__ == "__main__":
    PAGE.write_text(page())
