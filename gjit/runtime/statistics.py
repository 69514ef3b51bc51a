"""Counters that prove what a compiled function did."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

from gjit.runtime.region import Region

COUNTERS = (
    "calls",
    "captures",
    "signatures",
    "compilations",
    "cache_hits",
    "regions",
    "launches",
    "host_calls",
    "fallbacks",
    "transfers",
    "bytes_moved",
    "guard_failures",
    "swaps",
)


@dataclass(slots=True)
class Statistics:
    """What one compiled function has done so far.

    calls           calls of the compiled function
    captures        times that its source was captured (again after a guard failed)
    signatures      signatures that a plan was made for
    compilations    host programs and kernels that were compiled
    cache_hits      kernels that were found compiled
    regions         regions of the plan that was made last
    launches        regions that ran as one pass: as native code or tile by tile
    host_calls      calls that the interpreter ran
    fallbacks       regions that ran op by op although they were large
    transfers       copies between host and device
    bytes_moved     bytes of these copies
    guard_failures  calls that found a captured name changed
    swaps           moves of a region to native code, or to more of it, while the program ran
    """

    captures: int = 0
    signatures: int = 0
    host_programs: int = 0
    regions: int = 0
    host_calls: int = 0
    transfers: int = 0
    bytes_moved: int = 0
    guard_failures: int = 0
    tiled_regions: list[Region] = field(default_factory=list, repr=False, compare=False)
    _calls: itertools.count = field(default_factory=itertools.count, repr=False, compare=False)

    @property
    def count(self):
        """What a call entry calls to count itself."""
        return self._calls.__next__

    @property
    def calls(self) -> int:
        # a counter of `itertools` advances atomically and in 30 ns; its state is read without advancing it
        return self._calls.__reduce__()[1][0]

    @property
    def launches(self) -> int:
        return sum(region.tiled for region in self.tiled_regions)

    @property
    def fallbacks(self) -> int:
        return sum(region.fallbacks for region in self.tiled_regions)

    @property
    def compilations(self) -> int:
        return self.host_programs + sum(region.compilations for region in self.tiled_regions)

    @property
    def cache_hits(self) -> int:
        return sum(region.cache_hits for region in self.tiled_regions)

    @property
    def swaps(self) -> int:
        return sum(region.swaps for region in self.tiled_regions)

    def as_dict(self) -> dict[str, int]:
        """All counters by name."""
        return {name: getattr(self, name) for name in COUNTERS}

    def __str__(self) -> str:
        return "\n".join(f"{name:15}{value}" for name, value in self.as_dict().items())
