"""The control flow of a nest: straight pieces, each with parameters, steps in order, and where it goes next."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from gjit.cuda_kernels.nest_values import MOST_EXTENT, Refused
from gjit.ir.clone import clone_graph
from gjit.ir.graph import Block, Graph, Node, Value
from gjit.ir.types import INT


@dataclass(frozen=True, slots=True, eq=False)
class Bind:
    """`result` is another name of `source`."""

    result: Value
    source: Value


@dataclass(frozen=True, slots=True, eq=False)
class Held:
    """`result` is an object that is part of the program."""

    result: Value
    value: object


@dataclass(frozen=True, slots=True, eq=False)
class Compare:
    """`result` is the truth of `left < right`, or of `left > right`, as `name` says."""

    result: Value
    name: str
    left: Value
    right: Value


@dataclass(frozen=True, slots=True, eq=False)
class Begin:
    """Before a `for`: how often it turns (`count`), and the `first` value of its counter."""

    loop: Node
    count: Value
    first: Value


@dataclass(frozen=True, slots=True, eq=False)
class Item:
    """At the start of a turn: the item that belongs to the counter."""

    loop: Node
    counter: Value


@dataclass(frozen=True, slots=True, eq=False)
class Advance:
    """At the end of a turn."""

    counter: Value
    result: Value


Step = Node | Bind | Held | Compare | Begin | Item | Advance


@dataclass(frozen=True, slots=True, eq=False)
class Jump:
    """Go on at `target`, whose parameters get the arguments."""

    target: Piece
    arguments: tuple[Value, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """Go where the truth of a value says."""

    condition: Value
    then: Jump
    otherwise: Jump


@dataclass(frozen=True, slots=True, eq=False)
class Turn:
    """Go on with a `for` while its counter is below the count."""

    counter: Value
    count: Value
    body: Jump
    after: Jump


@dataclass(frozen=True, slots=True, eq=False)
class Finish:
    """The nest is done."""

    results: tuple[Value, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Leave:
    """The program raises here: the host does it again."""


End = Jump | Branch | Turn | Finish | Leave


@dataclass(slots=True, eq=False)
class Piece:
    """One piece. `live` are the values that it reads from before, its parameters among them.

    counters  those of its parameters that count the turns of a loop
    is_head   whether a loop begins here
    """

    number: int
    parameters: list[Value]
    steps: list[Step] = field(default_factory=list)
    end: End | None = None
    live: list[Value] = field(default_factory=list)
    counters: frozenset[Value] = frozenset()
    is_head: bool = False


COUNTER_BOUNDS = (0, MOST_EXTENT)


def end_of(block: Block) -> Node:
    """The terminator of a whole block."""
    assert block.terminator is not None
    return block.terminator


def lower(nest: Node, graph: Graph) -> list[Piece]:
    """The pieces of a nest, the first one first; Refused where it calls itself. Their `live` is not known yet."""
    lowering = _Lowering()
    entry = lowering.piece(list(nest.blocks[0].parameters))
    end = lowering.block(nest.blocks[0], entry, _Scope(graph))
    end.end = Finish(tuple(end_of(nest.blocks[0]).inputs))
    return lowering.pieces


@dataclass(frozen=True, slots=True)
class _Loop:
    node: Node
    head: Piece
    after: Piece
    counter: Value | None = None


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where a block stands: whose captures it reads, the loops around it, where `return` goes."""

    graph: Graph
    loops: tuple[_Loop, ...] = ()
    returns: Piece | None = None
    callers: tuple[str, ...] = ()

    def inside(self, loop: _Loop) -> _Scope:
        return _Scope(self.graph, (*self.loops, loop), self.returns, self.callers)


_EXTREMES = {"builtin.min": "lt", "builtin.max": "gt"}


def _has_several_types(node: Node) -> bool:
    return len(node.inputs) > 1 and not any(node.labels) and len({value.type for value in node.inputs}) > 1


