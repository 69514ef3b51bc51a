"""Loop nests: loops over array elements and over slices that move with the loop become one region each.

A nest is a `region` node with the attribute `nest`; its block holds one loop. An engine that compiles nests runs it as
native code, and whatever the native code cannot do is done by the twin: the loop, printed as Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gjit.ir.graph import CaptureKind, Graph, Node, Value
from gjit.ir.types import ArrayType
from gjit.ops.row import Kind, table
from gjit.scheduler.flow import LOOPS, carried_parameters
from gjit.scheduler.nest_cells import cells_of, may_be_own
from gjit.scheduler.nest_making import make_nest
from gjit.scheduler.turns import is_loop_region

_CONTROL = frozenset({"if", "and", "or", *LOOPS})
_TERMINATORS = frozenset({"yield", "continue", "break", "condition", "return", "raise", "unreachable"})
_ATTRIBUTES = frozenset({"shape", "size", "ndim", "T"})
_CONTAINERS = frozenset({"getitem", "setitem", "tuple", "slice", "unpack", "capture"})
_BUILTIN_NAMES = "range len abs int float bool min max enumerate zip"
_BUILTINS = frozenset(f"builtin.{name}" for name in _BUILTIN_NAMES.split())
_FUNCTIONS = frozenset(
    f"numpy.{name}"
    for name in [
        "dot",
        "sum",
        "prod",
        "min",
        "max",
        "amin",
        "amax",
        "mean",
        "flip",
        "zeros",
        "empty",
        "ones",
        "zeros_like",
        "empty_like",
    ]
)
_REFUSED_OPERATORS = frozenset({"operator.in", "operator.not_in", "operator.imatmul"})
_VARIABLES = frozenset({"cell", "load", "store"})


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps a loop on the host: the node, and why in words."""

    node: Node
    reason: str


def is_nest(node: Node | Graph | None) -> bool:
    """Whether a node is a region that holds a loop nest."""
    return isinstance(node, Node) and node.op == "region" and bool(node.attributes.get("nest"))


def form_nests(graph: Graph, functions: dict[str, Graph], first: int = 0) -> int:
    """Put the outermost loops that native code can run into regions; how many there are.

    Args:
        graph: is changed.
        functions: the graphs that its `invoke` nodes name.
        first: the number of the first one.
    """
    count = 0
    waiting = [graph.block]
    while waiting:
        block = waiting.pop()
        for node in block:
            if node.op in LOOPS and obstacle(node, functions, graph) is None:
                make_nest(node, first + count)
                count += 1
            elif not is_loop_region(node):
                waiting.extend(reversed(node.blocks))
    return count


def obstacle(loop: Node, functions: dict[str, Graph], graph: Graph) -> Obstacle | None:
    """What keeps a loop from becoming a nest, or None."""
    found = next(_obstacles(loop, functions, graph, ()), None)
    if found is not None:
        return found
    for cell in cells_of(loop):
        if not may_be_own(cell, loop):
            return Obstacle(loop, f"the variable `{cell.name}`, which the loop may leave or find unset")
    if not _touches_elements(loop):
        return Obstacle(loop, "nothing in it moves along an array with the loop")
    return None


def _obstacles(loop: Node, functions: dict[str, Graph], graph: Graph, callers: tuple[str, ...]) -> Iterator[Obstacle]:
    yield from _refused(loop, functions, graph, callers)
    for block in loop.blocks:
        for node in block.all_nodes():
            yield from _refused(node, functions, graph, callers)


def _refused(node: Node, functions: dict[str, Graph], graph: Graph, callers: tuple[str, ...]) -> Iterator[Obstacle]:
    """Why a node cannot be part of a nest: nothing, or one reason."""
    if node.is_terminator:
        if node.op not in _TERMINATORS:
            yield Obstacle(node, f"`{node.op}`")
    elif node.op in _VARIABLES:
        pass
    elif is_loop_region(node):
        yield Obstacle(node, "a loop over whole arrays")
    elif node.op == "invoke":
        yield from _refused_call(node, functions, callers)
    elif node.op == "getattr":
        if node.attributes["name"] not in _ATTRIBUTES:
            yield Obstacle(node, f"the attribute `{node.attributes['name']}`")
    elif node.op == "capture":
        if not _is_steady(node, graph):
            yield Obstacle(node, "a global name that is looked up each time")
    elif not _is_known(node):
        yield Obstacle(node, f"`{node.op.removeprefix('builtin.')}`")


def _refused_call(node: Node, functions: dict[str, Graph], callers: tuple[str, ...]) -> Iterator[Obstacle]:
    name = node.attributes["function"]
    called = functions.get(name)
    if called is None or name in callers or any(node.labels) or len(node.inputs) != len(called.parameters):
        yield Obstacle(node, f"the call of `{name}`")
        return
    inside = (*callers, name)
    found = (each for inner in called.all_nodes() for each in _refused(inner, functions, called, inside))
    if next(found, None) is not None:
        yield Obstacle(node, f"the call of `{name}`")


def _is_known(node: Node) -> bool:
    op = node.op
    if op in _CONTROL or op in _CONTAINERS or op in _BUILTINS or op in _FUNCTIONS or op.startswith("math."):
        return True
    if op == "region":
        return True
    row = table.get(op)
    if row is None or op in _REFUSED_OPERATORS:
        return False
    if row.kind is Kind.OPERATOR:
        return True
    return (row.kind is Kind.ELEMENTWISE and row.kernel is not None) or is_scalar_class(op)


def is_scalar_class(op: str) -> bool:
    """Whether an op is the call of a class of NumPy scalars: `numpy.float64(x)`."""
    return op in _SCALAR_CLASSES


_CLASS_NAMES = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 intp"
_SCALAR_CLASSES = frozenset(f"numpy.{name}" for name in _CLASS_NAMES.split())


def _is_steady(node: Node, graph: Graph) -> bool:
    """Whether a captured object is the same during the call, as far as a nest can see: nothing in it sets names."""
    slot = graph.captures[node.attributes["slot"]]
    return slot.guarded or slot.kind is CaptureKind.OBJECT


def _touches_elements(loop: Node) -> bool:
    """Whether an array is walked along by the loop, or there are no arrays at all."""
    moving = _moving(loop)
    has_arrays = False
    for block in loop.blocks:
        for node in block.all_nodes():
            if node.op in LOOPS and node.op == "for" and _may_be_array(node.inputs[0]):
                return True
            if node.op in ("getitem", "setitem") and _may_be_array(node.inputs[0]):
                has_arrays = True
                if node.inputs[1] in moving:
                    return True
            has_arrays |= any(isinstance(value.type, ArrayType) for value in (*node.inputs, *node.results))
    walks = loop.op == "for" and isinstance(loop.inputs[0].type, ArrayType)
    return walks or not has_arrays


def _may_be_array(value: Value) -> bool:
    return isinstance(value.type, ArrayType)


def _moving(loop: Node) -> set[Value]:
    """The values that differ between the turns of the loops of a nest."""
    moving: set[Value] = set()
    nodes = [loop, *(node for block in loop.blocks for node in block.all_nodes())]
    for node in nodes:
        if node.op in LOOPS:
            moving.update(carried_parameters(node))
            for block in node.blocks:
                moving.update(block.parameters)
        elif any(value in moving for value in node.inputs):
            moving.update(node.results)
    return moving
