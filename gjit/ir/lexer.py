"""Tokens of the graph text, and the error that shows where a text is wrong."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from gjit.errors import GjitError

NAME = r"[^\W\d]\w*"
DOTTED = re.compile(rf"{NAME}(?:\.{NAME})*")
"""What may stand bare as the name of an op, an object or a graph; anything else is quoted."""

_STRING = r"""(?:"(?:[^"\\\n]|\\[\\'"abfnrtvxuUN0-7])*"|'(?:[^'\\\n]|\\[\\'"abfnrtvxuUN0-7])*')"""
_TOKEN = re.compile(
    rf"""
      (?P<blank>[ \t\r\n]+|\#[^\n]*)
    | (?P<value>%(?:{NAME}|{_STRING})(?:\.\d+)?|%\d+)
    | (?P<bytes>b{_STRING})
    | (?P<string>{_STRING})
    | (?P<number>-?(?:0x[0-9a-f]+|\d+(?:\.\d+)?(?:e[+-]?\d+)?|inf\b))
    | (?P<name>{NAME}(?:\.{NAME})*)
    | (?P<span>@\d+:\d+(?:-(?:\d+:)?\d+)?(?:\#\d+)?)
    | (?P<mark>\.\.\.|\*\*|[(){{}}<>,:=*/?])
    """,
    re.VERBOSE,
)


class GraphTextError(GjitError):
    """A graph text that does not parse: says what was expected, with line, column and a caret.

    `line` and `column` are 1-based; `problem` is the sentence without the excerpt.
    """

    def __init__(self, text: str, offset: int, problem: str):
        self.problem = problem
        start = text.rfind("\n", 0, offset) + 1
        self.line = text.count("\n", 0, start) + 1
        self.column = offset - start + 1
        shown, caret = _window(text[start:].partition("\n")[0], offset - start)
        super().__init__(f"line {self.line}, column {self.column}: {problem}\n    {shown}\n    {' ' * caret}^")


@dataclass(frozen=True, slots=True)
class Token:
    """`kind` is value, bytes, string, number, name, span, mark or end; `offset` is where it starts."""

    kind: str
    text: str
    offset: int

    def __str__(self) -> str:
        return "the end of the text" if self.kind == "end" else f"`{self.text}`"


class Tokens:
    """The tokens of a text, read one after the other with any look ahead."""

    def __init__(self, text: str):
        self.text = text
        self._tokens = _tokenize(text)
        self._index = 0

    def peek(self, ahead: int = 0) -> Token:
        return self._tokens[min(self._index + ahead, len(self._tokens) - 1)]

    def next(self) -> Token:
        token = self._tokens[self._index]
        if token.kind != "end":
            self._index += 1
        return token

    def at(self, text: str, ahead: int = 0) -> bool:
        """Whether the next token is this mark or bare name."""
        token = self.peek(ahead)
        return token.text == text and token.kind in ("mark", "name")

    def accept(self, text: str) -> bool:
        """Take the mark or bare name if it comes next."""
        if self.at(text):
            self._index += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        if not self.at(text):
            raise self.expected(f"`{text}`")
        return self.next()

    def take(self, kind: str, what: str) -> Token:
        """The next token, which has to be of this kind."""
        if self.peek().kind != kind:
            raise self.expected(what)
        return self.next()

    def whole_number(self, what: str) -> int:
        token = self.take("number", what)
        if not token.text.isdigit():
            raise self.error(f"expected {what}, found {token}", token)
        return self.decoded(token, int)

    def string(self, what: str) -> str:
        return self.decoded(self.take("string", what), ast.literal_eval)

    def word(self, what: str) -> str:
        """A bare dotted name or a quoted string."""
        if self.peek().kind == "string":
            return self.string(what)
        return self.take("name", what).text

    def decoded(self, token: Token, decode: Callable[[str], Any], text: str | None = None) -> Any:
        """What `decode` makes of the token's text; what it refuses is an error at the token."""
        try:
            return decode(token.text if text is None else text)
        except (ValueError, TypeError, SyntaxError, OverflowError) as error:
            raise self.error(f"{token} is malformed: {error}", token) from None

    def expected(self, what: str) -> GraphTextError:
        return self.error(f"expected {what}, found {self.peek()}", self.peek())

    def error(self, problem: str, token: Token) -> GraphTextError:
        return GraphTextError(self.text, token.offset, problem)


def quote(text: str) -> str:
    """`text` as a string literal on one line, in double quotes where that needs no escapes."""
    literal = repr(text)
    if literal[0] == "'" and '"' not in text:
        return f'"{literal[1:-1]}"'
    return literal


def word(name: str) -> str:
    """A name as it stands in the text: bare when it is dotted identifiers, else quoted."""
    return name if DOTTED.fullmatch(name) else quote(name)


def _tokenize(text: str) -> list[Token]:
    tokens = []
    offset = 0
    for match in _TOKEN.finditer(text):
        if match.start() != offset:
            break
        offset = match.end()
        kind = match.lastgroup or ""
        if kind != "blank":
            tokens.append(Token(kind, match.group(), match.start()))
    if offset != len(text):
        raise GraphTextError(text, offset, f"no token of the graph text starts with {text[offset]!r}")
    tokens.append(Token("end", "", offset))
    return tokens


def _window(line: str, caret: int, width: int = 100) -> tuple[str, int]:
    """The part of a long line around the caret, and where the caret is in it."""
    start = max(min(caret - width // 2, len(line) - width), 0)
    return line[start : start + width], caret - start
