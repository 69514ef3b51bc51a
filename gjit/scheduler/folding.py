"""What is printed where: the decisions that `stacking` makes and the printers follow."""

from __future__ import annotations

from dataclasses import dataclass, field

from gjit.ir.graph import CaptureKind, Constant, Graph, Node, Value
from gjit.scheduler.flow import Flow, destinations, passed

STATEMENTS = frozenset(
    {"setitem", "setattr", "delitem", "delattr", "store", "delete", "capture.store", "unpack", "import"}
    | {"for", "while", "try", "with", "match", "region"}
    | {"class", "class.store", "class.annotate", "class.delete"}
)
"""Nodes that Python has no expression for."""

WRITES = frozenset({"setitem", "setattr", "store", "class.store"})
BINDINGS = ("store", "class.store")
"""What binds a name: of a function, of a class body."""
_WRITE_OF = {
    "getitem": "setitem",
    "getattr": "setattr",
    "load": "store",
    "capture": "capture.store",
    "class.load": "class.store",
}


@dataclass(frozen=True, slots=True)
class Update:
    """An augmented assignment to an item, an attribute or a variable: `target operation= value`."""

    read: Node
    operation: Node
    write: Node


@dataclass(slots=True)
class Folding:
    """What is printed where.

    folded    values that are printed inside their consumer
    shared    values that are printed as `(name := ...)` inside their first consumer
    named     values that are printed as `(name := ...)` for the store to a cell given here
    inline    nodes with blocks that are printed as expressions, and `while` nodes whose condition is one
    targets   nodes that are printed as the assignment target of a value: an unpacking, a store
    absorbed  those nodes, which print nothing at their own place
    visited   nodes whose folding has been decided ahead of their turn
    together  for the first of several stores, all of them: `a[i], a[j] = ...`
    updates   augmented assignments, by each of their nodes
    decorators  for an inner function or class, the calls that are printed as its decorators, the innermost first
    """

    folded: set[Value] = field(default_factory=set)
    shared: set[Value] = field(default_factory=set)
    named: dict[Value, Node] = field(default_factory=dict)
    inline: set[Node] = field(default_factory=set)
    targets: dict[Value, Node] = field(default_factory=dict)
    absorbed: set[Node] = field(default_factory=set)
    visited: set[Node] = field(default_factory=set)
    together: dict[Node, list[Node]] = field(default_factory=dict)
    updates: dict[Node, Update] = field(default_factory=dict)
    decorators: dict[Node, list[Node]] = field(default_factory=dict)

    def made(self, definition: Node) -> Value:
        """What the statement that defines an inner function or class binds: what its decorators make of it."""
        calls = self.decorators.get(definition)
        return calls[-1].result if calls else definition.result


def is_atom(node: Node, graph: Graph) -> bool:
    """Whether a node is printed anew at each use: the read of an object that cannot change during a call."""
    if node.op != "capture":
        return False
    slot = graph.captures[node.attributes["slot"]]
    return slot.guarded or slot.kind is CaptureKind.OBJECT


def evaluation_order(node: Node, flow: Flow) -> list[Value]:
    """The inputs that a printed node may hold as expressions, in the order in which Python evaluates them."""
    inputs = node.inputs
    match node.op:
        case "setitem" | "setattr":
            return [inputs[-1], *inputs[:-1]]
        case "region":
            return []
        case "for":
            return inputs[:1]
        case "while":
            return []
        case "match":
            return [inputs[0], *(value for value in inputs[1:] if _is_attribute(value))]
        case "condition":
            return inputs[:1]
        case "yield" | "continue" | "break" if destinations(node):
            (targets,) = destinations(node)
            return [value for target, value in zip(targets, passed(node), strict=True) if target in flow.needed]
    if any("=" in label or label == "**" for label in node.labels) and node.op != "dict":
        keywords = [value for value, label in zip(inputs, node.labels, strict=True) if label not in ("", "*")]
        return [value for value, label in zip(inputs, node.labels, strict=True) if label in ("", "*")] + keywords
    return inputs


def _is_attribute(value: Value) -> bool:
    return isinstance(value.producer, Node) and value.producer.op == "getattr"


def update_of(operation: Node) -> Update | None:
    """The augmented assignment that an in-place operation is the middle of, or None."""
    target, result = operation.inputs[0], operation.result
    read = target.producer
    if not isinstance(read, Node) or read.op not in _WRITE_OF or read.blocks or target.uses != {operation: 1}:
        return None
    if sum(result.uses.values()) != 1:
        return None
    write = next(iter(result.uses))
    if write.op != _WRITE_OF[read.op] or write.inputs[-1] is not result or write.attributes != read.attributes:
        return None
    together = read.block is operation.block is write.block
    same = len(read.inputs) == len(write.inputs) - 1 and all(map(is_same, read.inputs, write.inputs))
    return Update(read, operation, write) if together and same else None


def is_same(left: Value, right: Value) -> bool:
    """Whether two operands are one value, or equal constants."""
    if isinstance(left, Constant) and isinstance(right, Constant):
        return type(left.value) is type(right.value) and repr(left.value) == repr(right.value)
    return left is right
