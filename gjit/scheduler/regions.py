"""Region formation: maximal runs of fusible nodes become `region` nodes.

Order in a block is meaning, so a region is a run of neighbours. Only a node that nobody can observe (a view of a
proven array, metadata, Python arithmetic that cannot fail) is moved out of the way, above the region.
"""

from __future__ import annotations

from collections.abc import Iterator

from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.types import PYTHON_NUMBERS, UNKNOWN, ArrayType, ScalarType
from gjit.scheduler.bases import is_likely_disturbed
from gjit.scheduler.dying import dies_on_the_right, may_be_temporary, writes_left_at_most
from gjit.scheduler.evidence import is_array, is_evidence, leads_to_evidence, may_join
from gjit.scheduler.fusible import (
    REDUCING,
    WIDE,
    Form,
    Operation,
    is_number_arithmetic,
    may_be_alias,
    operation_of,
    total_is_exact,
)
from gjit.scheduler.movable import is_basic_index, is_movable
from gjit.scheduler.reductions import REDUCTIONS
from gjit.scheduler.single import pays_alone
from gjit.scheduler.turns import is_loop_region

_EXPRESSIONS = frozenset({"comprehension", "comprehension.for", "comprehension.if", "and", "or"})
"""Nodes that the host program prints as expressions, blocks and all."""


def form_regions(graph: Graph, first: int = 0, *, is_wide: bool = False, takes_single: bool = False) -> int:
    """Replace the runs of fusible nodes in every block of `graph` by `region` nodes; how many there are.

    With `is_wide` they are for an engine that compiles them: reductions along any axes, with what uses their results,
    and single operations for which NumPy is slow; with `takes_single` any single operation.

    A region has the values it needs from outside as inputs, one block with the same nodes, a `yield` of
    those results that are used outside, and the attribute `index`, its number in the graph, from `first` on.
    """
    former = _Former(graph, first, is_wide, takes_single)
    for block in _statement_blocks(graph.block):
        former.run(block)
    return former.count - first


def form_regions_in(block: Block, graph: Graph) -> None:
    """The same for one block, which is not part of the graph, but refers to its captures."""
    former = _Former(graph, 0, is_wide=False, takes_single=False)
    for each in _statement_blocks(block):
        former.run(each)


def _statement_blocks(block: Block) -> list[Block]:
    """This block and those in it that the host program prints as statements."""
    found, stack = [], [block]
    while stack:
        block = stack.pop()
        found.append(block)
        for node in block:
            stack.extend(reversed(statement_blocks_of(node)))
    return found


def statement_blocks_of(node: Node) -> list[Block]:
    """The blocks of a node that the host program prints as statements; a loop over whole arrays is closed."""
    if node.op == "try":
        return [*node.blocks[:3], *node.blocks[4::2]]
    if node.op == "match":
        return [*node.blocks[1:-1:2], node.blocks[-1]]
    return [] if node.op in _EXPRESSIONS or is_loop_region(node) else node.blocks


