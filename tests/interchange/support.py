"""How the tests of archives save and load."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from typing import Any

import gjit
from gjit.interchange.archive.container import Writer, checksum


def saved(thing: Any) -> io.BytesIO:
    """A file in memory."""
    file = io.BytesIO()
    gjit.save(thing, file)
    return file


def loaded(thing: Any) -> Any:
    """`thing` saved and loaded; what is loaded gives the same bytes again."""
    file = saved(thing)
    found = gjit.load(file)
    assert saved(found).getvalue() == file.getvalue()
    return found


def contents(file: io.BytesIO) -> dict[str, bytes]:
    """The members of a file."""
    with zipfile.ZipFile(file) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def rewritten(
    file: io.BytesIO, members: dict[str, bytes | None], change: Callable[[dict], None] | None = None
) -> io.BytesIO:
    """The file with other members (None: without one), and a changed manifest; all checksums are right again."""
    found: dict[str, Any] = {**contents(file), **members}
    found = {name: data for name, data in found.items() if data is not None}
    manifest = json.loads(found.pop("manifest.json"))
    if change is not None:
        change(manifest)
    return written(found, manifest)


def written(members: dict[str, bytes], manifest: Any) -> io.BytesIO:
    """A file of these members, with their checksums."""
    if isinstance(manifest, dict):
        if isinstance(manifest.get("members"), dict):
            manifest["members"] = {name: checksum(members[name]) for name in manifest["members"] if name in members}
        buffers = manifest.get("buffers")
        for number, described in enumerate(buffers if isinstance(buffers, list) else ()):
            if isinstance(described, dict) and f"buffers/{number}" in members:
                described["sha256"] = checksum(members[f"buffers/{number}"])
    file = io.BytesIO()
    writer = Writer(file)
    for name, data in members.items():
        writer.add(name, data)
    writer.add("manifest.json", manifest if isinstance(manifest, bytes) else json.dumps(manifest).encode())
    writer.close()
    return file
