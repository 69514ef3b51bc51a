"""Programs on the engine `auto` for tests, which compile at once, and how they are compared with their twins."""

from __future__ import annotations

import contextlib
from unittest import mock

import numpy as np

from gjit import settings
from gjit.runtime import native_region
from gjit.runtime.auto import AutoRegion
from tests.runtime import region_programs
from tests.runtime.region_programs import Program, copies, describe, outcome


class AutoProgram(Program):
    """As `Program`, with its regions on the engine `auto`."""

    def __init__(self, build, *inputs: object):
        with mock.patch.object(region_programs, "TiledRegion", AutoRegion):
            super().__init__(build, *inputs)

    @property
    def native_count(self) -> int:
        """How many calls of regions ran as native code."""
        return sum(region.native for region in self.regions)


def check_auto(build, *inputs: object, state: dict[str, str] | None = None) -> AutoProgram:
    """Run a program on the engine `auto` and node by node, each time on copies of the inputs, and compare results,
    written inputs, warnings and exceptions: on NumPy, on a fresh kernel, and through generated host functions.
    """
    program = AutoProgram(build, *inputs)
    error_state = np.errstate(**state) if state else contextlib.nullcontext()
    with (
        settings.config(compile="wait", hot=0),
        mock.patch.object(native_region, "_USES_BEFORE_FUNCTIONS", 2),
        error_state,
    ):
        theirs = copies(inputs)
        expected = outcome(program.twin, theirs)
        for _ in range(3):
            ours = copies(inputs)
            assert outcome(program.tiled, ours) == expected
            for left, right in zip(ours, theirs, strict=True):
                assert describe(left, ours) == describe(right, theirs)
    return program


def tame_values(dtype: str, *shape: int, seed: int = 0) -> np.ndarray:
    """Random numbers without NaN and infinities, with zeros of both signs among the floats."""
    random, kind = np.random.default_rng(seed), np.dtype(dtype)
    if kind.kind == "b":
        return random.random(shape) < 0.5
    if kind.kind in "iu":
        return random.integers(0 if kind.kind == "u" else -100, 100, shape).astype(kind)
    values = random.standard_normal(shape)
    values[random.random(shape) < 0.05] = 0.0
    return np.copysign(values, random.standard_normal(shape)).astype(kind)