class _Lowering:
    def __init__(self) -> None:
        self.pieces: list[Piece] = []
        self._handlers: dict[str, Callable[[Node, Piece, _Scope], Piece]] = {
            "region": self._region,
            "if": self._if,
            "and": self._boolean,
            "or": self._boolean,
            "for": self._for,
            "while": self._while,
            "invoke": self._invoke,
            "capture": self._capture,
            **dict.fromkeys(_EXTREMES, self._extreme),
        }

    def piece(self, parameters: Iterable[Value] = ()) -> Piece:
        made = Piece(len(self.pieces), list(parameters))
        self.pieces.append(made)
        return made

    def block(self, block: Block, piece: Piece, scope: _Scope) -> Piece:
        """Add the nodes of a block; the piece in which the last of them stands."""
        for node in block:
            handler = self._handlers.get(node.op)
            if handler is None or (node.op in _EXTREMES and not _has_several_types(node)):
                piece.steps.append(node)
            else:
                piece = handler(node, piece, scope)
        return piece

    def finish(self, block: Block, piece: Piece, scope: _Scope, after: Piece) -> None:
        """Add a block that ends in `yield` for the piece after it, or leaves."""
        piece = self.block(block, piece, scope)
        end = end_of(block)
        match end.op:
            case "yield":
                piece.end = Jump(after, tuple(end.inputs))
            case "continue":
                piece.end = self._continued(end, piece, scope)
            case "break":
                piece.end = Jump(scope.loops[-1].after, tuple(end.inputs))
            case "return" if scope.returns is not None:
                piece.end = Jump(scope.returns, tuple(end.inputs))
            case "return":
                piece.end = Finish(tuple(end.inputs))
            case "raise" | "unreachable":
                piece.end = Leave()
            case _:
                raise Refused(f"`{end.op}`")

    def _continued(self, end: Node, piece: Piece, scope: _Scope) -> Jump:
        loop = scope.loops[-1]
        if loop.counter is None:
            return Jump(loop.head, tuple(end.inputs))
        following = Value(INT, None, "counter")
        piece.steps.append(Advance(loop.counter, following))
        return Jump(loop.head, (following, *end.inputs))

    def _region(self, node: Node, piece: Piece, scope: _Scope) -> Piece:
        body = node.blocks[0]
        piece.steps += [Bind(inner, outer) for inner, outer in zip(body.parameters, node.inputs, strict=True)]
        piece = self.block(body, piece, scope)
        yielded = end_of(body).inputs
        piece.steps += [Bind(outer, inner) for outer, inner in zip(node.results, yielded, strict=True)]
        return piece

    def _if(self, node: Node, piece: Piece, scope: _Scope) -> Piece:
        after = self.piece(node.results)
        then, otherwise = self.piece(), self.piece()
        piece.end = Branch(node.inputs[0], Jump(then), Jump(otherwise))
        for block, start in zip(node.blocks, (then, otherwise), strict=True):
            self.finish(block, start, scope, after)
        return after

    def _boolean(self, node: Node, piece: Piece, scope: _Scope) -> Piece:
        after, right = self.piece(node.results), self.piece()
        shortcut = Jump(after, (node.inputs[0],))
        is_and = node.op == "and"
        piece.end = Branch(node.inputs[0], *((Jump(right), shortcut) if is_and else (shortcut, Jump(right))))
        self.finish(node.blocks[0], right, scope, after)
        return after

    def _extreme(self, node: Node, piece: Piece, scope: _Scope) -> Piece:
        """`min` and `max` of operands of several types: which one it is decides the type of what comes after."""
        best, *rest = node.inputs
        for place, other in enumerate(rest):
            result = node.result if place == len(rest) - 1 else Value()
            after, truth = self.piece([result]), Value()
            piece.steps.append(Compare(truth, _EXTREMES[node.op], other, best))
            piece.end = Branch(truth, Jump(after, (other,)), Jump(after, (best,)))
            piece, best = after, result
        return piece

    def _for(self, node: Node, piece: Piece, scope: _Scope) -> Piece:
        body, otherwise = node.blocks
        count, first, counter = (Value(INT, None, name) for name in ("count", "first", "counter"))
        piece.steps.append(Begin(node, count, first))
        carried = [Value(value.type, None, value.name) for value in body.parameters[1:]]
        head, start, at_end = self.piece([counter, *carried]), self.piece(), self.piece()
        head.counters, head.is_head = frozenset({counter}), True
        after = self.piece(node.results)
        piece.end = Jump(head, (first, *node.inputs[1:]))
        head.end = Turn(counter, count, Jump(start), Jump(at_end))
        start.steps.append(Item(node, counter))
        start.steps += [Bind(a, b) for a, b in zip(body.parameters[1:], carried, strict=True)]
        self.finish(body, start, scope.inside(_Loop(node, head, after, counter)), after)
        at_end.steps += [Bind(a, b) for a, b in zip(otherwise.parameters, carried, strict=True)]
        self.finish(otherwise, at_end, scope, after)
        return after

    def _while(self, node: Node, piece: Piece, scope: _Scope) -> Piece:
        condition, body, otherwise = node.blocks
        head, start, at_end = self.piece(condition.parameters), self.piece(), self.piece()
        after, head.is_head = self.piece(node.results), True
        piece.end = Jump(head, tuple(node.inputs))
        tested = self.block(condition, head, scope)
        truth, *passed = end_of(condition).inputs
        tested.end = Branch(truth, Jump(start), Jump(at_end))
        for block, entered in ((body, start), (otherwise, at_end)):
            entered.steps += [Bind(a, b) for a, b in zip(block.parameters, passed, strict=True)]
        self.finish(body, start, scope.inside(_Loop(node, head, after)), after)
        self.finish(otherwise, at_end, scope, after)
        return after

    def _invoke(self, node: Node, piece: Piece, scope: _Scope) -> Piece:
        name = node.attributes["function"]
        called = scope.graph.functions.get(name)
        if called is None or name in scope.callers or any(node.labels):
            raise Refused(f"the call of `{name}`")
        copy = clone_graph(called)  # each call has values of its own
        after = self.piece(node.results)
        pairs = zip(copy.block.parameters, node.inputs, strict=True)
        piece.steps += [Bind(parameter, argument) for parameter, argument in pairs]
        self.finish(copy.block, piece, _Scope(copy, (), after, (*scope.callers, name)), after)
        return after

    def _capture(self, node: Node, piece: Piece, scope: _Scope) -> Piece:
        piece.steps.append(Held(node.result, scope.graph.captures[node.attributes["slot"]].value))
        return piece
