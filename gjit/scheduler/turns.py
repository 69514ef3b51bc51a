"""Loops over whole arrays, read: control flow on scalars apart from the work on arrays.

Where nothing in a loop depends on elements, but each carried array is computed from what lies at its own index, the
loop falls into two programs. The *scalar part* is all control flow and all arithmetic of scalars: it says which
*pieces* of work on arrays run, in which order, and with which numbers. The pieces are straight lines of operations,
which an engine may run for one element, or for one tile, after the other.

For `for i in range(n): x = x + i * dt * (x - y)` the scalar part is the loop with `i * dt`, and its one piece is

    t0 = x - y; t1 = (i * dt) * t0; t2 = x + t1; then x = t2
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gjit.ir.graph import Node, Value
from gjit.ops.effects import is_immutable
from gjit.scheduler.fusible import operation_of


@dataclass(slots=True, eq=False)
class Piece:
    """Straight work on arrays.

    nodes    the operations in order
    moves    variables, and the values that they have afterwards, all at once
    numbers  the scalars of the loop that the operations and moves read
    """

    nodes: list[Node] = field(default_factory=list)
    moves: list[tuple[Value, Value]] = field(default_factory=list)
    numbers: list[Value] = field(default_factory=list)


@dataclass(slots=True)
class Turns:
    """A loop, read.

    loop       the node
    pieces     in the order of the text
    ends       the piece that ends before a node with blocks, or before a terminator
    variables  the values that keep arrays from one piece to another, in order
    names      other names of variables: a result of a loop is the parameter that it comes from
    initial    what variables are before the first piece; the others are set before they are read
    written    variables, and arrays from outside, that operations write in place
    invariant  nodes that give the same in every turn, and may as well run before the loop
    has_work   whether the scalar part does more than count turns of one piece
    """

    loop: Node
    pieces: list[Piece] = field(default_factory=list)
    ends: dict[Node, Piece] = field(default_factory=dict)
    variables: dict[Value, None] = field(default_factory=dict)
    names: dict[Value, Value] = field(default_factory=dict)
    initial: dict[Value, Value] = field(default_factory=dict)
    written: dict[Value, None] = field(default_factory=dict)
    invariant: list[Node] = field(default_factory=list)
    has_work: bool = False

    def variable(self, value: Value) -> Value:
        """The variable that a value is another name of, or the value itself."""
        while value in self.names:
            value = self.names[value]
        return value

    def read(self) -> set[Value]:
        """What operations and variables take, from outside and from each other."""
        found = [value for piece in self.pieces for node in piece.nodes for value in node.inputs]
        found += [value for piece in self.pieces for _, value in piece.moves]
        return {*found, *map(storage_of, found), *self.initial.values(), *self.written}


def is_loop_region(node: Node) -> bool:
    """Whether a node is a region that holds a loop over whole arrays."""
    return node.op == "region" and bool(node.attributes.get("loop"))


def is_scalar(value: Value) -> bool:
    """Whether a value is no array, whatever the program does: part of the control flow of a loop."""
    return is_immutable(value.type)


def storage_of(value: Value) -> Value:
    """The value whose memory a value is: in-place operators give back what they write."""
    while isinstance(value.producer, Node):
        operation = operation_of(value.producer)
        if operation is None or operation.out is None:
            break
        value = operation.out
    return value