class _Former:
    """Walks one block after the other.

    members   the run that is being collected
    scalars   those of them that compute with scalars alone; `evidence` those that most likely compute with arrays
    results   of the members; `totals` those that are reduced to one scalar
    of_rows   values made from row reductions, which alone get new axes inside a region
    """

    def __init__(self, graph: Graph, first: int, is_wide: bool, takes_single: bool):
        self.graph = graph
        self.is_wide, self.takes_single = is_wide, takes_single
        self.count = first
        self.members: list[Node] = []
        self.scalars: set[Node] = set()
        self.evidence: set[Node] = set()
        self.results: set[Value] = set()
        self.totals: set[Value] = set()
        self.of_rows: set[Value] = set()

    def run(self, block: Block) -> None:
        for node in block:
            operation = operation_of(node)
            is_number = bool(node.inputs) and all(value.type in PYTHON_NUMBERS for value in node.inputs)
            if is_number and self._can_move_above(node):
                self._move_above(node)
            elif operation is not None and self._joins(node, operation):
                self._join(node, operation)
            elif self._can_move_above(node):
                self._move_above(node)
            else:
                self._close()
                if operation is not None and self._joins(node, operation):
                    self._join(node, operation)
        self._close()

    def _joins(self, node: Node, operation: Operation) -> bool:
        if self._reuses_outside(node):
            return False
        if not self.is_wide and (operation.form in WIDE or any(value in self.totals for value in node.inputs)):
            return False
        if operation.form is Form.STORE:
            target, index, value = operation.operands
            is_outside = is_array(target) and target not in self.results
            return is_outside and value in self.results and is_basic_index(index)
        if operation.form is Form.VIEW:
            return operation.operands[0] in (self.results if self.is_wide else self.of_rows)
        if may_be_alias(operation, node):
            return operation.operands[0] in self.results
        if operation.out is not None:
            return is_array(operation.out) and not self._disturbs(node, operation.out)
        if operation.form in REDUCING:
            return all(map(is_array, operation.operands)) and (self.is_wide or _is_reducible(operation, node))
        if any(map(is_array, operation.operands)) or self._joins_unknown(node, operation):
            return True
        return bool(self.members) and _is_scalar_arithmetic(operation, node)

    def _joins_unknown(self, node: Node, operation: Operation) -> bool:
        """Whether operands of unknown type most likely are arrays: made in the region, or there is evidence."""
        if not may_join(operation):
            return False
        if any(value.type == UNKNOWN and value in self.results for value in operation.operands):
            return True
        return is_evidence(node, operation) or leads_to_evidence(node)

    def _disturbs(self, node: Node, out: Value) -> bool:
        """Whether an in-place operator most likely writes what other members read: tiles cannot be written then."""
        if out in self.results:
            return False
        read = [value for member in [*self.members, node] for value in member.inputs if value not in self.results]
        return is_likely_disturbed(out, [value for value in read if is_array(value)])

    def _reuses_outside(self, node: Node) -> bool:
        """Whether NumPy may write the sum or product into an operand that is no part of the region: it does so only
        where that has no name, as in the user's program, and the host program has a name for each input."""
        if not dies_on_the_right(node):
            return False
        left, right = node.inputs
        if right in self.results and (left in self.results or not may_be_temporary(left)):
            return False
        return not writes_left_at_most(node)

    def _join(self, node: Node, operation: Operation) -> None:
        self.members.append(node)
        self.results.update(node.results)
        if dies_on_the_right(node) and node.inputs[0] not in self.results and may_be_temporary(node.inputs[0]):
            node.inputs[1].name = "right"  # nor is it to be written into where the left one has got a name
        if _is_scalar_arithmetic(operation, node):
            self.scalars.add(node)
        if is_evidence(node, operation):
            self.evidence.add(node)
        if operation.form is Form.ROWS or any(value in self.of_rows for value in operation.operands):
            self.of_rows.update(node.results)
        if operation.form in (Form.TOTAL, Form.REDUCE):
            self.totals.update(node.results)
        if operation.form is Form.STORE:
            self._close()

    def _can_move_above(self, node: Node) -> bool:
        if not self.members or any(value in self.results for value in node.inputs):
            return False
        return is_movable(node, self.graph)

    def _move_above(self, node: Node) -> None:
        block = node.block
        block.insert(block.detach(node), self.members[0])

    def _close(self) -> None:
        """Make a region of the members; arithmetic of scalars after the last array stays behind it."""
        while self._keep_temporaries_outside() or self._keep_aliases_outside():
            pass
        while self.members and (self.members[-1] in self.scalars or self.members[-1].op == "getitem"):
            self.members.pop()
        if not self.evidence.isdisjoint(self.members) and self._is_worth_it():
            make_region(self.members, {"index": self.count})
            self.count += 1
        self.members, self.scalars, self.evidence = [], set(), set()
        self.results, self.totals, self.of_rows = set(), set(), set()

    def _is_worth_it(self) -> bool:
        """Whether there are two operations on arrays at least, or one for which NumPy is slow."""
        heavy = [node for node in self.members if node not in self.scalars and node.op != "getitem"]
        if len(heavy) != 1:
            return len(heavy) > 1
        return self.takes_single or (self.is_wide and pays_alone(heavy[0]))

    def _keep_aliases_outside(self) -> bool:
        """Cut the run before what may give its operand itself, or a view, to somebody outside."""
        inside = set(self.members)
        for place, node in enumerate(self.members):
            operation = operation_of(node)
            is_alias = operation is not None and may_be_alias(operation, node)
            if is_alias and any(user not in inside for user in node.result.uses):
                del self.members[place:]
                return True
        return False

    def _keep_temporaries_outside(self) -> bool:
        """Cut the run before an operand that NumPy may reuse in a later sum or product, for the same reason."""
        inside = set(self.members)
        for place, node in enumerate(self.members):
            for value in filter(may_be_temporary, node.results):
                user = next(iter(value.uses))
                if user not in inside and dies_on_the_right(user):
                    del self.members[place:]
                    return True
        return False


