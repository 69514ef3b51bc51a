"""Launching a checked kernel: NumPy's bits and warnings, or a Fallback before anything is written.

Where a kernel stops at what NumPy would warn of, or at a NaN, whose payload is NumPy's own affair, NumPy runs the
region: from the start, or, where tiles of arrays that existed before have been written already, from there on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from gjit.runtime.exact_rest import compute_rest
from gjit.runtime.floating_errors import RegionSource, watched_errors
from gjit.runtime.native import NativeKernel
from gjit.runtime.native_kernel import KernelLaunch, kernel_launch
from gjit.runtime.native_launch import Launch
from gjit.runtime.native_program import Draft
from gjit.runtime.scalars import Fallback

_MOST_UNCLEAN = 3
_PAUSE = 100
"""After so many calls in a row that were not clean, so many calls are NumPy's at once."""


@dataclass(slots=True)
class ExactLaunch(Launch):
    """A region as one checked kernel; steps that NumPy runs before it leave it to the twin to warn."""

    host_errors: ClassVar[dict[str, str]] = {"all": "raise", "under": "ignore"}


@dataclass(slots=True, kw_only=True)
class CheckedLaunch(KernelLaunch):
    """A launch of a checked kernel; `unclean` and `pause` say how often it had to stop lately."""

    region: Draft
    user: RegionSource
    unclean: int = 0
    pause: int = 0

    def watch(self) -> int:
        """The flags that count; Fallback where the kernel must not run now."""
        flags = watched_errors()
        if flags is None:
            raise Fallback
        if self.pause:
            self.pause -= 1
            raise Fallback
        return flags

    def launch(self, operands: dict[str, object]) -> dict[str, np.generic]:
        """Run the kernel on these arrays and numbers; it has no totals."""
        left = self.run_checked(self.packed(operands))
        if left:
            self.finish(left, operands)
        return {}

    def run_checked(self, arguments: bytes) -> list[tuple[int, int]]:
        """Run the kernel over all there is; the ranges that it left."""
        run, flags, left = self.native.run, self.watch(), []

        def run_range(place: int | None, begin: int, end: int) -> None:
            stop = run(arguments, place, begin, end, flags)
            if stop != end:
                left.append((stop, end))

        self.share(run_range)
        if not left:
            self.unclean = 0
        return sorted(left)

    def finish(self, left: list[tuple[int, int]], operands: dict[str, object]) -> None:
        """Let NumPy compute what is left; Fallback where it may begin anew."""
        self.unclean += 1
        if self.unclean >= _MOST_UNCLEAN:
            self.unclean, self.pause = 0, _PAUSE
        if not self.draft.program.held:
            raise Fallback
        compute_rest(self.region, self.draft, left, operands, self.user)


def exact_launch(draft: Draft, native: NativeKernel, source: RegionSource) -> ExactLaunch:
    """The launch of a draft that is one checked kernel."""
    (stage,) = draft.stages
    return ExactLaunch(draft, [kernel_launch(stage, native, CheckedLaunch, region=draft, user=source)])
