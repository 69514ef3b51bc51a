"""Python variables for the values of a graph: values that are moved into each other share one where they can."""

from __future__ import annotations

import builtins
import itertools
import keyword
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from gjit.ir.graph import Block, Constant, Graph, Node, Value
from gjit.ir.types import ArrayType
from gjit.scheduler.class_names import bound_in, classes_in, is_private, printed_in, variables_of
from gjit.scheduler.flow import Flow
from gjit.scheduler.interference import Interference

ARRAY_MAKERS = frozenset({"region", "library"})
RESERVED = frozenset(keyword.kwlist) | frozenset(dir(builtins))
"""Names that a temporary never takes, so that built-in functions print as themselves."""


@dataclass(slots=True)
class Names:
    """The variable of every value that has one.

    copies       parameters that the function first moves elsewhere, with their names in the signature
    temporaries  variables that hold arrays for which the user's function has no name
    taken        all names that mean something in the program
    """

    variables: dict[Value, str] = field(default_factory=dict)
    temporaries: set[str] = field(default_factory=set)
    copies: dict[Value, str] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    _unused: dict[str, str] = field(default_factory=dict)

    def fresh(self, hint: str) -> str:
        """A name that nothing else has, close to `hint`."""
        name = next(name for name in _numbered(hint) if name not in self.taken)
        self.taken.add(name)
        return name

    def unused(self, hint: str) -> str:
        """A name for what is assigned and never read; the same one for the same hint."""
        if hint not in self._unused:
            self._unused[hint] = self.fresh(hint)
        return self._unused[hint]


@dataclass(slots=True, eq=False)
class _Variable:
    """Values that share one Python variable."""

    members: dict[Value, None]
    edges: set[Value]
    hint: str
    is_fixed: bool = False
    is_exclusive: bool = False
    forbidden: set[str] = field(default_factory=set)

    def conflicts_with(self, other: _Variable) -> bool:
        return not self.edges.isdisjoint(other.members)


def name_values(block: Block, flow: Flow, found: Interference, reserved: set[str]) -> Names:
    """Choose a variable for every value; `reserved` are global names that the program reads plainly."""
    _add_cell_edges(block, flow, found)
    moves = list(_moves(block, flow))
    variables = _variables(block, found)
    fixed = _fixed_names(block, found)
    classes = classes_in(block)
    _forbid(classes, variables, flow)
    _merge(moves, variables, fixed)
    names = Names(taken=set(reserved).union(*map(bound_in, classes)))
    names.variables.update((made.blocks[0].parameters[1], "__class__") for made in classes)
    _assign(variables, fixed, found, names, reserved, has_classes=bool(classes))
    names.temporaries = {
        names.variables[value] for value in names.variables if _is_temporary_array(variables.get(value))
    }
    return names


def _moves(block: Block, flow: Flow) -> Iterator[tuple[Value, Value]]:
    yield from ((target, flow.resolve(source)) for target, source in flow.moves)
    for node in block.all_nodes():
        if node.op in ("and", "or"):
            yield node.result, flow.resolve(node.inputs[0])
            end = node.blocks[0].terminator
            if end.op == "yield":
                yield node.result, flow.resolve(end.inputs[0])


def _add_cell_edges(block: Block, flow: Flow, found: Interference) -> None:
    """A cell is a variable of its function, and of the inner functions that use it, from start to end."""
    visible: dict[Value, set[Node | None]] = {cell: {found.scopes[cell]} for cell in found.cells}
    for node, free in flow.free.items():
        if node.op == "function":
            for value in free & visible.keys():
                visible[value].add(node)
    for value in [*found.edges, *found.cells]:
        for cell in found.cells:
            if cell is not value and found.scopes.get(value) in visible[cell] and not _is_moved_into(value, cell):
                found.edges.setdefault(cell, set()).add(value)
                found.edges.setdefault(value, set()).add(cell)


def _is_moved_into(parameter: Value, cell: Value) -> bool:
    """Whether a function's parameter is only there to be the first value of a cell of its own name."""
    if not isinstance(parameter.producer, Block) or len(parameter.uses) != 1:
        return False
    (node,) = parameter.uses
    if node.op != "store" or node.inputs[0] is not cell or node.block is not parameter.producer:
        return False
    before = node.previous
    while before is not None and before.op in ("cell", "store"):
        before = before.previous
    return before is None


def _variables(block: Block, found: Interference) -> dict[Value, _Variable]:
    exclusive = found.exclusive.union(found.cells)
    return {
        value: _Variable({value: None}, set(found.edges[value]), hint_of(value), is_exclusive=value in exclusive)
        for value in _in_order(block)
        if value in found.edges
    }


def _in_order(block: Block) -> Iterator[Value]:
    """All values of a function as they come in its text, so that the same graph always prints the same names."""
    yield from block.parameters
    for node in block.all_nodes():
        yield from node.results
        for inner in node.blocks:
            yield from inner.parameters


def hint_of(value: Value) -> str:
    """The user's name of a value, or an empty string; `helper.name` is a local variable of an inlined function."""
    if isinstance(value.producer, Node) and value.producer.op == "cell":
        return value.producer.attributes["name"]
    name = value.name.rpartition(".")[2]
    return name if name.isidentifier() and not keyword.iskeyword(name) else ""