def _is_reducible(operation: Operation, node: Node) -> bool:
    """Whether an engine may run the reduction in a region, as far as the types tell: along the last of several axes,
    or to one scalar whose bits do not depend on the order of evaluation, or not on one that is hard to keep."""
    (operand,) = operation.operands
    rank, dtype = operand.type.rank, operand.type.dtype
    if operation.form is Form.ROWS:
        return rank != 1 and operation.axis in (-1, *(() if rank is None else (rank - 1,)))
    return dtype is None or total_is_exact(REDUCTIONS[node.op], dtype)


def _is_scalar_arithmetic(operation: Operation, node: Node) -> bool:
    """Arithmetic of scalars and numbers between two array operations: it does not cut the region in two."""
    if operation.form is not Form.UFUNC:
        return False
    if all(value.type in PYTHON_NUMBERS for value in operation.operands):
        return is_number_arithmetic(operation, node)
    return all(_is_scalar(value) or value.type in PYTHON_NUMBERS for value in operation.operands)


def _is_scalar(value: Value) -> bool:
    return isinstance(value.type, ScalarType) or (isinstance(value.type, ArrayType) and value.type.rank == 0)


def make_region(members: list[Node], attributes: dict[str, object]) -> Node:
    """Put one `region` node in the place of the members, which move into its block."""
    inside = dict.fromkeys(_with_nested(members))
    produced = {value for node in inside for value in (*node.results, *_parameters(node))}
    inputs = list(dict.fromkeys(value for node in inside for value in node.inputs if _is_outside(value, produced)))
    outputs = [value for node in members for value in node.results if any(user not in inside for user in value.uses)]
    types = [value.type for value in outputs]
    region = Node("region", inputs, attributes=attributes, results=types, span=members[0].span)
    members[0].block.insert(region, members[0])
    body = region.add_block([value.type for value in inputs])
    parameters = dict(zip(inputs, body.parameters, strict=True))
    for outer, parameter in parameters.items():
        parameter.name = outer.name
    for value, result in zip(outputs, region.results, strict=True):
        result.name = value.name
        _replace_outside(value, result, inside)
    for node in members:
        body.append(node.block.detach(node))
    for node in inside:
        node.set_inputs([parameters.get(value, value) for value in node.inputs])
    body.terminate(Node("yield", outputs, results=0, span=members[-1].span))
    return region


def _with_nested(nodes: list[Node]) -> Iterator[Node]:
    """The nodes, and those in their blocks."""
    for node in nodes:
        yield node
        for block in node.blocks:
            yield from block.all_nodes()


def _parameters(node: Node) -> Iterator[Value]:
    return (value for block in node.blocks for value in block.parameters)


def _is_outside(value: Value, produced: set[Value]) -> bool:
    return not isinstance(value, Constant) and value not in produced


def _replace_outside(value: Value, result: Value, inside: dict[Node, None]) -> None:
    """Give the users that stay outside the region's result in place of the member's."""
    for user in [user for user in value.uses if user not in inside]:
        user.set_inputs([result if operand is value else operand for operand in user.inputs])
