"""Control flow of an interpreted graph: branches, loops, exceptions, calls of graphs.

Every method is a walk (`gjit.ir.deep`), so nesting costs no stack. Its result is None where the program goes on
after the node, else the `Outcome` with which it leaves the block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from gjit.ir import class_evaluation, evaluation
from gjit.ir.deep import Walk
from gjit.ir.graph import Block, Constant, Graph, Node, Value

_END = object()


@dataclass(slots=True)
class Outcome:
    """How a block ended: the op of its terminator and its values; `raise` holds the exception."""

    op: str
    values: Sequence[object] = ()


@dataclass(slots=True)
class Frame:
    """One running call of a graph, or of a function made in it: what each value is now."""

    graph: Graph
    values: dict[Value, object] = field(default_factory=dict)

    def bind(self, values: list[Value], objects: Sequence[object]) -> None:
        self.values.update(zip(values, objects, strict=True))

    def read(self, value: Value) -> Any:
        return value.value if isinstance(value, Constant) else self.values[value]

    def inputs(self, node: Node) -> list[Any]:
        return [value.value if isinstance(value, Constant) else self.values[value] for value in node.inputs]


class ControlFlow:
    """The nodes with blocks; `run_graph` and `run_block` are what a subclass gives."""

    def __init__(self) -> None:
        self.handled: list[BaseException] = []

    def run_graph(self, graph: Graph, arguments: Sequence[object]) -> Walk:
        """The walk that calls a graph; its result is an `Outcome`."""
        raise TypeError(f"{type(self).__name__} does not run graphs")

    def run_block(self, frame: Frame, block: Block) -> Walk:
        """The walk that runs a block whose parameters are bound; its result is an `Outcome`."""
        raise TypeError(f"{type(self).__name__} does not run blocks")

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
        while (item := attempt(next, iterator, _END)) is not _END:
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

    def run_try(self, frame: Frame, node: Node) -> Walk:
        body, otherwise, final, *handlers = node.blocks
        outcome = yield self.run_block(frame, body)
        if outcome.op == "raise":
            outcome = yield self._handle(frame, handlers, outcome)
        elif outcome.op == "yield":
            outcome = yield self.run_block(frame, otherwise)
        last = yield self.run_block(frame, final)
        if last.op != "yield":
            return _in_context(last, outcome)
        return None if outcome.op == "yield" else outcome

    def _handle(self, frame: Frame, handlers: list[Block], raised: Outcome) -> Walk:
        error = raised.values[0]
        self.handled.append(error)
        try:
            for type_block, handler in zip(handlers[::2], handlers[1::2], strict=True):
                wanted = yield self.run_block(frame, type_block)
                if wanted.op == "yield":
                    caught = attempt(_catches, error, *wanted.values)
                    wanted = caught if isinstance(caught, Outcome) else wanted
                if wanted.op != "yield":
                    return _in_context(wanted, raised)
                if caught:
                    frame.bind(handler.parameters, [error])
                    return _in_context((yield self.run_block(frame, handler)), raised)
            return raised
        finally:
            self.handled.pop()

    def run_with(self, frame: Frame, node: Node) -> Walk:
        manager = frame.read(node.inputs[0])
        entered = attempt(_enter, manager)
        if isinstance(entered, Outcome):
            return entered
        leave, value = entered
        block = node.blocks[0]
        frame.bind(block.parameters, [value][: len(block.parameters)])
        outcome = yield self.run_block(frame, block)
        error = outcome.values[0] if outcome.op == "raise" else None
        details = (None, None, None) if error is None else (type(error), error, error.__traceback__)
        suppressed = attempt(lambda: bool(leave(manager, *details)) if error is not None else leave(manager, *details))
        if isinstance(suppressed, Outcome):
            return _in_context(suppressed, outcome)
        if error is not None:
            return None if suppressed else outcome
        if outcome.op != "yield":
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
        found = attempt(class_evaluation.read_name, frame.read(node.inputs[0]), node.attributes["name"], _END)
        if isinstance(found, Outcome):
            return found
        if found is not _END:
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
        return (yield self._into_results(frame, node, node.blocks[0]))


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


def attempt(function: Callable, *arguments: object) -> Any:
    """What a call gives, or the Outcome of its exception."""
    try:
        return function(*arguments)
    except BaseException as error:
        return Outcome("raise", [error])


def _in_context(outcome: Outcome, earlier: Outcome) -> Outcome:
    """An exception raised while another was handled has that as its context."""
    if outcome.op == earlier.op == "raise":
        error, context = outcome.values[0], earlier.values[0]
        if error is not context and error.__context__ is None:
            error.__context__ = context
    return outcome


def _catches(error: BaseException, *types: object) -> bool:
    if not types:
        return True
    try:
        try:
            raise error
        except types[0]:  # type: ignore[misc]
            return True
    except BaseException as other:
        if other is error:
            return False
        raise


def _enter(manager: object) -> tuple[Callable, object]:
    kind = type(manager)
    try:
        enter, leave = kind.__enter__, kind.__exit__
    except AttributeError:
        name = f"{kind.__module__}.{kind.__qualname__}" if kind.__module__ != "builtins" else kind.__qualname__
        raise TypeError(f"{name!r} object does not support the context manager protocol") from None
    return leave, enter(manager)


def _bind_call(callee: Graph, node: Node, inputs: list[object]) -> list[object]:
    positional, keywords = evaluation.arguments_of(node, inputs)
    return evaluation.graph_function(callee, lambda *arguments: list(arguments))(*positional, **keywords)
