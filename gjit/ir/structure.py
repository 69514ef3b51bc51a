"""The blocks of each op that has blocks: their names, what they take, how they end and what they give."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sized
from dataclasses import dataclass

from gjit.ir.graph import Block, Node

LOOPS = frozenset({"for", "while"})
CLAUSES = frozenset({"comprehension", "comprehension.for", "comprehension.if"})

_INPUT_IN_PATTERN = re.compile(r"_\d+")


@dataclass(frozen=True, slots=True)
class BlockRule:
    """One block of a node.

    name        how the text calls it
    parameters  how many values it takes
    terminator  the op that ends it normally; leaving terminators may stand there besides
    values      how many inputs that terminator may have
    gives       whether its values become the results of the node
    """

    name: str
    parameters: int
    terminator: str = "yield"
    values: tuple[int, ...] = (0,)
    gives: bool = False


def block_rules(node: Node) -> list[BlockRule] | None:
    """The rule of each block that the node should have; None for an op that has no fixed blocks.

    The number of rules may differ from the number of blocks of a malformed node.
    """
    rules = _RULES.get(node.op)
    return None if rules is None else rules(node)


def block_names(node: Node) -> list[str]:
    """The names of the node's blocks in the text; `block` for each where its op has no rule that fits."""
    return names_of_blocks(node.op, len(node.blocks))


def names_of_blocks(op: str, count: int) -> list[str]:
    """The names of `count` blocks of an op.

    >>> names_of_blocks("try", 5)
    ['body', 'else', 'finally', 'type', 'handler']
    >>> names_of_blocks("user.op", 2)
    ['block', 'block']
    """
    head, repeated, tail = _NAMES.get(op, ((), (), ()))
    rest = count - len(head) - len(tail)
    fits = rest == 0 if not repeated else rest >= 0 and rest % len(repeated) == 0
    if not fits:
        return ["block"] * count
    return [*head, *repeated * (rest // len(repeated) if repeated else 0), *tail]


def bound_names(pattern: str) -> list[str]:
    """The names that a pattern of a `match` binds, in order of appearance; `_0`, `_1`, ... are inputs.

    Raises:
        SyntaxError: a text that is no pattern.

    >>> bound_names("{'a': x, **rest} | [x, *rest, _0()]")
    ['x', 'rest']
    """
    (statement,) = ast.parse(f"match _:\n case {pattern}: pass").body
    if not isinstance(statement, ast.Match) or len(statement.cases) != 1:
        raise SyntaxError(f"{pattern!r} is no pattern")
    names: dict[str, None] = {}
    for place in _in_order(statement.cases[0].pattern):
        name = getattr(place, "rest", None) or getattr(place, "name", None)
        if name is not None and not _INPUT_IN_PATTERN.fullmatch(name):
            names[name] = None
    return list(names)


def _in_order(pattern: ast.AST) -> list[ast.AST]:
    """The nodes of a pattern as their names appear: a name stands behind what is inside it (`[a] as b`)."""
    inner = [place for child in ast.iter_child_nodes(pattern) for place in _in_order(child)]
    return [*inner, pattern]


def innermost_clause(block: Block) -> bool:
    """Whether a clause of a comprehension holds the element itself, not another clause."""
    return block.last is None or block.last.op not in CLAUSES - {"comprehension"}


def _if(node: Node) -> list[BlockRule]:
    values = (len(node.results),)
    return [BlockRule("then", 0, "yield", values, True), BlockRule("else", 0, "yield", values, True)]


def _for(node: Node) -> list[BlockRule]:
    carried = len(node.inputs) - 1
    return [
        BlockRule("body", carried + 1, "continue", (carried,)),
        BlockRule("else", carried, "yield", (carried,), True),
    ]


def _while(node: Node) -> list[BlockRule]:
    carried = len(node.inputs)
    return [
        BlockRule("condition", carried, "condition", (carried + 1,)),
        BlockRule("body", carried, "continue", (carried,)),
        BlockRule("else", carried, "yield", (carried,), True),
    ]


def _shortcut(node: Node) -> list[BlockRule]:
    return [BlockRule("right", 0, "yield", (1,))]


def _try(node: Node) -> list[BlockRule]:
    rules = [BlockRule(name, 0) for name in ("body", "else", "finally")]
    for _ in range(3, len(node.blocks), 2):
        rules += [BlockRule("type", 0, "yield", (0, 1)), BlockRule("handler", 1)]
    return rules


def _with(node: Node) -> list[BlockRule]:
    return [BlockRule("body", 1, "yield", (len(node.results),), True)]


def _match(node: Node) -> list[BlockRule]:
    values = (len(node.results),)
    rules = []
    patterns = node.attributes.get("patterns")
    for pattern in patterns if isinstance(patterns, tuple) else ():
        bound = len(bound_names(pattern))
        rules += [BlockRule("guard", bound, "yield", (0, 1)), BlockRule("body", bound, "yield", values, True)]
    return [*rules, BlockRule("otherwise", 0, "yield", values, True)]


def _function(node: Node) -> list[BlockRule]:
    parameters = node.attributes.get("parameters")
    return [BlockRule("body", len(parameters) if isinstance(parameters, Sized) else 0, "return", (1,))]


def _class(node: Node) -> list[BlockRule]:
    return [BlockRule("body", 2)]


def _class_load(node: Node) -> list[BlockRule]:
    return [BlockRule("otherwise", 0, "yield", (1,))] * min(len(node.blocks), 1)


def _comprehension(node: Node) -> list[BlockRule]:
    return [BlockRule("clause", 0 if node.op == "comprehension.if" else 1, "yield", (0, 1, 2))]


def _region(node: Node) -> list[BlockRule]:
    return [BlockRule("body", len(node.inputs), "yield", (len(node.results),), True)]


_RULES: dict[str, Callable[[Node], list[BlockRule]]] = {
    "if": _if,
    "for": _for,
    "while": _while,
    "and": _shortcut,
    "or": _shortcut,
    "try": _try,
    "with": _with,
    "match": _match,
    "function": _function,
    "class": _class,
    "class.load": _class_load,
    "comprehension": _comprehension,
    "comprehension.for": _comprehension,
    "comprehension.if": _comprehension,
    "region": _region,
}

# First blocks, blocks that repeat, last blocks.
_NAMES: dict[str, tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]] = {
    "if": (("then", "else"), (), ()),
    "for": (("body", "else"), (), ()),
    "while": (("condition", "body", "else"), (), ()),
    "and": (("right",), (), ()),
    "or": (("right",), (), ()),
    "try": (("body", "else", "finally"), ("type", "handler"), ()),
    "with": (("body",), (), ()),
    "match": ((), ("guard", "body"), ("otherwise",)),
    "function": (("body",), (), ()),
    "class": (("body",), (), ()),
    "class.load": ((), ("otherwise",), ()),
    "comprehension": (("clause",), (), ()),
    "comprehension.for": (("clause",), (), ()),
    "comprehension.if": (("clause",), (), ()),
    "region": (("body",), (), ()),
}
