"""Variables of a function that a loop nest sets: inside the nest they are variables of its own.

Such a variable is set first in every turn, so the nest never needs the value from before. What reads it after the loop
gets it from the nest, where the loop has had a turn.
"""

from __future__ import annotations

from gjit.ir.graph import Block, Constant, Node, Value
from gjit.ir.types import BOOL, CELL, UNKNOWN
from gjit.scheduler.flow import function_of, is_inside

UNSET = Constant(...).value
"""Stands for a variable that the loop has not set."""


def cells_of(loop: Node) -> list[Value]:
    """The variables from outside that a loop sets or reads."""
    found = {node.inputs[0]: None for node in _inside(loop) if node.op in ("load", "store", "delete")}
    return [cell for cell in found if not _is_made_in(cell, loop)]


def may_be_own(cell: Value, loop: Node) -> bool:
    """Whether the nest of a loop may have a variable of its own in place of this one."""
    uses = [user for user in cell.uses if user.op in ("load", "store", "delete")]
    function = function_of(loop)
    if len(uses) != len(cell.uses) or any(user.op == "delete" or function_of(user) is not function for user in uses):
        return False
    inner = [node for node in _inside(loop) if node in cell.uses]
    body, otherwise = loop.blocks[-2], loop.blocks[-1]
    first = inner[0]
    if first.op != "store" or first.block is not body or any(is_inside(node, otherwise) for node in inner):
        return False
    if len(inner) == len(uses):
        return True
    is_typed = all(node.inputs[1].type != UNKNOWN for node in inner if node.op == "store")
    return is_typed and not _is_guarded(loop)


def make_own(cells: list[Value], loop: Node, body: Block) -> list[tuple[Value, Value]]:
    """Give a nest variables of its own: those from outside that are read after it, with the inner ones.

    Args:
        body: the block of the nest, before the loop is put into it.
    """
    kept = []
    for cell in cells:
        name = f"{cell.name}_in_nest"  # the plain name is that of the variable outside
        own = body.append(Node("cell", attributes={"name": name}, results=[CELL])).result
        own.name = name
        inner = [node for node in _inside(loop) if node in cell.uses]
        if len(inner) != len(cell.uses):
            body.append(Node("store", [own, Constant(UNSET)], results=0, span=loop.span))
            kept.append((cell, own))
        for node in inner:
            node.set_inputs([own if value is cell else value for value in node.inputs])
    return kept


def last_values(kept: list[tuple[Value, Value]], body: Block) -> list[tuple[Value, Value]]:
    """At the end of the block of a nest: the variables outside, and the values that they have to get."""
    return [(cell, body.append(Node("load", [own], span=cell.producer.span)).result) for cell, own in kept]


def set_after(cell: Value, value: Value, block: Block, before: Node | None, at: Node) -> None:
    """After a nest, set a variable to what the nest has given, unless its loop had no turn."""
    test = block.insert(Node("operator.is_not", [value, Constant(UNSET)], results=[BOOL], span=at.span), before)
    choice = block.insert(Node("if", [test.result], results=[], span=at.span), before)
    then, otherwise = choice.add_block(), choice.add_block()
    then.append(Node("store", [cell, value], results=0, span=at.span))
    for each in (then, otherwise):
        each.terminate(Node("yield", results=0, span=at.span))


def _inside(loop: Node) -> list[Node]:
    return [node for block in loop.blocks for node in block.all_nodes()]


def _is_made_in(cell: Value, loop: Node) -> bool:
    node = cell.producer
    return isinstance(node, Node) and any(is_inside(node, block) for block in loop.blocks)


def _is_guarded(node: Node) -> bool:
    """Whether an exception or a `return` in a node can be followed by other code of its function."""
    owner = node.block.owner if node.block is not None else None
    while isinstance(owner, Node) and owner.op != "function":
        if owner.op in ("try", "with"):
            return True
        owner = owner.block.owner if owner.block is not None else None
    return False
