"""A program, node by node: what depends on the inputs becomes nodes of the model, the rest is evaluated."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.errors import UnsupportedError
from gjit.interchange.onnx import calls, control, indexing
from gjit.interchange.onnx.boxes import Boxes
from gjit.interchange.onnx.builder import Builder
from gjit.interchange.onnx.operations import constants_of, is_foldable, pure, target_of
from gjit.interchange.onnx.rules import RULES
from gjit.interchange.onnx.rules_shape import VIEWS
from gjit.interchange.onnx.structures import BUILTINS
from gjit.interchange.onnx.values import Cell, Tensor, Unwritable, holds_tensor
from gjit.ir.evaluation import EVALUATED, arguments_of, captured, make_dict
from gjit.ir.graph import Block, Constant, Graph, Node, Parameter, Value
from gjit.ops.row import table
from gjit.runtime.compiled import Compiled

Values = dict[Value, Any]
Then = Callable[[list[Any]], Any]
"""What follows a block: takes what it yields, gives what the whole rest gives."""


class Ways:
    """Where control goes from a block: a loop or a function has its own, and takes the rest from around it."""

    def __init__(self, outer: Ways | None = None, **ways: Then):
        self.outer, self.ways = outer, ways

    def go(self, kind: str, values: list[Any]) -> Any:
        found: Ways | None = self
        while found is not None:
            if kind in found.ways:
                return found.ways[kind](values)
            found = found.outer
        raise Unwritable(f"`{kind}` has no form in a model")


class Walk:
    """Writes graphs into a model.

    `shown` are the types that values of nodes had so far: loops compare them from one try to the next.
    """

    def __init__(self, builder: Builder):
        self.builder = builder
        self.boxes = Boxes(builder)
        self.shown: list[tuple[Node, str]] = []
        self.lists: dict[int, int] = {}
        self.kept: list[Any] = []
        self._arrays: dict[int, Tensor] = {}
        self._calls = 0
        self.around: Values = {}
        self._owners: dict[int, Any] = {}
        self.scripted: dict[Any, Graph] = {}

    def enter(self, compiled: Compiled) -> Graph:
        """The graph of a function; its program knows the defaults of the functions that it calls."""
        graph, program = compiled.program
        self._owners.update({id(each): program.owners.get(name) for name, each in program.functions.items()})
        self.kept.append(program)
        return graph

    def invoked(self, graph: Graph, positional: list[Any], keywords: dict[str, Any]) -> Any:
        """A call of a graph: arguments are bound to its parameters as Python binds them."""
        owner = self._owners.get(id(graph))
        defaults = [
            *(getattr(owner, "__defaults__", None) or ()),
            *(getattr(owner, "__kwdefaults__", None) or {}).values(),
        ]
        parameters = tuple(graph.parameters)
        if owner is None:
            parameters = tuple(Parameter(each.name, each.kind) for each in parameters)
        function = calls.bound(self, graph.name, parameters, defaults, lambda *values: self.graph(graph, list(values)))
        return function(*positional, **keywords)

    def graph(self, graph: Graph, arguments: list[Any]) -> Any:
        """What a graph returns for one argument per parameter."""
        if self._calls > 200:
            raise Unwritable("a function that calls itself has no form in a model")
        values = dict(zip(graph.block.parameters, arguments, strict=True))
        self._calls += 1
        try:
            return self.inner_function(graph, graph.block, values)
        finally:
            self._calls -= 1

    def block(self, graph: Graph, block: Block, values: Values, ways: Ways) -> Any:
        return self.rest(graph, block, block.first, values, ways)

    def rest(self, graph: Graph, block: Block, node: Node | None, values: Values, ways: Ways) -> Any:
        """The nodes of a block from one on, and what follows it."""
        while node is not None:
            method = control.CONTROL.get(node.op)
            if method is not None:
                following = node.next

                def then(results: list[Any], node: Node = node, following: Node | None = following) -> Any:
                    self.bind(node, results, values)
                    return self.rest(graph, block, following, values, ways)

                with _at(node):
                    return method(self, graph, node, values, ways, then)
            with _at(node):
                self.node(graph, node, values)
            node = node.next
        with _at(block.terminator):
            return self.leave(block.terminator, values, ways)

    def leave(self, terminator: Any, values: Values, ways: Ways) -> Any:
        if terminator.op in ("raise", "reraise", "unreachable"):
            raise Unwritable("an exception that depends on the inputs has no form in a model")
        return ways.go(terminator.op, [self.value(each, values) for each in terminator.inputs])

    def value(self, operand: Value, values: Values) -> Any:
        """The value of an operand now."""
        found = operand.value if isinstance(operand, Constant) else values[operand]
        return self.boxes.fresh(found) if isinstance(found, Tensor | tuple) else found

    def bind(self, node: Node, results: list[Any], values: Values) -> None:
        for result, value in zip(node.results, results, strict=True):
            values[result] = value
            if isinstance(value, Tensor):
                self.shown.append((node, str(value.dtype)))

    def inner_function(self, graph: Graph, block: Block, values: Values) -> Any:
        """What the body of a function returns that is defined in the program."""
        return self.block(graph, block, values, Ways(None, **{"return": lambda returned: returned[0]}))

    def node(self, graph: Graph, node: Node, values: Values) -> None:
        self.around = values
        inputs = [self.value(each, values) for each in node.inputs]
        result = self.evaluate(graph, node, inputs, values)
        results = list(result) if node.op == "unpack" else [result] * len(node.results)
        self.bind(node, results, values)

    def evaluate(self, graph: Graph, node: Node, inputs: list[Any], values: Values) -> Any:
        """The value of a node without blocks."""
        special = SPECIAL.get(node.op)
        if special is not None:
            return special(self, graph, node, inputs)
        positional, keywords = arguments_of(node, inputs)
        if node.op == "call":
            return calls.call(self, positional[0], positional[1:], keywords)
        return self.operation(node.op, positional, keywords, node)

    def operation(self, op: str, positional: list[Any], keywords: dict[str, Any], node: Node | None = None) -> Any:
        """The result of an op of the table, or of one that Python evaluates."""
        if op == "library" and node is not None:
            op = str(node.attributes["function"])
        if op in BUILTINS:
            found = BUILTINS[op](self, positional, keywords)
            if found is not NotImplemented:
                return found
        inplace = target_of(op, positional, keywords)
        if inplace is not None:
            return self.in_place(op, inplace, positional, keywords)
        if not holds_tensor((positional, list(keywords.values()))):
            return self.known(op, positional, keywords)
        if is_foldable(op, positional, keywords):
            folded = self.known(op, *constants_of(positional, keywords))
            return self.builder.tensor(folded) if isinstance(folded, np.ndarray) else folded
        rule = RULES.get(op)
        if rule is None:
            raise Unwritable(f"{op} has no form in a model")
        return self.ruled(op, rule, positional, keywords)

    def ruled(self, op: str, rule: Callable, positional: list[Any], keywords: dict[str, Any]) -> Any:
        try:
            result = rule(self.builder, *map(self.boxes.fresh, positional), **keywords)
        except TypeError as error:
            if "argument" not in str(error):
                raise
            raise Unwritable(f"{op} with these arguments has no form in a model: {error}") from None
        if op in VIEWS and isinstance(result, Tensor) and isinstance(positional[0], Tensor):
            result.bases = [(positional[0], positional[0].version)]
        return result

    def in_place(self, op: str, target: Tensor, positional: list[Any], keywords: dict[str, Any]) -> Tensor:
        """`out=`, and augmented assignment to an array: the result is the array, with other elements."""
        given = {name: value for name, value in keywords.items() if name != "out"}
        made = self.builder.tensor(self.operation(pure(op), positional, given))
        if made.rank > target.rank or not np.can_cast(made.dtype, target.dtype, "same_kind"):
            raise Unwritable(f"{made.dtype} with {made.rank} axes cannot be written into {target.dtype}")
        name = self.builder.cast(made, target.dtype)
        self.boxes.write(target, self.builder.emit("Expand", name, self.builder.shape(target)) if target.rank else name)
        return target

    def known(self, op: str, positional: list[Any], keywords: dict[str, Any]) -> Any:
        """What does not depend on the inputs is evaluated by Python and NumPy; an array is a constant."""
        row = table.get(op)
        function = row.function if row is not None else None
        if function is None or op in ACTS or op.startswith("numpy.random."):
            raise Unwritable(f"{op} has no form in a model")
        if op.startswith("operator.") and any(type(each).__flags__ & HEAP_TYPE for each in positional):
            raise Unwritable(f"{op} of an object of the program has no form in a model")
        return self.constants(function(*positional, **keywords))

    def constants(self, value: Any) -> Any:
        """Arrays as tensors; the same array is the same tensor."""
        if isinstance(value, np.ndarray):
            if type(value) is not np.ndarray:
                raise Unwritable(f"arrays of {type(value).__name__} have no form in a model")
            if id(value) not in self._arrays:
                made = self.builder.tensor(value.copy())
                self._arrays[id(value)] = made
                self.kept.append(value)  # keeps its id
            return self._arrays[id(value)]
        if type(value) in (tuple, list) and any(isinstance(each, np.ndarray | list | tuple) for each in value):
            return type(value)(self.constants(each) for each in value)
        if type(value) is dict and any(isinstance(each, np.ndarray | list | tuple) for each in value.values()):
            return {key: self.constants(each) for key, each in value.items()}
        return value

    def held(self, value: Any) -> Any:
        """What the program holds outside: it cannot be written by a model."""
        found = self.constants(value)
        if isinstance(found, Tensor):
            found.frozen = found.frozen or "an array that belongs to the program"
        return found


class _at:  # noqa: N801 - reads as a phrase
    """Puts the user's line into what is raised inside."""

    def __init__(self, node: Any):
        self.node = node

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if error is None or isinstance(error, UnsupportedError | ImportError | RecursionError):
            return
        if isinstance(error, Exception):
            text = str(error) if isinstance(error, Unwritable) else f"{type(error).__name__}: {error}"
            raise UnsupportedError(f"this has no form in ONNX: {text}", self.node.span) from error


