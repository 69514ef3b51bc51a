"""The generated Python functions of a region: straight-line calls with `out=` into scratch, tile after tile.

For `numpy.sqrt(a * 2.0 + b)` of contiguous arrays:

    def tiles(ranges, x0, x1, c0, o0, t0):
        for start, stop in ranges:
            x0_ = x0[start:stop]
            x1_ = x1[start:stop]
            t0_ = t0[:stop - start]
            multiply(x0_, c0, t0_)
            add(t0_, x1_, t0_)
            o0_ = o0[start:stop]
            sqrt(t0_, o0_)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from keyword import iskeyword

import numpy as np

from gjit.ir.graph import Constant, Node, Value
from gjit.ops.row import table
from gjit.runtime.region_items import Item, Step, kept_promise
from gjit.runtime.tile_work import Program, Work
from gjit.scheduler.buffers import Request, assign_scratch
from gjit.scheduler.fusible import Form
from gjit.scheduler.reductions import REDUCTIONS


def write_program(work: Work) -> Program:
    """Generate and compile the functions for one region, arrangement and set of dtypes."""
    return _Writer(work).program()


@dataclass(slots=True)
class _Writer:
    work: Work
    lines: list[str] = field(default_factory=list)
    positions: dict[int, int] = field(default_factory=dict)
    namespace: dict[str, object] = field(default_factory=dict)
    arguments: list[tuple[str, object, np.dtype | None]] = field(default_factory=list)
    names: dict[Item, str] = field(default_factory=dict)
    known: dict[object, str] = field(default_factory=dict)
    pending: dict[str, str] = field(default_factory=dict)
    temporaries: list[Item] = field(default_factory=list)
    totals: list[Step] = field(default_factory=list)
    checks: list[tuple[Item, np.dtype]] = field(default_factory=list)

    def program(self) -> Program:
        self.temporaries = list(self._temporaries())
        assignment = assign_scratch(self._requests())
        before = self._write_before()
        head = len(self.lines)
        self.lines.append("")
        self._write_tiles()
        ranges = "start, stop, low, high, index" if self.totals else "start, stop"
        names = ", ".join(["ranges", *(name for name, _, _ in self.arguments)])
        self.lines[head] = f"def tiles({names}):\n    for {ranges} in ranges:"
        shift = 1  # the head is two lines
        positions = {line + (shift if line > head else 0): position for line, position in self.positions.items()}
        source = "\n".join(self.lines) + "\n"
        exec(compile(source, "<region>", "exec"), self.namespace)
        functions = (self.namespace["before"] if before else None, self.namespace["tiles"])
        return Program(
            source, positions, self.arguments, self.temporaries, assignment, self.totals, self.checks, *functions
        )

    # Steps before the tiles: on small and scalar operands, as the twin runs them.

    def _write_before(self) -> bool:
        steps = self.work.before
        if not steps:
            return False
        self.lines.append("def before(values):")
        for step in steps:
            function = step.function if step.operation.form is Form.VIEW else table[step.node.op].function
            call = _host_call(step.node, self._function(function), self._host_operand)
            self._line(f"    values[{self._host_name(step.node.result)}] = {call}", step)
        self.lines.append("")
        return True

    def _host_operand(self, value: Value) -> str:
        if isinstance(value, Constant):
            return self._host_name(value, value.value)
        return f"values[{self._host_name(value)}]"

    def _host_name(self, value: Value, thing: object = None) -> str:
        """A name in the generated module for a key of `values`, or for a constant itself."""
        if value not in self.known:
            self.known[value] = f"value{len(self.known)}"
            self.namespace[self.known[value]] = thing if isinstance(value, Constant) else value
        return self.known[value]

    def _function(self, function: Callable) -> str:
        name = getattr(function, "__name__", "function")
        name = name if name.isidentifier() and not iskeyword(name) else "function"
        while self.namespace.setdefault(name, function) is not function:
            name += "_"
        return name

    # Steps on tiles.

    def _write_tiles(self) -> None:
        for step in self.work.steps:
            _WRITERS[step.operation.form](self, step)

    def _line(self, text: str, step: Step) -> None:
        self.lines.append(text)
        self.positions[len(self.lines)] = step.position

    def _inside(self, text: str, step: Step | None = None) -> None:
        self.lines.append("        " + text)
        if step is not None:
            self.positions[len(self.lines)] = step.position

    def _write_ufunc(self, step: Step) -> None:
        operands = [self._operand(item, dtype) for item, dtype in zip(step.operands, step.loops, strict=False)]
        target = self._destination(step.result if step.out is None else step.out)
        self._inside(f"{self._function(step.function)}({', '.join(operands)}, out={target})", step)

    def _write_cast(self, step: Step) -> None:
        operand = self._operand(step.operands[0])
        target = self._destination(step.result)
        self._inside(f"{self._function(np.copyto)}({target}, {operand}, 'unsafe')", step)

    def _write_select(self, step: Step) -> None:
        """`numpy.where` makes its own result, which is faster than two masked copies."""
        operands = ", ".join(self._operand(item) for item in step.operands)
        self.checks += [(item, step.result.dtype) for item in step.operands if item.weak is not None]
        self._write_fresh(step, f"{self._function(np.where)}({operands})")

    def _write_apply(self, step: Step) -> None:
        operands = ", ".join(self._operand(item) for item in step.operands)
        name = self._function(step.function)
        made = f"{self._function(kept_promise)}({name}({operands}), stop - start, {self._dtype(step.result.dtype)})"
        self._write_fresh(step, made)

    def _dtype(self, dtype: np.dtype) -> str:
        name = f"dtype_{dtype.name}"
        self.namespace[name] = dtype
        return name

    def _write_rows(self, step: Step) -> None:
        operand = self._operand(step.operands[0])
        call = f"{self._function(step.function)}({operand}, axis=-1, keepdims={step.operation.keepdims})"
        self._write_fresh(step, call)

    def _write_fresh(self, step: Step, call: str) -> None:
        item = step.result
        if item in self.work.outputs or item is self.work.direct:
            self._inside(f"{self._destination(item)}[...] = {call}", step)
        else:
            self.names[item] = f"v{step.position}"
            self._inside(f"{self.names[item]} = {call}", step)

    def _write_total(self, step: Step) -> None:
        parts = self._argument(f"parts{len(self.totals)}", ("parts", len(self.totals)))
        self.totals.append(step)
        part = f"{self._operand(step.operands[0])}[low - start:high - start]"
        if REDUCTIONS[step.node.op] in ("sum", "mean"):
            self._inside(f"{parts}[index] = {self._function(np.add)}.reduce({part}, None)", step)
        else:
            self._inside(f"{parts}[index] = {self._function(step.function)}({part})", step)

    def _write_view(self, step: Step) -> None:
        index = ", ".join("..." if part is Ellipsis else ":" if part else "None" for part in step.operation.index)
        self._write_fresh(step, f"{self._operand(step.operands[0])}[{index}]")

    def _write_store(self, step: Step) -> None:
        if self.work.direct is None:
            value = self._operand(step.operands[0])
            target = self._slice_of("target", ("target", 0))
            self._inside(f"{self._function(np.copyto)}({target}, {value}, 'unsafe')", step)

    def _operand(self, item: Item, dtype: np.dtype | None = None) -> str:
        """How a tile reads an item; scalars are converted to the loop dtype once for all tiles."""
        root = item.root
        if root in self.names:
            return self.names[root]
        if root in self.work.arrangement.varying:
            self.names[root] = self._slice_of(f"x{len(self.arguments)}", root)
            return self.names[root]
        key = root, dtype if item.shape == () else None
        if key not in self.known:
            self.known[key] = self._argument(f"c{len(self.arguments)}", *key)
        return self.known[key]

    def _destination(self, item: Item) -> str:
        """Where the values of a root are written: output, target, scratch, or the array that it is."""
        root = item.root
        if root in self.names:
            return self.names[root]
        if root is self.work.direct:
            self.names[root] = self._slice_of("target", ("target", 0))
        elif root in self.work.outputs:
            index = self.work.outputs.index(root)
            self.names[root] = self._slice_of(f"o{index}", ("output", index))
        elif root in self.temporaries:
            index = self.temporaries.index(root)
            name = self._argument(f"t{index}", ("scratch", index))
            self.names[root] = name + "_"
            self._inside(f"{name}_ = {name}[:stop - start]")
        else:
            return self._operand(item)
        return self.names[root]

    def _slice_of(self, name: str, meaning: object) -> str:
        name = self._argument(name, meaning)
        self._inside(f"{name}_ = {name}[start:stop]")
        return name + "_"

    def _argument(self, name: str, meaning: object, dtype: np.dtype | None = None) -> str:
        self.arguments.append((name, meaning, dtype))
        return name

    # Scratch.

    def _temporaries(self):
        placed = {*self.work.outputs, self.work.direct}
        for step in self.work.steps:
            if step.operation.form in (Form.UFUNC, Form.CAST) and step.out is None and step.result not in placed:
                yield step.result

    def _requests(self) -> list[Request]:
        last: dict[Item, int] = {}
        for place, step in enumerate(self.work.steps):
            for item in (*step.operands, step.out):
                if item is not None:
                    last[item.memory] = place
        makers = {step.result: (place, step) for place, step in enumerate(self.work.steps)}
        requests = []
        for item in self.temporaries:
            place, step = makers[item]
            size = self.work.arrangement.elements(item) * item.dtype.itemsize
            requests.append(Request(place, last.get(item, place), size, self._replaceable(step, item)))
        return requests

    def _replaceable(self, step: Step, item: Item) -> tuple[int, ...]:
        """Operands whose memory the result may take: same shape, and no cast that would go through a buffer."""
        if step.operation.form is not Form.UFUNC or step.loops[-1] != item.dtype:
            return ()
        return tuple(
            self.temporaries.index(operand.root)
            for operand, loop in zip(step.operands, step.loops, strict=False)
            if operand.root in self.temporaries and operand.dtype == loop == item.dtype and operand.shape == item.shape
        )


_WRITERS = {
    Form.UFUNC: _Writer._write_ufunc,
    Form.CAST: _Writer._write_cast,
    Form.SELECT: _Writer._write_select,
    Form.APPLY: _Writer._write_apply,
    Form.ROWS: _Writer._write_rows,
    Form.TOTAL: _Writer._write_total,
    Form.VIEW: _Writer._write_view,
    Form.STORE: _Writer._write_store,
}


def _host_call(node: Node, function: str, operand: Callable[[Value], str]) -> str:
    arguments = [f"{node.label(index)}{operand(value)}" for index, value in enumerate(node.inputs)]
    return f"{function}({', '.join(arguments)})"
