"""What one kernel does, apart from any engine and any extent.

A `KernelProgram` describes a class of inputs: dtypes, the number of axes left after collapsing, how each array
is read along the innermost axis. Extents, strides and numbers come with each launch, in the order of `Field`s.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, IntEnum, auto

import numpy as np

from gjit.source import Span

BLOCK = 1024
"""How many elements are reduced as one piece. The tree of a sum depends on this and the extents alone."""


class Level(IntEnum):
    """For what a value is computed once: for the whole launch, for each row, for each element."""

    LAUNCH = 0
    ROW = 1
    ELEMENT = 2


class Access(Enum):
    """How an array moves along the innermost axis."""

    CONTIGUOUS = auto()
    STRIDED = auto()
    REPEATED = auto()


@dataclass(frozen=True, slots=True)
class Part:
    """Of an array with a short last axis, which is not among the axes of the program: the elements at `place` there.

    All parts of an array share its strides. With `width` the short axis has that many elements, which lie side by
    side, and one group after the other along the innermost axis; without it their distance is a stride of the launch.
    """

    array: str
    place: int
    width: int = 0


@dataclass(frozen=True, slots=True)
class Array:
    """An array that is read or written: `name` is that of its value, unique among the values.

    level    for what it has a value: ELEMENT, or ROW where it does not vary along the reduced axes; the access tells
             where it is not given
    part     which part of an array it is, if it is not a whole one
    """

    name: str
    dtype: np.dtype
    access: Access
    given: Level | None = None
    part: Part | None = None

    @property
    def level(self) -> Level:
        if self.given is not None:
            return self.given
        return Level.ROW if self.access is Access.REPEATED else Level.ELEMENT

    @property
    def source(self) -> str:
        """The name of the array object that it is, or is a part of."""
        return self.name if self.part is None else self.part.array


@dataclass(frozen=True, slots=True)
class Number:
    """A number that is passed by value."""

    name: str
    dtype: np.dtype


@dataclass(frozen=True, slots=True, eq=False)
class Literal:
    """A number that is part of the program. Two are equal where their bits are: 0.0 is not -0.0, NaN is itself."""

    value: np.generic

    def _key(self) -> tuple[str, bytes]:
        return self.value.dtype.char, self.value.tobytes()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Literal) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


Operand = str | Literal
"""A value by its name, or a number."""


@dataclass(frozen=True, slots=True)
class Operation:
    """One op.

    result    the name of the value
    dtype     of the result; the loop's own result is cast to it
    row       the name of the op's row
    text      the expression over `{0}`, `{1}`, ...; `{0}` alone is a cast
    operands  cast to the dtypes `loops`, whose last is that of the expression's own result
    level     the finest level among the operands
    span      where the user wrote it
    """

    result: str
    dtype: np.dtype
    row: str
    text: str
    operands: tuple[Operand, ...]
    loops: tuple[np.dtype, ...]
    level: Level
    span: Span | None = None


class Combine(Enum):
    """How two partial results of a reduction become one.

    The first four combine numbers; NaN is the maximum and the minimum of whatever holds one. FIRST_MAXIMUM and
    FIRST_MINIMUM give the place of the first largest (smallest) element, an int64: a partial result is a value and a
    place, the first NaN wins. DEVIATION, of launches alone, gives the sum of the squared distances from the mean in one
    sweep: a partial result is a count, a sum, and the squared distances from its own mean; two of them are combined by

        distance = b.sum / b.count - a.sum / a.count
        squares = a.squares + b.squares + distance * distance * (a.count * b.count / (a.count + b.count))
    """

    SUM = "Sum"
    PRODUCT = "Product"
    MAXIMUM = "Maximum"
    MINIMUM = "Minimum"
    FIRST_MAXIMUM = "FirstMaximum"
    FIRST_MINIMUM = "FirstMinimum"
    DEVIATION = "Deviation"

    @property
    def is_place(self) -> bool:
        """Whether the result is the place of an element."""
        return self in (Combine.FIRST_MAXIMUM, Combine.FIRST_MINIMUM)


@dataclass(frozen=True, slots=True)
class Reduction:
    """All elements of a row (level ROW), or of the launch (level LAUNCH), become one.

    A place of a ROW is the index along its one reduced axis, that of a LAUNCH counts all elements in the order of the
    axes.

    accumulator  the dtype that elements are cast to and that partial results are made of
    is_mean      the result is divided by the number of elements, in float64: the length of the row, times `width`, of
                 which so many were joined to one before, less `ddof`
    """

    result: str
    dtype: np.dtype
    combine: Combine
    operand: Operand
    accumulator: np.dtype
    level: Level
    is_mean: bool = False
    span: Span | None = None
    width: int = 1
    ddof: int = 0

    @property
    def partial(self) -> np.dtype:
        """The dtype of a partial result in the memory of a launch; one with fields is laid out as a struct of C."""
        if self.combine.is_place:
            return np.dtype([("value", self.accumulator), ("place", "i8")], align=True)
        if self.combine is Combine.DEVIATION:
            return np.dtype([("count", "i8"), ("sum", self.accumulator), ("squares", self.accumulator)], align=True)
        return self.accumulator

    @property
    def neutral(self) -> np.generic:
        """What a reduction begins with; it changes no other value, but a sum of -0.0 is 0.0, as in NumPy."""
        kind = self.accumulator
        if self.combine in (Combine.SUM, Combine.DEVIATION):
            return kind.type(0)
        if self.combine is Combine.PRODUCT:
            return kind.type(1)
        is_largest = self.combine in (Combine.MINIMUM, Combine.FIRST_MINIMUM)
        if kind.kind == "f":
            return kind.type(np.inf if is_largest else -np.inf)
        return kind.type(np.iinfo(kind).max if is_largest else np.iinfo(kind).min)


@dataclass(frozen=True, slots=True)
class Variable:
    """A value of each element that a loop changes; its name is that of the value, within the loop and after it.

    initial   what it is before the first turn, cast to `dtype`
    """

    name: str
    dtype: np.dtype
    initial: Operand


@dataclass(frozen=True, slots=True)
class Piece:
    """What one turn does with an element: the steps in order, then all assignments at once.

    steps        their results are known in this piece alone; all are of level ELEMENT
    assignments  the name of a variable and the value it gets: one of a step, an array, a number, or a variable as it
                 was before the assignments
    """

    steps: tuple[Operation, ...]
    assignments: tuple[tuple[str, Operand], ...]


@dataclass(frozen=True, slots=True)
class Loop:
    """For each element by itself: as many turns as the launch says, each of which runs one piece.

    Control flow never depends on elements, so the host works it out before the launch. It hands over how many turns
    there are, which piece each turn runs (`ROUTE`, where there are several) and the numbers of each turn (`TURNS`, one
    array for each of `numbers`). An engine that runs one element at a time writes

        float64 x = x0;
        for (int64 turn = 0; turn < turns; ++turn) {
            const float64 dt = dt_turns[turn];
            switch (route[turn]) {
            case 0: { ... steps of piece 0 ...; x = t3; break; }
            case 1: { ... }
            }
        }

    variables  those that turns change
    numbers    those that differ from turn to turn; the same for all elements
    pieces     at least one
    span       where the user wrote the loop
    """

    variables: tuple[Variable, ...]
    numbers: tuple[Number, ...]
    pieces: tuple[Piece, ...]
    span: Span | None = None

    @property
    def has_route(self) -> bool:
        """Whether a launch says which piece each turn runs."""
        return len(self.pieces) > 1

    @property
    def steps(self) -> list[Operation]:
        """Those of all pieces."""
        return [step for piece in self.pieces for step in piece.steps]


Step = Operation | Reduction


@dataclass(frozen=True, slots=True)
class Output:
    """An array that gets the value `value`."""

    array: Array
    value: Operand


@dataclass(frozen=True, slots=True)
class KernelProgram:
    """One kernel. `rank` counts the axes after collapsing, the innermost last.

    steps       are in an order in which each comes after what it needs
    reduced     how many axes the reductions of rows run along: the last ones
    is_columns  these axes are not the last, but those before the last one: what is one row for a reduction lies
                across memory, and neighbours along the last axis are reduced side by side
    loop        comes behind the steps, and `after` behind the loop; none of them reduces then
    checked     whether it looks for floating-point errors and NaNs, and stops where it finds one
    held        the outputs of a checked kernel that existed before: a tile of them is written once it is clean
    delayed     the name of the output that overlaps what is read, where rows of it are written so many rows late as the
                launch says; such a program reduces nothing, has no loop, and its rows run in order
    """

    name: str
    rank: int
    arrays: tuple[Array, ...]
    numbers: tuple[Number, ...]
    steps: tuple[Step, ...]
    outputs: tuple[Output, ...]
    reduced: int = 1
    is_columns: bool = False
    loop: Loop | None = None
    after: tuple[Operation, ...] = ()
    checked: bool = False
    held: tuple[str, ...] = ()
    delayed: str = ""

    @property
    def kept(self) -> tuple[int, ...]:
        """The axes before the reduced ones: a kernel that reduces rows runs over these from outside."""
        return tuple(range(self.rank - self.reduced - self.is_columns))

    @property
    def lines(self) -> tuple[int, ...]:
        """The reduced axes."""
        return tuple(range(self.rank - self.reduced - self.is_columns, self.rank - self.is_columns))

    @property
    def reductions(self) -> list[Reduction]:
        return [step for step in self.steps if isinstance(step, Reduction)]

    @property
    def all_steps(self) -> list[Step]:
        """The steps, those of the loop and behind it included."""
        return [*self.steps, *([] if self.loop is None else self.loop.steps), *self.after]

    @property
    def totals(self) -> list[Reduction]:
        """The reductions of all elements."""
        return [step for step in self.reductions if step.level is Level.LAUNCH]

    def dtypes(self) -> dict[str, np.dtype]:
        """The dtype of each value by its name."""
        known = {array.name: array.dtype for array in self.arrays}
        known.update((number.name, number.dtype) for number in self.numbers)
        known.update((step.result, step.dtype) for step in self.all_steps)
        if self.loop is not None:
            known.update((each.name, each.dtype) for each in self.loop.variables)
            known.update((each.name, each.dtype) for each in self.loop.numbers)
        return known

    def levels(self) -> dict[str, Level]:
        """The level of each value by its name."""
        known = {number.name: Level.LAUNCH for number in self.numbers}
        known.update((array.name, array.level) for array in self.arrays)
        known.update((step.result, step.level) for step in self.all_steps)
        if self.loop is not None:
            known.update((each.name, Level.LAUNCH) for each in self.loop.numbers)
            known.update((each.name, Level.ELEMENT) for each in self.loop.variables)
        return known


class Meaning(Enum):
    """What a field of the arguments of a launch is."""

    ARRAY = auto()  # the array object
    STRIDE = auto()  # of an array along an axis, in elements; between its parts where the axis is the rank
    EXTENT = auto()  # of an axis
    NUMBER = auto()  # by value
    PARTIALS = auto()  # an array for the partial results of a total
    MULTIPLIER = auto()  # with the shift, stands for division by the extent of an axis
    SHIFT = auto()
    TOTAL = auto()  # where the result of a total goes: one element
    TICKET = auto()  # a counter, 0 before each launch and after it
    COUNT = auto()  # how many turns the loop has
    ROUTE = auto()  # an array of uint8: which piece each turn runs
    DELAY = auto()  # by how many rows a delayed output is late
    TURNS = auto()  # an array of the values of a number of the loop, one for each turn


@dataclass(frozen=True, slots=True)
class Field:
    """One argument of a launch: its C declaration, its meaning, whose it is, and the axis of a stride or extent."""

    declaration: str
    meaning: Meaning
    name: str = ""
    axis: int = 0
    dtype: np.dtype | None = None


@dataclass(frozen=True, slots=True)
class Kernel:
    """The text of one kernel, and the arguments that it takes.

    text       without the prelude; it defines the function `name`, and `combine` where there are totals
    buffers    the dtypes of the row buffers that each thread brings, as long as a row each
    tile       how many rows lie side by side in one unit of work of a kernel of columns; else 1
    """

    name: str
    text: str
    fields: tuple[Field, ...]
    buffers: tuple[np.dtype, ...] = ()
    tile: int = 1

    def fields_of(self, *meanings: Meaning) -> Iterator[Field]:
        return (field for field in self.fields if field.meaning in meanings)
