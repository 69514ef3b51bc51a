"""Programs that run on a device with NumPy arrays: before the host looks at elements, they are brought to it.

What regions make and write stays on the device. Where another node reads or writes memory, a `settle` node goes before
it. Nothing has to be known for that: where types do not tell what a node touches, the values are asked when it runs,
and before code that may touch anything everything is brought to the host.
"""

from __future__ import annotations

from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.types import (
    BOOL,
    BYTES,
    COMPLEX,
    DTYPE,
    FLOAT,
    FUNCTION,
    INT,
    NONE,
    RANGE,
    SLICE,
    STR,
    UNKNOWN,
    ArrayType,
    ListType,
    ScalarType,
    TupleType,
)
from gjit.ops.effects import output_inputs
from gjit.ops.row import Effect, Kind, effects_of, table

READ, WRITTEN, COPIED, ALL = "settle", "settle_written", "settle_copied", "settle_all"
CALL, ATTRIBUTE = "settle_call", "settle_attribute"
"""What a `settle` node does, by the name of the function of the runtime."""

_FREE = frozenset({BOOL, INT, FLOAT, COMPLEX, STR, BYTES, NONE, RANGE, SLICE, DTYPE, FUNCTION})
_WORDS = """
region cell load store delete capture capture.store function tuple list dict set slice invoke settle while try scripted
builtin.len builtin.isinstance builtin.issubclass builtin.id builtin.type builtin.callable builtin.range
builtin.enumerate builtin.zip builtin.slice numpy.shape numpy.ndim numpy.size numpy.zeros_like numpy.ones_like
numpy.empty_like operator.is operator.is_not
"""
_NOTHING = frozenset(_WORDS.split())
"""Nodes that touch no element by themselves."""
_COPIES = frozenset({"numpy.reshape", "ndarray.reshape", "numpy.ravel", "ndarray.ravel"})
_EXPRESSIONS = frozenset({"comprehension", "comprehension.for", "comprehension.if", "and", "or"})
_ITERABLES = ListType | TupleType


_LIBRARY = {
    "operator.matmul": "device_matmul",
    "numpy.matmul": "device_matmul",
    "numpy.dot": "device_dot",
    "ndarray.dot": "device_dot",
}
"""Ops that the library of the device runs, and the function of the runtime that asks it."""


def settle_reads(graphs: dict[str, Graph]) -> None:
    """Put `settle` nodes into all the graphs of a plan, in which regions have been formed."""
    for graph in graphs.values():
        _use_library(graph)
    waiting = {name for name, graph in graphs.items() if _is_generator(graph)}
    for graph in graphs.values():
        waiting |= _invoked_in_expressions(graph)
    for name, graph in graphs.items():
        _Settler(graphs, is_settled=name in waiting, is_immediate=_is_generator(graph)).block(graph.block)


def _use_library(graph: Graph) -> None:
    for node in list(graph.all_nodes()):
        name = _LIBRARY.get(node.op)
        is_plain = len(node.inputs) == 2 and not node.labels
        if name is None or not is_plain or not all(isinstance(value.type, ArrayType) for value in node.inputs):
            continue
        types = [value.type for value in node.results]
        there = Node("settle", node.inputs, attributes={"how": name}, results=types, span=node.span)
        node.block.insert(there, node)
        node.replace_with(there.results)


def _is_generator(graph: Graph) -> bool:
    return any(node.op in ("suspend", "suspend.from") for node in graph.all_nodes())


def _invoked_in_expressions(graph: Graph) -> set[str]:
    """The graphs that are called where no statement can stand behind the call."""
    owners = [node for node in graph.all_nodes() if node.op in _EXPRESSIONS]
    inner = (each for owner in owners for block in owner.blocks for each in block.all_nodes())
    return {each.attributes["function"] for each in inner if each.op == "invoke"}


