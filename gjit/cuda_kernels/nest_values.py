"""What the values of a loop nest are while its text is written: numbers in variables, constants, views, expressions.

All of these are immutable and compare by content. A piece of text is written once for each combination of what its
values are, so a variable that is a Python int in the first turn and a NumPy float later has two texts and no tag.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gjit.ops.kernels import c_type

INT64 = np.dtype("i8")
FLOAT64 = np.dtype("f8")
BOOL = np.dtype("?")
LEAST, MOST = -(1 << 63), (1 << 63) - 1
FULL = (LEAST, MOST)
MOST_EXTENT = 1 << 45
"""Extents and the bounds of loops stay below this, so that sums of a few of them need no check."""
PYTHON_DTYPES = {"bool": BOOL, "int": INT64, "float": FLOAT64}


class Refused(Exception):
    """The nest, for these types, is not for native code; the message says what keeps it on the host."""


@dataclass(frozen=True, slots=True)
class Scalar:
    """A number at run time.

    text     a variable, or an expression that is cheap and free of effects
    dtype    how it is held
    python   "bool", "int" or "float" for one of Python's, "" for a NumPy scalar
    bounds   between which an integer surely lies
    """

    text: str
    dtype: np.dtype
    python: str = ""
    bounds: tuple[int, int] = FULL

    @property
    def code(self) -> str:
        """A short name of its type: two types of one value have two variables."""
        return f"py_{self.python}" if self.python else c_type(self.dtype)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """A value that is part of the text: a constant of the program, None, a dtype."""

    value: object

    def _key(self) -> tuple[object, ...]:
        value = self.value
        if isinstance(value, np.generic):
            return type(value), value.tobytes()
        return type(value), value.hex() if type(value) is float else value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and self._key() == other._key()

    def __hash__(self) -> int:
        return hash(self._key())


@dataclass(frozen=True, slots=True)
class Tuple:
    """A tuple of references."""

    elements: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class Slice:
    """A slice object."""

    start: Reference
    stop: Reference
    step: Reference


@dataclass(frozen=True, slots=True)
class Range:
    """A range: three Python ints, the step a known one where `step` is Known."""

    start: Reference
    stop: Reference
    step: Reference


@dataclass(frozen=True, slots=True)
class Enumerate:
    """`enumerate(iterable)`."""

    iterable: Reference


@dataclass(frozen=True, slots=True)
class Zip:
    """`zip(*iterables)`."""

    iterables: tuple[Reference, ...]


@dataclass(frozen=True, slots=True)
class View:
    """An array in memory.

    data      a variable: the address of the first element, in bytes
    extents   along each axis
    strides   in bytes
    unit      the axis along which elements lie side by side; -1 where that is not known
    base      whose memory it is: the name of an input, or of a buffer of the nest's own
    """

    dtype: np.dtype
    data: str
    extents: tuple[str, ...]
    strides: tuple[str, ...]
    unit: int
    base: str
    is_own: bool = False

    @property
    def rank(self) -> int:
        return len(self.extents)


@dataclass(frozen=True, slots=True)
class Gathered:
    """`source[index]` for a one-dimensional source and an array of integers that have been checked."""

    source: View
    index: View

    @property
    def dtype(self) -> np.dtype:
        return self.source.dtype

    @property
    def extents(self) -> tuple[str, ...]:
        return self.index.extents


@dataclass(frozen=True, slots=True)
class Elementwise:
    """An array that has not been computed: one expression for each element.

    text      over `{0}`, `{1}`, ..., the operands cast to `loops`, whose last is the dtype of the expression
    """

    dtype: np.dtype
    extents: tuple[str, ...]
    text: str
    operands: tuple[Operand, ...]
    loops: tuple[np.dtype, ...]


Reference = Scalar | Known | Tuple | Slice | Range | Enumerate | Zip | View | Gathered | Elementwise
Array = View | Gathered | Elementwise
Operand = Scalar | Array
ARRAYS = (View, Gathered, Elementwise)


@dataclass(slots=True)
class Result:
    """One result of a nest: `python` and `dtype` as of a `Scalar`, or a known value, or the parts of a tuple."""

    python: str = ""
    dtype: np.dtype | None = None
    known: object = None
    parts: list[Result] | None = None


@dataclass(slots=True)
class NestKernel:
    """The text of a nest for one class of inputs.

    text      defines the function `nest(words)`
    exits     for each code that the function returns, what the results are
    written   the inputs (by position) whose memory is written
    floats    whether floating-point flags have to be looked at
    exact     whether the results have NumPy's bits
    """

    text: str
    exits: list[list[Result]]
    written: frozenset[int]
    floats: bool
    exact: bool
    notes: list[str] = field(default_factory=list)
