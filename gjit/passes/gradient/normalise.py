"""One form for what the op table writes in several: before a graph is differentiated."""

from __future__ import annotations

from gjit.ir.builder import Builder
from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.types import INT, ArrayType, TupleType
from gjit.ops.arguments import bind
from gjit.ops import table

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


def _transpose(graph: Graph, node: Node) -> None:
    """`x.transpose(1, 0)` is `numpy.transpose(x, (1, 0))`."""
    owner, *axes = node.inputs
    if len(axes) > 1:
        builder = _before(graph, node)
        group = builder.add("tuple", axes)
        group.type = TupleType((INT,) * len(axes))
        node.labels = ()
        node.set_inputs([owner, group])
    node.op = "numpy.transpose"


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


_RULES = {
    "getattr": _attribute,
    "ndarray.transpose": _transpose,
    "ndarray.fill": _fill,
    "numpy.copyto": _copyto,
    "numpy.putmask": _putmask,
    "ndarray.sort": _sort,
    "for": _for,
}
