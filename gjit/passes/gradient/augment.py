"""The forward and the reverse of one typed graph.

The forward is a copy of the graph that carries shadows beside values and puts on a tape what the reverse reads. The
reverse takes the tape apart, record by record. A *segment* is a run of nodes without blocks; its reverse is plain
code, in which values that live in the segment alone have their cotangents as plain values (`local`), and all others
have theirs in shadows. So the order of control flow is the order of the tape, and aliasing, writes and containers are
mirrored by the shadows rather than analysed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Protocol

from gjit.errors import UnsupportedError
from gjit.ir.builder import Builder
from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import ArrayType, Type
from gjit.ops.arguments import NOT_CONSTANT
from gjit.passes.callees import bind_arguments
from gjit.passes.gradient.analysis import Analysis, viewed, written
from gjit.passes.gradient.kinds import has_static_shadow, is_inert, is_memory, is_numeric
from gjit.passes.gradient.rules import Rules


@dataclass(frozen=True, slots=True)
class Derived:
    """The names of the forward and the reverse of a called function, and which of its parameters have shadows."""

    forward: str
    reverse: str
    active: tuple[bool, ...]


class Context(Protocol):
    """What the pass asks of its surroundings."""

    rules: Rules

    def default(self, name: str, parameter: str) -> object:
        """The default of a parameter of a function, or NOT_CONSTANT."""
        ...

    def derived(
        self, name: str, types: tuple[Type, ...], active: tuple[bool, ...], *, exposed: bool, is_entry: bool = False
    ) -> Derived:
        """The forward and reverse of a function of the program; see `Analysis` and `derive` for the rest."""
        ...


@dataclass(slots=True)
class Segment:
    """Nodes of the typed graph with their copies, in order, and the cotangents of local values."""

    nodes: list[tuple[Node, Node]] = field(default_factory=list)
    cotangents: dict[Value, Value] = field(default_factory=dict)


class Augmentation:
    """State that the forward and the reverse share.

    values    what stands in the forward for each value of the typed graph
    shadows   the shadow in the forward of each active value that has one
    """

    def __init__(self, analysis: Analysis, context: Context, builder: Builder, *, is_entry: bool = False):
        self.analysis, self.context, self.builder, self.is_entry = analysis, context, builder, is_entry
        self.values: dict[Value, Value] = {}
        self.shadows: dict[Value, Value] = {}
        self.extra_locals: set[Value] = set()  # parameters and results that have no shadow either
        self.tapes: dict[Node, Value] = {}  # of calls, in the forward
        self.calls: dict[Node, Derived] = {}
        self._local: dict[Value, bool] = {}

    def value(self, value: Value) -> Value:
        """What stands for a value in the forward."""
        return Constant(value.value) if isinstance(value, Constant) else self.values[value]

    def is_active(self, value: Value) -> bool:
        return self.analysis.is_active(value)

    def shadow(self, value: Value) -> Value:
        """The shadow of a value in the forward: zeros of its own, or None, for one that needs none."""
        found = self.shadows.get(value)
        if found is not None:
            return found
        return Constant(None) if is_inert(value.type) else self.builder.add("gradient.zeros", [self.value(value)])

    def arguments_of(self, node: Node) -> list[Value]:
        """The argument for each parameter of the function that a node calls.

        Raises:
            UnsupportedError: they are hidden by spreads, or left to defaults that are mutable objects.
        """
        name = str(node.attributes["function"])
        callee = self.analysis.graph.functions[name]
        given = bind_arguments(node, callee)
        if given is None:
            raise UnsupportedError("a gradient cannot pass through a call with spreads", node.span)
        pairs = zip(callee.parameters, given, strict=True)
        return [self._default(name, p.name, node) if value is None else value for p, value in pairs]

    def _default(self, name: str, parameter: str, node: Node) -> Value:
        found = self.context.default(name, parameter)
        if found is NOT_CONSTANT:
            raise UnsupportedError(f"a gradient cannot pass through a call that leaves out {parameter!r}", node.span)
        return Constant(found)

    def is_mirrored(self, node: Node) -> bool:
        """Whether the result of a numeric node is a view of memory that may be written: its shadow is one too."""
        if (
            node.op in READ_ONLY
            or node.op == "gradient.unfit"
            or self.analysis.written_by(node.result) is None
            or any(map(is_memory, written(node)))
        ):
            return False
        return any(map(is_memory, viewed(node)))

    def is_local(self, value: Value) -> bool:
        """Whether the cotangent of the value lives in its segment alone."""
        if value not in self._local:
            self._local[value] = value in self.extra_locals or self._may_be_local(value)
        return self._local[value]

    def _may_be_local(self, value: Value) -> bool:
        producer = value.producer
        if not isinstance(producer, Node) or producer.blocks or not (is_numeric(producer) or producer.op == "getitem"):
            return False
        return self.uses_are_local(value, self.analysis.segments.get(producer))

    def uses_are_local(self, value: Value, segment: object, users: Iterable[Node] | None = None) -> bool:
        """Whether every use is a node of this segment that reads the value's data, which nothing writes."""
        if self.analysis.written_by(value) is not None:
            return False
        places = self.analysis.segments
        users = value.uses if users is None else users
        return all(places.get(user) == segment and _reads_data(user, value) for user in users)


READ_ONLY = frozenset(
    {"numpy.broadcast_to", "numpy.broadcast_arrays", "numpy.diagonal", "ndarray.diagonal", "numpy.diag"}
)
"""Views that nothing is written through; several of their elements may be one."""


def _reads_data(user: Node, value: Value) -> bool:
    if user.op == "getitem":
        return user.inputs[0] is value and has_static_shadow(value.type)
    if user.op == "setitem":
        into_array = isinstance(user.inputs[0].type, ArrayType)  # a container keeps what is stored
        return into_array and user.inputs[2] is value and user.inputs[0] is not value and has_static_shadow(value.type)
    return is_numeric(user)