ACTS = frozenset({"builtin.print", "builtin.input", "builtin.open", "builtin.setattr", "builtin.delattr"})
"""Functions that do something besides giving a value."""

HEAP_TYPE = 1 << 9
"""A flag of classes that are written in Python."""


def _getattr(walk: Walk, graph: Graph, node: Node, inputs: list[Any]) -> Any:
    return calls.attribute(walk, inputs[0], str(node.attributes["name"]))


def _getitem(walk: Walk, graph: Graph, node: Node, inputs: list[Any]) -> Any:
    return calls.item(walk, *inputs)


def _setitem(walk: Walk, graph: Graph, node: Node, inputs: list[Any]) -> None:
    owner, index, value = inputs
    if not isinstance(owner, Tensor):
        walk_list(walk, owner)
        if holds_tensor(index):
            raise Unwritable("a container is written at a place that depends on the inputs")
        owner[index] = value
        return
    if isinstance(value, Tensor) and (owner, owner.version) in value.bases and value.index is not None:
        return  # an augmented assignment of a part has written it already
    if not isinstance(value, Tensor) and isinstance(value, tuple | list):
        value = RULES["numpy.array"](walk.builder, value)
    walk.boxes.write(owner, indexing.written(walk.builder, owner, index, value))


def walk_list(walk: Walk, container: Any) -> None:
    """A container may be changed where it was made: a block of a model gives values, and changes nothing."""
    if walk.lists.get(id(container)) != walk.builder.depth:
        raise Unwritable("a container is changed that was made outside of this branch or loop")


