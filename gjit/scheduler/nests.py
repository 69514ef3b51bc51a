"""Loop nests: loops over array elements and over slices that move with the loop become one region each.

A nest is a `region` node with the attribute `nest`; its block holds one loop. An engine that compiles nests runs it as
native code, and whatever the native code cannot do is done by the twin: the loop, printed as Python.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from gjit.ir.graph import Block, CaptureKind, Constant, Graph, Node, Value
from gjit.ir.types import BOOL, PYTHON_NUMBERS, UNKNOWN, ArrayType, TupleType, Type
from gjit.ops.row import Kind, table
from gjit.scheduler.flow import LOOPS, carried_parameters
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
_ITERABLES = frozenset({"builtin.range", "builtin.enumerate", "builtin.zip"})
_PARTS = frozenset({"builtin.range", "tuple", "slice"})


@dataclass(frozen=True, slots=True)
class Obstacle:
    """What keeps a loop on the host: the node, and why in words."""

    node: Node
    reason: str


def is_nest(node: Node) -> bool:
    """Whether a node is a region that holds a loop nest."""
    return node.op == "region" and bool(node.attributes.get("nest"))


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
                _make_nest(node, first + count)
                count += 1
            elif not is_loop_region(node):
                waiting.extend(reversed(node.blocks))
    return count


def obstacle(loop: Node, functions: dict[str, Graph], graph: Graph) -> Obstacle | None:
    """What keeps a loop from becoming a nest, or None."""
    found = next(_obstacles(loop, functions, graph, ()), None)
    if found is not None:
        return found
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


def _make_nest(loop: Node, index: int) -> Node:
    """Put a `region` node in the place of the loop, which moves into its block."""
    outside = loop.block
    region = Node("region", attributes={"index": index, "nest": True}, results=[], span=loop.span)
    body = region.add_block()
    _take_along(loop, body)
    outside.insert(region, loop)
    body.append(outside.detach(loop))
    mapping: dict[Value, Value] = {}
    for value in _free_values(body):
        parameter = body.add_parameter(value.type, value.name)
        mapping[value] = parameter
    region.set_inputs(list(mapping))
    for node in body.all_nodes():
        if any(value in mapping for value in node.inputs):
            node.set_inputs([mapping.get(value, value) for value in node.inputs])
    _give_results(loop, region, body)
    return region


def _give_results(loop: Node, region: Node, body: Block) -> None:
    used = [value for value in loop.results if value.uses]
    ends = [node for node in body.all_nodes() if node.op == "return"]
    if ends:
        _give_tuples(used, ends, region, body)
        return
    for value in used:
        result = Value(value.type, region, value.name)
        region.results.append(result)
        value.replace_with(result)
    body.terminate(Node("yield", used, results=0, span=loop.span))


def _give_tuples(used: list[Value], ends: list[Node], region: Node, body: Block) -> None:
    """In a nest, `return` ends the region with a tuple of True and the value; its own end gives False and results."""
    result, outside, following = Value(TupleType(None), region), region.block, region.next
    region.results.append(result)

    def item(place: int, type_: Type, block: Block, before: Node | None) -> Value:
        node = Node("getitem", [result, Constant(place)], results=[type_], span=region.span)
        return block.insert(node, before).result

    returned = Node("if", [item(0, BOOL, outside, following)], results=[], span=region.span)
    outside.insert(returned, following)
    then, otherwise = returned.add_block(), returned.add_block()
    then.terminate(Node("return", [item(1, UNKNOWN, then, None)], results=0, span=region.span))
    otherwise.terminate(Node("yield", results=0, span=region.span))
    for place, value in enumerate(used, 1):
        taken = item(place, value.type, outside, following)
        taken.name = value.name
        value.replace_with(taken)
    for end in ends:
        end.set_inputs([_tuple(end.block, [Constant(True), *end.inputs], end)])
    body.terminate(Node("yield", [_tuple(body, [Constant(False), *used], region)], results=0, span=region.span))


def _tuple(block: Block, values: list[Value], at: Node) -> Value:
    return block.append(Node("tuple", values, results=[TupleType(None)], span=at.span)).result


def _take_along(loop: Node, body: Block) -> None:
    """Move what makes the iterable, and copy tuples, slices and ranges: they have no use as objects."""
    iterables = list(_movable_iterables(loop, loop)) if loop.op == "for" else []
    for iterable in iterables:
        body.append(loop.block.detach(iterable))
    anchor = body.first
    inside = dict.fromkeys(body)
    inside.update(dict.fromkeys([loop, *(node for block in loop.blocks for node in block.all_nodes())]))
    copies = _Copies(body, anchor, inside)
    for node in inside:
        node.set_inputs([copies.of(value) for value in node.inputs])
    copies.remove_unused()


def _movable_iterables(user: Node, loop: Node) -> Iterator[Node]:
    """The `enumerate`, `zip` and `range` that only this node and in the end the loop read, inner ones first."""
    for value in user.inputs[:1] if user is loop else user.inputs:
        iterable = value.producer
        if isinstance(iterable, Node) and iterable.result.uses == {user: 1} and _is_free_to_move(iterable, loop):
            yield from _movable_iterables(iterable, loop)
            yield iterable


def _is_free_to_move(iterable: Node, loop: Node) -> bool:
    """Whether nothing between an iterable and the loop can tell in which order they run."""
    if iterable.op not in _ITERABLES or iterable.block is not loop.block:
        return False
    node = iterable.next
    while node is not loop:
        if node is None or node.op not in ("tuple", "slice", "capture", *_ITERABLES):
            return False
        node = node.next
    return iterable.op != "builtin.range" or all(value.type in PYTHON_NUMBERS for value in iterable.inputs)


class _Copies:
    """Copies of tuples, slices and ranges, at the start of the block of a nest."""

    def __init__(self, body: Block, anchor: Node | None, inside: dict[Node, None]):
        self.body, self.anchor, self.inside = body, anchor, inside
        self.made: dict[Value, Value] = {}

    def of(self, value: Value) -> Value:
        """The copy of a value, or the value itself where it is no such part."""
        if value in self.made or not self._is_part(value):
            return self.made.get(value, value)
        node = value.producer
        inputs = [self.of(each) for each in node.inputs]
        copy = Node(node.op, inputs, attributes=dict(node.attributes), results=[value.type], span=node.span)
        self.body.insert(copy, self.anchor)
        self.made[value] = copy.result
        copy.result.name = value.name
        return copy.result

    def _is_part(self, value: Value) -> bool:
        node = value.producer
        if not isinstance(node, Node) or node in self.inside or node.op not in _PARTS or any(node.labels):
            return False
        return node.op != "builtin.range" or all(each.type in PYTHON_NUMBERS for each in node.inputs)

    def remove_unused(self) -> None:
        """Drop the originals that nothing reads any more."""
        for value in reversed(list(self.made)):
            if not value.uses:
                value.producer.remove()


def _free_values(body: Block) -> list[Value]:
    """The values from outside that the nodes of a block read, in the order of their first use."""
    made = {result for node in body.all_nodes() for result in node.results}
    made.update(value for node in body.all_nodes() for block in node.blocks for value in block.parameters)
    found: dict[Value, None] = {}
    for node in body.all_nodes():
        for value in node.inputs:
            if value not in made and not isinstance(value, Constant):
                found[value] = None
    return list(found)
