"""How large the arrays of a plan are for some arguments, found without running it.

An array of known shape stands as an array without memory (all its strides are zero), so views of it are asked of NumPy
itself. What is not followed is unknown, and so is whatever may differ from one round of a loop to the next.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.room import with_room
from gjit.ir.types import INT, PYTHON_NUMBERS, ArrayType, ScalarType
from gjit.report.known_ops import UNKNOWN, known_result, known_shape, stand_in
from gjit.scheduler.flow import function_of, loop_of
from gjit.scheduler.fusible import Form, Operation, operation_of

_MOST_ROUNDS = 8


class Sizes:
    """What is known of the values of some graphs.

    Args:
        graphs: those of a plan.
        entry: the name of the first one.
        arguments: for its parameters, in order.
    """

    def __init__(self, graphs: Mapping[str, Graph], entry: str, arguments: Sequence[object]):
        self._graphs = graphs
        self._values: dict[Value, object] = {}
        self._seen: dict[str, list[object]] = {}
        self._running: set[str] = set()
        with_room(lambda: self._call(entry, list(map(stand_in, arguments))))

    def of(self, value: Value) -> object:
        """An array of the size of the value, a number, tuple or slice that it is; UNKNOWN otherwise."""
        return value.value if isinstance(value, Constant) else self._values.get(value, UNKNOWN)

    def bytes_of(self, value: Value) -> int | None:
        """The bytes of the elements of an array, 0 for what is none, None where that is not known."""
        found = self.of(value)
        if isinstance(found, np.ndarray):
            return found.nbytes
        is_other = found is not UNKNOWN or not (isinstance(value.type, ArrayType) or str(value.type) == "unknown")
        return 0 if is_other else None

    def stored_bytes(self, node: Node) -> int | None:
        """The bytes that a store writes."""
        target, index = map(self.of, node.inputs[:2])
        if not isinstance(target, np.ndarray) or index is UNKNOWN:
            return None
        found = known_result("getitem", [target, index])
        return found.nbytes if isinstance(found, np.ndarray) else None

    def _call(self, name: str, arguments: list[object]) -> object:
        """The result of a graph; of one that is called with several sizes only what they share is known."""
        graph = self._graphs.get(name)
        if graph is None or name in self._running or len(graph.block.parameters) != len(arguments):
            return UNKNOWN
        before = self._seen.get(name, arguments)
        shared = [each if _alike(each, other) else UNKNOWN for each, other in zip(arguments, before, strict=True)]
        self._seen[name] = shared
        self._running.add(name)
        self._values.update(_captured(graph))
        self._run(graph.block, shared)
        self._running.discard(name)
        ends = [node for node in graph.all_nodes() if node.op == "return" and not _is_in_function(node)]
        return self._shared([self.of(end.inputs[0]) for end in ends if end.inputs])

    def _run(self, block: Block, arguments: Sequence[object] = ()) -> None:
        given = [*arguments, *[UNKNOWN] * (len(block.parameters) - len(arguments))]
        self._values.update(zip(block.parameters, given, strict=False))
        for node in block:
            results = self._node(node)
            self._values.update(zip(node.results, results, strict=False))

    def _node(self, node: Node) -> list[object]:
        match node.op:
            case "capture":
                return [self.of(node.result)]
            case "region":
                self._run(node.blocks[0], [self.of(value) for value in node.inputs])
                return [self.of(value) for value in end_of(node.blocks[0]).inputs]
            case "if":
                return self._if(node)
            case "for" | "while":
                return self._loop(node)
            case "invoke":
                plain = not node.labels
                found = [self.of(value) for value in node.inputs]
                return [self._call(str(node.attributes["function"]), found) if plain else UNKNOWN]
        for block in node.blocks:
            self._run(block)
        return [self._computed(node)] if len(node.results) == 1 and not node.blocks else []

    def _if(self, node: Node) -> list[object]:
        for block in node.blocks:
            self._run(block)
        ends = [end for end in map(end_of, node.blocks) if end.op == "yield"]
        return [self._shared([self.of(end.inputs[place]) for end in ends]) for place in range(len(node.results))]

    def _loop(self, node: Node) -> list[object]:
        is_for = node.op == "for"
        carried = [self.of(value) for value in node.inputs[is_for:]]
        for _ in range(_MOST_ROUNDS):
            self._round(node, carried)
            after = self._after_round(node, carried)
            if all(map(_alike, after, carried)):
                break
            carried = after
        else:
            carried = [UNKNOWN] * len(carried)
            self._round(node, carried)
        return carried

    def _round(self, node: Node, carried: list[object]) -> None:
        first = [UNKNOWN, *carried] if node.op == "for" else carried
        for place, block in enumerate(node.blocks):
            self._run(block, first if place == 0 else carried)

    def _after_round(self, node: Node, carried: list[object]) -> list[object]:
        """What the carried values have in common at every end of a round, and at the end of the loop."""
        inner = [each for block in node.blocks[:-1] for each in block.all_nodes()]
        ends = [each.inputs for each in inner if each.op in ("continue", "break") and loop_of(each) is node]
        if node.op == "while":
            ends.append(end_of(node.blocks[0]).inputs[1:])
        last = end_of(node.blocks[-1])
        if last.op == "yield":
            ends.append(last.inputs)
        found = [[self.of(value) for value in end] for end in ends if len(end) == len(carried)]
        return [self._shared(list(each)) for each in zip(carried, *found, strict=True)]

    def _shared(self, found: list[object]) -> object:
        return found[0] if found and all(_alike(found[0], each) for each in found[1:]) else UNKNOWN

    def _computed(self, node: Node) -> object:
        inputs = [self.of(value) for value in node.inputs]
        operation = operation_of(node)
        if operation is not None and operation.out is not None:
            found = self.of(operation.out)
            return found if isinstance(found, np.ndarray) else UNKNOWN
        if operation is None or operation.form is Form.VIEW:
            shape = known_shape(node.op, inputs, node.labels)
        else:
            shape = _shape(operation, list(map(self._operand, operation.operands)))
        type_ = node.result.type
        if shape is None or not isinstance(type_, ArrayType) or type_.dtype is None:
            if node.op == "getitem" and isinstance(inputs[0], np.ndarray):
                inputs[1:] = map(self._index, node.inputs[1:])
            return known_result(node.op, inputs, node.attributes, node.labels)
        if type_.rank is not None and type_.rank != len(shape):
            return UNKNOWN
        return np.broadcast_to(np.empty((), type_.dtype), shape)

    def _operand(self, value: Value) -> object:
        """An operand of a region's operation, of which only the shape counts: any number does for a number."""
        found = self.of(value)
        is_number = isinstance(value.type, ScalarType) or value.type in PYTHON_NUMBERS
        return 0 if found is UNKNOWN and is_number else found

    def _index(self, value: Value) -> object:
        """An index, of which only the shape that it selects counts: any integer does for an integer."""
        made = value.producer
        if isinstance(made, Node) and made.op == "tuple" and not made.labels:
            return tuple(map(self._index, made.inputs))
        found = self.of(value)
        return 0 if found is UNKNOWN and value.type == INT else found


