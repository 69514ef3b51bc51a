"""What a host program needs from outside, and under which names it finds that."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import CellType

import numpy as np

from gjit.ir.graph import CaptureKind, CaptureSlot, Constant, Graph, Node, Value
from gjit.ir.types import (
    STR,
    ArrayType,
    DictType,
    ListType,
    PythonType,
    ScalarType,
    SetType,
    TupleType,
    Type,
)
from gjit.ops.names import name_of
from gjit.scheduler.class_names import has_classes, is_private
from gjit.scheduler.naming import Names
from gjit.scheduler.syntax import LOAD, call, load, number

_TEXT_METHODS = frozenset(
    {"capitalize", "casefold", "center", "expandtabs", "format", "join", "ljust", "lower", "lstrip", "removeprefix"}
    | {"removesuffix", "replace", "rjust", "rstrip", "strip", "swapcase", "title", "translate", "upper", "zfill"}
)
"""The methods of a string that give a string."""
_BUILT_IN = (ArrayType, DictType, ListType, ScalarType, SetType, TupleType)


def is_known_callee(node: Node) -> bool:
    """Whether a `call` node calls no function of the user: a constant, or a method of a built-in type."""
    callee = node.inputs[0]
    if isinstance(callee, Constant):
        return True
    producer = callee.producer
    if not isinstance(producer, Node) or producer.op != "getattr":
        return False
    return _is_built_in(producer.inputs[0].type) or _is_text(producer.inputs[0])


def _is_text(value: Value) -> bool:
    """Whether a value is a string, or what methods make of one: `text.strip().lower()`."""
    while value.type != STR:
        made = value.producer
        lookup = made.inputs[0].producer if isinstance(made, Node) and made.op == "call" else None
        if not isinstance(lookup, Node) or lookup.op != "getattr" or lookup.attributes["name"] not in _TEXT_METHODS:
            return False
        value = lookup.inputs[0]
    return True


def _is_built_in(type_: Type) -> bool:
    return isinstance(type_, _BUILT_IN) or (isinstance(type_, PythonType) and type_.name not in ("class", "module"))


@dataclass(slots=True)
class Environment:
    """What the printer of a host program has to know besides the graph.

    globals           the dictionary that the printed function will have as its globals
    least_elements    of a region: smaller arrays run its twin in place; None leaves all to the twin
    calls_natively    whether a `call` node is printed as a plain call, rather than of `scripted(callee)`
    """

    globals: dict[str, object] = field(default_factory=dict)
    least_elements: Callable[[Node], int | None] = field(default=lambda region: 16384)
    calls_natively: Callable[[Node], bool] = is_known_callee


class Bindings:
    """Gives names to objects from outside; the names collide with none of the program's own."""

    def __init__(self, graph: Graph, environment: Environment, function_name: str = ""):
        self.graph, self.environment = graph, environment
        self.objects: dict[str, object] = {}
        self.functions: dict[str, str] = {}
        self.helpers: dict[str, str] = {}
        self.closure: dict[str, int] = {}
        self.names = Names(taken={function_name})
        self._variables: set[str] = set()
        self._by_id: dict[int, str] = {}
        self._of_slot: dict[int, str] = {}
        self._has_classes = has_classes(graph)
        self._plain = self._plain_globals()
        self._hidden: frozenset[str] = frozenset()

    @contextmanager
    def hiding(self, names: frozenset[str]) -> Iterator[None]:
        """Print code for which globals and built-ins of these names are hidden: that of a class body."""
        outer, self._hidden = self._hidden, names
        yield
        self._hidden = outer

    def reserved(self) -> set[str]:
        """Names that no variable may take: globals that are read plainly, and what has been bound before."""
        bound = {*self.objects, *self.functions, *self.helpers, *self.closure}
        return bound | {self.graph.captures[index].name for index in self._plain}

    def use(self, names: Names) -> None:
        """Take the names of the variables into account."""
        names.taken |= self.names.taken
        self.names = names
        self._variables = set(names.variables.values())
        self._plain = {index for index in self._plain if self.graph.captures[index].name not in self._variables}

    def is_own_global(self, index: int) -> bool:
        """Whether a slot is a global, or a built-in, of the printed function's own module."""
        slot = self.graph.captures[index]
        is_own = slot.namespace is None or slot.namespace is self.environment.globals
        return slot.kind is CaptureKind.GLOBAL and is_own

    def _plain_globals(self) -> set[int]:
        return {
            index
            for index, slot in enumerate(self.graph.captures)
            if self.is_own_global(index) and not (is_private(slot.name) and self._has_classes)
        }

    # Objects

    def bound(self, value: object, hint: str) -> ast.expr:
        """A name bound to `value`."""
        name = self._by_id.get(id(value))
        if name is None:
            name = self.names.fresh(_word(hint))
            self.objects[name] = value
            self._by_id[id(value)] = name
        return load(name)

    def function(self, graph_name: str) -> ast.expr:
        """The generated function of a graph."""
        return load(self._named(self.functions, graph_name))

    def helper(self, name: str) -> ast.expr:
        """A function of the runtime."""
        return load(self._named(self.helpers, name))

    def _named(self, table: dict[str, str], key: str) -> str:
        for name, known in table.items():
            if known == key:
                return name
        name = self.names.fresh(_word(key))
        table[name] = key
        return name

    def builtin(self, name: str) -> ast.expr:
        """A built-in function by its plain name, unless something else has that name."""
        if name in self._variables or name in self.environment.globals or name in self._hidden:
            return self.bound(getattr(builtins, name), f"builtin_{name}")
        self.names.taken.add(name)
        return load(name)

    # Captures

    def capture(self, index: int) -> ast.expr:
        """The read of a capture slot."""
        slot = self.graph.captures[index]
        if slot.kind is CaptureKind.OBJECT:
            return self.bound(slot.value, slot.name)
        if slot.kind is CaptureKind.CELL:
            return load(self.closure_name(index))
        if index in self._plain and slot.name not in self._hidden:
            return load(slot.name)
        if slot.guarded and slot.namespace is None:
            return self.bound(slot.value, slot.name)
        namespace = self.bound(slot.namespace, "globals_1")
        if isinstance(slot.namespace, dict) and slot.name in slot.namespace:
            return ast.Subscript(namespace, ast.Constant(slot.name), LOAD)
        return call(self.bound(read_global, "read_global"), namespace, ast.Constant(slot.name))

    def closure_name(self, index: int) -> str:
        """The name of a free variable of the user's function in the printed one."""
        if index not in self._of_slot:
            name = self.names.fresh(_word(self.graph.captures[index].name))
            self._of_slot[index] = name
            self.closure[name] = index
        return self._of_slot[index]

    # Constants

    def constant(self, value: object) -> ast.expr:
        """An expression that gives an immutable host value."""
        kind = type(value)
        if value is None or value is ... or kind in (bool, str, bytes, complex):
            return ast.Constant(value)
        if kind in (int, float):
            return number(value) if value == value else self.bound(value, "nan")
        if kind is tuple:
            return ast.Tuple([self.constant(element) for element in value], LOAD)
        if kind is slice:
            parts = (value.start, value.stop, value.step)
            return call(self.builtin("slice"), *(self.constant(part) for part in parts))
        if isinstance(value, np.dtype):
            return self.bound(value, f"dtype_{value.name}")
        return self._named_object(value)

    def _named_object(self, value: object) -> ast.expr:
        name = name_of(value)
        if name is None:
            return self.bound(value, getattr(value, "__name__", "constant"))
        module, _, plain = name.rpartition(".")
        return self.builtin(plain) if module == "builtin" else self.bound(value, name)


def read_global(namespace: dict[str, object], name: str) -> object:
    """What a global name means in a module: its own dictionary, then the built-ins behind it.

    >>> read_global({"__builtins__": builtins}, "len") is len
    True
    """
    if name in namespace:
        return namespace[name]
    behind = namespace.get("__builtins__", builtins)
    known = behind if isinstance(behind, dict) else vars(behind)
    if name not in known:
        raise NameError(f"name {name!r} is not defined", name=name)
    return known[name]


def read_class_name(namespace: Mapping[str, object], name: str, otherwise: Callable[[], object]) -> object:
    """What a name is in the body of a class: in the namespace that it fills, else outside.

    >>> read_class_name({"x": 1}, "x", lambda: 2), read_class_name({}, "x", lambda: 2)
    (1, 2)
    """
    try:
        return namespace[name]
    except KeyError:
        return otherwise()


def cell_of(slot: CaptureSlot) -> CellType:
    """The cell of a captured free variable."""
    return slot.namespace if isinstance(slot.namespace, CellType) else CellType(slot.value)


def _word(text: str) -> str:
    word = re.sub(r"\W+", "_", text).strip("_")
    return f"_{word}" if not word or word[0].isdigit() else word
