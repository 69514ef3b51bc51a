"""Put a loop nest into a region: with what makes its iterable, its results, what it returns, the variables it sets."""

from __future__ import annotations

from collections.abc import Iterator

from gjit.ir.graph import Block, Constant, Node, Value
from gjit.ir.types import BOOL, PYTHON_NUMBERS, UNKNOWN, TupleType, Type
from gjit.scheduler.nest_cells import cells_of, last_values, make_own, set_after

_ITERABLES = frozenset({"builtin.range", "builtin.enumerate", "builtin.zip"})
_PARTS = frozenset({"builtin.range", "tuple", "slice"})


def make_nest(loop: Node, index: int) -> Node:
    """Put a `region` node in the place of the loop, which moves into its block."""
    outside = loop.block
    region = Node("region", attributes={"index": index, "nest": True}, results=[], span=loop.span)
    body = region.add_block()
    kept = make_own(cells_of(loop), loop, body)
    _take_along(loop, body)
    outside.insert(region, loop)
    body.append(outside.detach(loop))
    used = [value for value in loop.results if value.uses]
    variables = last_values(kept, body)
    _connect(region, body)
    _give_results(region, body, used, variables)
    return region


def _connect(region: Node, body: Block) -> None:
    """Make what the block reads from outside inputs of the region."""
    mapping = {value: body.add_parameter(value.type, value.name) for value in _free_values(body)}
    region.set_inputs(list(mapping))
    for node in body.all_nodes():
        if any(value in mapping for value in node.inputs):
            node.set_inputs([mapping.get(value, value) for value in node.inputs])


def _give_results(region: Node, body: Block, used: list[Value], variables: list[tuple[Value, Value]]) -> None:
    """End the block of a nest with results of the loop that are used, and with values that variables have to get."""
    following = region.next
    inner = [*used, *(value for _, value in variables)]
    ends = [node for node in body.all_nodes() if node.op == "return"]
    outer = _items(inner, ends, region) if ends else _results(inner, region)
    for value, result in zip(used, outer, strict=False):
        value.replace_with(result)
    for (cell, _), result in zip(variables, outer[len(used) :], strict=True):
        set_after(cell, result, region.block, following, region)
    for end in ends:
        end.set_inputs([_tuple(end.block, [Constant(True), *end.inputs], end)])
    given = [_tuple(body, [Constant(False), *inner], region)] if ends else inner
    body.terminate(Node("yield", given, results=0, span=region.span))


def _results(inner: list[Value], region: Node) -> list[Value]:
    region.results += [Value(value.type, region, value.name) for value in inner]
    return region.results


def _items(inner: list[Value], ends: list[Node], region: Node) -> list[Value]:
    """In a nest, `return` ends the region with a tuple of True and the value; its own end gives False and results.

    What stands after the region: the return, then the items that the results are.
    """
    result, outside, following = Value(TupleType(None), region), region.block, region.next
    region.results.append(result)

    def item(place: int, type_: Type, block: Block, before: Node | None) -> Value:
        node = Node("getitem", [result, Constant(place)], results=[type_], span=region.span)
        return block.insert(node, before).result

    returned = Node("if", [item(0, BOOL, outside, following)], results=[], span=ends[0].span)
    outside.insert(returned, following)
    then, otherwise = returned.add_block(), returned.add_block()
    then.terminate(Node("return", [item(1, UNKNOWN, then, None)], results=0, span=ends[0].span))
    otherwise.terminate(Node("yield", results=0, span=region.span))
    items = [item(place, value.type, outside, following) for place, value in enumerate(inner, 1)]
    for value, taken in zip(inner, items, strict=True):
        taken.name = value.name
    return items


def _tuple(block: Block, values: list[Value], at: Node) -> Value:
    return block.append(Node("tuple", values, results=[TupleType(None)], span=at.span)).result


def _take_along(loop: Node, body: Block) -> None:
    """Move what makes the iterable, and copy tuples, slices and ranges: they have no use as objects."""
    iterables = list(_movable_iterables(loop, loop)) if loop.op == "for" else []
    for iterable in iterables:
        body.append(loop.block.detach(iterable))
    anchor = iterables[0] if iterables else None
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
