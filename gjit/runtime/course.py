"""The course of a loop over arrays, worked out before the arrays are touched: how many turns, which pieces, which
numbers."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from gjit.ir.graph import Node, Value
from gjit.runtime.host_calls import call_step, is_expected, live
from gjit.runtime.region_items import WEAK_TYPES, Step
from gjit.runtime.scalars import Fallback, loop_scalar
from gjit.scheduler.bindings import Environment
from gjit.scheduler.host_program import compile_host_program, host_program
from gjit.scheduler.scalar_part import scalar_part
from gjit.scheduler.turns import Piece, Turns, is_scalar, storage_of

_KINDS = frozenset(WEAK_TYPES)


@dataclass(slots=True)
class Course:
    """What a loop does for given scalars.

    count     how many pieces run, one after the other
    rows      for each of them its place among the pieces and then its numbers; None where all are the first, without
              numbers
    scalars   the results of the region that are scalars, in order
    """

    count: int
    rows: list[tuple] | None
    scalars: tuple

    def kinds(self) -> tuple:
        """The types of all numbers, piece by piece, which a kernel is made for; Fallback where one changes."""
        if self.rows is None:
            return ()
        kinds: dict[int, tuple[type, ...]] = {}
        for row in self.rows:
            found = tuple(map(type, row))
            if kinds.setdefault(row[0], found) is not found and kinds[row[0]] != found:
                raise Fallback
        for kind in itertools.chain(*kinds.values()):
            if kind not in _KINDS and not issubclass(kind, np.generic):
                raise Fallback
        return tuple(sorted((place, found[1:]) for place, found in kinds.items()))

    def samples(self, pieces: list[Piece]) -> dict[Value, object]:
        """One value of each number of the pieces that run."""
        found: dict[Value, object] = {}
        for row in self.rows or ():
            piece = pieces[row[0]]
            if piece.numbers and piece.numbers[0] not in found:
                found.update(zip(piece.numbers, row[1:], strict=True))
        return found

    def places(self) -> list[int]:
        """The places of the pieces that run, in order."""
        return [0] if self.rows is None else sorted({row[0] for row in self.rows})

    def route(self, places: dict[int, int]) -> np.ndarray:
        """Which piece runs in each turn, by its new place."""
        return np.array([places[row[0]] for row in self.rows or ()], np.uint8)

    def numbers(self, indices: dict[int, int], dtype: np.dtype) -> np.ndarray:
        """A number in each turn, as an operand of a loop of this dtype; 0 where the piece does not have it.

        Args:
            indices: which of a piece's numbers it is, by the place of the piece.
            dtype: of the loop.
        """
        made = np.zeros(self.count, dtype)
        for turn, row in enumerate(self.rows or ()):
            index = indices.get(row[0])
            if index is not None:
                value = row[index + 1]
                made[turn] = value if isinstance(value, np.generic) else loop_scalar(value, dtype)
        return made


class Courses:
    """Works out the course of the loop of a region; called with the inputs of the region.

    `keeps_silent` says that arithmetic of NumPy's scalars may overflow or divide by zero without a warning; else that
    raises Fallback, as does every other error.
    """

    def __init__(self, region: Node, turns: Turns, keeps_silent: bool):
        graph = scalar_part(region, turns)
        environment = Environment(calls_natively=lambda node: True)
        self._function: Callable = compile_host_program(host_program(graph, environment), {})
        self._has_work = turns.has_work
        self._errors = "ignore" if keeps_silent else "raise"

    def __call__(self, inputs: tuple[object, ...]) -> Course:
        rows: list[tuple] = []
        try:
            with np.errstate(all=self._errors, under="ignore"):
                found = self._function(*inputs, rows.append)
        except Exception:
            raise Fallback from None  # the twin raises it where it belongs
        if self._has_work:
            return Course(len(rows), rows, found)
        if type(found) is not range:
            raise Fallback
        return Course(len(found), None, ())


def first_turn(turns: Turns, values: dict[Value, object], course: Course) -> dict[Value, object]:
    """What variables and numbers are in the first turn; `values` are the inputs of the region."""
    found = {variable: live(values, initial) for variable, initial in turns.initial.items()}
    for row in (course.rows or ())[:1]:
        found.update(zip(turns.pieces[row[0]].numbers, row[1:], strict=True))
    return found


def run_before(steps: list[Step], values: dict[Value, object]) -> None:
    """Run steps of the first turn that have results without axes; what they raise the twin raises where it belongs."""
    for step in steps:
        try:
            found = values[step.node.result] = call_step(step.node, values)
        except Exception:
            raise Fallback from None
        if not is_expected(found, step.result):
            raise Fallback


def written_arrays(turns: Turns, values: dict[Value, object]) -> dict[Value, np.ndarray]:
    """The arrays that are written in place, by variable; Fallback where one shares memory with any other input."""
    written = {}
    for target in turns.written:
        source = turns.initial.get(target, target)
        array = written[target] = live(values, source)
        others = [other for key, other in values.items() if key is not source and type(other) is np.ndarray]
        if not array.flags.writeable or any(np.may_share_memory(array, other) for other in others):
            raise Fallback
    return written


def loop_results(
    region: Node, turns: Turns, found: dict[Value, np.ndarray], values: dict[Value, object], course: Course
) -> object:
    """What the region gives.

    Args:
        region: the node.
        turns: its loop, read.
        found: what variables are after the loop, where they are arrays that were made or written.
        values: the inputs of the region by its parameters.
        course: of the loop.
    """
    known = {} if makes_each_anew(turns) else owners(turns, course.rows or [(0,)] * min(course.count, 2))
    made: dict[object, object] = {}
    results, scalars = [], iter(course.scalars)
    for value in region.blocks[0].terminator.inputs:
        variable = turns.variable(value)
        owner = known.get(variable, (0, variable))
        if is_scalar(value):
            results.append(next(scalars))
        elif variable in turns.written:
            results.append(found[variable])
        elif type(owner) is tuple:
            results.append(made.setdefault(owner, found[variable]))
        else:
            results.append(live(values, owner))
    return results[0] if len(results) == 1 else tuple(results) if results else None


def owners(turns: Turns, rows: list[tuple]) -> dict[Value, object]:
    """Which array each variable is after the pieces of these rows have run.

    It is a value that the loop begins with, or a pair of a turn and the value that was made in it.
    """
    known: dict[Value, object] = {variable: turns.initial.get(variable) for variable in turns.variables}
    for turn, row in enumerate(rows):
        piece = turns.pieces[row[0]]
        known.update([(target, _owner(value, piece, turns, known, turn)) for target, value in piece.moves])
    return known


def _owner(value: Value, piece: Piece, turns: Turns, known: dict[Value, object], turn: int) -> object:
    source = storage_of(value)
    if source.producer in piece.nodes:
        return turn, source
    variable = turns.variable(source)
    return known.get(variable, variable)


def makes_each_anew(turns: Turns) -> bool:
    """Whether each variable that is not written in place is a new array of its own after any turn."""
    if len(turns.pieces) != 1:
        return False
    (piece,) = turns.pieces
    sources = [storage_of(value) for _, value in piece.moves]
    is_new = all(source.producer in piece.nodes for source in sources) and len(set(sources)) == len(sources)
    return is_new and {target for target, _ in piece.moves} | turns.written.keys() >= turns.variables.keys()
