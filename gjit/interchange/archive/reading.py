"""Read an archive."""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import Any

from gjit.errors import ArchiveError
from gjit.interchange.archive.arrays import Memory
from gjit.interchange.archive.container import EXTRA, MANIFEST, Reader, Target, checksum
from gjit.interchange.archive.decoding import Decoder, MakeFunction
from gjit.interchange.archive.graphs import read_graph
from gjit.interchange.archive.known import KnownObjects
from gjit.interchange.archive.sources import show
from gjit.interchange.archive.upgrades import upgrade_ops, upgraded
from gjit.ir.graph import Graph

VERIFIED_BYTES = 10 << 20
"""The checksums of arrays are compared without being asked for up to this many bytes of them."""


def read_archive(
    source: Target,
    *,
    known: Mapping[str, object],
    make_function: MakeFunction,
    classes: Mapping[str, type] | None = None,
    verify: bool | None = None,
    extra_files: dict[str, Any] | None = None,
) -> Any:
    """The object of an archive, or the dictionary of those that were saved together.

    Args:
        source: a path or an open binary file.
        known: objects of higher layers that archives refer to by name.
        make_function: a function of a graph and what it refers to.
        classes: classes of the caller's that take the place of saved ones, by name.
        verify: compare the checksums of arrays too; by default where they are few bytes.
        extra_files: its keys name extra files, whose contents become its values.

    Raises:
        ArchiveError: the file is damaged, hostile or of a later version.
    """
    reader = Reader(source)
    manifest = upgraded(reader.manifest())
    _check_members(reader, manifest)
    for name in extra_files or ():
        extra_files[name] = bytes(reader.read(EXTRA + name))  # type: ignore[index]
    decoder = Decoder(
        manifest.get("objects"),
        _Graphs(reader, manifest).graph,
        Memory(reader, manifest.get("buffers"), verify=_verifies(reader, verify)),
        KnownObjects(dict(known)),
        classes or {},
        make_function,
    )
    entries = manifest.get("entries")
    if not isinstance(entries, dict) or (not manifest.get("several") and len(entries) != 1):
        raise ArchiveError("the manifest does not say what was saved")
    found = {name: decoder.complete(reference) for name, reference in entries.items()}
    return found if manifest.get("several") else next(iter(found.values()))


class _Graphs:
    """The graphs of an archive. Each function has its own copy, for what it refers to is filled in."""

    def __init__(self, reader: Reader, manifest: dict[str, Any]):
        self._reader = reader
        versions = manifest.get("ops")
        if not isinstance(versions, dict):
            raise ArchiveError("the manifest does not say which ops are used")
        self._versions = versions

    def graph(self, number: object) -> Graph:
        if type(number) is not int:
            raise ArchiveError("a function has no graph")
        try:
            text = bytes(self._reader.read(f"graphs/{number}")).decode()
        except UnicodeDecodeError as error:
            raise ArchiveError(f"a graph of the archive is damaged: {error}") from None
        return read_graph(text, functools.partial(upgrade_ops, versions=self._versions))


def _check_members(reader: Reader, manifest: dict[str, Any]) -> None:
    """Every member is listed, and all but arrays have the checksum that they should have."""
    sums, buffers = manifest.get("members"), manifest.get("buffers")
    if not isinstance(sums, dict) or not isinstance(buffers, list):
        raise ArchiveError("the manifest does not list the members")
    listed = {MANIFEST, *sums, *(f"buffers/{number}" for number in range(len(buffers)))}
    if listed != set(reader.names):
        raise ArchiveError(f"the members are not those that the manifest lists: {sorted(listed ^ set(reader.names))}")
    for name, expected in sums.items():
        data = reader.read(name)
        if checksum(data) != expected:
            raise ArchiveError(f"the member {name!r} is damaged: its checksum differs")
        if name.startswith("sources/"):
            _show(data)


def _show(data: memoryview) -> None:
    try:
        found = json.loads(bytes(data))
        show(str(found["file"]), {str(number): str(line) for number, line in found["lines"].items()})
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ArchiveError(f"the source lines are damaged: {error}") from None


def _verifies(reader: Reader, verify: bool | None) -> bool:
    if verify is not None:
        return verify
    return sum(reader.size(name) for name in reader.names if name.startswith("buffers/")) < VERIFIED_BYTES
