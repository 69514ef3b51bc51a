"""Build graphs node by node at an insertion point."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from gjit.ir.graph import Block, CaptureKind, CaptureSlot, Graph, Node, Value
from gjit.ir.types import Type
from gjit.source import Span


class Builder:
    """Appends nodes to `block`; `span` is given to every node until it is changed.

    >>> from gjit.ir.graph import Constant
    >>> graph = Graph("double", [])
    >>> builder = Builder(graph)
    >>> result = builder.add("operator.mul", [Constant(2), Constant(3.5)])
    >>> _ = builder.end("return", [result])
    >>> graph.block.terminator.op
    'return'
    """

    def __init__(self, graph: Graph, block: Block | None = None):
        self.graph = graph
        self.block = graph.block if block is None else block
        self.span: Span | None = None

    def node(
        self,
        op: str,
        inputs: Sequence[Value] = (),
        *,
        labels: tuple[str, ...] = (),
        results: int | list[Type] = 1,
        **attributes: object,
    ) -> Node:
        """Append a node and return it."""
        node = Node(op, list(inputs), labels=labels, attributes=attributes, results=results, span=self.span)
        return self.block.append(node)

    def add(
        self, op: str, inputs: Sequence[Value] = (), *, labels: tuple[str, ...] = (), **attributes: object
    ) -> Value:
        """Append a node with one result and return that result."""
        return self.node(op, inputs, labels=labels, **attributes).result

    def end(self, op: str, inputs: Sequence[Value] = ()) -> Node:
        """Terminate the block."""
        return self.block.terminate(Node(op, list(inputs), results=0, span=self.span))

    @property
    def ended(self) -> bool:
        return self.block.terminator is not None

    @contextmanager
    def at(self, block: Block) -> Iterator[Block]:
        """Append to `block` inside the `with`, then come back."""
        outer, self.block = self.block, block
        try:
            yield block
        finally:
            self.block = outer

    def slot(self, name: str, kind: CaptureKind, value: object, *, guarded: bool, namespace: object) -> int:
        """The index of the capture slot for this name, made when it is new."""
        for index, slot in enumerate(self.graph.captures):
            if (slot.name, slot.kind) == (name, kind) and slot.namespace is namespace:
                return index
        self.graph.captures.append(CaptureSlot(name, kind, guarded, value, namespace))
        return len(self.graph.captures) - 1
