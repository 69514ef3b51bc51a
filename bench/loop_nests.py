"""Loop nests: well-known kernels as native code, against the plain loops."""

from __future__ import annotations

from collections.abc import Iterator

import gjit
from bench.harness import Measurement, Options, note
from bench.npbench import PROGRAMS
from gjit.timing import compare


def run(options: Options) -> Iterator[Measurement]:
    """The ratio of each kernel at its size. What is compared bit by bit elsewhere sums here in an order of its own."""
    for name, kernel in PROGRAMS.items():
        note(name)
        compiled = gjit.script(kernel.function, engine="native")
        compiled(*kernel.make(kernel.timed))
        found = compare(
            kernel.function,
            compiled,
            lambda kernel=kernel: kernel.make(kernel.timed),
            rounds=3 if options.quick else options.rounds,
            least_seconds=0.01,
        )
        low, high = found.spread
        sides = found.plain_seconds, found.compiled_seconds
        yield Measurement("loop_nests", name, kernel.timed, found.ratio, low, high, "x", *sides)
