"""The graph: values, nodes, blocks, captures.

`Graph` owns one `Block`. A `Block` has parameters, nodes in order and a terminator. A `Node` has an op,
inputs, attributes, results, nested blocks and a source span. Order in a block is meaning.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from gjit.ir.interface import CaptureKind, CaptureSlot, Parameter, ParameterKind
from gjit.ir.types import UNKNOWN, Type, type_of
from gjit.source import Span

__all__ = [
    "TERMINATORS",
    "Block",
    "CaptureKind",
    "CaptureSlot",
    "Constant",
    "Graph",
    "Node",
    "Parameter",
    "ParameterKind",
    "Value",
]

TERMINATORS = frozenset({"yield", "continue", "break", "condition", "return", "raise", "reraise", "unreachable"})
"""`yield` ends a block with the values of its node; `continue` and `break` speak of the innermost loop;
`condition` ends the first block of a `while`; `return`, `raise` and `reraise` leave the function or the `try`;
`unreachable` ends a block whose last node has left on every path."""


class Value:
    """One value: a result of a node, a parameter of a block, or (in the subclass) a constant."""

    __slots__ = ("type", "producer", "name", "uses")

    def __init__(self, type: Type = UNKNOWN, producer: Node | Block | None = None, name: str = ""):
        self.type = type
        self.producer = producer
        self.name = name  # a hint for readers: the user's variable, without numbering
        self.uses: dict[Node, int] = {}  # how often each node uses it; a dict keeps order and removes in O(1)

    def replace_with(self, other: Value) -> None:
        """Make every user of this value use `other`."""
        for node in list(self.uses):
            node.inputs = [other if value is self else value for value in node.inputs]
            count = self.uses.pop(node)
            other.uses[node] = other.uses.get(node, 0) + count

    def __repr__(self) -> str:
        return f"<{type(self).__name__} %{self.name or '?'}: {self.type}>"


class Constant(Value):
    """An immutable host value that stands as an operand: numbers, strings, None, tuples, slices, dtypes,
    NumPy scalars, built-in and NumPy classes and functions. It has no producer and belongs to no block."""

    __slots__ = ("value",)

    def __init__(self, value: object):
        super().__init__(type_of(value))
        self.value = value


class Node:
    """One operation. `labels` says how each input is passed, as in a Python call.

    A label is "" (positional), "*" (spread), "name=" (keyword) or "**" (spread keywords); an empty tuple
    means that all inputs are positional.
    """

    __slots__ = ("op", "inputs", "labels", "attributes", "results", "blocks", "span", "block", "previous", "next")

    def __init__(
        self,
        op: str,
        inputs: list[Value] | tuple[Value, ...] = (),
        *,
        labels: tuple[str, ...] = (),
        attributes: dict[str, Any] | None = None,
        results: int | list[Type] = 1,
        span: Span | None = None,
    ):
        self.op = op
        self.inputs: list[Value] = []
        self.labels = labels if any(labels) else ()
        self.attributes: dict[str, Any] = attributes or {}
        types = [UNKNOWN] * results if isinstance(results, int) else results
        self.results = [Value(type_, self) for type_ in types]
        self.blocks: list[Block] = []
        self.span = span
        self.block: Block | None = None
        self.previous: Node | None = None
        self.next: Node | None = None
        self.set_inputs(inputs)

    @property
    def result(self) -> Value:
        """The one result of a node that has exactly one."""
        (value,) = self.results
        return value

    @property
    def is_terminator(self) -> bool:
        return self.op in TERMINATORS

    def set_inputs(self, inputs: list[Value] | tuple[Value, ...]) -> None:
        """Replace the inputs and keep the uses of old and new values right."""
        for value in self.inputs:
            _count_use(value, self, -1)
        self.inputs = list(inputs)
        for value in self.inputs:
            _count_use(value, self, 1)

    def set_input(self, index: int, value: Value) -> None:
        _count_use(self.inputs[index], self, -1)
        self.inputs[index] = value
        _count_use(value, self, 1)

    def label(self, index: int) -> str:
        return self.labels[index] if self.labels else ""

    def positional(self) -> list[Value]:
        return [value for index, value in enumerate(self.inputs) if self.label(index) == ""]

    def keyword(self, name: str) -> Value | None:
        """The input passed as `name=`, or None."""
        for value, label in zip(self.inputs, self.labels, strict=False):
            if label == name + "=":
                return value
        return None

    def add_block(self, parameters: list[Type] | int = 0) -> Block:
        block = Block(self, parameters)
        self.blocks.append(block)
        return block

    def remove(self) -> None:
        """Take the node out of its block and drop its uses of other values; its own results must be unused."""
        for block in self.blocks:
            for node in list(block.all_nodes()):
                node.set_inputs(())
                node.block = None  # a pass that has listed its nodes before can tell that they are gone
        self.set_inputs(())
        if self.block is not None:
            self.block.detach(self)

    def replace_with(self, values: list[Value]) -> None:
        """Give every user of the results the new values, then remove the node."""
        for old, new in zip(self.results, values, strict=True):
            if not new.name and not isinstance(new, Constant):
                new.name = old.name
            old.replace_with(new)
        self.remove()

    def __repr__(self) -> str:
        return f"<Node {self.op} at {self.span}>" if self.span else f"<Node {self.op}>"


class Block:
    """Parameters, nodes in order (a linked list, so that a pass inserts and removes in O(1)), a terminator."""

    __slots__ = ("owner", "parameters", "first", "last", "terminator")

    def __init__(self, owner: Node | Graph | None = None, parameters: list[Type] | int = 0):
        self.owner = owner
        types = [UNKNOWN] * parameters if isinstance(parameters, int) else parameters
        self.parameters = [Value(type_, self) for type_ in types]
        self.first: Node | None = None
        self.last: Node | None = None
        self.terminator: Node | None = None

    def __iter__(self) -> Iterator[Node]:
        """The nodes in order, without the terminator; the current node may be removed meanwhile."""
        node = self.first
        while node is not None:
            following = node.next
            yield node
            node = following

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def add_parameter(self, type: Type = UNKNOWN, name: str = "") -> Value:
        value = Value(type, self, name)
        self.parameters.append(value)
        return value

    def append(self, node: Node) -> Node:
        return self.insert(node, None)

    def insert(self, node: Node, before: Node | None) -> Node:
        """Insert before a node of this block, or at the end."""
        node.block = self
        node.next = before
        node.previous = self.last if before is None else before.previous
        if node.previous is None:
            self.first = node
        else:
            node.previous.next = node
        if before is None:
            self.last = node
        else:
            before.previous = node
        return node

    def detach(self, node: Node) -> Node:
        """Take a node out; its inputs and results stay as they are, so that it can be inserted elsewhere."""
        if node is self.terminator:
            self.terminator = None
            node.block = None
            return node
        if node.previous is None:
            self.first = node.next
        else:
            node.previous.next = node.next
        if node.next is None:
            self.last = node.previous
        else:
            node.next.previous = node.previous
        node.block = node.previous = node.next = None
        return node

    def terminate(self, node: Node) -> Node:
        """Set the terminator; an old one is dropped."""
        if self.terminator is not None:
            self.terminator.remove()
        node.block = self
        self.terminator = node
        return node

    def all_nodes(self) -> Iterator[Node]:
        """Every node in here and in nested blocks, terminators included, outer before inner, without recursion."""
        stack: list[Block | tuple[Block, Node | None]] = [self]
        while stack:
            place = stack.pop()
            block, node = place if isinstance(place, tuple) else (place, place.first)
            while node is not None:
                following = node.next
                yield node
                if node.blocks:
                    stack.append((block, following))
                    stack.extend(reversed(node.blocks))
                    break
                node = following
            else:
                if block.terminator is not None:
                    yield block.terminator


class Graph:
    """A function as a graph. `functions` is shared by all graphs of one program: calls name graphs in it."""

    __slots__ = ("name", "block", "parameters", "captures", "functions", "span")

    def __init__(
        self,
        name: str,
        parameters: list[Parameter] | tuple[Parameter, ...] = (),
        *,
        functions: dict[str, Graph] | None = None,
        span: Span | None = None,
    ):
        self.name = name
        self.parameters = list(parameters)
        self.block = Block(self, len(self.parameters))
        for value, parameter in zip(self.block.parameters, self.parameters, strict=True):
            value.name = parameter.name
        self.captures: list[CaptureSlot] = []
        self.functions: dict[str, Graph] = {} if functions is None else functions
        self.span = span

    def all_nodes(self) -> Iterator[Node]:
        """Every node of this graph (not of the graphs that it calls)."""
        return self.block.all_nodes()

    def __repr__(self) -> str:
        return f"<Graph {self.name}>"


def _count_use(value: Value, node: Node, step: int) -> None:
    count = value.uses.get(node, 0) + step
    if count:
        value.uses[node] = count
    else:
        del value.uses[node]
