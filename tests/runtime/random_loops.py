"""Random loops over whole arrays as source text: every program is one that a loop region may hold, or nearly so."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from random import Random

import numpy as np

EXACT = ["({} + {})", "({} - {})", "({} * {})", "np.maximum({}, {})", "np.minimum({}, {})", "np.where({} < {}, {}, {})"]
DEAR = ["np.sqrt({})", "({} / {})", "abs({})", "np.where({} > {}, {}, -{})", "(-{})"]
CONDITIONS = ["i % 2 == 0", "i > 1", "i == 2", "t < 1.5", "i % 3", "k > 0"]
NAMES = ("x", "y", "z")


class Loops:
    """Writes one function after the other; `random` decides everything."""

    def __init__(self, random: Random):
        self.random = random

    def source(self) -> str:
        """A function of three arrays, a float and a count."""
        head = self.random.choice(["for i in range(n):", "for i in range(1, n + 1):", "for i in range(n, 0, -1):"])
        lines = ["def program(x, y, z, k, n):", "    t = 0.25", *self._before()]
        if self.random.random() < 0.2:
            lines += ["    i = 0", "    while i < n and t < 50:", *self._body(2), "        i += 1"]
        else:
            lines += [f"    {head}", *self._body(2)]
        return "\n".join([*lines, f"    return {self._results()}"]) + "\n"

    def _before(self) -> list[str]:
        name = self.random.choice(NAMES)
        choices = [
            [],
            [],
            [f"    {name} = {name}.copy()"],
            [f"    {name} = np.zeros_like({name})"],
            [f"    {name} = 0"],
        ]
        return self.random.choice(choices)

    def _results(self) -> str:
        return self.random.choice(["x, y, z", "x, y, z, t", "x", "z, x", "y, t, i if n > 0 else None"])

    def _body(self, depth: int) -> list[str]:
        pad = "    " * depth
        lines = [f"{pad}t = t + 0.5"] if self.random.random() < 0.5 else []
        for _ in range(self.random.randint(1, 4)):
            lines += self._statement(depth)
        return lines

    def _statement(self, depth: int) -> list[str]:
        pad, kind, name = "    " * depth, self.random.random(), self.random.choice(NAMES)
        if kind < 0.5 or depth > 4:
            return [f"{pad}{name} = {self._expression(2)}"]
        if kind < 0.65:
            return [f"{pad}{name} {self.random.choice(['+=', '-=', '*='])} {self._expression(1)}"]
        if kind < 0.75:
            other = self.random.choice(NAMES)
            return [f"{pad}{name}, {other} = {self._expression(1)}, {self._expression(1)}"]
        if kind < 0.85:
            lines = [f"{pad}if {self.random.choice(CONDITIONS)}:", *self._body(depth + 1)]
            return lines + ([f"{pad}else:", *self._body(depth + 1)] if self.random.random() < 0.5 else [])
        if kind < 0.92:
            leave = self.random.choice(["break", "continue"])
            step = [f"{pad}    i += 1"] if leave == "continue" else []
            return [f"{pad}if {self.random.choice(CONDITIONS)}:", *step, f"{pad}    {leave}"]
        if kind < 0.96:
            return [f"{pad}for j in range({self.random.randint(0, 2)}):", *self._body(depth + 1)]
        return [f"{pad}{name} = {self.random.choice(NAMES)}"]

    def _expression(self, depth: int) -> str:
        if depth == 0 or self.random.random() < 0.2:
            scalars = ["k", "i", "t", "0.5", "2", "k * i", "(t + i)"]
            return self.random.choice([*NAMES, *NAMES, *NAMES, *scalars])
        form = self.random.choice(EXACT * 3 + DEAR)
        return form.format(*(self._expression(depth - 1) for _ in range(form.count("{}"))))


def function_of(source: str, number: int) -> Callable:
    """The function, with its text where Python and gjit look for it."""
    name = f"<random loop {number}>"
    linecache.cache[name] = (len(source), None, source.splitlines(keepends=True), name)
    namespace: dict[str, object] = {"np": np, "__name__": "random_loops"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["program"]


def arguments_of(random: Random, size: int) -> tuple:
    """Arrays of a few dtypes and layouts, some of them the same, a float and a number of turns."""
    generator = np.random.default_rng(random.randrange(1 << 30))
    dtype = random.choice(["f8", "f8", "f4", "i8", "c16"])
    arrays = [array_of(generator, random, dtype, size) for _ in range(3)]
    if random.random() < 0.15:
        arrays[1] = arrays[0]
    if random.random() < 0.1:
        arrays[2] = random.choice([2.0, np.float64(0.5), np.array(1.0), 3])
    return (*arrays, random.choice([0.5, -1.25, 1, np.float64(0.75)]), random.choice([0, 1, 2, 3, 5]))


def array_of(generator: np.random.Generator, random: Random, dtype: str, size: int) -> np.ndarray:
    kind = np.dtype(dtype if random.random() < 0.8 else random.choice(["f4", "f8", "i4", "i8", "?"]))
    values = generator.standard_normal(2 * size) * 3
    if kind.kind == "f":
        values[generator.integers(0, 2 * size, 20)] = generator.choice([0.0, -0.0, np.inf, -np.inf, np.nan, 1e300], 20)
    with np.errstate(all="ignore"):
        values = values.astype(kind)
    layout = random.random()
    if layout < 0.75:
        return values[:size].copy()
    return values[::2] if layout < 0.85 else values[:size].reshape(size // 10, 10)
