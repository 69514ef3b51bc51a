"""One form for what the op table writes in several: before a graph is differentiated."""

from __future__ import annotations

import numpy as np

from gjit.ir.builder import Builder
from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.types import INT, UNKNOWN, ArrayType, DictType, ListType, ScalarType, TupleType
from gjit.ops import table
from gjit.ops.arguments import bind
from gjit.passes.methods import method_row

_ATTRIBUTES = {"T": "numpy.transpose", "mT": "numpy.matrix_transpose", "real": "numpy.real", "imag": "numpy.imag"}


def normalise(graph: Graph) -> None:
    """Rewrite the nodes of a typed graph, in place; types stay right."""
    for node in list(graph.all_nodes()):
        rule = _RULES.get(node.op)
        if rule is not None and node.block is not None:
            rule(graph, node)


def _before(graph: Graph, node: Node) -> Builder:
    return _Inserting(graph, node)


class _Inserting(Builder):
    """Adds nodes before one."""

    def __init__(self, graph: Graph, place: Node):
        super().__init__(graph, place.block)
        self.span, self._place = place.span, place

    def node(self, op, inputs=(), *, labels=(), results=1, **attributes) -> Node:
        node = Node(op, list(inputs), labels=labels, attributes=attributes, results=results, span=self.span)
        return self.block.insert(node, self._place)


def _attribute(graph: Graph, node: Node) -> None:
    """`x.T` of an array is `numpy.transpose(x)`."""
    op = _ATTRIBUTES.get(str(node.attributes["name"]))
    if op is not None and isinstance(node.inputs[0].type, ArrayType):
        node.op, node.attributes = op, {}


def _variadic(graph: Graph, node: Node) -> None:
    """`x.transpose(1, 0)` is `numpy.transpose(x, (1, 0))`, and so with `reshape`."""
    owner, *extents = node.positional()
    if len(extents) > 1:
        group = _before(graph, node).add("tuple", extents)
        group.type = TupleType((INT,) * len(extents))
        named = [(value, label) for value, label in zip(node.inputs, node.labels, strict=False) if label]
        node.labels = ("", "", *(label for _, label in named)) if named else ()
        node.set_inputs([owner, group, *(value for value, _ in named)])
    node.op = "numpy" + node.op.removeprefix("ndarray")


def _store_all(graph: Graph, node: Node, value: Value) -> None:
    builder = _before(graph, node)
    builder.node("setitem", [node.inputs[0], Constant(...), value], results=0)
    node.replace_with([Constant(None)])


def _fill(graph: Graph, node: Node) -> None:
    """`x.fill(v)` is `x[...] = v`."""
    _store_all(graph, node, node.inputs[1])


def _copyto(graph: Graph, node: Node) -> None:
    """`numpy.copyto(x, v)` is `x[...] = v`, through a mask where one is given."""
    arguments = bind(node, table[node.op].function)
    if arguments is None or not {"dst", "src", "where"} >= arguments.keys():
        return
    value = arguments["src"]
    if "where" in arguments:
        value = _before(graph, node).add("numpy.where", [arguments["where"], value, arguments["dst"]])
        value.type = node.inputs[0].type
    _store_all(graph, node, value)


def _putmask(graph: Graph, node: Node) -> None:
    """`numpy.putmask(x, mask, v)` with one number stores it where the mask holds."""
    if len(node.inputs) != 3 or any(node.labels) or isinstance(node.inputs[2].type, ArrayType):
        return
    target, mask, value = node.inputs
    _before(graph, node).node("setitem", [target, mask, value], results=0)
    node.replace_with([Constant(None)])


def _sort(graph: Graph, node: Node) -> None:
    """`x.sort()` is `x[...] = numpy.sort(x)`."""
    value = _before(graph, node).add("numpy.sort", node.inputs, labels=node.labels)
    value.type = node.inputs[0].type
    _store_all(graph, node, value)


def _partition(graph: Graph, node: Node) -> None:
    """`x.partition(k)` is `x[...] = numpy.partition(x, k)`."""
    value = _before(graph, node).add("numpy.partition", node.inputs, labels=node.labels)
    value.type = node.inputs[0].type
    _store_all(graph, node, value)


