"""How often a row is read: which values each sweep computes, which it keeps for a later one."""

from __future__ import annotations

from dataclasses import dataclass, field

from gjit.cuda_kernels.blocks import Sweep
from gjit.cuda_kernels.program import KernelProgram, Level, Literal, Operand, Operation, Reduction

_CHEAP_NAMES = """
    add subtract multiply negative positive absolute square maximum minimum less less_equal greater greater_equal
    equal not_equal where astype logical_and logical_or logical_not bitwise_and bitwise_or bitwise_xor invert
"""
CHEAP_ROWS = frozenset(f"numpy.{name}" for name in _CHEAP_NAMES.split())
_DEAR = 20
_MOST_RECOMPUTED = 3
"""Values that take more than this many cheap ops are kept in a buffer rather than computed again."""


@dataclass(slots=True)
class Sweeps:
    """The sweeps of one row.

    between   the ops on results of whole rows that come before each sweep
    kept      the values that have a row buffer
    """

    sweeps: list[Sweep]
    between: list[list[Operation]]
    kept: list[str] = field(default_factory=list)


def plan_sweeps(program: KernelProgram, most_recomputed: float = _MOST_RECOMPUTED) -> Sweeps:
    """A reduction is complete when its sweep ends; what needs it belongs to a later sweep.

    Args:
        program: with reductions of rows.
        most_recomputed: values that take more than this many cheap ops are kept; none are where it is infinite.
    """
    return _Planner(program, most_recomputed).sweeps()


class _Planner:
    def __init__(self, program: KernelProgram, most_recomputed: float):
        self.program = program
        self.most_recomputed = most_recomputed
        self.makers = {step.result: step for step in program.steps}
        self.arrays = {array.name: array for array in program.arrays if array.level is Level.ELEMENT}
        self.depths: dict[str, int] = {}
        self.costs: dict[str, int] = {}
        for step in program.steps:
            self._measure(step)

    def _measure(self, step: Operation | Reduction) -> None:
        operands = step.operands if isinstance(step, Operation) else (step.operand,)
        names = [name for name in operands if not isinstance(name, Literal)]
        depth = max((self.depths.get(name, 0) for name in names), default=0)
        self.depths[step.result] = depth + isinstance(step, Reduction)
        own = 1 if isinstance(step, Operation) and step.row in CHEAP_ROWS else _DEAR
        self.costs[step.result] = own + sum(self._cost(name) for name in names)

    def _cost(self, name: str) -> int:
        maker = self.makers.get(name)
        return self.costs[name] if isinstance(maker, Operation) and maker.level is Level.ELEMENT else 0

    def sweeps(self) -> Sweeps:
        last = max([*self.depths.values(), 0])
        made = Sweeps([Sweep() for _ in range(last + 1)], [self._between(depth) for depth in range(last + 1)])
        firsts: dict[str, int] = {}
        for depth, sweep in enumerate(made.sweeps):
            sweep.reductions = [step for step in self.program.reductions if self.depths[step.result] == depth + 1]
            if depth == last:
                sweep.stores = [each for each in self.program.outputs if each.array.level is Level.ELEMENT]
            targets = [step.operand for step in sweep.reductions] + [output.value for output in sweep.stores]
            needed = self._needed(targets, depth, firsts, made)
            sweep.loads = [array for name, array in self.arrays.items() if name in needed]
            operations = (step for step in self.program.steps if isinstance(step, Operation))
            sweep.operations = [step for step in operations if step.result in needed]
        return made

    def _between(self, depth: int) -> list[Operation]:
        steps = [step for step in self.program.steps if isinstance(step, Operation) and step.level < Level.ELEMENT]
        return [step for step in steps if self.depths[step.result] == depth]

    def _needed(self, targets: list[Operand], depth: int, firsts: dict[str, int], made: Sweeps) -> set[str]:
        """The values of elements that a sweep computes or loads, found from what it is for."""
        needed: set[str] = set()
        stack = list(targets)
        while stack:
            name = stack.pop()
            if isinstance(name, Literal) or name in needed or name in made.sweeps[depth].buffered:
                continue
            maker = self.makers.get(name)
            if name not in self.arrays and not (isinstance(maker, Operation) and maker.level is Level.ELEMENT):
                continue
            first = firsts.setdefault(name, depth)
            if first < depth and self._cost(name) > self.most_recomputed:
                made.sweeps[depth].buffered.append(name)
                if name not in made.kept:
                    made.kept.append(name)
                    made.sweeps[first].kept.append(name)
                continue
            needed.add(name)
            stack += maker.operands if isinstance(maker, Operation) else ()
        return needed
