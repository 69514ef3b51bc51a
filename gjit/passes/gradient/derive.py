"""Graphs of derivatives: the forward and reverse of a function, and the whole gradient of one."""

from __future__ import annotations

from gjit.ir.builder import Builder
from gjit.ir.graph import Constant, Graph, Node, Parameter, Value
from gjit.passes.gradient.analysis import Analysis
from gjit.passes.gradient.augment import Augmentation, Context, Derived, Segment
from gjit.passes.gradient.forward import Forward
from gjit.passes.gradient.kinds import is_array, is_number, is_numeric
from gjit.passes.gradient.records import Record, ReverseGraph
from gjit.passes.gradient.reverse import Reverse


def derive(
    typed: Graph, active: list[bool], context: Context, analysis: Analysis, names: tuple[str, str], *, is_entry: bool
) -> tuple[Graph, Graph]:
    """The forward and the reverse of a graph.

    The forward takes the arguments and a shadow for each active one; it returns the result, its shadow and a tape. The
    reverse takes the tape.
    """
    wanted_names = [p.name for p, wanted in zip(typed.parameters, active, strict=True) if wanted]
    extra = [Parameter(name) for name in _shadow_names(wanted_names, {p.name for p in typed.parameters})]
    parameters = [Parameter(p.name) for p in typed.parameters]
    forward = Graph(names[0], [*parameters, *extra], functions=typed.functions, span=typed.span)
    reverse = Graph(names[1], [Parameter("tape")], functions=typed.functions, span=typed.span)
    forward.captures = [*typed.captures]
    builder = Builder(forward)
    builder.span = typed.span
    state = Augmentation(analysis, context, builder, is_entry=is_entry)
    state.values.update(zip(typed.block.parameters, forward.block.parameters, strict=False))
    wanted = [value for value, is_wanted in zip(typed.block.parameters, active, strict=True) if is_wanted]
    state.shadows.update(zip(wanted, forward.block.parameters[len(parameters) :], strict=True))
    shadow_others(state, typed)
    tape = builder.add("list", [])
    backward = ReverseGraph(names[1], tape, reverse)
    Forward(state, backward, tape).block(typed.block)
    return forward, backward.close()


def shadow_others(state: Augmentation, typed: Graph) -> None:
    """Shadows for arguments that no gradient is asked for but that may meet one: to find out that they are written."""
    for value in typed.block.parameters:
        if state.is_active(value) and value not in state.shadows and value not in state.extra_locals:
            state.shadows[value] = state.builder.add("gradient.outside", [state.value(value)])


def _shadow_names(names: list[str], taken: set[str]) -> list[str]:
    """A name for the shadow of each parameter that no other parameter has."""
    found = []
    for name in names:
        shadow = f"shadow_{name}"
        while shadow in taken:
            shadow += "_1"
        taken.add(shadow)
        found.append(shadow)
    return found


def whole_gradient(
    typed: Graph, name: str, context: Context, analysis: Analysis, attributes: dict[str, object]
) -> Graph:
    """A graph that takes what the function takes and gives its gradient.

    `attributes` are those of the `differentiate` node: `arguments`, the positions; `has_aux`; `mode`: `grad`,
    `value_and_grad` or `vjp`, which takes the cotangent of the result besides.
    """
    return _Whole(typed, name, context, analysis, attributes).build()


def augmented(captured: Graph, name: str, derived: Derived) -> Graph:
    """A graph of arguments and a shadow for each, that gives the result, its shadow, and a function for the reverse."""
    names = [p.name for p in captured.parameters]
    extra = _shadow_names(names, set(names))
    graph = Graph(
        name, [Parameter(each) for each in (*names, *extra)], functions=captured.functions, span=captured.span
    )
    builder = Builder(graph)
    builder.span = captured.span
    values, shadows = graph.block.parameters[: len(names)], graph.block.parameters[len(names) :]
    given = [shadow for shadow, wanted in zip(shadows, derived.active, strict=True) if wanted]
    call = builder.add("invoke", [*values, *given], function=derived.forward)
    result, shadow, tape = builder.node("unpack", [call], results=3, before=3, star=False, after=0).results
    pull = builder.node("function", [], name="pullback", parameters=())
    with builder.at(pull.add_block()):
        builder.add("invoke", [tape], function=derived.reverse)
        builder.end("return", [Constant(None)])
    builder.end("return", [builder.add("tuple", [result, shadow, pull.result])])
    return graph


