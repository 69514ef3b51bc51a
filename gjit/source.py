"""Where code comes from: spans of source lines, and finding the text of a Python function."""

from __future__ import annotations

import ast
import inspect
import linecache
import os
import stat
import sys
import textwrap
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import cast

Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
_PROMPT = "<stdin>"


@dataclass(frozen=True, slots=True)
class Span:
    """A place in a source file: 1-based lines and 0-based columns, as `ast` counts them.

    `line` is kept beside the numbers so that an error can be shown where the file is gone.
    """

    file: str
    line: int
    column: int = 0
    end_line: int = 0
    end_column: int = 0

    def text(self) -> str:
        """The source line the span starts on, or an empty string where it cannot be read."""
        return linecache.getline(self.file, self.line).rstrip("\n")

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


@dataclass(frozen=True, slots=True)
class FunctionSource:
    """The syntax tree of one function; its positions are those of the user's file."""

    node: Definition
    file: str

    def span(self, node: ast.AST) -> Span:
        line = getattr(node, "lineno", self.node.lineno)
        return Span(
            self.file,
            line,
            getattr(node, "col_offset", 0),
            getattr(node, "end_lineno", line) or line,
            getattr(node, "end_col_offset", 0) or 0,
        )


def function_source(function: types.FunctionType) -> FunctionSource:
    """The syntax tree of `function`, with line numbers of its file.

    Raises OSError where no source can be found (built-ins, code made by `exec`).
    """
    code = function.__code__
    for tree in _trees(function):
        found = [node for node in _definitions(tree) if _matches(node, code)]
        if len(found) > 1 or code.co_filename == _PROMPT:
            exact = [node for node in found if _same_code(node, code, tree)]
            found = exact if exact or code.co_filename == _PROMPT else found
        if found:  # of lambdas inside each other on one line, the innermost is the one whose code it is
            return FunctionSource(cast(Definition, found[-1]), code.co_filename)
    raise OSError("its file does not hold the definition any more")


def _trees(function: types.FunctionType) -> Iterable[ast.Module]:
    """Where the definition may be: its file, else what was typed at the prompt, else the lines that Python finds."""
    tree = _parse_file(function.__code__.co_filename)
    if tree is not None:
        return [tree]
    if function.__code__.co_filename == _PROMPT:
        return _parse_history(function.__code__)
    return [_parse_snippet(function)]


def has_source(function: types.FunctionType) -> bool:
    """Whether the source of `function` can be found."""
    try:
        function_source(function)
    except (OSError, TypeError, SyntaxError):
        return False
    return True


def _definitions(tree: ast.Module) -> list[ast.AST]:
    """Every function and lambda of a file, found once."""
    found = getattr(tree, "gjit_definitions", None)
    if found is None:
        found = [node for node in ast.walk(tree) if isinstance(node, Definition)]
        tree.gjit_definitions = found  # type: ignore[attr-defined]
    return found


_parsed: dict[str, tuple[str, ast.Module]] = {}


def _parse_file(file: str) -> ast.Module | None:
    """The whole file, parsed once for each text that it has had."""
    text = _text(file)
    if not text:
        return None
    known = _parsed.get(file)
    if known is not None and known[0] == text:
        return known[1]
    try:
        tree = ast.parse(text)
    except SyntaxError:
        return None
    _parsed[file] = text, tree
    return tree


def _text(file: str) -> str:
    """The text of a file, of a notebook cell, or of the program given to `python -c`."""
    linecache.checkcache(file)
    text = "".join(linecache.getlines(file))
    if not text and file == "<string>" and "-c" in sys.orig_argv[:-1]:
        return sys.orig_argv[sys.orig_argv.index("-c") + 1]
    return text or (_standard_input() if file == _PROMPT else "")


def _standard_input() -> str:
    """The program of `python < file`. What came through a pipe has been read and is gone."""
    try:
        state = os.fstat(0)
        return os.pread(0, state.st_size, 0).decode() if stat.S_ISREG(state.st_mode) else ""
    except (OSError, ValueError):
        return ""


def _parse_history(code: types.CodeType) -> Iterator[ast.Module]:
    """Statements typed at the interactive prompt that may hold `code`, the newest first.

    Python before 3.13 keeps no source of the prompt; the line editor's history does.
    """
    readline = sys.modules.get("readline")
    if readline is None:
        return
    count = readline.get_current_history_length()
    lines = [readline.get_history_item(index + 1) or "" for index in range(count)]
    for start in reversed(range(count)):
        for end in range(start + 1, min(start + _LONGEST_STATEMENT, count) + 1):
            try:
                tree = ast.parse("\n".join(lines[start:end]))
            except SyntaxError:
                continue
            if len(tree.body) == 1 and any(_matches(node, code) for node in ast.walk(tree)):
                yield tree


_LONGEST_STATEMENT = 400


def _parse_snippet(function: types.FunctionType) -> ast.Module:
    """The function's own lines, moved back to where they stand in the file."""
    lines, first = inspect.getsourcelines(function)
    tree = ast.parse(textwrap.dedent("".join(lines)))
    ast.increment_lineno(tree, max(first, 1) - 1)
    return tree


def _matches(node: ast.AST, code: types.CodeType) -> bool:
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        return node.name == code.co_name and code.co_firstlineno in (first, node.lineno)
    return False


def _same_code(node: ast.AST, code: types.CodeType, tree: ast.Module) -> bool:
    """Whether `node`, compiled where it stands, gives `code`: tells lambdas on one line apart."""
    positions = list(code.co_positions())
    compiled = compile(tree, code.co_filename, "exec", dont_inherit=True)
    return any(
        list(candidate.co_positions()) == positions and _covers(node, candidate)
        for candidate in _codes(compiled)
        if candidate.co_name == code.co_name
    )


def _covers(node: ast.AST, code: types.CodeType) -> bool:
    body = node.body if isinstance(node, ast.Lambda) else node
    places = [p for p in code.co_positions() if p[0] is not None and p[2] is not None and p[3]]
    start = (getattr(body, "lineno", 0), getattr(body, "col_offset", 0))
    end = (getattr(body, "end_lineno", 0), getattr(body, "end_col_offset", 0))
    return all(start <= (p[0], p[2]) and (p[1], p[3]) <= end for p in places)


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield constant
            yield from _codes(constant)
