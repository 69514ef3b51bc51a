"""How the tests of archives save and load."""

from __future__ import annotations

import io
import zipfile
from typing import Any

import gjit


def saved(thing: Any) -> io.BytesIO:
    """A file in memory."""
    file = io.BytesIO()
    gjit.save(thing, file)
    return file


def loaded(thing: Any, *, calls: bool = True) -> Any:
    """`thing` saved and loaded; what is loaded gives the same bytes again, before and after it has been used."""
    file = saved(thing)
    found = gjit.load(file)
    assert saved(found).getvalue() == file.getvalue()
    return found


def contents(file: io.BytesIO) -> dict[str, bytes]:
    """The members of a file."""
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}
