"""The generated Python function of a loop: all turns of one tile, then the next tile.

For `for _ in range(n): x = x + dt * (x - x * x)` of one contiguous array:

    def tiles(ranges, rows, c0, x0, o0, float64_0, float64_1):
        for start, stop in ranges:
            b0 = float64_0[:stop - start]
            v0 = float64_1[:stop - start]
            x0_ = x0[start:stop]
            copyto(v0, x0_)
            for turn, row in enumerate(rows):
                multiply(v0, v0, out=b0)
                subtract(v0, b0, out=b0)
                multiply(c0, b0, out=b0)
                add(v0, b0, out=b0)
                v0, b0 = b0, v0
            copyto(o0[start:stop], v0)

All names that begin with `b` or `v` hold arrays of their own at the end of each turn.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from keyword import iskeyword

import numpy as np

from gjit.ir.graph import Value
from gjit.runtime.loop_program import LoopProgram
from gjit.runtime.loop_typing import LoopTyping, Move, TypedPiece
from gjit.runtime.region_items import Item, Step
from gjit.scheduler.fusible import Form
from gjit.scheduler.turns import Turns


def write_loop(turns: Turns, typing: LoopTyping, outputs: list[Value], before: list[Step]) -> LoopProgram:
    """Generate and compile the function.

    Args:
        turns: the loop, read.
        typing: its values for given inputs.
        outputs: the variables that are results, but for those written in place.
        before: steps of the first turn that have run already.
    """
    return _Writer(turns, typing, outputs, before).program()


@dataclass(slots=True)
class _Writer:
    turns: Turns
    typing: LoopTyping
    results: list[Value]
    before: list[Step]
    lines: list[str] = field(default_factory=list)
    positions: dict[int, int] = field(default_factory=dict)
    namespace: dict[str, object] = field(default_factory=dict)
    operands: dict[tuple[Item, np.dtype | None], str] = field(default_factory=dict)
    numbers: dict[int, dict[tuple[Value, np.dtype | None], str]] = field(default_factory=dict)
    variables: dict[Value, str] = field(default_factory=dict)
    pools: dict[np.dtype, list[str]] = field(default_factory=dict)
    dtypes: dict[str, np.dtype] = field(default_factory=dict)
    depth: int = 2

    def program(self) -> LoopProgram:
        body = self._body()
        head = self._head()
        shift = len(head)
        lines = [*head, *body]
        blocks = [name for name in self.dtypes if name not in self._written_names()]
        arguments = [*self.operands.values(), *(f"o{place}" for place in range(len(self.results)))]
        arguments += [f"d{place}" for place in range(len(blocks))]
        source = f"def tiles(ranges, rows, {', '.join(arguments)}):\n    for start, stop in ranges:\n"
        source += "\n".join(lines) + "\n"
        exec(compile(source, "<loop>", "exec"), self.namespace)
        return LoopProgram(
            source,
            self.namespace["tiles"],
            list(self.operands),
            {place: list(names) for place, names in self.numbers.items()},
            self.results,
            [self.dtypes[name] for name in blocks],
            {line + shift + 2: position for line, position in self.positions.items()},
        )

    def _head(self) -> list[str]:
        """Scratch memory and the tiles of arrays from outside, by their names."""
        written = self._written_names()
        names = [name for name in self.dtypes if name not in written]
        lines = [f"        {name} = d{place}[:stop - start]" for place, name in enumerate(names)]
        return lines + [
            f"        {name}_ = {name}[start:stop]" for (item, _), name in self.operands.items() if item.shape
        ]

    def _written_names(self) -> set[str]:
        return {self.variables[target] for target in self.turns.written}

    def _body(self) -> list[str]:
        for place, (target, item) in enumerate(self.typing.variables.items()):
            self.variables[target] = f"v{place}"
            self.dtypes[f"v{place}"] = item.dtype
        self._write_initial()
        self._line("for turn, row in enumerate(rows):")
        self.depth += 1
        several = len(self.turns.pieces) > 1
        for order, piece in enumerate(self.typing.pieces):
            if several:
                self._line(f"{'elif' if order else 'if'} row[0] == {piece.place}:")
            self.depth += several
            self._write_turn(piece)
            self.depth -= several
        self.depth -= 1
        for place, target in enumerate(self.results):
            self._line(f"{self._function(np.copyto)}(o{place}[start:stop], {self.variables[target]})")
        return self.lines

    def _write_initial(self) -> None:
        """What the variables are before the first turn, or after it where it is taken out of the loop."""
        for target in self.turns.written:
            self._line(f"{self.variables[target]} = {self._outside(self.typing.variables[target].root, None)}")
        first = self.typing.first
        moved = set() if first is None else {target for target, _ in first.moves}
        for target, initial in self.turns.initial.items():
            if target not in self.turns.written and target not in moved:
                self._copy(self.variables[target], self._outside(self.typing.outside(initial), None))
        if first is None:
            return
        self._line("turn = -1")
        names = {self.typing.variables[target].root: self.variables[target] for target in self.turns.written}
        piece = _PieceWriter(self, first, names, None)
        piece.write([step for step in first.steps if step not in self.before])
        for target, item in first.moves:
            self._copy(self.variables[target], piece.operand(item, None))

    def _write_turn(self, piece: TypedPiece) -> None:
        start = len(self.lines)
        self.numbers[piece.place] = {}
        names = {self.typing.variables[target].root: name for target, name in self.variables.items()}
        writer = _PieceWriter(self, piece, names, self.numbers[piece.place])
        writer.write(piece.steps)
        writer.move(piece.moves)
        numbers = list(self.numbers[piece.place].values())
        if numbers:
            self._insert(start, f"_, {', '.join(numbers)} = row")
        elif len(self.lines) == start:
            self._line("pass")

    # Lines and names

    def _insert(self, place: int, text: str) -> None:
        self.lines.insert(place, "    " * self.depth + text)
        self.positions = {line + (line > place): position for line, position in self.positions.items()}

    def _line(self, text: str, step: Step | None = None) -> None:
        self.lines.append("    " * self.depth + text)
        if step is not None:
            self.positions[len(self.lines)] = step.position

    def _copy(self, target: str, source: str) -> None:
        self._line(f"{self._function(np.copyto)}({target}, {source})")

    def _function(self, function: Callable) -> str:
        name = getattr(function, "__name__", "function")
        name = name if name.isidentifier() and not iskeyword(name) else "function"
        while self.namespace.setdefault(name, function) is not function:
            name += "_"
        return name

    def _outside(self, item: Item, dtype: np.dtype | None) -> str:
        """An operand from outside: the tile of an array, or a scalar, converted once for all tiles."""
        key = item.root, None if item.shape else dtype
        if key not in self.operands:
            self.operands[key] = f"{'x' if item.shape else 'c'}{len(self.operands)}"
        return self.operands[key] + ("_" if item.shape else "")


@dataclass(slots=True)
class _PieceWriter:
    """Writes the steps of one turn.

    names    of what the piece knows: variables, results of its steps
    numbers  those that differ from turn to turn, None where they are known before the tiles
    free     the buffers of each dtype that hold nothing now
    """

    writer: _Writer
    piece: TypedPiece
    names: dict[Item, str]
    numbers: dict[tuple[Value, np.dtype | None], str] | None
    free: dict[np.dtype, list[str]] = field(default_factory=dict)
    last: dict[Item, int] = field(default_factory=dict)

    def write(self, steps: list[Step]) -> None:
        self.free = {dtype: list(names) for dtype, names in self.writer.pools.items()}
        for place, step in enumerate(steps):
            self.last.update((item.root, place) for item in (*step.operands, step.result))
        self.last.update((item.root, len(steps)) for _, item in self.piece.moves)
        for place, step in enumerate(steps):
            self._write(step, place)

    def _write(self, step: Step, place: int) -> None:
        function = self.writer._function(step.function)
        if step.operation.form is Form.SELECT:
            dtype = step.result.dtype
            operands = ", ".join(self.operand(item, None if item.weak is None else dtype) for item in step.operands)
            self.names[step.result] = f"w{step.position}"
            self.writer._line(f"w{step.position} = {function}({operands})", step)
        elif step.operation.form is Form.CAST:
            operand = self.operand(step.operands[0], None)
            self.writer._line(f"{function}({self._target(step, place)}, {operand}, 'unsafe')", step)
        else:
            operands = [self.operand(item, dtype) for item, dtype in zip(step.operands, step.loops, strict=False)]
            target = self.names[step.out.root] if step.out is not None else self._target(step, place)
            self.writer._line(f"{function}({', '.join(operands)}, out={target})", step)
        for root in {item.root for item in step.operands}:
            if self.last.get(root) == place and root is not step.result.root:
                self._release(root, self.names.get(step.result.root))

    def _release(self, root: Item, taken: str | None) -> None:
        name = self.names.get(root, "")
        if name.startswith("b") and name != taken:
            self.free[self.writer.dtypes[name]].append(name)

    def _target(self, step: Step, place: int) -> str:
        """A buffer for the result: that of an operand that is not needed any more, a free one, or another one."""
        dtype = step.result.dtype
        name = self._replaced(step, place)
        if name is None:
            free = self.free.setdefault(dtype, [])
            name = free.pop() if free else self._new(dtype)
        self.names[step.result.root] = name
        return name

    def _replaced(self, step: Step, place: int) -> str | None:
        dtype = step.result.dtype
        if step.operation.form is not Form.UFUNC or step.loops[-1] != dtype:
            return None
        for item, loop in zip(step.operands, step.loops, strict=False):
            name = self.names.get(item.root, "")
            if name.startswith("b") and item.dtype == loop == dtype and self.last[item.root] == place:
                return name
        return None

    def _new(self, dtype: np.dtype) -> str:
        name = f"b{sum(map(len, self.writer.pools.values()))}"
        self.writer.pools.setdefault(dtype, []).append(name)
        self.writer.dtypes[name] = dtype
        return name

    def operand(self, item: Item, dtype: np.dtype | None) -> str:
        """How a step reads an item."""
        name = self.names.get(item.root)
        if name is not None:
            return name
        if self.numbers is None or not self.writer.typing.is_number(item):
            return self.writer._outside(item, dtype)
        items = self.writer.typing.items
        value = next(value for value, known in items.items() if known is item)
        return self.numbers.setdefault((value, dtype), f"n{len(self.numbers)}")

    # Moves

    def move(self, moves: list[Move]) -> None:
        """Arrays change their names: what is nobody's any more becomes a buffer, or the array of a copy."""
        writer = self.writer
        pairs = [(writer.variables[target], self.operand(item, None)) for target, item in moves]
        targets = {target for target, _ in pairs}
        taken: dict[str, str] = {}
        copies: list[tuple[str, str]] = []
        for target, source in pairs:
            is_kept = source in taken or (source not in writer.dtypes and not source.startswith("w"))
            if is_kept or (source.startswith("v") and source not in targets):
                copies.append((target, taken.get(source, source)))
            else:
                taken[source] = target
        renamed = {target: source for source, target in taken.items()}
        involved = dict.fromkeys([*targets, *(name for name in taken if not name.startswith("w"))])
        for dtype in dict.fromkeys(writer.dtypes[name] for name in involved):
            own = [name for name in involved if writer.dtypes[name] == dtype]
            arrays = [name for name in own if name not in taken]
            renamed.update(zip([name for name in own if name not in renamed], arrays, strict=False))
        changed = {name: source for name, source in renamed.items() if name != source}
        if changed:
            writer._line(f"{', '.join(changed)} = {', '.join(changed.values())}")
        for target, source in copies:
            writer._copy(target, source)
