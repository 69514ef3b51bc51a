"""The specification of the graph, as a check: what `verify_graph` accepts is a graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn

from gjit.errors import InternalError
from gjit.ir.deep import Walk, drive
from gjit.ir.graph import TERMINATORS, Block, CaptureKind, Constant, Graph, Node, Value
from gjit.ir.printer import print_around
from gjit.ir.rules import RULES, call_problem, problem_of, valid_label
from gjit.ir.structure import CLAUSES, LOOPS, BlockRule, block_rules, innermost_clause

_CELL_USERS = frozenset({"load", "store", "delete"})
_CLASS_USERS = frozenset({"class.load", "class.store", "class.annotate", "class.delete"})
_OWN_NAMES = CLAUSES | {"function", "class"}
_LEAVING = frozenset({"return", "break", "continue"})


@dataclass(frozen=True, slots=True)
class _Place:
    """What surrounds a block: the rule it follows, its innermost loop, whether `return` may stand in it."""

    rule: BlockRule | None
    loop: Node | None = None
    returns: bool = True


def verify_graph(graph: Graph, known_op: Callable[[str], bool] | None = None) -> None:
    """Raise InternalError for the first thing that makes `graph` no graph.

    Checked are: the links of blocks and nodes; each value is used after its producer, in the same or a nested
    block, and knows its uses; each block takes and gives the numbers of values that its node needs and ends with a
    terminator that may stand there; inputs, results, labels and attributes of each op; slots; calls of known
    functions; cells stand only in `load`, `store` and `delete`.

    Args:
        known_op: says whether a name is an op of the table; without it any name passes.
    """
    _Verifier(graph, known_op).verify()


class _Verifier:
    def __init__(self, graph: Graph, known_op: Callable[[str], bool] | None):
        self._graph = graph
        self._known_op = known_op
        self._visible: set[Value] = set()
        self._defined: list[Value] = []
        self._nodes: set[Node] = set()
        self._users: Counter[Value] = Counter()
        self._given: set[Node] = set()  # nodes that some path gives their results
        self._finished: set[Block] = set()  # blocks that end with their own terminator

    def verify(self) -> None:
        block = self._graph.block
        if len(block.parameters) != len(self._graph.parameters):
            self._fail("the graph has another number of parameters than its block")
        if block.owner is not self._graph:
            self._fail("the block of the graph does not name the graph as its owner")
        drive(self._block(block, _Place(BlockRule("body", len(block.parameters), "return", (1,)))))
        for value in self._defined:
            self._uses(value)

    def _block(self, block: Block, place: _Place) -> Generator[Walk, object, None]:
        defined = [*block.parameters]
        self._define(block.parameters, block, block.owner)
        previous = None
        for node in block:
            self._links(node, block, previous)
            if node.is_terminator:
                self._fail(f"the terminator `{node.op}` stands among the nodes of a block", node)
            self._node(node)
            yield self._nested(node, place)
            self._define(node.results, node, node)
            defined += node.results
            previous = node
        if block.last is not previous:
            self._fail("the last node of a block is not the end of its list", block.last)
        self._terminator(block, place)
        self._visible.difference_update(defined)

    def _links(self, node: Node, block: Block, previous: Node | None) -> None:
        if node in self._nodes:
            self._fail("the node stands in the graph twice", node)
        if node.block is not block or node.previous is not previous:
            self._fail("the node is not linked to its block and neighbours", node)
        self._nodes.add(node)

    def _define(self, values: list[Value], producer: Node | Block | Graph, owner: object) -> None:
        for value in values:
            if value.producer is not producer or isinstance(value, Constant) or value in self._visible:
                self._fail(f"{_named(value)} is not a value of its producer alone", owner)
            self._visible.add(value)
        self._defined += values

    def _node(self, node: Node) -> None:
        self._operation(node)
        self._inputs(node)
        self._references(node)

    def _operation(self, node: Node) -> None:
        if self._known_op is not None and node.op not in RULES and not self._known_op(node.op):
            self._fail(f"there is no op `{node.op}`", node)
        if node.labels and len(node.labels) != len(node.inputs):
            self._fail(f"`{node.op}` has {len(node.labels)} labels for {len(node.inputs)} inputs", node)
        for label in node.labels:
            if not valid_label(label):
                self._fail(f"`{node.op}` has the label {label!r}, which is none", node)
        problem = problem_of(node)
        if problem:
            self._fail(f"`{node.op}` {problem}", node)

    def _inputs(self, node: Node) -> None:
        for value, count in Counter(node.inputs).items():
            if value.uses.get(node) != count:
                self._fail(f"{_named(value)} does not know how often `{node.op}` uses it", node)
            if isinstance(value, Constant):
                continue
            if value not in self._visible:
                self._fail(f"{_named(value)} is used by `{node.op}` where it is not defined", node)
            self._users[value] += 1
        for value in node.inputs[node.op in _CELL_USERS :]:
            if _is_cell(value):
                self._fail(f"the cell {_named(value)} is used by `{node.op}`, not by a load, store or delete", node)
        if node.op in _CELL_USERS and not _is_cell(node.inputs[0]):
            self._fail(f"`{node.op}` needs a cell", node)
        for index, value in enumerate(node.inputs):
            if _is_namespace(value) and (node.op not in _CLASS_USERS or index):
                self._fail(f"the namespace {_named(value)} is used by `{node.op}`", node)
        if node.op in _CLASS_USERS and not _fills(node, node.inputs[0]):
            self._fail(f"`{node.op}` needs the namespace of the class in whose body it stands", node)

    def _references(self, node: Node) -> None:
        """Capture slots and called functions."""
        if node.op in ("capture", "capture.store"):
            slot: Any = node.attributes["slot"]
            if slot >= len(self._graph.captures):
                self._fail(f"`{node.op}` names the slot {slot} of {len(self._graph.captures)}", node)
            if node.op == "capture.store" and self._graph.captures[slot].kind is not CaptureKind.CELL:
                self._fail("`capture.store` writes a slot that is no variable of a closure", node)
        elif node.op == "invoke":
            name = str(node.attributes["function"])
            called = self._graph.functions.get(name)
            if called is None:
                self._fail(f"`invoke` calls {name!r}, which is not in the functions", node)
            problem = call_problem(node, called.parameters)
            if problem:
                self._fail(f"`invoke` of {name!r} {problem}", node)

    def _nested(self, node: Node, place: _Place) -> Generator[Walk, object, None]:
        rules: Sequence[BlockRule | None] | None = block_rules(node)
        if rules is None:
            rules = [None] * len(node.blocks)
        elif len(rules) != len(node.blocks) or (node.op == "try" and len(rules) < 3):
            self._fail(f"`{node.op}` has {len(rules)} blocks, not {len(node.blocks)}", node)
        for rule, block in zip(rules, node.blocks, strict=True):
            if block.owner is not node:
                self._fail(f"a block of `{node.op}` does not name it as its owner", node)
            if rule is not None and len(block.parameters) != rule.parameters:
                counts = f"{rule.parameters} parameters, not {len(block.parameters)}"
                self._fail(f"the block `{rule.name}` of `{node.op}` takes {counts}", node)
            yield self._block(block, _inner_place(node, rule, place))
        if any(rule is not None and rule.gives for rule in rules) and node not in self._given:
            for value in node.results:
                if value.uses:
                    self._fail(f"{_named(value)} is used, but no path through `{node.op}` gives it", node)

    def _terminator(self, block: Block, place: _Place) -> None:
        node = block.terminator
        name = f"the block `{place.rule.name}`" if place.rule is not None else "a block"
        if node is None:
            self._fail(f"{name} has no terminator", block.last or block.owner)
        if node.op not in TERMINATORS or node.blocks:
            self._fail(f"{name} ends with `{node.op}`, which is no terminator", node)
        if node.block is not block or node in self._nodes:
            self._fail(f"the terminator of {name} is not linked to it", node)
        self._nodes.add(node)
        self._node(node)
        self._may_end(node, block, place, name)

    def _may_end(self, node: Node, block: Block, place: _Place, name: str) -> None:
        rule = place.rule
        if rule is not None and node.op == rule.terminator:
            self._counts(node, _clause_values(block, rule), name)
            self._finished.add(block)
            if rule.gives:
                self._give(block.owner)
        elif node.op == "unreachable":
            if block.last is None or self._goes_on(block.last):
                self._fail(f"the end of {name} is not unreachable: its last node may go on", node)
        elif rule is None and node.op == "yield":
            return
        elif node.op in ("yield", "condition") or (node.op in _LEAVING and not self._may_leave(node, place)):
            self._fail(f"{name} cannot end with `{node.op}`", node)
        elif place.loop is not None and node.op in ("break", "continue"):
            self._counts(node, (len(place.loop.results),), name)
            if node.op == "break":
                self._give(place.loop)

    def _goes_on(self, node: Node) -> bool:
        """Whether some path through the node reaches what follows it."""
        if node.op == "try":
            body, otherwise, finally_, *handlers = (block in self._finished for block in node.blocks)
            return finally_ and ((body and otherwise) or any(handlers[1::2]))
        return node in self._given or not any(rule.gives for rule in block_rules(node) or ())

    def _may_leave(self, node: Node, place: _Place) -> bool:
        return place.returns if node.op == "return" else place.loop is not None

    def _give(self, owner: object) -> None:
        if isinstance(owner, Node):
            self._given.add(owner)

    def _counts(self, node: Node, allowed: tuple[int, ...], name: str) -> None:
        if len(node.inputs) not in allowed:
            counts = " or ".join(map(str, allowed))
            self._fail(f"the `{node.op}` of {name} has {len(node.inputs)} inputs, not {counts}", node)

    def _uses(self, value: Value) -> None:
        if len(value.uses) != self._users[value]:
            strays = [node for node in value.uses if node not in self._nodes or value not in node.inputs]
            self._fail(f"{_named(value)} has a use in {strays}, which do not use it in this graph", value.producer)

    def _fail(self, problem: str, place: object = None) -> NoReturn:
        where = f" at {place.span}" if isinstance(place, Node) and place.span is not None else ""
        node = place if isinstance(place, Node) else None
        raise InternalError(f"graph {self._graph.name}: {problem}{where}\n{print_around(self._graph, node)}")


def _inner_place(node: Node, rule: BlockRule | None, place: _Place) -> _Place:
    """What surrounds a block of `node`, which itself stands at `place`."""
    if node.op == "function":
        return _Place(rule)
    if node.op in CLAUSES or node.op in ("region", "class"):
        return _Place(rule, None, bool(node.attributes.get("nest")))  # a loop nest ends with `return` too
    if node.op in LOOPS and rule is not None and rule.name == "body":
        return _Place(rule, node, place.returns)
    if rule is not None and rule.name == "condition":
        return _Place(rule, None, place.returns)
    return _Place(rule, place.loop, place.returns)


def _clause_values(block: Block, rule: BlockRule) -> tuple[int, ...]:
    """How many values the block may give: an innermost clause the element, or key and value, others nothing."""
    if rule.name != "clause":
        return rule.values
    if not innermost_clause(block):
        return (0,)
    owner = block.owner
    while isinstance(owner, Node) and owner.op != "comprehension" and owner.block is not None:
        owner = owner.block.owner
    return (2,) if isinstance(owner, Node) and owner.attributes.get("kind") == "dict" else (1,)


def _is_cell(value: Value) -> bool:
    """Whether a value is a variable: of a function, or `__class__`, the second parameter of a class body."""
    if isinstance(value.producer, Node):
        return value.producer.op == "cell"
    return _is_of_class(value) and value.producer.parameters[0] is not value


def _is_namespace(value: Value) -> bool:
    return _is_of_class(value) and value.producer.parameters[0] is value


def _is_of_class(value: Value) -> bool:
    block = value.producer
    return isinstance(block, Block) and isinstance(block.owner, Node) and block.owner.op == "class"


def _fills(node: Node, namespace: Value) -> bool:
    """Whether a node runs as part of the body of the class whose namespace this is."""
    if not _is_namespace(namespace):
        return False
    block = node.block
    while block is not namespace.producer:
        if not isinstance(block.owner, Node) or block.owner.op in _OWN_NAMES:
            return False
        block = block.owner.block
    return True


def _named(value: Value) -> str:
    if isinstance(value, Constant):
        return f"the constant {value.value!r}"
    return f"%{value.name}" if value.name else "a value"
