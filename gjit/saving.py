"""Save compiled functions and modules, and load them where their source is not."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from gjit.compiled import bind
from gjit.interchange.archive import read_archive, write_archive
from gjit.interchange.archive.container import Target
from gjit.ir.capturable import has_graph
from gjit.module import Module
from gjit.module.archived import ARCHIVED


def save(obj: Any, path: Target, extra_files: Mapping[str, str | bytes] | None = None) -> None:
    """Save compiled functions or modules in one file that needs no Python source to be loaded.

    The file holds graphs, arrays and the classes that the graphs use; no code. Arrays that share memory
    share it again when they are loaded. Saving the same program twice, or again after loading, gives the same bytes.

    Args:
        obj: a compiled function, a `Module`, or a dictionary of them by name: several entry points in one file.
        path: where the file appears, whole or not at all; or an open binary file.
        extra_files: contents that come along, by relative path.

    Raises:
        ArchiveError: something that is reached has no form in an archive: a module, an open file, a function left to
            the interpreter, a function that reaches files. The message says what and where. Nothing is written.
        TypeError: `obj` is none of these.

    >>> import io
    >>> from gjit import script
    >>> file = io.BytesIO()
    >>> save(script(lambda x: x * 2), file)
    >>> load(file)(21)
    42
    """
    entries = dict(obj) if type(obj) is dict else {"": obj}
    for name, value in entries.items():
        if type(name) is not str:
            raise TypeError(f"entry points are named by strings, not by {name!r}")
        if not (has_graph(value) or isinstance(value, Module)):
            what = f"{name!r} is {type(value).__name__}" if name else type(value).__name__
            raise TypeError(f"gjit.save takes compiled functions and modules, not {what}; script or trace it first")
    write_archive(path, entries, several=type(obj) is dict, known=ARCHIVED, extra_files=extra_files)


def load(
    path: Target,
    device: str | None = None,
    *,
    classes: Mapping[str, type] | None = None,
    verify: bool | None = None,
    extra_files: dict[str, Any] | None = None,
) -> Any:
    """Load what `save` wrote. Nothing in the file is executed, and what it holds can compute and do nothing else.

    Args:
        path: the file, or an open binary file.
        device: where the loaded functions run, as in `script`.
        classes: classes of the caller's, by name, that take the place of saved ones with the same fields: instances in
            the file and made by loaded code are then theirs.
        verify: compare the checksums of arrays; by default where there are less than 10 MB of them. All other checksums
            are always compared.
        extra_files: a dictionary whose keys name extra files; their contents, as bytes, become its values.

    Returns:
        A compiled function, a module, or a dictionary of them.

    Raises:
        ArchiveError: the file is damaged, hostile, of a later version, or does not fit `classes`.
        OSError: it cannot be read.
    """
    make_function = functools.partial(bind, device=device)
    return read_archive(
        path, known=ARCHIVED, make_function=make_function, classes=classes, verify=verify, extra_files=extra_files
    )
