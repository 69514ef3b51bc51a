"""Write an archive."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from gjit.errors import ArchiveError
from gjit.interchange.archive.container import MANIFEST, Target, Writer, checksum, extra_name, writing
from gjit.interchange.archive.encoding import Encoder
from gjit.interchange.archive.known import KnownObjects
from gjit.interchange.archive.upgrades import FORMAT, GRAPH_TEXT, op_version
from gjit.ir.room import with_room


def write_archive(
    target: Target,
    entries: Mapping[str, Any],
    *,
    several: bool,
    known: Mapping[str, object],
    extra_files: Mapping[str, str | bytes] | None = None,
) -> None:
    """Write objects with graphs, and all that they reach.

    Args:
        target: a path, where the file appears whole or not at all, or an open binary file.
        entries: the objects by name.
        several: whether loading gives a dictionary of them.
        known: objects of higher layers that archives refer to by name.
        extra_files: contents that come along, by relative path.

    Raises:
        ArchiveError: something has no form in an archive; nothing is written.
    """
    extra = {extra_name(name): _as_bytes(content) for name, content in sorted((extra_files or {}).items())}
    encoder = with_room(lambda: _encoded(entries, known))
    with writing(target) as writer:
        members = _write_texts(writer, encoder, extra)
        buffers = encoder.buffers.write(writer)
        manifest = {
            "format": FORMAT,
            "graph text": GRAPH_TEXT,
            "ops": {name: op_version(name) for name in sorted(encoder.ops)},
            "several": several,
            "entries": dict(zip(entries, encoder.entries, strict=True)),
            "objects": encoder.records,
            "buffers": buffers,
            "members": members,
        }
        writer.add(MANIFEST, json.dumps(manifest, indent=None, separators=(",", ":"), ensure_ascii=True).encode())


def _encoded(entries: Mapping[str, Any], known: Mapping[str, object]) -> Encoder:
    encoder = Encoder(KnownObjects(dict(known)))
    encoder.entries = [encoder.reference(value, name or "the saved object") for name, value in entries.items()]
    return encoder


def _write_texts(writer: Writer, encoder: Encoder, extra: dict[str, bytes]) -> dict[str, str]:
    """Graphs, source lines and extra files; their checksums by name."""
    texts = {f"graphs/{number}": text.encode() for text, number in encoder.graphs.items()}
    for number, (file, lines) in enumerate(sorted(encoder.sources.items())):
        ordered = dict(sorted(lines.items(), key=lambda item: int(item[0])))
        texts[f"sources/{number}"] = json.dumps({"file": file, "lines": ordered}).encode()
    texts.update(extra)
    for name, data in texts.items():
        writer.add(name, data)
    return {name: checksum(data) for name, data in texts.items()}


def _as_bytes(content: object) -> bytes:
    if isinstance(content, str):
        return content.encode()
    if isinstance(content, bytes | bytearray | memoryview):
        return bytes(content)
    raise ArchiveError(f"an extra file is text or bytes, not {type(content).__name__}")