class _Settler:
    """Walks one graph.

    is_settled    whether results are on the host when the function returns
    is_immediate  whether they are after each region: what runs in between is not known
    """

    def __init__(self, graphs: dict[str, Graph], is_settled: bool, is_immediate: bool):
        self.graphs, self.is_settled, self.is_immediate = graphs, is_settled, is_immediate

    def block(self, block: Block) -> None:
        for node in list(block):
            self._node(node)
        if block.terminator is not None:
            self._terminator(block.terminator)

    def _node(self, node: Node) -> None:
        if node.op == "region":
            if self.is_immediate:
                _insert(ALL, (), node.block, node.next, node)
            return
        if node.op in _EXPRESSIONS:
            self._expression(node)
            return
        how, values = self._needs(node)
        if how:
            _insert(how, values, node.block, node, node)
        self._blocks(node)

    def _blocks(self, node: Node) -> None:
        if node.op == "function":
            _Settler(self.graphs, is_settled=True, is_immediate=self.is_immediate).block(node.blocks[0])
        elif node.op == "with":
            _Settler(self.graphs, self.is_settled, is_immediate=True).block(node.blocks[0])
        else:
            for block in node.blocks:
                self.block(block)

    def _expression(self, node: Node) -> None:
        """All that the nodes inside need, before it begins."""
        inner = [each for block in node.blocks for each in block.all_nodes() if not each.is_terminator]
        needs = [self._needs(each) for each in inner if each.op not in _EXPRESSIONS]
        needs.append((READ, tuple(node.inputs)))
        known = dict.fromkeys(value for _, values in needs for value in values if _is_before(value, node))
        if all(how in ("", READ, COPIED) for how, _ in needs) and node.op in ("and", "or"):
            _settle_values(READ, list(known), node)
        else:
            _insert(ALL, (), node.block, node, node)

    def _terminator(self, end: Node) -> None:
        if end.op == "condition":
            _settle_values(READ, end.inputs[:1], end, before=None)
        elif self._is_end(end):
            _insert(ALL, (), end.block, None, end)

    def _is_end(self, end: Node) -> bool:
        """Whether code that is not known runs behind a terminator."""
        if end.op in ("raise", "reraise") or (end.op == "return" and self.is_settled):
            return True
        return end.op == "continue" and _iterates_over_unknown(_loop_of(end))

    # What a node needs

    def _needs(self, node: Node) -> tuple[str, tuple[Value, ...]]:
        """What has to be done before a node, and for which values; an empty text for nothing."""
        op = node.op
        if op == "invoke":
            return (ALL, ()) if _is_generator(self.graphs[node.attributes["function"]]) else ("", ())
        if op in _NOTHING and not any("*" in label for label in node.labels):
            return "", ()
        if op in ("for", "if"):
            return _loop_needs(node) if op == "for" else _reads(READ, node.inputs)
        if op in ("getattr", "setattr", "delattr"):
            return _attribute_needs(node)
        if op in ("unpack", "format", "join", "getitem") or op in _COPIES:
            return _item_needs(node)
        return _call_needs(node)


def _call_needs(node: Node) -> tuple[str, tuple[Value, ...]]:
    if node.op == "call":
        return CALL, tuple(node.inputs)
    row = table.get(node.op)
    if row is None or row.kind is Kind.CONTROL:
        return ALL, ()
    effects = effects_of(node)
    if node.op == "setitem" or node.op == "delitem" or _is_in_place(node):
        return _reads(WRITTEN, node.inputs)
    if effects & Effect.WRITES or output_inputs(node) != []:
        return _reads(WRITTEN, node.inputs)
    is_reading = bool(effects & (Effect.READS | Effect.ORDERED))
    return _reads(READ, node.inputs) if is_reading else ("", ())


def _is_in_place(node: Node) -> bool:
    return node.op.startswith("operator.i") and node.op not in ("operator.invert", "operator.is", "operator.in")


def _item_needs(node: Node) -> tuple[str, tuple[Value, ...]]:
    if node.op == "getitem" and not effects_of(node) & Effect.READS:
        return "", ()
    return _reads(COPIED if node.op in _COPIES else READ, node.inputs)


def _attribute_needs(node: Node) -> tuple[str, tuple[Value, ...]]:
    """An attribute of an array that is no number and no view leads to its memory; one of an object may be a property,
    which is asked when the node runs."""
    type_ = node.inputs[0].type
    if isinstance(type_, ArrayType):
        is_known = node.op == "getattr" and node.results[0].type != UNKNOWN
        return ("", ()) if is_known or node.op == "setattr" else (ALL, ())
    if type_ != UNKNOWN and node.op == "getattr":
        return "", ()
    return ATTRIBUTE, (node.inputs[0], Constant(str(node.attributes["name"])))


def _loop_needs(node: Node) -> tuple[str, tuple[Value, ...]]:
    return (ALL, ()) if _iterates_over_unknown(node) else ("", ())


def _iterates_over_unknown(loop: Node) -> bool:
    if loop.op != "for":
        return False
    type_ = loop.inputs[0].type
    return type_ != RANGE and not isinstance(type_, _ITERABLES)


def _loop_of(end: Node) -> Node:
    block = end.block
    while True:
        owner = block.owner
        assert isinstance(owner, Node)
        if owner.op in ("for", "while") and owner.blocks[-1] is not block:
            return owner
        block = owner.block


def _reads(how: str, values: list[Value]) -> tuple[str, tuple[Value, ...]]:
    touching = tuple(value for value in values if _may_touch(value))
    return (how, touching) if touching else ("", ())


def _may_touch(value: Value) -> bool:
    return not isinstance(value, Constant) and value.type not in _FREE and not isinstance(value.type, ScalarType)


def _is_before(value: Value, node: Node) -> bool:
    """Whether a value was there before a node with blocks."""
    home = value.producer.block if isinstance(value.producer, Node) else value.producer
    block = node.block
    while home is not None:
        if block is home:
            return True
        if block is None or not isinstance(block.owner, Node):
            return False
        block = block.owner.block
    return False


_HERE = object()


def _settle_values(how: str, values: list[Value], node: Node, before: object = _HERE) -> None:
    how, touching = _reads(how, values)
    if how:
        _insert(how, touching, node.block, node if before is _HERE else None, node)


def _insert(how: str, values: tuple[Value, ...], block: Block | None, before: Node | None, owner: Node) -> None:
    assert block is not None
    block.insert(Node("settle", list(dict.fromkeys(values)), attributes={"how": how}, span=owner.span), before)
