"""The forward of a typed graph: its nodes, shadows beside them, and records for the reverse."""

from __future__ import annotations

from gjit.errors import UnsupportedError
from gjit.ir.builder import Builder
from gjit.ir.clone import clone_node
from gjit.ir.graph import Block, Constant, Graph, Node, Parameter, Value
from gjit.ops import table
from gjit.passes.gradient.analysis import carried_parameters, viewed, written
from gjit.passes.gradient.augment import Augmentation, Derived, Segment
from gjit.passes.gradient.calls import call_groups, is_container_method, part_of
from gjit.passes.gradient.kinds import CONTAINERS, has_static_shadow, is_inert, is_memory, is_numeric
from gjit.passes.gradient.pointers import check_items, shadow_pointers
from gjit.passes.gradient.records import ReverseGraph
from gjit.passes.gradient.reverse import reverse_segment


class Forward:
    """Builds the forward of one graph where `state.builder` stands."""

    def __init__(self, state: Augmentation, reverse: ReverseGraph | None, tape: Value | None):
        self.state, self.reverse, self.tape = state, reverse, tape
        self.is_inner = False  # inside a function of the function, whose calls have tapes of their own
        self.is_tried = False  # inside a `try`: what ran before an exception must be on the tape
        self.segment = Segment()
        self.loops: list[Node] = []

    @property
    def builder(self) -> Builder:
        return self.state.builder

    def block(self, block: Block) -> None:
        """The nodes of a block and its terminator."""
        self.block_without_end(block)
        self.builder.span = block.terminator.span
        self.close_segment()
        self._end(block.terminator)

    def block_without_end(self, block: Block) -> None:
        """The nodes of a block; the last of them stay in an open segment."""
        for node in block:
            self.builder.span = node.span
            if node.blocks:
                self.close_segment()
                walk = _WALKS.get(node.op)
                if walk is None:
                    self._whole(node)
                else:
                    walk(self, node)
            else:
                self.simple(node)
                if self.is_tried:
                    self.close_segment()

    def close_segment(self) -> None:
        """Write the reverse of the nodes so far, and put the record that it reads on the tape."""
        segment, self.segment = self.segment, Segment()
        if self.reverse is None or self.tape is None or not segment.nodes:
            return
        number, block, record = self.reverse.segment()
        reverse_segment(self.state, segment, Builder(self.reverse.graph, block), record)
        self.reverse.finish(block, record)
        if record.values:
            self.builder.node("gradient.push", [self.tape, Constant(number), *record.values], results=1)

    # Nodes without blocks

    def simple(self, node: Node) -> None:
        """A copy of a node, and the shadows of its results."""
        state = self.state
        is_reached = any(map(state.is_active, (*node.inputs, *node.results)))
        if is_reached and node.op == "invoke":
            self._invoke(node)
            return
        if is_reached and node.op == "call" and not is_container_method(node):
            self._unknown_call(node)
            return
        if is_reached:
            self._check_targets(node)
        copy = self.builder.block.append(clone_node(node, state.values))
        if not is_reached:
            return
        self.segment.nodes.append((node, copy))
        if is_numeric(node):
            self._numeric(node)
        else:
            shadow_pointers(state, node, copy)

    def _numeric(self, node: Node) -> None:
        state, result = self.state, node.result
        targets = [value for value in written(node) if is_memory(value)]
        if not state.is_active(result):
            return
        if targets and has_static_shadow(targets[0].type) and state.analysis.written_by(targets[0]):
            state.shadows[result] = state.shadow(targets[0])
        elif targets and table[node.op].writes and not is_inert(result.type) and not has_static_shadow(result.type):
            inputs = [state.value(targets[0]), state.value(result), state.shadow(targets[0])]
            state.shadows[result] = self.builder.add("gradient.in_place", inputs)
        elif state.is_mirrored(node):
            state.shadows[result] = self._mirrored(node)
        elif not state.is_local(result):
            state.shadows[result] = self.builder.add("gradient.zeros", [state.value(result)])

    def _check_targets(self, node: Node) -> None:
        """Refuse to write arguments: before the program runs where that is sure, else when the write runs."""
        state = self.state
        for target in targets_of(node):
            if state.is_entry:
                refuse_argument(state.analysis.graph, target, node)
            if state.analysis.may_be_outside(target) and not isinstance(target.type, CONTAINERS):
                self.builder.add("gradient.check_store", [state.value(target), part_of(state, target)])

    def _mirrored(self, node: Node) -> Value:
        """The same view of the shadow."""
        state = self.state
        owners = set(viewed(node))
        inputs = [state.shadow(v) if v in owners else state.value(v) for v in node.inputs]
        return self.builder.add(node.op, inputs, labels=node.labels, **node.attributes)

    def _invoke(self, node: Node) -> None:
        """A call of the callee's forward: its result, the shadow of that, and a tape."""
        state = self.state
        callee = self.analysis_callee(node)
        arguments = state.arguments_of(node)
        shadows = [state.shadow(v) for v, active in zip(arguments, callee.active, strict=True) if active]
        call = self.builder.node("invoke", [*map(state.value, arguments), *shadows], function=callee.forward)
        self.segment.nodes.append((node, call))
        parts = self.builder.node("unpack", [call.result], results=3, before=3, star=False, after=0)
        state.values[node.result], shadow, state.tapes[node] = parts.results
        state.calls[node] = callee
        if state.is_active(node.result):
            state.shadows[node.result] = shadow

    def analysis_callee(self, node: Node) -> Derived:
        """The derived functions of the callee, for what is active in this call."""
        arguments = self.state.arguments_of(node)
        types = tuple(value.type for value in arguments)
        active = tuple(map(self.state.is_active, arguments))
        exposed = any(self.state.analysis.written_by(value) is not None for value in (*arguments, node.result))
        return self.state.context.derived(str(node.attributes["function"]), types, active, exposed=exposed)

    def _unknown_call(self, node: Node) -> None:
        """A call of what is only known when it runs: that gives its result, the shadow of that, and its reverse."""
        state, callee = self.state, node.inputs[0]
        target = self.builder.add("gradient.callable", [state.value(callee), part_of(state, callee)])
        call = self.builder.node("call", [target, *call_groups(state, node)])
        self.segment.nodes.append((node, call))
        parts = self.builder.node("unpack", [call.result], results=3, before=3, star=False, after=0)
        state.values[node.result], shadow, state.tapes[node] = parts.results
        if state.is_active(node.result):
            state.shadows[node.result] = shadow

    # Nodes with blocks

    def _function(self, node: Node) -> None:
        """The function as it is, and beside it one that takes shadows too, and gives result, shadow and reverse."""
        state = self.state
        plain = self.builder.block.append(clone_node(node, dict(state.values)))
        state.values[node.result] = plain.result
        if self.reverse is None or not state.is_active(node.result):
            return
        inner = node.blocks[0]
        names = [Parameter(f"a{index}") for index in range(2 * len(inner.parameters))]
        copy = self.builder.node("function", [], name=str(node.attributes["name"]), parameters=tuple(names))
        block = copy.add_block()
        self._open(inner, block)
        for value in inner.parameters:
            state.shadows[value] = block.add_parameter()
        for value, parameter in zip(block.parameters, names, strict=True):
            value.name = parameter.name
        outer = self.tape, self.is_inner, self.loops, self.segment, self.is_tried
        self.is_inner, self.loops, self.segment, self.is_tried = True, [], Segment(), False
        with self.builder.at(block):
            self.tape = self.builder.add("list", [])
            self.block(inner)
        self.tape, self.is_inner, self.loops, self.segment, self.is_tried = outer
        state.shadows[node.result] = copy.result

    def _try(self, node: Node) -> None:
        copy = self.builder.node("try", results=0)
        outer, self.is_tried = self.is_tried, True
        self.loops.append([])
        for block in node.blocks:
            target = copy.add_block()
            self._open(block, target)
            self._inside(block, target)
        self.loops.pop()
        self.is_tried = outer

    def _with(self, node: Node) -> None:
        copy = self.builder.node("with", [self.state.value(node.inputs[0])], results=0)
        carried = [self.state.is_active(value) for value in node.results]
        outer, self.is_tried = self.is_tried, True
        self.loops.append(carried)
        target = copy.add_block()
        self._open(node.blocks[0], target)
        self._inside(node.blocks[0], target)
        self.loops.pop()
        self.is_tried = outer
        self._results(node, copy, carried)

    def _whole(self, node: Node) -> None:
        """Other nodes with blocks: copied, where no gradient passes through them."""
        inner = [value for block in node.blocks for each in block.all_nodes() for value in each.results]
        if any(map(self.state.is_active, [*node.inputs, *node.results, *inner])):
            raise UnsupportedError(f"a gradient cannot pass through `{node.op}`", node.span)
        self.builder.block.append(clone_node(node, self.state.values))

    def _open(self, block: Block, target: Block) -> None:
        """Parameters of a block of the forward for those of the typed graph: values, then shadows."""
        for value in block.parameters:
            self.state.values[value] = target.add_parameter(name=value.name)

    def _inside(self, block: Block, target: Block) -> None:
        with self.builder.at(target):
            self.block(block)

    def _results(self, node: Node, copy: Node, carried: list[bool]) -> None:
        copy.results = [Value(producer=copy, name=value.name) for value in node.results]
        self.state.values.update(zip(node.results, copy.results, strict=True))
        for value, has_shadow in zip(node.results, carried, strict=True):
            if has_shadow:
                copy.results.append(Value(producer=copy))
                self.state.shadows[value] = copy.results[-1]

    def _if(self, node: Node) -> None:
        copy = self.builder.node("if", [self.state.value(node.inputs[0])], results=0)
        carried = [self.state.is_active(value) for value in node.results]
        self.loops.append(carried)
        for block in node.blocks:
            self._inside(block, copy.add_block())
        self.loops.pop()
        self._results(node, copy, carried)

    def _loop(self, node: Node) -> None:
        first = 1 if node.op == "for" else 0
        initial = node.inputs[first:]
        groups = zip(initial, *(carried_parameters(node, block) for block in node.blocks), node.results, strict=True)
        carried = [any(map(self.state.is_active, group)) for group in groups]
        inputs = [self.state.value(value) for value in node.inputs]
        active_items = first and self.state.is_active(node.blocks[0].parameters[0])
        if active_items:
            check_items(self.state, node.inputs[0])
            pairs = [inputs[0], self.state.shadow(node.inputs[0])]
            inputs[0] = self.builder.add("gradient.pairs", pairs)
        inputs += [self.state.shadow(value) for value, has in zip(initial, carried, strict=True) if has]
        copy = self.builder.node(node.op, inputs, results=0)
        self.loops.append(carried)
        for block in node.blocks:
            self._loop_block(node, block, copy.add_block(), carried, active_items)
        self.loops.pop()
        self._results(node, copy, carried)

    def _loop_block(self, node: Node, block: Block, target: Block, carried: list[bool], active_items: object) -> None:
        self._open(block, target)
        for value, has_shadow in zip(carried_parameters(node, block), carried, strict=True):
            if has_shadow:
                self.state.shadows[value] = target.add_parameter()
        if node.op == "for" and block is node.blocks[0] and active_items:
            item = block.parameters[0]
            with self.builder.at(target):
                pair = self.builder.node("unpack", [target.parameters[0]], results=2, before=2, star=False, after=0)
            self.state.values[item], self.state.shadows[item] = pair.results
        self._inside(block, target)

    def _end(self, terminator: Node) -> None:
        values = terminator.inputs
        inputs = [self.state.value(value) for value in values]
        if terminator.op == "return":
            (value,) = values
            last = self._pullback() if self.is_inner else self.tape
            shadow = self.state.shadow(value) if self.state.is_active(value) else Constant(None)
            parts = [*inputs, shadow, last or Constant(None)]
            inputs = [self.builder.add("tuple", parts)]
        elif terminator.op in ("yield", "continue", "break", "condition"):
            handed = values[1:] if terminator.op == "condition" else values
            carried = self._carried(terminator)
            inputs += [self.state.shadow(value) for value, has in zip(handed, carried, strict=True) if has]
        self.builder.end(terminator.op, inputs)

    def _pullback(self) -> Value:
        """A function that runs the reverse of this call."""
        assert self.reverse is not None
        assert self.tape is not None
        node = self.builder.node("function", [], name="pullback", parameters=())
        block = node.add_block()
        with self.builder.at(block):
            self.builder.add("invoke", [self.tape], function=self.reverse.name)
            self.builder.end("return", [Constant(None)])
        return node.result

    def _carried(self, terminator: Node) -> list[bool]:
        if isinstance(terminator.block.owner, Node) and terminator.block.owner.op == "try":
            return [False] * len(terminator.inputs)
        if terminator.op in ("yield", "condition"):
            return self.loops[-1]
        owner = terminator.block.owner
        depth = len(self.loops) - 1
        while isinstance(owner, Node) and owner.op not in ("for", "while"):
            owner, depth = owner.block.owner, depth - 1
        return self.loops[depth]

    def _shortcut(self, node: Node) -> None:
        """`left and right` is `right if left else left`."""
        state = self.state
        copy = self.builder.node("if", [state.value(node.inputs[0])], results=0)
        carried = [state.is_active(node.result)]
        self.loops.append(carried)
        blocks = [copy.add_block(), copy.add_block()]
        right, left = blocks if node.op == "and" else reversed(blocks)
        self._inside(node.blocks[0], right)
        with self.builder.at(left):
            shadows = [state.shadow(node.inputs[0])] if carried[0] else []
            self.builder.end("yield", [state.value(node.inputs[0]), *shadows])
        self.loops.pop()
        self._results(node, copy, carried)


_WALKS = {
    "if": Forward._if,
    "for": Forward._loop,
    "while": Forward._loop,
    "function": Forward._function,
    "try": Forward._try,
    "with": Forward._with,
    "and": Forward._shortcut,
    "or": Forward._shortcut,
}


def targets_of(node: Node) -> list[Value]:
    """What a node writes."""
    if is_numeric(node):
        return [value for value in written(node) if is_memory(value)]
    return node.inputs[:1] if node.op in ("setitem", "gradient.scatter") else []


def refuse_argument(graph: Graph, target: Value, node: Node) -> None:
    """An error for a write to what surely is an argument of the differentiated function."""
    while isinstance(target.producer, Node):
        producer = target.producer
        is_step = producer.op in ("getitem", "getattr")
        steps = producer.inputs[:1] if is_step else list(viewed(producer)) if is_numeric(producer) else []
        if len(steps) != 1:
            return
        target = steps[0]
    if target.producer is graph.block:
        name = f"{target.name!r} " if target.name else ""
        raise UnsupportedError(
            f"the argument {name}is written, which a differentiated function may not do",
            node.span,
            hint="copy it first",
        )