def _for(graph: Graph, node: Node) -> None:
    """A loop over the items of an array is a loop over their numbers."""
    array = node.inputs[0]
    if not isinstance(array.type, ArrayType) or not array.type.rank:
        return
    builder = _before(graph, node)
    count = builder.add("builtin.len", [array])
    numbers = builder.add("builtin.range", [count])
    count.type = INT
    node.set_input(0, numbers)
    body: Block = node.blocks[0]
    old = body.parameters[0]
    index = Value(INT, body)
    first = body.first if body.first is not None else body.terminator
    item = Node("getitem", [array, index], results=[old.type], span=node.span)
    if body.first is None:
        body.append(item)
    else:
        body.insert(item, first)
    item.result.name = old.name
    old.replace_with(item.result)
    body.parameters[0] = index


def _comprehension(graph: Graph, node: Node) -> None:
    """`[f(x) for x in xs]` is a loop that appends; a generator is made at once."""
    kind = node.attributes["kind"]
    if kind not in ("list", "generator", "dict"):
        return
    builder = _before(graph, node)
    made = builder.add("dict" if kind == "dict" else "list", [])
    made.type = DictType(UNKNOWN, UNKNOWN) if kind == "dict" else ListType(UNKNOWN)
    loop = builder.node("for", [node.inputs[0]], results=0)
    _clause(loop, node.blocks[0], made)
    node.replace_with([made])


def _clause(loop: Node, clause: Block, made: Value) -> None:
    """Move the nodes of a clause into the body of a loop."""
    body = _moved(loop, clause)
    _finish(loop, body, clause, made, "continue")
    otherwise = loop.add_block()
    otherwise.terminate(Node("yield", [], results=0, span=loop.span))


def _moved(owner: Node, clause: Block) -> Block:
    """A block of `owner` with the parameters and nodes of a clause."""
    body = owner.add_block()
    body.parameters = clause.parameters
    for value in body.parameters:
        value.producer = body
    for inner in list(clause):
        clause.detach(inner)
        body.append(inner)
    clause.parameters = []
    return body


def _finish(owner: Node, body: Block, clause: Block, made: Value, end: str) -> None:
    """What the innermost clause does with its element, or the loop or test around the next clause."""
    last = body.last
    if last is not None and last.op in ("comprehension.for", "comprehension.if"):
        inner = last.blocks.pop()
        last.op = "for" if last.op == "comprehension.for" else "if"
        nested = _moved(last, inner)
        _finish(last, nested, inner, made, "continue" if last.op == "for" else "yield")
        last.add_block().terminate(Node("yield", [], results=0, span=last.span))
    else:
        _keep(body, clause.terminator, made)
    clause.terminator.set_inputs(())
    body.terminate(Node(end, [], results=0, span=owner.span))


def _keep(body: Block, terminator: Node, made: Value) -> None:
    span = terminator.span
    if len(terminator.inputs) == 2:
        body.append(Node("setitem", [made, *terminator.inputs], results=0, span=span))
        return
    append = body.append(Node("getattr", [made], attributes={"name": "append"}, span=span))
    body.append(Node("call", [append.result, terminator.inputs[0]], span=span))


def _call(graph: Graph, node: Node) -> None:
    """A call of what is a method of arrays, on a value of which nothing is known: it has to be an array."""
    lookup = node.inputs[0].producer
    if not isinstance(lookup, Node) or lookup.op != "getattr":
        return
    if _is_constant(lookup.inputs[0], np.add) and lookup.attributes["name"] == "at" and len(node.inputs) == 4:
        node.op = "gradient.scatter"  # `numpy.add.at(target, index, value)`
        node.set_inputs(node.inputs[1:])
        return
    if lookup.inputs[0].type != UNKNOWN and not isinstance(lookup.inputs[0].type, ScalarType):
        return
    row = method_row(str(lookup.attributes["name"]))
    if row is None or is_module(lookup.inputs[0]):
        return
    checked = _before(graph, node).add("gradient.array", [lookup.inputs[0]])
    node.op = row.name
    node.set_inputs([checked, *node.inputs[1:]])
    if not lookup.result.uses:
        lookup.remove()
    rule = _RULES.get(node.op)
    if rule is not None:
        rule(graph, node)


def _is_constant(value: Value, wanted: object) -> bool:
    return isinstance(value, Constant) and value.value is wanted


def is_module(value: Value) -> bool:
    """Whether the value is a captured object, which may have methods of any name."""
    return isinstance(value.producer, Node) and value.producer.op == "capture"


_RULES = {
    "call": _call,
    "comprehension": _comprehension,
    "getattr": _attribute,
    "ndarray.transpose": _variadic,
    "ndarray.reshape": _variadic,
    "ndarray.fill": _fill,
    "numpy.copyto": _copyto,
    "numpy.putmask": _putmask,
    "ndarray.sort": _sort,
    "ndarray.partition": _partition,
    "for": _for,
}
