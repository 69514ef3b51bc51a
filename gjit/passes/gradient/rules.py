"""The gradient rule of an op, as nodes: its graph, simplified for the types and constants of one node."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

from gjit.ir.builder import Builder
from gjit.ir.clone import clone_block_into, clone_graph
from gjit.ir.constants import constant_key
from gjit.ir.graph import Constant, Graph, Node, Value
from gjit.ir.types import UNKNOWN, Type
from gjit.ops import table
from gjit.ops.gradients import Gradient, Rule
from gjit.passes.callees import bind_arguments
from gjit.passes.dead_code import dead_code
from gjit.passes.fold import fold
from gjit.passes.gradient.kinds import is_real
from gjit.passes.specialise import specialise

Arguments = dict[str, Value]


def bind_rule(gradient: Gradient, node: Node) -> Arguments | None:
    """The inputs of a node by the names that its rules give them; None where spreads hide them."""
    names: Arguments = {}
    order = [p for p in gradient.parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    takes_more = any(p.kind is p.VAR_POSITIONAL for p in gradient.parameters)
    operands = getattr(table[node.op].function, "nin", len(node.inputs))
    for index, value in enumerate(node.inputs):
        label = node.label(index)
        if not label and index >= operands:
            continue  # an output
        if not label and index >= len(order) and takes_more:
            continue
        if label.startswith("*") or (not label and index >= len(order)):
            return None
        names[label[:-1] if label else order[index].name] = value
    names.pop("out", None)
    return names if names.keys() <= {p.name for p in gradient.parameters} else None


class Rules:
    """Instantiates rules.

    Args:
        captured: gives the graph of a rule, which ends with its one `return`; what it calls is in `functions`.
    """

    def __init__(self, captured: Callable[[Rule], Graph]):
        self._captured = captured
        self._simplified: dict[tuple, Graph] = {}

    def graph(self, rule: Rule, result: Type, arguments: Arguments) -> Graph:
        """The graph of a rule for operands of these types; its parameters are `g`, `r` and the rule's own."""
        given = [arguments.get(name) for name in list(inspect.signature(rule).parameters)[2:]]
        key = (rule, result, *(None if v is None else _key(v) for v in given))
        known = self._simplified.get(key)
        if known is None:
            known = self._simplified[key] = _simplified(self._captured(rule), rule, result, arguments)
        return known


def flatten(graph: Graph, signatures: Mapping[str, Mapping[str, inspect.Parameter]]) -> None:
    """Put what a rule calls in the place of each call: helpers of rules end with their one `return`.

    `signatures` tells the defaults of each function.
    """
    while True:
        calls = [node for node in graph.all_nodes() if node.op == "invoke"]
        if not calls:
            return
        for node in calls:
            callee = graph.functions[str(node.attributes["function"])]
            arguments = bind_arguments(node, callee)
            assert arguments is not None, f"a rule calls {callee.name} with spreads"
            parameters = signatures[callee.name].values()
            mapping: dict[Value, Value] = {}
            for value, given, parameter in zip(callee.block.parameters, arguments, parameters, strict=True):
                mapping[value] = Constant(parameter.default) if given is None else given
            clone_block_into(callee.block, mapping, node.block, before=node, terminator=False)
            returned = callee.block.terminator.inputs[0]
            node.replace_with([Constant(returned.value) if isinstance(returned, Constant) else mapping[returned]])


def insert(graph: Graph, builder: Builder, values: Callable[[str], Value]) -> Value:
    """Copy the nodes of a rule's graph to where the builder stands; gives the value that the rule returns.

    Args:
        values: the value for a parameter, asked only for those that are used.
    """
    used = [(p.name, v) for p, v in zip(graph.parameters, graph.block.parameters, strict=True) if v.uses]
    mapping = {value: values(name) for name, value in used}
    last = builder.block.last
    clone_block_into(graph.block, mapping, builder.block, terminator=False)
    node = builder.block.first if last is None else last.next
    while node is not None:
        for each in (node, *(inner for block in node.blocks for inner in block.all_nodes())):
            each.span = builder.span
            for value in each.results:
                value.name, value.type = "", UNKNOWN
        node = node.next
    returned = graph.block.terminator.inputs[0]
    return Constant(returned.value) if isinstance(returned, Constant) else mapping[returned]


def _key(value: Value) -> object:
    return constant_key(value.value) if isinstance(value, Constant) else value.type


def _simplified(captured: Graph, rule: Rule, result: Type, arguments: Arguments) -> Graph:
    graph = clone_graph(captured)
    parameters = inspect.signature(rule).parameters
    types: list[Type] = [UNKNOWN, result]
    for parameter, value in list(zip(parameters.values(), graph.block.parameters, strict=True))[2:]:
        given = arguments.get(parameter.name)
        if given is None and parameter.kind is parameter.VAR_POSITIONAL:
            value.replace_with(Constant(()))
        elif given is None:
            default = None if parameter.default is parameter.empty else parameter.default
            value.replace_with(Constant(default))
        elif isinstance(given, Constant):
            value.replace_with(Constant(given.value))
        types.append(UNKNOWN if given is None else given.type)
    graph = specialise(graph, types)
    fold(graph)
    for node in list(graph.all_nodes()):
        if node.op == "numpy.conjugate" and node.block is not None and is_real(node.inputs[0].type):
            node.replace_with([node.inputs[0]])
    fold(graph)
    dead_code(graph)
    return graph
