"""Forward type inference over a graph, through structured control flow.

Types only grow while the walk repeats: values start as UNREACHED, carried values of loops and cells join what
comes to them until nothing changes, and become UNKNOWN where that takes long. So what stays is proved for
every run of the program, and the cost is a small multiple of the size of the graph.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from gjit.ir.deep import Walk
from gjit.ir.graph import Block, CaptureSlot, Graph, Node, Value
from gjit.ir.types import CELL, UNKNOWN, Type, type_of
from gjit.passes.alternatives import finished, merge, types_of_results
from gjit.passes.callees import Callees
from gjit.passes.containers import seen_type, without_layout
from gjit.passes.facts import UNREACHED, item_type, known_truth
from gjit.passes.joins import assign, join_into, make_unknown, set_joined, unreached, values
from gjit.passes.methods import as_method_call

ROUNDS = 6
"""How often a loop or the cells may change before they are widened to UNKNOWN."""


@dataclass(slots=True)
class _Loop:
    """What the terminators of one loop's body hand on, joined."""

    continued: list[Type]
    broken: list[Type]


@dataclass(slots=True)
class Inference:
    """Infers the types of one graph and writes them into its values.

    `types_change` says that the program assigns shapes or dtypes of arrays in place, so that neither is known.
    """

    graph: Graph
    callees: Callees
    types_change: bool = False
    _cells: dict[Value, Type] = field(default_factory=dict)
    _cells_changed: bool = False
    _rounds: dict[Block, int] = field(default_factory=dict)
    _loops: list[_Loop] = field(default_factory=list)
    _returned: list[Type] = field(default_factory=list)

    def infer(self, argument_types: list[Type]) -> Walk:
        """The walk over the whole graph; its result is the type that the graph returns."""
        self._forget()
        for value, type_ in zip(self.graph.block.parameters, argument_types, strict=True):
            value.type = self._stable(type_)
        for round_ in range(ROUNDS + 1):
            self._cells_changed = False
            self._returned = [UNREACHED]
            yield self._block(self.graph.block)
            if not self._cells_changed:
                break
            if round_ == ROUNDS - 1:
                self._cells = dict.fromkeys(self._cells, UNKNOWN)
        self._finish()
        return finished(self._returned[0])

    def _forget(self) -> None:
        for value in values(self.graph):
            value.type = UNREACHED

    def _finish(self) -> None:
        for value in values(self.graph):
            value.type = finished(value.type)

    def _stable(self, type_: Type) -> Type:
        return without_layout(type_) if self.types_change else type_

    def _block(self, block: Block) -> Walk:
        """Infer a block; the result is what its `yield` or `condition` hands on, None where it leaves."""
        for node in block:
            walk = _WALKS.get(node.op)
            if walk is not None:
                yield walk(self, node)
            else:
                self._simple(node)
        return self._end(block.terminator)

    def _simple(self, node: Node) -> None:
        rule = _RULES.get(node.op)
        if rule is not None:
            types = rule(self, node)
        elif any(value.type == UNREACHED for value in node.inputs):
            types = [UNREACHED] * len(node.results)
        else:
            with as_method_call(node):
                types = types_of_results(node)
        for value, type_ in zip(node.results, types, strict=True):
            value.type = self._stable(seen_type(value, type_))

    def _end(self, terminator: Node) -> list[Type] | None:
        types = [value.type for value in terminator.inputs]
        match terminator.op:
            case "yield" | "condition":
                return types
            case "continue":
                join_into(self._loops[-1].continued, types)
            case "break":
                join_into(self._loops[-1].broken, types)
            case "return":
                self._returned[-1] = merge(self._returned[-1], types[0])
        return None

    # Cells and captures: one type per cell, joined over all stores, wherever they are.

    def _store(self, node: Node) -> list[Type]:
        cell, value = node.inputs
        before = self._cells.get(cell, UNREACHED)
        after = merge(before, value.type)
        if after != before:
            self._cells[cell] = after
            self._cells_changed = True
        return []

    def _load(self, node: Node) -> list[Type]:
        return [self._cells.get(node.inputs[0], UNREACHED)]

    def _capture(self, node: Node) -> list[Type]:
        slot: CaptureSlot = self.graph.captures[node.attributes["slot"]]
        return [type_of(slot.value) if slot.guarded and slot.value is not None else UNKNOWN]

    def _suspend(self, node: Node) -> list[Type]:
        """A function that yields returns a generator, whatever its `return` says."""
        self._returned[-1] = UNKNOWN
        return [UNKNOWN]

    # Control flow: each is a walk, see `gjit.ir.deep`.

    def _if(self, node: Node) -> Walk:
        truth = known_truth(node.inputs[0])
        outcomes = []
        for block, taken in zip(node.blocks, (True, False), strict=True):
            if truth is None or truth is taken:
                outcomes.append((yield self._block(block)))
        set_joined(node, outcomes)

    def _and_or(self, node: Node) -> Walk:
        truth = known_truth(node.inputs[0])
        gives_left = node.op == "or"
        outcomes: list[list[Type] | None] = (
            [] if truth is not None and truth is not gives_left else [[node.inputs[0].type]]
        )
        if truth is not gives_left:
            outcomes.append((yield self._block(node.blocks[0])))
        set_joined(node, outcomes)

    def _for(self, node: Node) -> Walk:
        body, otherwise = node.blocks
        item, *carried = body.parameters
        self._grow(body, carried, [value.type for value in node.inputs[1:]])
        outcomes: list[list[Type] | None] = []
        while True:
            source = node.inputs[0].type
            item.type = UNREACHED if source == UNREACHED else self._stable(item_type(node.inputs[0]))
            with self._loop(len(carried)) as loop:
                yield self._block(body)
            outcomes.append(loop.broken)
            if not self._grow(body, carried, loop.continued):
                break
        assign(otherwise.parameters, carried)
        outcomes.append((yield self._block(otherwise)))
        set_joined(node, outcomes)

    def _while(self, node: Node) -> Walk:
        condition, body, otherwise = node.blocks
        self._grow(condition, condition.parameters, [value.type for value in node.inputs])
        outcomes: list[list[Type] | None] = []
        while True:
            passed = yield self._block(condition)
            for block in (body, otherwise):
                for value, type_ in zip(block.parameters, (passed or [])[1:], strict=False):
                    value.type = type_
            with self._loop(len(node.inputs)) as loop:
                yield self._block(body)
            outcomes.append(loop.broken)
            if not self._grow(condition, condition.parameters, loop.continued):
                break
        if passed is not None and known_truth(condition.terminator.inputs[0]) is not True:
            outcomes.append((yield self._block(otherwise)))
        set_joined(node, outcomes)

    @contextmanager
    def _loop(self, count: int) -> Iterator[_Loop]:
        self._loops.append(_Loop(unreached(count), unreached(count)))
        try:
            yield self._loops[-1]
        finally:
            self._loops.pop()

    def _grow(self, block: Block, values: list[Value], types: list[Type]) -> bool:
        """Join types into the carried values of a loop; True where one changed."""
        joined = [merge(value.type, type_) for value, type_ in zip(values, types, strict=True)]
        if all(value.type == type_ for value, type_ in zip(values, joined, strict=True)):
            return False
        self._rounds[block] = self._rounds.get(block, 0) + 1
        if self._rounds[block] > ROUNDS:
            joined = [UNKNOWN] * len(joined)
        for value, type_ in zip(values, joined, strict=True):
            value.type = type_
        return True

    def _branches(self, node: Node) -> Walk:
        """`match` and `try`: whatever a block binds is unknown."""
        outcomes = []
        for block in node.blocks:
            make_unknown(block.parameters)
            outcomes.append((yield self._block(block)))
        bodies = outcomes[1::2] + outcomes[-1:] if node.op == "match" else []
        set_joined(node, bodies)

    def _with(self, node: Node) -> Walk:
        make_unknown(node.blocks[0].parameters)
        set_joined(node, [(yield self._block(node.blocks[0]))])

    def _comprehension(self, node: Node) -> Walk:
        for block in node.blocks:
            for value in block.parameters:
                source = node.inputs[0].type
                value.type = UNREACHED if source == UNREACHED else self._stable(item_type(node.inputs[0]))
            yield self._block(block)
        self._simple(node)

    def _function(self, node: Node) -> Walk:
        make_unknown(node.blocks[0].parameters)
        loops, self._loops = self._loops, []
        self._returned.append(UNREACHED)
        yield self._block(node.blocks[0])
        self._returned.pop()
        self._loops = loops
        self._simple(node)

    def _class(self, node: Node) -> Walk:
        """The body runs where it stands; what a metaclass makes of it is unknown."""
        namespace, cell = node.blocks[0].parameters
        namespace.type, cell.type = UNKNOWN, CELL
        yield self._block(node.blocks[0])
        node.result.type = UNKNOWN

    def _class_load(self, node: Node) -> Walk:
        for block in node.blocks:
            yield self._block(block)
        node.result.type = UNKNOWN

    def _invoke(self, node: Node) -> Walk:
        if any(value.type == UNREACHED for value in node.inputs):
            node.result.type = UNREACHED
        else:
            node.result.type = self._stable((yield self.callees.returned(node)))


_WALKS = {
    "if": Inference._if,
    "and": Inference._and_or,
    "or": Inference._and_or,
    "for": Inference._for,
    "while": Inference._while,
    "try": Inference._branches,
    "match": Inference._branches,
    "with": Inference._with,
    "comprehension": Inference._comprehension,
    "comprehension.for": Inference._comprehension,
    "comprehension.if": Inference._comprehension,
    "function": Inference._function,
    "class": Inference._class,
    "class.load": Inference._class_load,
    "invoke": Inference._invoke,
}
_RULES: dict[str, Callable[[Inference, Node], list[Type]]] = {
    "suspend": Inference._suspend,
    "suspend.from": Inference._suspend,
    "cell": lambda inference, node: [CELL],
    "store": Inference._store,
    "load": Inference._load,
    "capture": Inference._capture,
}
