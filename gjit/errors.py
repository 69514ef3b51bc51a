"""Error classes, the excerpt that shows the user's line, and `require` for optional packages."""

from __future__ import annotations

import importlib
import types

from gjit.source import Span


class GjitError(Exception):
    """Base of every error that gjit itself raises.

    Errors of the user's program (IndexError, ValueError, ...) are never wrapped in one.
    """


class UnsupportedError(GjitError):
    """A construct that gjit cannot script, shown at the user's line.

    >>> str(UnsupportedError("`yield` cannot be scripted", hint="return a list instead"))
    '`yield` cannot be scripted\\n  instead: return a list instead'
    """

    def __init__(self, message: str, span: Span | None = None, *, hint: str = ""):
        self.span, self.hint, self.problem = span, hint, message
        lines = [message]
        if span is not None:
            lines.append(excerpt(span))
        if hint:
            lines.append(f"  instead: {hint}")
        super().__init__("\n".join(lines))


class TraceError(UnsupportedError):
    """A traced function asked for a value that only exists when the program runs."""


class ArchiveError(GjitError):
    """A saved file that is damaged, hostile or of an unknown version."""


class CompileError(GjitError):
    """A compiler refused the source that gjit generated; the message holds its log."""


class DeviceError(GjitError):
    """A device could not do its work; the next call works again."""


class DeviceLostError(DeviceError):
    """A device is in a state that only a new process can leave."""


class InternalError(GjitError):
    """A bug in gjit. The message names the pass and prints the graph around the node."""


def excerpt(span: Span) -> str:
    """The file, the line and a caret under the construct, as Python shows a syntax error.

    >>> print(excerpt(Span("nowhere.py", 3)))
      File "nowhere.py", line 3
    """
    head = f'  File "{span.file}", line {span.line}'
    text = span.text()
    if not text.strip():
        return head
    stripped = text.lstrip()
    start = max(len(text.encode()[: span.column].decode(errors="ignore")) - (len(text) - len(stripped)), 0)
    end = len(stripped)
    if span.end_line == span.line and span.end_column:
        end = len(text.encode()[: span.end_column].decode(errors="ignore")) - (len(text) - len(stripped))
    caret = " " * start + "^" * max(end - start, 1)
    return f"{head}\n    {stripped}\n    {caret}"


def require(module: str, *, extra: str) -> types.ModuleType:
    """Import an optional package, or say which extra of gjit brings it.

    >>> require("no_such_package", extra="viz")
    Traceback (most recent call last):
    ImportError: gjit needs the package 'no_such_package' for this: pip install 'gjit[viz]'
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise ImportError(f"gjit needs the package {module!r} for this: pip install 'gjit[{extra}]'") from error
