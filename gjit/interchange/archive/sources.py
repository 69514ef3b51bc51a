"""Lines of source that messages show: kept in the archive under names that lead to no file."""

from __future__ import annotations

import ast
import hashlib
import linecache
import re
from pathlib import PurePath

from gjit.ir.graph import Graph
from gjit.ir.lexer import quote
from gjit.ir.printer import called_graphs

Lines = dict[str, str]
"""Source lines by their number, which is a text, as JSON has it."""
_HEAD = re.compile(r'^file (\d+) ("(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.)*\')$', re.MULTILINE)
_KEPT = re.compile(r"<.* [0-9a-f]{12}>", re.DOTALL)
_LAST_LINE = 1_000_000


def excerpts(graph: Graph) -> dict[str, Lines]:
    """The lines that the nodes of a graph and of those that it calls stand on, by file."""
    found: dict[str, dict[int, None]] = {}
    for each, _ in called_graphs(graph):
        for span in (each.span, *(node.span for node in each.all_nodes())):
            if span is not None:
                lines = range(span.line, max(span.end_line, span.line) + 1)
                found.setdefault(span.file, {}).update(dict.fromkeys(lines))
    return {file: _lines(file, sorted(numbers)) for file, numbers in sorted(found.items())}


def _lines(file: str, numbers: list[int]) -> Lines:
    lines = {str(number): linecache.getline(file, number).rstrip("\r\n") for number in numbers}
    return {number: line for number, line in lines.items() if line}


def kept_name(file: str, lines: Lines) -> str:
    """The name of a file in an archive: its last part, and a number that follows from the lines.

    >>> kept_name("/home/me/relax.py", {"1": "def relax(u):"})
    '<relax.py cfcaf999fc74>'
    """
    if _KEPT.fullmatch(file):
        return file
    digest = hashlib.sha256(repr(sorted(lines.items())).encode()).hexdigest()[:12]
    return f"<{PurePath(file).name} {digest}>"


def renamed(text: str, names: dict[str, str]) -> str:
    """A graph text whose files have other names."""

    def line(found: re.Match) -> str:
        file = ast.literal_eval(found[2])
        return f"file {found[1]} {quote(names.get(file, file))}"

    head, mark, rest = text.partition("\n\n")
    return _HEAD.sub(line, head) + mark + rest


def show(file: str, lines: Lines) -> None:
    """Let tracebacks and messages find the lines of a file that is not there. A file that is there is not hidden."""
    if not _KEPT.fullmatch(file) or not lines:
        return
    numbers = {int(number): line for number, line in lines.items() if number.isdecimal()}
    last = min(max(numbers, default=0), _LAST_LINE)
    text = [numbers.get(number, "") + "\n" for number in range(1, last + 1)]
    linecache.cache[file] = (sum(map(len, text)), None, text, file)