def _made(walk: Walk, container: Any) -> Any:
    walk.lists[id(container)] = walk.builder.depth
    walk.kept.append(container)
    return container


def _invoke(walk: Walk, graph: Graph, node: Node, inputs: list[Any]) -> Any:
    return walk.invoked(graph.functions[str(node.attributes["function"])], *arguments_of(node, inputs))


def _store(walk: Walk, graph: Graph, node: Node, inputs: list[Any]) -> None:
    walk.boxes.set_state(inputs[0], (inputs[1], True))


def _load(walk: Walk, graph: Graph, node: Node, inputs: list[Any]) -> Any:
    cell = inputs[0]
    if not cell.is_bound:
        raise Unwritable(f"the variable {cell.name!r} may be unbound here")
    return walk.boxes.current(cell.value) if isinstance(cell.value, Tensor) else cell.value


def _operator_is(walk: Walk, graph: Graph, node: Node, inputs: list[Any]) -> bool:
    same = inputs[0] is inputs[1]
    return same if node.op == "operator.is" else not same


SPECIAL: dict[str, Callable[[Walk, Graph, Node, list[Any]], Any]] = {
    "capture": lambda walk, graph, node, inputs: walk.held(captured(graph.captures[node.attributes["slot"]])),
    "getattr": _getattr,
    "getitem": _getitem,
    "setitem": _setitem,
    "operator.is": _operator_is,
    "operator.is_not": _operator_is,
    "tuple": lambda walk, graph, node, inputs: tuple(arguments_of(node, inputs)[0]),
    "list": lambda walk, graph, node, inputs: _made(walk, list(arguments_of(node, inputs)[0])),
    "dict": lambda walk, graph, node, inputs: _made(walk, make_dict(node, inputs)),
    "slice": lambda walk, graph, node, inputs: slice(*inputs),
    "unpack": lambda walk, graph, node, inputs: calls.unpacked(walk, node, inputs[0]),
    "invoke": lambda walk, graph, node, inputs: _invoke(walk, graph, node, inputs),
    "scripted": lambda walk, graph, node, inputs: inputs[0],
    "cell": lambda walk, graph, node, inputs: Cell(str(node.attributes["name"]), walk.builder.depth),
    "store": _store,
    "load": _load,
    "function": calls.closure,
    "format": lambda walk, graph, node, inputs: calls.text(walk, node, inputs),
    "join": lambda walk, graph, node, inputs: "".join(inputs),
    "import": lambda walk, graph, node, inputs: EVALUATED["import"](node),
}
"""Nodes that no rule is about."""
