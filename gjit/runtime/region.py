"""What every engine makes of a region."""

from __future__ import annotations

from typing import Any, Protocol

from gjit.ir.graph import Node


class Region(Protocol):
    """A region that runs: called with the inputs of the node.

    It counts how calls have run, `tiled` as one pass, `native` of them as native code, or as `fallbacks` op by op;
    kernels that were compiled for it or found compiled; and how often it moved to other kernels.
    """

    node: Node

    @property
    def tiled(self) -> int: ...

    @property
    def native(self) -> int: ...

    @property
    def fallbacks(self) -> int: ...

    @property
    def compilations(self) -> int: ...

    @property
    def cache_hits(self) -> int: ...

    @property
    def swaps(self) -> int: ...

    def __call__(self, *inputs: object) -> Any:
        """The results of the region."""

    def compile(self, inputs: tuple[object, ...]) -> None:
        """Compile now what such inputs will want."""
