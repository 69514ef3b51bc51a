"""Versions: of the file, of the graph text, and of each op; and what makes old archives into new ones.

When the meaning of an op changes, its number in `OP_VERSIONS` goes up, and `OP_UPGRADES` gets a function that rewrites
a node of the version before. When the manifest changes, `FORMAT` goes up, and `UPGRADES` gets a function for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gjit.errors import ArchiveError
from gjit.ir.graph import Graph, Node

FORMAT = 1
GRAPH_TEXT = 1
OP_VERSIONS: dict[str, int] = {}
"""The versions of ops whose meaning has changed; all others are in version 1."""
UPGRADES: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {}
"""By the version of a manifest: what makes it one of the next version."""
OP_UPGRADES: dict[tuple[str, int], Callable[[Node], None]] = {}
"""By op and version: what makes a node one of the next version, in place."""


def op_version(name: str) -> int:
    """The version of an op."""
    return OP_VERSIONS.get(name, 1)


def upgraded(manifest: dict[str, Any]) -> dict[str, Any]:
    """The manifest as this version of gjit writes it.

    Raises:
        ArchiveError: it is from a later version.
    """
    version = manifest.get("format")
    while type(version) is int and version in UPGRADES:
        manifest = UPGRADES[version](manifest)
        version = manifest.get("format")
    if version != FORMAT or manifest.get("graph text") != GRAPH_TEXT:
        raise ArchiveError(
            f"the archive has the format {version!r} with graph text {manifest.get('graph text')!r}; "
            f"this version of gjit reads format {FORMAT} with graph text {GRAPH_TEXT}: a newer gjit may read it"
        )
    return manifest


def upgrade_ops(graph: Graph, versions: dict[str, Any]) -> None:
    """Bring the nodes of a graph to the versions that this gjit knows.

    Raises:
        ArchiveError: an op is from a later version.
    """
    for node in graph.all_nodes():
        name = str(node.attributes["function"]) if node.op == "library" else node.op
        version = versions.get(name)
        if type(version) is not int:
            raise ArchiveError(f"the archive does not say which version of {name!r} it uses")
        while (name, version) in OP_UPGRADES:
            OP_UPGRADES[name, version](node)
            version += 1
        if version != op_version(name):
            raise ArchiveError(f"the archive uses version {version} of {name!r}; this gjit knows {op_version(name)}")