class _Whole:
    def __init__(self, typed: Graph, name: str, context: Context, analysis: Analysis, attributes: dict[str, object]):
        self.typed, self.context, self.analysis, self.attributes = typed, context, analysis, attributes
        is_vjp = attributes["mode"] == "vjp"
        parameters = [Parameter(p.name) for p in typed.parameters]
        names = {p.name for p in parameters}
        extra = [Parameter("cotangent" if "cotangent" not in names else "cotangent_of_result")] * is_vjp
        self.graph = Graph(name, [*parameters, *extra], functions=typed.functions, span=typed.span)
        self.graph.captures = [*typed.captures]
        self.builder = Builder(self.graph)
        self.builder.span = typed.span
        self.arguments = self.graph.block.parameters[: len(parameters)]
        self.positions: list[int] = list(attributes["arguments"])

    def build(self) -> Graph:
        is_straight = not any(node.blocks for node in self.typed.block) and self.typed.block.terminator.op == "return"
        result, gradients = self._straight() if is_straight else self._through_tape()
        self.builder.end("return", [self._answer(result, gradients)])
        return self.graph

    def _answer(self, result: Value, gradients: list[Value]) -> Value:
        single = self.attributes["single"]
        found = gradients[0] if single else self.builder.add("tuple", gradients)
        match self.attributes["mode"], self.attributes["has_aux"]:
            case "grad", False:
                return found
            case "grad", _:
                return self.builder.add("tuple", [found, self.builder.add("getitem", [result, Constant(1)])])
        return self.builder.add("tuple", [result, found])

    def _leaf(self, position: int) -> Value:
        return self.builder.add("gradient.leaf", [self.arguments[position]])

    def _seed(self, result: Value) -> Value:
        """The cotangent of the result: one, or what the caller gives."""
        if self.attributes["mode"] == "vjp":
            return self.builder.add("gradient.cotangent", [self.graph.block.parameters[-1], result])
        return self.builder.add("gradient.one", [result])

    def _finished(self, position: int, gradient: Value) -> Value:
        return self.builder.add("gradient.finished", [self.arguments[position], gradient])

    # Control flow: through a tape

    def _through_tape(self) -> tuple[Value, list[Value]]:
        active = tuple(index in self.positions for index in range(len(self.arguments)))
        types = tuple(value.type for value in self.typed.block.parameters)
        derived = self.context.derived(self.typed.name, types, active, exposed=False, is_entry=True)
        leaves = {position: self._leaf(position) for position in self.positions}
        shadows = [leaves[index] for index, wanted in enumerate(active) if wanted]
        call = self.builder.add("invoke", [*self.arguments, *shadows], function=derived.forward)
        parts = self.builder.node("unpack", [call], results=3, before=3, star=False, after=0)
        result, shadow, tape = parts.results
        loss, loss_shadow = result, shadow
        if self.attributes["has_aux"]:
            loss, loss_shadow = (self.builder.add("getitem", [v, Constant(0)]) for v in (result, shadow))
        self.builder.add("gradient.accumulate", [loss_shadow, self._seed(loss)])
        self.builder.add("invoke", [tape], function=derived.reverse)
        return result, [self._finished(position, leaves[position]) for position in self.positions]

    # Straight-line code: forward and reverse in one graph

    def _straight(self) -> tuple[Value, list[Value]]:
        state = Augmentation(self.analysis, self.context, self.builder, is_entry=True)
        state.values.update(zip(self.typed.block.parameters, self.arguments, strict=True))
        returned = self.typed.block.terminator.inputs[0]
        segment = next(iter(self.analysis.segments.values()), None)
        for value in (returned, *self.typed.block.parameters):
            if (is_array(value.type) or is_number(value.type)) and self._is_local(state, value, segment):
                state.extra_locals.add(value)
        for position in self.positions:
            value = self.typed.block.parameters[position]
            if value not in state.extra_locals:
                state.shadows[value] = self._leaf(position)
        shadow_others(state, self.typed)
        forward = Forward(state, None, None)
        forward.block_without_end(self.typed.block)
        result = state.value(returned)
        self._reverse(state, forward.segment, returned, result)
        return result, [self._gradient(state, forward.segment, position) for position in self.positions]

    def _is_local(self, state: Augmentation, value: Value, segment: object) -> bool:
        if isinstance(value.producer, Node) and not (is_numeric(value.producer) or value.producer.op == "getitem"):
            return False  # what a call or a container gives has a shadow
        users = [user for user in value.uses if user is not self.typed.block.terminator]
        return state.uses_are_local(value, segment, users)

    def _reverse(self, state: Augmentation, segment: Segment, returned: Value, result: Value) -> None:
        if self.attributes["has_aux"]:
            result = self.builder.add("getitem", [result, Constant(0)])
            shadow = self.builder.add("getitem", [state.shadow(returned), Constant(0)])
            self.builder.add("gradient.accumulate", [shadow, self._seed(result)])
        else:
            seed = self._seed(result)
            if returned in state.extra_locals:
                assert returned not in state.shadows, "a value has two places for its cotangent"
                segment.cotangents[returned] = seed
            else:
                self.builder.add("gradient.accumulate", [state.shadow(returned), seed])
        reverse = Reverse(state, segment, self.builder, Record())
        for node, copy in reversed(segment.nodes):
            self.builder.span = node.span
            reverse.node(node, copy)

    def _gradient(self, state: Augmentation, segment: Segment, position: int) -> Value:
        value = self.typed.block.parameters[position]
        if value in state.extra_locals:
            found = segment.cotangents.get(value, Constant(None))
            return self._finished(position, found)
        return self._finished(position, state.shadows[value])
