"""Which values may not share a Python variable: liveness on structured control flow, in one walk backwards.

Values used in a loop and defined outside it live through the whole loop; what a handler, a `finally` or the code after
a `with` may need lives through the whole `try` or `with`. With that, one walk from end to start is exact enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from gjit.ir.graph import Block, Graph, Node, Value
from gjit.scheduler.flow import Flow, carried_parameters, cases, destinations, loop_of
from gjit.scheduler.folding import Folding
from gjit.scheduler.interference import Interference, Live, Variables


@dataclass(slots=True)
class _Context:
    """What holds at the end of a block: where its yielded values go, what lives after it."""

    after: Live
    results: list[Value] = field(default_factory=list)
    pinned: Live = field(default_factory=set)
    loops: dict[Node, tuple[Live, Live]] = field(default_factory=dict)
    scope: Node | None = None
    outer: Live = field(default_factory=set)

    def inside(self, after: Live, results: list[Value] | None = None, pinned: Live | None = None) -> _Context:
        pins = self.pinned if pinned is None else self.pinned | pinned
        return _Context(after, results or [], pins, self.loops, self.scope, self.outer)


def interference(block: Block, graph: Graph, flow: Flow, folding: Folding) -> Interference:
    """Walk a function, inner functions included."""
    walker = _Walker(graph, flow, folding)
    live = walker.block(block, _Context(set()))
    walker.define(block.parameters, live, None)
    return walker.found


class _Walker(Variables):
    def __init__(self, graph: Graph, flow: Flow, folding: Folding):
        super().__init__(graph, flow, folding)
        self._nodes: dict[str, Callable[[Node, Live, _Context], Live]] = {
            "if": self._branches,
            "and": self._branches,
            "or": self._branches,
            "for": self._for,
            "while": self._while,
            "try": self._try,
            "with": self._with,
            "match": self._match,
            "region": self._region,
            "function": self._function,
            "class": self._class,
            "class.load": self._class_load,
            "comprehension": self._comprehension,
            "comprehension.for": self._clause,
            "comprehension.if": self._clause,
        }

    # Blocks

    def block(self, block: Block, context: _Context) -> Live:
        """What lives at the start of a block."""
        live = self._terminator(block.terminator, context)
        for node in reversed(list(block)):
            handler = self._nodes.get(node.op)
            live = self._plain(node, live, context) if handler is None else handler(node, live, context)
        return live

    def _terminator(self, end: Node | None, context: _Context) -> Live:
        if end is None:
            return context.after | context.pinned
        match end.op:
            case "yield" if context.results and len(context.results) == len(end.inputs):
                live = self.moves(context.results, end.inputs, context.after, context.scope)
                return live | context.pinned | (set() if destinations(end) else self.variables(end.inputs))
            case "yield":
                return context.after | self.variables(end.inputs) | context.pinned
            case "continue":
                loop = loop_of(end)
                targets, live = carried_parameters(loop), context.loops[loop][0]
                return self.moves(targets, end.inputs, live, context.scope) | context.pinned
            case "break":
                loop = loop_of(end)
                return self.moves(loop.results, end.inputs, context.loops[loop][1], context.scope) | context.pinned
        return self.variables(end.inputs) | context.pinned

    # Nodes

    def _plain(self, node: Node, live: Live, context: _Context) -> Live:
        if node.op == "cell":
            self.found.cells.append(node.result)
            self.found.scopes[node.result] = context.scope
            return live
        results = [value for value in node.results if value in self.flow.needed]
        for value in results:
            if value in self.folding.shared:
                self._connect(value, context.outer)
        self.define(results, live - set(results), context.scope)
        return (live - set(node.results)) | self.variables(node.inputs)

    def _branches(self, node: Node, live: Live, context: _Context) -> Live:
        """Blocks of which one runs; the result of `and` and `or` is the left operand or what `right` yields."""
        after = live - set(node.results)
        self.define(node.results, after, context.scope)
        starts: Live = set() if node.op == "if" else set(after)
        for block in node.blocks:
            starts |= self.block(block, context.inside(live, node.results))
        if node.op != "if":
            # Printed as statements, the left operand goes into the result before the right one is evaluated.
            at_left = live if node in self.folding.inline else live | starts
            starts |= self.moves(node.results, node.inputs, at_left, context.scope)
        return starts | self.variables(node.inputs)

    def _loop(self, node: Node, live: Live, context: _Context) -> tuple[Live, list[Value]]:
        """What lives at the head of a loop, and its carried parameters that are needed."""
        parameters = [value for value in carried_parameters(node) if value in self.flow.needed]
        through = self.variables(self.flow.free.get(node, ()))
        head = through | (live - set(node.results)) | set(parameters)
        context.loops[node] = (head, live)
        results = [value for value in node.results if value in self.flow.needed]
        self.define(results, live - set(node.results), context.scope)
        return head, parameters

    def _for(self, node: Node, live: Live, context: _Context) -> Live:
        body, otherwise = node.blocks
        head, parameters = self._loop(node, live, context)
        start = self.block(body, context.inside(head))
        item = body.parameters[0]
        self.define([item], start - {item}, context.scope)
        self._define_targets(item, start, context.scope)
        exit_ = self.block(otherwise, context.inside(live, node.results))
        self.define([p for p in otherwise.parameters if p in self.flow.needed], exit_, context.scope)
        self.moves(otherwise.parameters, carried_parameters(node), exit_, context.scope)
        self.define(parameters, head, context.scope)
        # The initial values are moved before Python evaluates the iterable.
        live = head | self.read_by(node.inputs[0])
        before = self.moves(carried_parameters(node), node.inputs[1:], live, context.scope)
        return before | self.variables(node.inputs[:1])

    def _while(self, node: Node, live: Live, context: _Context) -> Live:
        condition, body, otherwise = node.blocks
        head, parameters = self._loop(node, live, context)
        passed = condition.terminator.inputs[1:]
        start = self.block(body, context.inside(head))
        start = self.moves(body.parameters, passed, start, context.scope)
        exit_ = self.block(otherwise, context.inside(live, node.results))
        exit_ = self.moves(otherwise.parameters, passed, exit_, context.scope)
        at_condition = start | exit_ | self.variables(condition.terminator.inputs[:1])
        inner = context.inside(at_condition)
        for inner_node in reversed(list(condition)):
            handler = self._nodes.get(inner_node.op, self._plain)
            at_condition = handler(inner_node, at_condition, inner)
        self.define(parameters, head, context.scope)
        return self.moves(carried_parameters(node), node.inputs, head, context.scope)

    def _try(self, node: Node, live: Live, context: _Context) -> Live:
        body, otherwise, final, *handlers = node.blocks
        at_final = self.block(final, context.inside(live))
        pinned = set(at_final)
        pairs = list(zip(handlers[::2], handlers[1::2], strict=True))
        groups = bool(node.attributes.get("groups"))  # then each handler may run, one after the other
        for type_, handler in reversed(pairs) if groups else pairs:
            after = pinned if groups else at_final
            start = self.block(handler, context.inside(after, pinned=after))
            caught = [value for value in handler.parameters if value in self.flow.needed]
            self.define(caught, pinned | start | live, context.scope)
            pinned |= start - set(handler.parameters)
            pinned |= self.block(type_, context.inside(pinned))
        at_else = self.block(otherwise, context.inside(at_final, pinned=at_final))
        return self.block(body, context.inside(at_else, pinned=pinned)) | pinned

    def _with(self, node: Node, live: Live, context: _Context) -> Live:
        body = node.blocks[0]
        after = live - set(node.results)
        self.define(node.results, after, context.scope)
        start = self.block(body, context.inside(live, node.results, pinned=after))
        entered = body.parameters[0]
        self.define({entered} & self.flow.needed, start - {entered}, context.scope)
        self._define_targets(entered, start, context.scope)
        return (start - {entered}) | self.variables(node.inputs)

    def _match(self, node: Node, live: Live, context: _Context) -> Live:
        after = live - set(node.results)
        self.define(node.results, after, context.scope)
        starts = self.block(node.blocks[-1], context.inside(live, node.results))
        for guard, body in reversed(cases(node)):
            start = self.block(body, context.inside(live, node.results))
            start = self.moves(body.parameters, guard.parameters, start, context.scope)
            starts |= self.block(guard, context.inside(start | starts)) | start
            starts -= {*guard.parameters, *body.parameters}
        for case in cases(node):
            for block in case:
                # Python binds the names of a pattern before the guard, so a case that fails still changes them.
                bound = [value for value in block.parameters if value in self.flow.needed]
                self.define(bound, starts | after, context.scope)
        return starts | self.variables(node.inputs)

    def _region(self, node: Node, live: Live, context: _Context) -> Live:
        """The twin is printed in place: the parameters of the body are the inputs, which live through it."""
        after = live - set(node.results)
        self.define([value for value in node.results if value in self.flow.needed], after, context.scope)
        start = self.block(node.blocks[0], context.inside(live, node.results))
        return (start | after) - set(node.results) | self.variables(node.inputs)

    def _function(self, node: Node, live: Live, context: _Context) -> Live:
        body = node.blocks[0]
        free = self.variables(self.flow.free.get(node, ()))
        self.found.exclusive |= free
        start = self.block(body, _Context(set(free), pinned=set(free), scope=node))
        self.define(body.parameters, start | free, node)
        for parameter in body.parameters:
            self.found.scopes[parameter] = node
        return self._plain(node, live, context) | free

    def _class(self, node: Node, live: Live, context: _Context) -> Live:
        """The body runs in place, and what it makes are variables of the function around."""
        after = live - set(node.results)
        self.define([value for value in node.results if value in self.flow.needed], after, context.scope)
        start = self.block(node.blocks[0], context.inside(live, pinned=after))
        return start | self.variables(node.inputs)

    def _class_load(self, node: Node, live: Live, context: _Context) -> Live:
        before = self._plain(node, live, context)
        for block in node.blocks:
            before = before | self.block(block, context.inside(before))
        return before

    def _comprehension(self, node: Node, live: Live, context: _Context) -> Live:
        free = self.variables(self.flow.free.get(node, ()))
        after = self._plain(node, live, context)
        if node.attributes["kind"] == "generator":
            self.found.exclusive |= free
        if node in self.folding.inline or node.attributes["kind"] == "generator":
            inner = _Context(set(free), pinned=set(free), scope=context.scope, outer=context.outer | live | free)
        else:
            inner = context.inside(live | free, pinned=free | live | set(node.results))
            self._connect(node.result, self.read_by(node.inputs[0]))
        self._clause(node, set(inner.after), inner)
        return after | free

    def _clause(self, node: Node, live: Live, context: _Context) -> Live:
        clause = node.blocks[0]
        start = self.block(clause, context.inside(live))
        for item in clause.parameters:
            self.define([item], start - {item}, context.scope)
            self._define_targets(item, start, context.scope)
        return (start - set(clause.parameters)) | self.variables(node.inputs)

    def _define_targets(self, value: Value, live: Live, scope: Node | None) -> None:
        """The variables of the pattern that `value` is unpacked to as it is assigned."""
        made = self._pattern_values(value)
        self.define(made, live - set(made), scope)

    def _pattern_values(self, value: Value) -> list[Value]:
        """Everything that the pattern of a value assigns, inner patterns included: all of it lives at once."""
        node = self.folding.targets.get(value)
        if node is None or node.op != "unpack":
            return []
        return [each for result in node.results for each in (result, *self._pattern_values(result))]
