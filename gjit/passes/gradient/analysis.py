"""Which values a gradient passes through, which share memory, and which memory is written.

Values that may share memory, hold one another or be the same object form one class; a class is written where a node may
write the data of an array in it. Numbers are immutable and stand alone. All answers err on the safe side.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.types import ArrayType, DictType, ListType, SetType, TupleType
from gjit.ops import table
from gjit.ops.gradients import Standing, row_gradient
from gjit.ops.row import ALL_INPUTS, Kind
from gjit.ops.rules_index import item_is_view
from gjit.passes.gradient.kinds import CONTAINERS, is_inert, is_memory, is_numeric
from gjit.passes.gradient.own_ops import OWN_OPS, OwnOp

_SILENT = frozenset(
    {"builtin.len", "builtin.isinstance", "builtin.range", "builtin.print", "format", "join", "builtin.id"}
)

_SILENT_LIBRARY = frozenset(
    f"numpy.{name}"
    for name in (
        "shape",
        "ndim",
        "size",
        "iscomplexobj",
        "isrealobj",
        "isscalar",
        "result_type",
        "can_cast",
        "min_scalar_type",
    )
) | {"numpy.may_share_memory", "numpy.shares_memory", "numpy.broadcast_shapes", "numpy.promote_types"}

_FROM_OUTSIDE = frozenset({"capture", "call", "invoke", "library", "getattr"})


class Analysis:
    """Activity, memory classes and segments of one typed graph.

    Args:
        graph: typed; not changed.
        active: whether a gradient is asked for, for each parameter.
        callee_writes: whether the graph of this name may write memory that it is given.
        exposed: whether a caller may write what it gives or gets, before the reverse runs.
    """

    def __init__(
        self, graph: Graph, active: list[bool], callee_writes: Callable[[str], bool], *, exposed: bool = False
    ):
        self.graph, self._callee_writes, self._exposed = graph, callee_writes, exposed
        self._parents: dict[Value, Value] = {}
        self._written: dict[Value, Node] = {}
        self._edges: list[tuple[Value, Value]] = []
        self._active: set[Value] = set()
        self._is_tried = False  # inside a `try` or `with` every node is a segment of its own
        self._outside_keys: set[Value] | None = None
        self.segments: dict[Node, object] = {}
        self._loops: list[Node] = []
        self._returning: list[Value] = []  # the inner functions around
        self._block(graph.block)
        for value in graph.block.parameters if exposed else ():
            self._write(value, graph.block.terminator)
        for value, wanted in zip(graph.block.parameters, active, strict=True):
            if wanted:
                self._activate(value)
        self._spread()

    # Questions

    def is_active(self, value: Value) -> bool:
        """Whether a gradient may pass through the value."""
        if isinstance(value, Constant) or is_inert(value.type):
            return False
        return self._key(value) in self._active

    def written_by(self, value: Value) -> Node | None:
        """A node that may write the data of the value, or None."""
        return self._written.get(self._key(value)) if is_memory(value) else None

    def may_be_outside(self, value: Value) -> bool:
        """Whether the value may share memory with an argument, a captured value or the result of a call."""
        if self._outside_keys is None:
            nodes = [node for node in self.graph.all_nodes() if node.op in _FROM_OUTSIDE]
            found = [*self.graph.block.parameters, *(result for node in nodes for result in node.results)]
            self._outside_keys = {self._key(each) for each in found}
        return self._key(value) in self._outside_keys

    def are_one(self, left: Value, right: Value) -> bool:
        """Whether two values may share memory."""
        return is_memory(left) and is_memory(right) and self._key(left) is self._key(right)

    # Classes of memory

    def _key(self, value: Value) -> Value:
        if not is_memory(value):
            return value
        root = value
        while (parent := self._parents.get(root, root)) is not root:
            root = parent
        while (parent := self._parents.get(value, value)) is not root:
            self._parents[value], value = root, parent
        return root

    def _link(self, left: Value, right: Value) -> None:
        if is_memory(left) and is_memory(right):
            first, second = self._key(left), self._key(right)
            if first is not second:
                self._parents[second] = first
                if second in self._written:
                    self._written.setdefault(first, self._written[second])

    def _flow(self, source: Value, target: Value) -> None:
        self._link(source, target)
        self._edges.append((source, target))

    def _write(self, target: Value, node: Node) -> None:
        if is_memory(target):
            self._written.setdefault(self._key(target), node)

    # Activity

    def _activate(self, value: Value) -> bool:
        key = self._key(value)
        if isinstance(value, Constant) or key in self._active or (is_inert(value.type) and not is_memory(value)):
            return False
        self._active.add(key)
        return True

    def _spread(self) -> None:
        self._active = {self._key(value) for value in self._active}
        changed = True
        while changed:
            changed = False
            for source, target in self._edges:
                if self.is_active(source):
                    changed |= self._activate(target)

    # The walk over the graph

    def _block(self, block: Block) -> None:
        segment: object = block
        for node in block:
            if node.blocks:
                _WALKS.get(node.op, Analysis._any_blocks)(self, node)
                segment = node
            else:
                self.segments[node] = (block, node if self._is_tried else segment)
                self._simple(node)
        if block.terminator.op == "return":
            self._return(block.terminator)

    def _return(self, node: Node) -> None:
        if self._returning:
            self._flow(node.inputs[0], self._returning[-1])
        elif self._exposed:
            self._write(node.inputs[0], node)

    def _simple(self, node: Node) -> None:
        if is_silent(node):
            return
        if node.op in OWN_OPS:
            self._own(node, OWN_OPS[node.op])
            return
        gradient = row_gradient(node.op)
        if is_numeric(node):
            self._numeric(node, silent=gradient is not None and gradient.standing is Standing.ZERO)
        elif node.op == "setitem":
            target, _, value = node.inputs
            self._edges.append((value, target))
            if not isinstance(target.type, ArrayType):  # an array copies what is stored in it
                self._link(value, target)
            if not isinstance(target.type, CONTAINERS):
                self._write(target, node)
        elif node.op == "getitem":
            self._item(node)
        elif node.op == "invoke":
            self._call(node, self._callee_writes(str(node.attributes["function"])))
        elif node.op == "call":
            self._call(node, not _is_method_of_container(node))
        else:
            row = table.get(node.op)
            is_own = node.op.startswith("gradient.")
            self._call(node, row is None or (row.kind is Kind.LIBRARY and not is_own))

    def _own(self, node: Node, own: OwnOp) -> None:
        for index in own.links:
            self._link(node.inputs[index], node.result)
        self._edges += [(node.inputs[index], node.result) for index in own.flows]
        if own.written is not None:
            target = node.inputs[own.written]
            self._write(target, node)
            self._edges += [(node.inputs[index], target) for index in own.sources]

    def _item(self, node: Node) -> None:
        owner = node.inputs[0]
        if item_is_view(node):
            self._flow(owner, node.result)
        self._edges.append((owner, node.result))

    def _numeric(self, node: Node, silent: bool) -> None:
        (result,) = node.results
        for value in node.inputs:
            if not silent:
                self._edges.append((value, result))
        for value in viewed(node):
            self._link(value, result)
        for value in written(node):
            self._write(value, node)
            self._link(value, result)
            for other in node.inputs:
                if other is not value:
                    self._edges.append((other, value))

    def _call(self, node: Node, writes: bool) -> None:
        """Anything may become part of anything else."""
        parts = [value for value in (*node.inputs, *node.results) if is_memory(value)]
        for value in node.inputs:
            self._edges += [(value, target) for target in (*node.results, *parts[:1])]
        for value in parts:
            self._link(parts[0], value)
            self._edges += [(value, result) for result in node.results]
            if writes:
                self._write(value, node)

    # Nodes with blocks

    def _if(self, node: Node) -> None:
        for block in node.blocks:
            self._block(block)
            if block.terminator.op == "yield":
                self._pass(block.terminator.inputs, node.results)
            self._leave(block)

    def _pass(self, sources: list[Value], *targets: list[Value]) -> None:
        for values in targets:
            for source, target in zip(sources, values, strict=True):
                self._flow(source, target)

    def _leave(self, block: Block) -> None:
        """`continue` and `break` hand carried values on."""
        end = block.terminator
        if end.op not in ("continue", "break") or not self._loops:
            return
        loop = self._loops[-1]
        if end.op == "break":
            self._pass(end.inputs, loop.results)
        else:
            self._pass(end.inputs, *(carried_parameters(loop, inner) for inner in loop.blocks))

    def _loop(self, node: Node) -> None:
        *first, otherwise = node.blocks
        initial = node.inputs[1:] if node.op == "for" else node.inputs
        self._pass(initial, *(carried_parameters(node, block) for block in node.blocks))
        if node.op == "for":
            self._flow(node.inputs[0], node.blocks[0].parameters[0])
        else:
            self._block(first[0])
            self._pass(first[0].terminator.inputs[1:], first[1].parameters, otherwise.parameters)
        self._loops.append(node)
        self._block(first[-1])
        self._leave(first[-1])
        self._loops.pop()
        self._block(otherwise)
        if otherwise.terminator.op == "yield":
            self._pass(otherwise.terminator.inputs, node.results)
        self._leave(otherwise)

    def _shortcut(self, node: Node) -> None:
        self._flow(node.inputs[0], node.result)
        self._block(node.blocks[0])
        self._pass(node.blocks[0].terminator.inputs, node.results)

    def _function(self, node: Node) -> None:
        """Its parameters and what it returns are of one class with the function, as the arguments of its calls are."""
        body = node.blocks[0]
        outer, self._loops = self._loops, []
        for value in (*body.parameters, *node.inputs):
            self._flow(node.result, value)
            self._flow(value, node.result)
        self._returning.append(node.result)
        self._block(body)
        self._returning.pop()
        self._loops = outer

    def _tried(self, node: Node) -> None:
        outer, self._is_tried = self._is_tried, True
        self._any_blocks(node)
        self._is_tried = outer

    def _any_blocks(self, node: Node) -> None:
        for block in node.blocks:
            for value in block.parameters:
                for source in node.inputs:
                    self._flow(source, value)
            self._block(block)
            self._leave(block)
            for source in block.terminator.inputs if block.terminator.op == "yield" else ():
                for result in node.results:
                    self._flow(source, result)


_WALKS = {
    "if": Analysis._if,
    "for": Analysis._loop,
    "while": Analysis._loop,
    "function": Analysis._function,
    "try": Analysis._tried,
    "with": Analysis._tried,
    "and": Analysis._shortcut,
    "or": Analysis._shortcut,
}


def is_silent(node: Node) -> bool:
    """Whether a node tells nothing of the data of its operands."""
    if node.op == "getattr":
        return node.attributes["name"] in ("shape", "ndim", "dtype", "size", "itemsize")
    return node.op in _SILENT or (node.op == "library" and node.attributes["function"] in _SILENT_LIBRARY)


def carried_parameters(loop: Node, block: Block) -> list[Value]:
    """The parameters of a block of a loop that stand for its carried values."""
    return block.parameters[1:] if loop.op == "for" and block is loop.blocks[0] else block.parameters


def viewed(node: Node) -> Iterator[Value]:
    """The operands of a numeric node that its result may share memory with."""
    row = table[node.op]
    shares = row.is_view is None or row.is_view(node)
    positions = range(len(node.inputs)) if row.views is ALL_INPUTS else row.views
    for index in positions if shares else ():
        if index < len(node.inputs):
            yield node.inputs[index]


def written(node: Node) -> Iterator[Value]:
    """The operands that a numeric node writes."""
    row = table[node.op]
    for index, value in enumerate(node.inputs):
        positional_output = row.function is not None and hasattr(row.function, "nin") and index >= row.function.nin
        if index in row.writes or node.label(index) == "out=" or (positional_output and not node.label(index)):
            yield value


def _is_method_of_container(node: Node) -> bool:
    lookup = node.inputs[0].producer
    if not isinstance(lookup, Node) or lookup.op != "getattr":
        return False
    return isinstance(lookup.inputs[0].type, ListType | DictType | SetType | TupleType)
