"""What a function takes, and what it refers to besides: parameters and capture slots."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum


class ParameterKind(Enum):
    """How a function takes a parameter; the values are the marks of the text form."""

    POSITIONAL_ONLY = "/"
    NORMAL = ""
    VARIADIC = "*"
    KEYWORD_ONLY = "="
    VARIADIC_KEYWORD = "**"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a function: defaults are objects of the function, not of the graph."""

    name: str
    kind: ParameterKind = ParameterKind.NORMAL
    has_default: bool = False


class CaptureKind(Enum):
    """Where a captured object lives."""

    GLOBAL = "global"  # a name of the module's dictionary, or of the built-ins behind it
    CELL = "closure"  # a free variable of the function
    OBJECT = "object"  # an object found while tracing: an array, a parameter of a module


@dataclass(slots=True)
class CaptureSlot:
    """A live object that the graph refers to.

    `guarded` slots hold an immutable object that call entry compares by identity; the graph may rely on it.
    Other slots are loads: the object is looked up each time, since the name or the object may change.
    `value` is None in a graph that was parsed from text and is not bound yet.
    """

    name: str
    kind: CaptureKind
    guarded: bool = True
    value: object = None
    namespace: object = field(default=None, repr=False)  # the dictionary or cell that holds it
