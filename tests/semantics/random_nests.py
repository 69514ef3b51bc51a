"""Random loop nests as text: loops, conditions, early exits, elements and slices of arguments that may overlap."""

from __future__ import annotations

import random

import numpy as np

PARAMETERS = "x, y, z, a, n, k, f"
_COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")
_INTEGER_OPERATORS = ("+", "-", "*", "+", "-", "&", "|", "^", "//", "%", ">>")
_FLOAT_OPERATORS = ("+", "-", "*", "+", "-", "*", "/", "//", "%")


class NestWriter:
    """Writes one function from a source of randomness."""

    def __init__(self, seed: int):
        self.random = random.Random(seed)
        self.lines: list[str] = []
        self.loops: list[str] = []
        self.numbers = ["n", "k"]
        self.floats = ["f"]
        self.names = 0
        self.is_careful = self.chance(0.7)

    def text(self) -> str:
        """The text of a function named `nest`."""
        body = self.block(1, 0)
        starts = ["    s = 0", "    t = 1.5", "    p = 1"]
        results = "    return s, t, p" if self.chance(0.6) else "    return s, t, p, i"
        return "\n".join([f"def nest({PARAMETERS}):", *starts, *body, results]) + "\n"

    def choice(self, *options: object) -> object:
        return self.random.choice(options)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    # Statements

    def block(self, depth: int, loops: int) -> list[str]:
        """Statements at an indentation, inside so many loops."""
        lines: list[str] = []
        if loops == 0:
            return self.loop(depth, loops)
        for _ in range(self.random.randint(1, 4)):
            lines += self.statement(depth, loops)
        return lines

    def statement(self, depth: int, loops: int) -> list[str]:
        pad = "    " * depth
        kind = self.random.random()
        if kind < 0.18 and loops < 3 and depth < 6:
            return self.loop(depth, loops)
        if kind < 0.34 and depth < 6:
            lines = [f"{pad}if {self.condition()}:", *self.block(depth + 1, loops)]
            if self.chance(0.4):
                lines += [f"{pad}else:", *self.block(depth + 1, loops)]
            return lines
        if kind < 0.40:
            way = self.choice("break", "continue", "break", "continue", f"return {self.real(1)}, i")
            return [f"{pad}if {self.condition()}:", f"{pad}    {way}"]
        return [pad + self.assignment()]

    def loop(self, depth: int, loops: int) -> list[str]:
        pad = "    " * depth
        name = "ijl"[loops]
        kind = self.random.random()
        self.numbers.append(name)
        if kind < 0.6:
            head = f"for {name} in range({self.range_arguments()}):"
        elif kind < 0.75:
            self.names += 1
            self.floats.append(f"v{self.names}")
            head = f"for {name}, v{self.names} in enumerate({self.choice('x', 'y', 'z')}):"
        elif kind < 0.85:
            self.names += 1
            self.floats.append(f"v{self.names}")
            stop, values = self.choice(3, "n", "len(y)"), self.choice("x", "y[::-1]")
            head = f"for {name}, v{self.names} in zip(range({stop}), {values}):"
        else:
            counter = f"w{loops}"
            self.numbers.append(counter)
            lines = [f"{pad}{counter} = 0", f"{pad}{name} = {self.integer(1)}"]
            lines += [f"{pad}while {counter} < {self.choice(3, 'n', 5)}:", f"{pad}    {counter} += 1"]
            lines += self.block(depth + 1, loops + 1)
            self.numbers.remove(counter)
            self.numbers.remove(name)
            return lines
        floats, lines = list(self.floats), [pad + head]
        lines += self.block(depth + 1, loops + 1)
        self.numbers.remove(name)
        self.floats = [each for each in floats if not each.startswith("v")]
        if self.chance(0.15):
            lines += [f"{pad}else:", f"{pad}    {self.assignment()}"]
        return lines

    def range_arguments(self) -> str:
        kind = self.random.random()
        if kind < 0.5:
            return str(self.choice("n", "len(x)", "len(y)", "a.shape[0]", 4, "k"))
        if kind < 0.8:
            return f"{self.choice(0, 1, 'k', *self.numbers)}, {self.choice('n', 'len(x)', 'a.shape[1]', 5)}"
        return f"{self.choice('n', 'len(x) - 1', 3)}, {self.choice(-1, 0, 'k')}, {self.choice(-1, -2)}"

    def assignment(self) -> str:
        kind = self.random.random()
        if kind < 0.3:
            name = self.choice("s", "t", "t")
            operator = self.choice("=", "+=", "-=", "+=", "*=")
            return f"{name} {operator} {self.real(2)}"
        if kind < 0.4:
            return f"p {self.choice('=', '+=', '*=', '-=')} {self.integer(2)}"
        if kind < 0.75:
            return f"{self.element()} {self.choice('=', '+=', '-=', '=')} {self.real(2)}"
        if kind < 0.85:
            return f"z[{self.index()}] {self.choice('=', '+=')} {self.integer(2)}"
        return f"{self.part()} {self.choice('=', '+=', '-=', '*=')} {self.array()}"

    # Expressions

    def condition(self) -> str:
        kind = self.random.random()
        if kind < 0.7:
            side = self.integer if self.chance(0.5) else self.real
            return f"{side(1)} {self.choice(*_COMPARISONS)} {side(1)}"
        if kind < 0.85:
            return f"{self.condition()} {self.choice('and', 'or')} {self.condition()}"
        return f"not {self.integer(1)}" if self.chance(0.5) else self.real(1)

    def integer(self, depth: int) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.35:
            return str(self.choice(*self.numbers, *self.numbers, 0, 1, 2, 3, -1, 7, "p"))
        if kind < 0.45:
            return f"z[{self.index()}]"
        if kind < 0.55:
            return f"{self.choice('min', 'max')}({self.integer(depth - 1)}, {self.integer(depth - 1)})"
        if kind < 0.62:
            return f"{self.choice('abs', '-', '~', 'int', '+')}({self.integer(depth - 1)})"
        operator = self.choice(*_INTEGER_OPERATORS)
        right = self.integer(depth - 1)
        if self.is_careful and operator in ("//", "%", ">>"):
            right = str(self.choice(2, 3, 5))
        return f"({self.integer(depth - 1)} {operator} {right})"

    def real(self, depth: int) -> str:
        kind = self.random.random()
        if depth == 0 or kind < 0.25:
            return str(self.choice(*self.floats, "s", "t", "f", 0.5, 2.0, -1.5, *self.numbers))
        if kind < 0.55:
            return self.element()
        if kind < 0.62:
            name = self.choice("abs", "-", "float", "np.abs") if self.is_careful else "np.sqrt"
            return f"{name}({self.real(depth - 1)})"
        if kind < 0.70:
            name = self.choice("min", "max", "np.maximum", "np.minimum")
            return f"{name}({self.real(depth - 1)}, {self.real(depth - 1)})"
        if kind < 0.76:
            return f"np.{self.choice('sum', 'min', 'max')}({self.part()})"
        if kind < 0.80:
            return self.integer(depth - 1)
        operator = self.choice(*_FLOAT_OPERATORS)
        right = str(self.choice(2, -3.0, 0.75)) if self.is_careful and operator in "//%" else self.real(depth - 1)
        return f"({self.real(depth - 1)} {operator} {right})"

    def element(self) -> str:
        if self.chance(0.3):
            return f"a[{self.index()}, {self.index()}]"
        return f"{self.choice('x', 'y')}[{self.index()}]"

    def index(self) -> str:
        kind = self.random.random()
        name = self.choice(*self.numbers)
        if self.is_careful and kind < 0.93:
            return str(
                self.choice(f"{name} % len(x)", f"-({name} % len(x)) - 1", f"min(abs({name}), len(x) - 1)", 0, -1)
            )
        if kind < 0.6:
            return str(name)
        if kind < 0.8:
            return f"{name} - {self.choice(1, 2, 'k')}"
        if kind < 0.9:
            return f"-{name}"
        return str(self.choice(0, -1, f"{name} + 1", f"z[{name}]", f"{name} // 2"))

    def slice(self) -> str:
        kind = self.random.random()
        name = self.choice(*self.numbers)
        if kind < 0.3:
            return f":{name}"
        if kind < 0.6:
            return f"{name}:"
        if kind < 0.8:
            return f"{self.choice(0, 1, -2)}:{name}"
        return str(self.choice(":", "::-1", f"{name}::2", f":{name}:-1", "1:-1"))

    def part(self) -> str:
        kind = self.random.random()
        if kind < 0.4:
            return f"{self.choice('x', 'y')}[{self.slice()}]"
        if kind < 0.7:
            return f"a[{self.index()}, {self.slice()}]"
        return f"a[{self.slice()}, {self.index()}]"

    def array(self) -> str:
        kind = self.random.random()
        if kind < 0.3:
            return self.real(1)
        if kind < 0.6:
            return f"{self.part()} {self.choice('+', '-', '*')} {self.real(1)}"
        return f"{self.part()} {self.choice('+', '-', '*')} {self.part()}"


