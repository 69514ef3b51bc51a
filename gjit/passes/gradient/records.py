"""What the reverse of a segment reads from the forward: on the tape, or directly where both stand in one graph."""

from __future__ import annotations

from dataclasses import dataclass, field

from gjit.ir.builder import Builder
from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.types import INT, UNKNOWN, TupleType, Type


@dataclass(slots=True)
class Record:
    """One kind of record: `values` of the forward, and what stands for each in the reverse."""

    values: list[Value] = field(default_factory=list)
    types: list[Type] = field(default_factory=list)
    unpack: Node | None = None
    known: dict[Value, Value] = field(default_factory=dict)

    def read(self, value: Value, type_: Type) -> Value:
        """What stands for a value of the forward in the reverse."""
        if isinstance(value, Constant):
            return Constant(value.value)
        if self.unpack is None:
            return value
        if value not in self.known:
            result = self.known[value] = Value(UNKNOWN, self.unpack)
            self.unpack.results.append(result)
            self.values.append(value)
            self.types.append(type_)
        return self.known[value]


class ReverseGraph:
    """The reverse of a function: takes records off the tape and runs the reverse of the segment that each names."""

    def __init__(self, name: str, tape: Value, graph: Graph):
        self.graph, self.tape_of_forward = graph, tape
        self.name = name
        builder = Builder(graph)
        (tape,) = graph.block.parameters
        loop = builder.node("while", [], results=0)
        condition, body, otherwise = (loop.add_block() for _ in range(3))
        with builder.at(condition):
            builder.end("condition", [builder.add("builtin.len", [tape])])
        with builder.at(otherwise):
            builder.end("yield")
        builder.end("return", [Constant(None)])
        self._rest, self._body = body, body
        self.record = Builder(graph, body).add("gradient.pop", [tape])
        self.number = Builder(graph, body).add("getitem", [self.record, Constant(0)])
        self._count = 0

    def segment(self) -> tuple[int, Block, Record]:
        """A new kind of record: its number, the block for its reverse, and what it holds."""
        builder = Builder(self.graph, self._rest)
        test = builder.add("operator.eq", [self.number, Constant(self._count)])
        choice = builder.node("if", [test], results=0)
        if self._rest is not self._body:
            builder.end("yield")
        then, self._rest = choice.add_block(), choice.add_block()
        number, self._count = self._count, self._count + 1
        inner = Builder(self.graph, then)
        assumed = inner.add("gradient.assume", [self.record], type="unknown")
        unpack = inner.node("unpack", [assumed], before=1, star=False, after=0)
        return number, then, Record(unpack=unpack)

    def finish(self, block: Block, record: Record) -> None:
        """Close the reverse of a segment: its record is complete."""
        Builder(self.graph, block).end("yield")
        unpack = record.unpack
        unpack.attributes["before"] = len(unpack.results)
        unpack.inputs[0].producer.attributes["type"] = str(TupleType((INT, *record.types)))

    def close(self) -> Graph:
        """The finished graph."""
        if self._rest is not self._body:
            Builder(self.graph, self._rest).end("yield")
        Builder(self.graph, self._body).end("continue")
        return self.graph