def _captured(graph: Graph) -> Iterator[tuple[Value, object]]:
    """What a graph captures and relies on."""
    for node in graph.all_nodes():
        slot = graph.captures[node.attributes["slot"]] if node.op == "capture" else None
        if slot is not None and slot.guarded:
            yield node.result, stand_in(slot.value)


def end_of(block: Block) -> Node:
    """The terminator of a block of a graph that is complete."""
    assert block.terminator is not None
    return block.terminator


def _shape(operation: Operation, operands: list[object]) -> tuple[int, ...] | None:
    """The shape of what an operation of a region gives, where all its operands are known."""
    if any(each is UNKNOWN for each in operands) or operation.form in (Form.TOTAL, Form.REDUCE, Form.STORE):
        return None
    shapes = [each.shape for each in operands if isinstance(each, np.ndarray)]
    if operation.form is Form.ROWS:
        return _without(operation.axis, operation.keepdims, shapes[0]) if shapes else None
    try:
        return np.broadcast_shapes(*shapes)
    except ValueError:
        return None


def _without(axis: int, keepdims: bool, shape: tuple[int, ...]) -> tuple[int, ...] | None:
    """The shape of a reduction along one axis."""
    if not -len(shape) <= axis < len(shape):
        return None
    place = axis % len(shape)
    return (*shape[:place], *([1] if keepdims else []), *shape[place + 1 :])


def _alike(one: object, other: object) -> bool:
    if isinstance(one, np.ndarray) and isinstance(other, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape
    return one is other or (type(one) is type(other) and type(one) in (int, bool, tuple, slice) and one == other)


def _is_in_function(node: Node) -> bool:
    """Whether a node belongs to an inner function, or ends a loop nest, not the function of its graph."""
    return function_of(node) is not None or any(owner.op == "region" for owner in _owners(node))


def _owners(node: Node) -> Iterator[Node]:
    """The nodes that a node stands in, from the inside."""
    owner = node.block.owner if node.block is not None else None
    while isinstance(owner, Node):
        yield owner
        owner = owner.block.owner if owner.block is not None else None
