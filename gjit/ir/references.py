"""What a graph text refers to by a name or a number: values, and files of source positions."""

from __future__ import annotations

import ast
import re

from gjit.ir.graph import Value
from gjit.ir.lexer import Token, Tokens
from gjit.source import Span

_VALUE = re.compile(r"%(?:(\d+)|(.+?)(?:\.\d+)?)", re.DOTALL)
_SPAN = re.compile(r"@(\d+):(\d+)(?:-(?:(\d+):)?(\d+))?(?:#(\d+))?")


class References:
    """The values defined so far in one graph, and the table of files."""

    def __init__(self, tokens: Tokens, files: list[str]):
        self._tokens = tokens
        self._files = files
        self._values: dict[str, Value] = {}

    def define(self, value: Value, token: Token) -> None:
        """Let the token (`%x`, `%x.1`, `%0`) stand for `value`, which gets its name without the number."""
        if token.text in self._values:
            raise self._tokens.error(f"{token} is defined twice", token)
        value.name = self.hint(token)
        self._values[token.text] = value

    def hint(self, token: Token) -> str:
        """The name of a value without its number."""
        match = _VALUE.fullmatch(token.text)
        hint = match and match[2]
        if not hint:
            return ""
        return self._tokens.decoded(token, ast.literal_eval, hint) if hint[0] in "\"'" else hint

    def value(self) -> Value:
        """Take a token that stands for a value."""
        token = self._tokens.peek()
        value = self._values.get(token.text)
        if value is None:
            raise self._tokens.error(f"{token} is not defined", token)
        self._tokens.next()
        return value

    def span(self) -> Span | None:
        """Take a source position, if one comes next."""
        if self._tokens.peek().kind != "span":
            return None
        token = self._tokens.next()
        return self._tokens.decoded(token, lambda text: self._read_span(text, token))

    def _read_span(self, text: str, token: Token) -> Span:
        line, column, end_line, end_column, file = _SPAN.findall(text)[0]
        if int(file or 0) >= len(self._files):
            raise self._tokens.error(f"the file {int(file or 0)} is not in the table of files", token)
        end = (0, 0) if not end_column else (int(end_line or line), int(end_column))
        return Span(self._files[int(file or 0)], int(line), int(column), *end)