def _fixed_names(block: Block, found: Interference) -> list[tuple[Value, str]]:
    """Cells, then parameters, inner functions first: what a user can see by name."""
    scopes: list[tuple[Node | None, Iterable[Value]]] = [
        (node, node.blocks[0].parameters) for node in block.all_nodes() if node.op == "function"
    ]
    fixed: list[tuple[Value, str]] = []
    for scope, parameters in [*reversed(scopes), (None, block.parameters)]:
        fixed.extend((cell, hint_of(cell)) for cell in found.cells if found.scopes[cell] is scope)
        if scope is not None or isinstance(block.owner, Graph):
            fixed.extend((value, value.name) for value in parameters)
    return fixed


def _merge(moves: list[tuple[Value, Value]], variables: dict[Value, _Variable], fixed: list) -> None:
    for value, _ in fixed:
        if value in variables:
            variables[value].is_fixed = True
    for target, source in moves:
        if isinstance(source, Constant) or target not in variables or source not in variables:
            continue
        left, right = variables[target], variables[source]
        if left is right or (left.is_fixed and right.is_fixed) or left.is_exclusive or right.is_exclusive:
            continue
        if (left.hint and right.hint and left.hint != right.hint) or left.conflicts_with(right):
            continue
        left.members |= right.members
        left.forbidden |= right.forbidden
        left.edges |= right.edges
        left.hint = left.hint or right.hint
        left.is_fixed |= right.is_fixed
        for value in right.members:
            variables[value] = left


def _forbid(classes: list[Node], variables: dict[Value, _Variable], flow: Flow) -> None:
    """What the body of a class names itself cannot have the name of something in the class, nor can what is used to
    make the class have its name: the class may get that in a scope of its own."""
    for made in classes:
        bound = bound_in(made)
        for value in map(flow.resolve, printed_in(made)):
            if value in variables:
                variables[value].forbidden |= bound
        for value in [*map(flow.resolve, made.inputs), *flow.free.get(made, ())]:
            if value in variables and value not in variables_of(made):
                variables[value].forbidden.add(made.attributes["name"])


def _assign(
    variables, fixed, found: Interference, names: Names, reserved: set[str], *, has_classes: bool = False
) -> None:
    by_name: dict[str, list[_Variable]] = {}
    done: set[_Variable] = set()

    def settle(variable: _Variable, candidates: Iterable[str]) -> str | None:
        for name in candidates:
            if name in variable.forbidden or (has_classes and is_private(name)):
                continue
            others = by_name.setdefault(name, [])
            if any(variable.conflicts_with(other) or _excludes(variable, other, found) for other in others):
                continue
            others.append(variable)
            done.add(variable)
            names.variables.update(dict.fromkeys(variable.members, name))
            names.taken.add(name)
            return name
        return None

    for value, name in fixed:
        if value not in variables:
            names.variables[value] = name
            names.taken.add(name)
        elif variables[value] not in done and settle(variables[value], [name]) is None:
            names.taken.add(name)
            if not _is_cell(value):
                names.copies[value] = name
    for variable in sorted(dict.fromkeys(variables.values()), key=_is_temporary):
        if variable not in done:
            hint = variable.hint or _description(next(iter(variable.members)))
            hint = hint.lstrip("_") or "value" if has_classes and is_private(hint) else hint
            forbidden = reserved if variable.hint else reserved | RESERVED
            settle(variable, (name for name in _numbered(hint) if name not in forbidden))


def _is_temporary(variable: _Variable) -> bool:
    """Whether no block passes the variable on: it comes last when names are given."""
    return not any(isinstance(value.producer, Block) or value.producer.blocks for value in variable.members)


def _is_temporary_array(variable: _Variable | None) -> bool:
    if variable is None or variable.is_exclusive or variable.is_fixed:
        return False
    if any(value.name and "." not in value.name for value in variable.members):
        return False
    return any(
        isinstance(value.type, ArrayType) or (isinstance(value.producer, Node) and value.producer.op in ARRAY_MAKERS)
        for value in variable.members
    )


def _excludes(variable: _Variable, other: _Variable, found: Interference) -> bool:
    """Whether one of two variables belongs to an inner function that reads it later, in the other's scope."""
    if not variable.is_exclusive and not other.is_exclusive:
        return False
    if any(_is_moved_into(a, b) or _is_moved_into(b, a) for a in variable.members for b in other.members):
        return False
    scopes = {found.scopes.get(value) for value in variable.members}
    return not scopes.isdisjoint({found.scopes.get(value) for value in other.members})


def _is_cell(value: Value) -> bool:
    return isinstance(value.producer, Node) and value.producer.op == "cell"


def _description(value: Value) -> str:
    """What to call a temporary: by the operation that makes it."""
    if isinstance(value.producer, Block):
        return "item"
    if value.producer.op == "region":
        yielded = value.producer.blocks[0].terminator.inputs[value.producer.results.index(value)]
        return yielded.name or ("value" if yielded.producer is None else _description(yielded))
    word = value.producer.op.rpartition(".")[2]
    if value.producer.op in ("getattr", "import"):
        word = str(value.producer.attributes.get("name") or word)
    is_word = word.isidentifier() and not value.producer.op.startswith("operator.")
    return word if is_word and word not in RESERVED else "value"


def _numbered(hint: str) -> Iterator[str]:
    yield hint
    yield from (f"{hint}_{number}" for number in itertools.count(1))
