"""What stands for a value while a program is written as a model.

What does not depend on the inputs is the Python object itself: numbers, texts, tuples, modules, functions. What does is
a `Tensor`. Containers are Python's, with tensors in them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gjit.errors import GjitError


class Unwritable(GjitError):
    """Something that has no form in a model; who knows the user's line makes an `UnsupportedError` of it."""


@dataclass(slots=True, eq=False)
class Tensor:
    """A value of the model.

    name      of the model's value; a write in place gives another one. None while only `constant` is known
    kind      `array`, `scalar` (of NumPy), or `python` (a number of Python's, weak in promotion)
    depth     how many blocks of the model stand around it
    version   how often it was written
    bases     tensors that may share its memory, each with the version that this value was taken of
    index     where this value is `bases[0][index]`: it is read again after a write, and written through
    frozen    why it cannot be written: it is an argument, or belongs to the program
    """

    name: str | None
    dtype: np.dtype
    rank: int
    kind: str = "array"
    depth: int = 0
    constant: Any = None
    version: int = 0
    bases: list[tuple[Tensor, int]] = field(default_factory=list)
    index: Any = None
    frozen: str = ""

    @property
    def is_array(self) -> bool:
        return self.kind == "array"


@dataclass(slots=True, eq=False)
class Cell:
    """A variable that is loaded and stored; `value` is None while it is unbound."""

    name: str
    depth: int
    value: Any = None
    is_bound: bool = False


@dataclass(slots=True)
class Sequence:
    """What a loop of the model goes over: a length, and the item at an index."""

    length: Tensor | int
    item: Callable[[Any], Any]


@dataclass(slots=True)
class Method:
    """A method of a tensor, not called yet."""

    owner: Tensor
    name: str


@dataclass(slots=True)
class Closure:
    """A function that is defined in the program: its node, and the values around it."""

    node: Any
    values: dict
    defaults: list
    graph: Any


def stand_in(value: Any) -> Any:
    """A value of the same type whose elements are one: what NumPy makes of it tells the type of a result."""
    if isinstance(value, Tensor):
        if value.kind == "python":
            return value.dtype.type(1).item()
        one = np.ones((1,) * value.rank, value.dtype)
        return one if value.is_array else one[()]
    if isinstance(value, tuple | list):
        return type(value)(map(stand_in, value)) if type(value) in (tuple, list) else value
    return value


def kind_of(value: Any) -> str:
    """The `kind` of a tensor for a value of Python or NumPy."""
    if isinstance(value, np.ndarray):
        return "array"
    return "scalar" if isinstance(value, np.generic) else "python"


def is_number(value: Any) -> bool:
    """Whether a tensor can stand for it."""
    return isinstance(value, Tensor | bool | int | float | np.generic | np.ndarray)


def holds_tensor(value: Any) -> bool:
    """Whether a value depends on the inputs."""
    match value:
        case Tensor() | Sequence() | Method() | Closure():
            return True
        case slice():
            return any(map(holds_tensor, (value.start, value.stop, value.step)))
        case tuple() | list() | set() | frozenset():
            return any(map(holds_tensor, value))
        case dict():
            return any(map(holds_tensor, value.values()))
    return False
