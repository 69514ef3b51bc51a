"""The scalar part of a loop over arrays, as a function of its own: it tells which pieces run, and with which numbers.

For

    for i in range(n):
        if i % 2 == 0:
            x = x + i * dt
    return x

it is

    def turns(x, n, dt, record):
        for i in range(n):
            if i % 2 == 0:
                record((0, i * dt))
"""

from __future__ import annotations

from gjit.ir.clone import clone_node
from gjit.ir.graph import Block, Constant, Graph, Node, Parameter, Value
from gjit.scheduler.flow import CARRIED, loop_of
from gjit.scheduler.turns import Piece, Turns, is_scalar

RECORD = "record"


def scalar_part(region: Node, turns: Turns) -> Graph:
    """The function that takes the inputs of the region and a callable, which it calls with the place of each piece that
    runs and the piece's numbers. It returns a tuple of those results of the region that are scalars.

    Where the loop only counts turns, the function returns the range instead, and calls nothing.

    Args:
        region: a region that ends with a loop.
        turns: that loop, read.
    """
    return _Writer(region, turns).graph()


class _Writer:
    def __init__(self, region: Node, turns: Turns):
        self.region, self.turns = region, turns
        self.places = {piece: place for place, piece in enumerate(turns.pieces)}
        self.mapping: dict[Value, Value] = {}

    def graph(self) -> Graph:
        body = self.region.blocks[0]
        names = [f"a{place}" for place in range(len(body.parameters))]
        graph = Graph("turns", [Parameter(name) for name in (*names, RECORD)], span=self.region.span)
        *inputs, self.record = graph.block.parameters
        for value, copy in zip(body.parameters, inputs, strict=True):
            copy.type = value.type
            self.mapping[value] = copy
        for node in body:
            if node is not self.turns.loop or self.turns.has_work:
                self._copy(node, graph.block)
        found = [self._mapped(value) for value in body.terminator.inputs if is_scalar(value)]
        if not self.turns.has_work:
            graph.block.terminate(Node("return", [self._mapped(self.turns.loop.inputs[0])], results=0))
            return graph
        results = graph.block.append(Node("tuple", found))
        graph.block.terminate(Node("return", results.results, results=0))
        return graph

    def _copy(self, node: Node, target: Block) -> None:
        """The scalar part of one node."""
        piece = self.turns.ends.get(node)
        if piece is not None:
            self._record(piece, target)
        if node.blocks:
            self._copy_control(node, target)
        elif all(map(is_scalar, node.results)):
            target.append(clone_node(node, self.mapping))

    def _copy_control(self, node: Node, target: Block) -> None:
        first = CARRIED.get(node.op, len(node.inputs))
        carried = [value for value, result in zip(node.inputs[first:], node.results, strict=False) if is_scalar(result)]
        results = [value for value in node.results if is_scalar(value)]
        inputs = [self._mapped(value) for value in [*node.inputs[:first], *carried]]
        copy = target.append(Node(node.op, inputs, results=len(results), span=node.span))
        self._name(results, copy.results)
        for block in node.blocks:
            parameters = [value for value in block.parameters if is_scalar(value)]
            inner = copy.add_block(len(parameters))
            self._name(parameters, inner.parameters)
            for each in block:
                self._copy(each, inner)
            self._copy_end(block.terminator, inner)

    def _copy_end(self, end: Node, target: Block) -> None:
        piece = self.turns.ends.get(end)
        if piece is not None:
            self._record(piece, target)
        if end.op == "condition":
            values = end.inputs[:1] + [value for value in end.inputs[1:] if is_scalar(value)]
        else:
            owner = loop_of(end) if end.op in ("continue", "break") else end.block.owner
            values = [value for value, result in zip(end.inputs, owner.results, strict=True) if is_scalar(result)]
        target.terminate(Node(end.op, [self._mapped(value) for value in values], results=0, span=end.span))

    def _record(self, piece: Piece, target: Block) -> None:
        values = [Constant(self.places[piece]), *map(self._mapped, piece.numbers)]
        made = target.append(Node("tuple", values))
        target.append(Node("call", [self.record, made.result], results=1))

    def _mapped(self, value: Value) -> Value:
        if isinstance(value, Constant):
            return Constant(value.value)
        return self.mapping[value]

    def _name(self, values: list[Value], copies: list[Value]) -> None:
        for value, copy in zip(values, copies, strict=True):
            copy.type, copy.name = value.type, value.name
            self.mapping[value] = copy
