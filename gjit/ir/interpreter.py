"""Runs a graph node by node: to count, to print, to check a pass, or as the base of a backend.

>>> class Counting(Interpreter):
...     count = 0
...     def run_node(self, node, inputs):
...         self.count += 1
...         return super().run_node(node, inputs)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from gjit.ir import class_evaluation, evaluation
from gjit.ir.control_flow import CONTROL, ControlFlow
from gjit.ir.deep import Walk, drive
from gjit.ir.frames import Frame, Outcome, attempt
from gjit.ir.graph import Block, Graph, Node

FunctionOf = Callable[[str], "Callable | None"]
"""The callable that runs an op: `lambda op: table[op].function` with the op table."""


class Interpreter(ControlFlow):
    """Evaluates graphs. A subclass overrides what it is about:

    `evaluate(node, inputs, keywords)` for one operation; `run_node(node, inputs)` for every node without blocks;
    `run_block(frame, block)` for blocks; `run_if`, `run_for`, ... for one kind of control flow. Control flow is
    written as walks (`gjit.ir.deep`), so nesting costs no stack.
    """

    def __init__(self, function_of: FunctionOf):
        super().__init__()
        self.function_of = function_of

    def run(self, graph: Graph, *arguments: object) -> object:
        """Run the graph with one argument for each parameter; what the program raises is raised."""
        return _returned(drive(self.run_graph(graph, arguments)))

    def run_graph(self, graph: Graph, arguments: Sequence[object]) -> Walk:
        """The walk that calls a graph; its result is the `Outcome`, `return` or `raise`."""
        frame = Frame(graph)
        frame.bind(graph.block.parameters, arguments)
        return (yield self.run_block(frame, graph.block))

    def run_block(self, frame: Frame, block: Block) -> Walk:
        """The walk that runs a block whose parameters are bound; its result is an `Outcome`."""
        for node in block:
            method = CONTROL.get(node.op)
            if method is not None:
                outcome = yield getattr(self, method)(frame, node)
            else:
                outcome = self._step(frame, node)
            if outcome is not None:
                return outcome
        return self.run_terminator(frame, block.terminator)

    def run_terminator(self, frame: Frame, node: Node) -> Outcome:
        """How the block ends."""
        values = frame.inputs(node)
        if node.op == "raise":
            return Outcome("raise", [_exception(values)])
        if node.op == "reraise":
            none = RuntimeError("No active exception to reraise")
            return Outcome("raise", [self.handled[-1] if self.handled else none])
        return Outcome(node.op, values)

    def run_node(self, node: Node, inputs: list[object]) -> object:
        """What a node without blocks gives for its inputs; an iterable where it has several results."""
        if node.op == "dict":
            return evaluation.make_dict(node, inputs)
        return self.evaluate(node, *evaluation.arguments_of(node, inputs))

    def evaluate(self, node: Node, inputs: list[object], keywords: dict[str, object]) -> object:
        """What the operation of a node gives for the arguments of a call."""
        own = evaluation.EVALUATED.get(node.op) or class_evaluation.EVALUATED.get(node.op)
        if own is not None:
            return own(node, *inputs, **keywords)
        name = str(node.attributes["function"]) if node.op == "library" else node.op
        function = self.function_of(name)
        if function is None:
            raise LookupError(f"nothing evaluates the op {name!r}")
        return function(*inputs, **keywords)

    # Nodes that need the frame

    def run_capture(self, frame: Frame, node: Node) -> object:
        return evaluation.captured(frame.graph.captures[node.attributes["slot"]])

    def run_capture_store(self, frame: Frame, node: Node) -> None:
        evaluation.store_captured(frame.graph.captures[node.attributes["slot"]], frame.read(node.inputs[0]))

    def run_function(self, frame: Frame, node: Node) -> Callable:
        block = node.blocks[0]

        def body(*arguments: object) -> object:
            # A frame of its own for each call, on what the values around it are at that time.
            inner = Frame(frame.graph, dict(frame.values))
            inner.bind(block.parameters, arguments)
            return _returned(drive(self.run_block(inner, block)))

        return evaluation.inner_function(node, frame.inputs(node), body)

    def run_comprehension(self, frame: Frame, node: Node) -> object:
        inner = Frame(frame.graph, dict(frame.values))
        elements = self._elements(inner, node.blocks[0], iter(frame.read(node.inputs[0])))
        match node.attributes["kind"]:
            case "list":
                return [values[0] for values in elements]
            case "set":
                return {values[0] for values in elements}
            case "dict":
                return dict(elements)
        return (values[0] for values in elements)

    def _elements(self, frame: Frame, clause: Block, items: Iterator) -> Iterator[Sequence[object]]:
        for item in items:
            frame.bind(clause.parameters, [item])
            yield from self._clause(frame, clause)

    def _clause(self, frame: Frame, clause: Block) -> Iterator[Sequence[object]]:
        last = clause.last
        nested = last if last is not None and last.op.startswith("comprehension.") else None
        outcome = drive(self._run_before(frame, clause, nested))
        if outcome is not None:
            raise outcome.values[0]  # no other terminator can stand in a comprehension
        if nested is None:
            yield frame.inputs(clause.terminator)
        elif nested.op == "comprehension.for":
            yield from self._elements(frame, nested.blocks[0], iter(frame.read(nested.inputs[0])))
        elif frame.read(nested.inputs[0]):
            yield from self._clause(frame, nested.blocks[0])

    def _run_before(self, frame: Frame, block: Block, end: Node | None) -> Walk:
        for node in block:
            if node is end:
                break
            method = CONTROL.get(node.op)
            outcome = (yield getattr(self, method)(frame, node)) if method is not None else self._step(frame, node)
            if outcome is not None:
                return outcome
        return None

    def _step(self, frame: Frame, node: Node) -> Outcome | None:
        special = FRAMED.get(node.op)
        if special is not None:
            result = attempt(getattr(self, special), frame, node)
        else:
            result = attempt(self.run_node, node, frame.inputs(node))
        if isinstance(result, Outcome):
            return result
        if len(node.results) == 1:
            frame.values[node.results[0]] = result
        elif node.results:
            frame.bind(node.results, tuple(result))  # type: ignore[arg-type]
        return None


FRAMED = {
    "capture": "run_capture",
    "capture.store": "run_capture_store",
    "function": "run_function",
    "comprehension": "run_comprehension",
}
"""The method that runs a node which needs the frame."""


def _returned(outcome: Outcome) -> object:
    if outcome.op == "raise":
        raise outcome.values[0]  # type: ignore[misc]
    return outcome.values[0]


def _exception(values: list[object]) -> BaseException:
    """The exception that a `raise` statement with these values raises, with its cause."""
    try:
        if len(values) == 1:
            raise values[0]  # type: ignore[misc]
        raise values[0] from values[1]  # type: ignore[misc]
    except BaseException as error:
        return error