def arguments(seed: int) -> tuple:
    """Arguments for a program: sometimes of one memory, sometimes with values that warn or overflow."""
    source = np.random.default_rng(seed)
    size = int(source.integers(0, 7)) if source.random() < 0.2 else int(source.integers(4, 9))
    kinds = [np.float64, np.float64, np.float32]
    x = _values(source, size).astype(source.choice(kinds))
    y = _values(source, size).astype(x.dtype if source.random() < 0.5 else np.float64)
    a = _values(source, size * size).reshape(size, size)
    sharing = source.random()
    if sharing < 0.15:
        y = x
    elif sharing < 0.3:
        memory = _values(source, size + 2)
        x, y = memory[:size], memory[1 : size + 1]
    elif sharing < 0.4 and size:
        x = a[size // 2]
    elif sharing < 0.5 and size:
        x, a = a[:, size // 2], a.T
    z = source.integers(-3, 9, size).astype(source.choice([np.int64, np.int32, np.uint8, np.int8]))
    return (
        x,
        y,
        z,
        a,
        int(source.integers(0, 7)),
        int(source.integers(-2, 4)),
        float(source.choice([0.5, -2.0, 3.0, 0.0])),
    )


def _values(source: np.random.Generator, size: int) -> np.ndarray:
    values = source.integers(-8, 9, size) / 4.0
    if source.random() < 0.15 and size:
        values[source.integers(0, size)] = source.choice([np.nan, np.inf, -0.0, 1e300])
    return values
