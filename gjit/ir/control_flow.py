"""Control flow of an interpreted graph: branches, loops, exceptions, calls of graphs.

Every method is a walk (`gjit.ir.deep`), so nesting costs no stack. Its result is None where the program goes on
after the node, else the `Outcome` with which it leaves the block.
"""

from __future__ import annotations

from collections.abc import Sequence

from gjit.ir import class_evaluation, evaluation
from gjit.ir.deep import Walk
from gjit.ir.frames import END, Frame, Outcome, attempt
from gjit.ir.graph import Block, Graph, Node
from gjit.ir.handling import Handling


class ControlFlow(Handling):
    """The nodes with blocks; `run_graph` and `run_block` are what a subclass gives."""

    def run_graph(self, graph: Graph, arguments: Sequence[object]) -> Walk:
        """The walk that calls a graph; its result is an `Outcome`."""
        raise TypeError(f"{type(self).__name__} does not run graphs")

    def run_invoke(self, frame: Frame, node: Node) -> Walk:
        callee = frame.graph.functions[str(node.attributes["function"])]
        arguments = attempt(_bind_call, callee, node, frame.inputs(node))
        if isinstance(arguments, Outcome):
            return arguments
        outcome = yield self.run_graph(callee, arguments)
        if outcome.op == "raise":
            return outcome
        frame.bind(node.results, outcome.values)
        return None

    def run_if(self, frame: Frame, node: Node) -> Walk:
        truth = attempt(bool, frame.read(node.inputs[0]))
        if isinstance(truth, Outcome):
            return truth
        return (yield self._into_results(frame, node, node.blocks[0 if truth else 1]))

    def run_and_or(self, frame: Frame, node: Node) -> Walk:
        left = frame.read(node.inputs[0])
        truth = attempt(bool, left)
        if isinstance(truth, Outcome):
            return truth
        if truth is (node.op == "or"):
            frame.bind(node.results, [left])
            return None
        return (yield self._into_results(frame, node, node.blocks[0]))

    def _into_results(self, frame: Frame, node: Node, block: Block) -> Walk:
        outcome = yield self.run_block(frame, block)
        if outcome.op != "yield":
            return outcome
        frame.bind(node.results, outcome.values)
        return None

    def run_for(self, frame: Frame, node: Node) -> Walk:
        body, otherwise = node.blocks
        source, *carried = frame.inputs(node)
        iterator = attempt(iter, source)
        if isinstance(iterator, Outcome):
            return iterator
        while (item := attempt(next, iterator, END)) is not END:
            if isinstance(item, Outcome):
                return item
            frame.bind(body.parameters, [item, *carried])
            outcome = yield self.run_block(frame, body)
            if outcome.op != "continue":
                return self._leave_loop(frame, node, outcome)
            carried = outcome.values
        frame.bind(otherwise.parameters, carried)
        return (yield self._into_results(frame, node, otherwise))

    def run_while(self, frame: Frame, node: Node) -> Walk:
        condition, body, otherwise = node.blocks
        carried: Sequence[object] = frame.inputs(node)
        while True:
            frame.bind(condition.parameters, carried)
            outcome = yield self.run_block(frame, condition)
            if outcome.op != "condition":
                return outcome
            truth, *carried = outcome.values
            truth = attempt(bool, truth)
            if isinstance(truth, Outcome):
                return truth
            if not truth:
                frame.bind(otherwise.parameters, carried)
                return (yield self._into_results(frame, node, otherwise))
            frame.bind(body.parameters, carried)
            outcome = yield self.run_block(frame, body)
            if outcome.op != "continue":
                return self._leave_loop(frame, node, outcome)
            carried = outcome.values

    def _leave_loop(self, frame: Frame, node: Node, outcome: Outcome) -> Outcome | None:
        if outcome.op != "break":
            return outcome
        frame.bind(node.results, outcome.values)
        return None

    def run_class(self, frame: Frame, node: Node) -> Walk:
        made = attempt(class_evaluation.ClassMaker, node, *evaluation.arguments_of(node, frame.inputs(node)))
        if isinstance(made, Outcome):
            return made
        block = node.blocks[0]
        frame.bind(block.parameters, [made.namespace, made.cell])
        outcome = yield self.run_block(frame, block)
        if outcome.op != "yield":
            return outcome
        result = attempt(made.finish)
        if isinstance(result, Outcome):
            return result
        frame.bind(node.results, [result])
        return None

    def run_class_load(self, frame: Frame, node: Node) -> Walk:
        found = attempt(class_evaluation.read_name, frame.read(node.inputs[0]), node.attributes["name"], END)
        if isinstance(found, Outcome):
            return found
        if found is not END:
            frame.bind(node.results, [found])
            return None
        if node.blocks:
            return (yield self._into_results(frame, node, node.blocks[0]))
        return Outcome("raise", [class_evaluation.unbound_name(node)])

    def run_match(self, frame: Frame, node: Node) -> Walk:
        subject, *values = frame.inputs(node)
        *cases, otherwise = node.blocks
        for pattern, guard, body in zip(node.attributes["patterns"], cases[::2], cases[1::2], strict=True):
            bound = attempt(evaluation.match_pattern, pattern, subject, values)
            if isinstance(bound, Outcome):
                return bound
            if bound is None:
                continue
            frame.bind(guard.parameters, bound)
            outcome = yield self.run_block(frame, guard)
            if outcome.op != "yield":
                return outcome
            passed = attempt(bool, outcome.values[0]) if outcome.values else True
            if isinstance(passed, Outcome):
                return passed
            if passed:
                frame.bind(body.parameters, bound)
                return (yield self._into_results(frame, node, body))
        return (yield self._into_results(frame, node, otherwise))

    def run_region(self, frame: Frame, node: Node) -> Walk:
        frame.bind(node.blocks[0].parameters, frame.inputs(node))
        outcome = yield self._into_results(frame, node, node.blocks[0])
        if outcome is not None and outcome.op == "return":  # the end of a loop nest, with what the nest gives
            frame.bind(node.results, outcome.values)
            return None
        return outcome


CONTROL = {
    "if": "run_if",
    "and": "run_and_or",
    "or": "run_and_or",
    "for": "run_for",
    "while": "run_while",
    "try": "run_try",
    "with": "run_with",
    "match": "run_match",
    "invoke": "run_invoke",
    "region": "run_region",
    "class": "run_class",
    "class.load": "run_class_load",
}
"""The method that runs a node with blocks."""


def _bind_call(callee: Graph, node: Node, inputs: list[object]) -> list[object]:
    positional, keywords = evaluation.arguments_of(node, inputs)
    return evaluation.graph_function(callee, lambda *arguments: list(arguments))(*positional, **keywords)
