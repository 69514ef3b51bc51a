"""Nodes with blocks, cells, captures, calls and terminators: their effects, and that they exist.

A node with blocks can do whatever its blocks do; here it is only said what it does by itself.
"""

from __future__ import annotations

from gjit.ir.graph import Node
from gjit.ir.types import CELL, FUNCTION, GENERATOR, UNKNOWN, DictType, ListType, SetType, Type
from gjit.ops.effects_operator import truth
from gjit.ops.row import OPAQUE, Effect, EffectRule, Kind, Op, TypeRule, effects_of, table
from gjit.ops.rules import fixed

_COMPREHENSIONS = {
    "list": ListType(UNKNOWN),
    "set": SetType(UNKNOWN),
    "dict": DictType(UNKNOWN, UNKNOWN),
    "generator": GENERATOR,
}


def in_blocks(node: Node) -> Effect:
    """Everything that the nodes in the blocks can do. Leaving early is an order that must stay."""
    effect = truth(node) if node.inputs else Effect.NONE
    for block in node.blocks:
        for inner in block:
            effect |= effects_of(inner)
        if block.terminator is not None and block.terminator.op not in ("yield", "condition"):
            effect |= Effect.ORDERED
    return effect


def _comprehension_types(node: Node) -> list[Type]:
    return [_COMPREHENSIONS.get(str(node.attributes.get("kind")), UNKNOWN)]


def _row(name: str, effects: Effect | EffectRule = OPAQUE, types: TypeRule | None = None) -> None:
    table.add(Op(name=name, kind=Kind.CONTROL, effects=effects, types=types))


for _name in ("if", "and", "or"):
    _row(_name, in_blocks)
for _name in (
    "for",
    "while",
    "try",
    "with",
    "match",
    "comprehension.for",
    "comprehension.if",
    "call",
    "invoke",
    "differentiate",
):
    _row(_name)
for _name in ("import", "suspend", "suspend.from", "settle"):
    _row(_name)
table.add(Op(name="scripted", kind=Kind.CONTROL, function=lambda callee: callee, effects=Effect.ALLOCATES, views=(0,)))
table.add(Op(name="gradient.callable", kind=Kind.CONTROL, effects=Effect.ALLOCATES | Effect.RAISES, views=(0, 1)))
_row("region", in_blocks)
_row("comprehension", OPAQUE, _comprehension_types)
_row("function", Effect.ALLOCATES, fixed(FUNCTION))
for _name in ("class", "class.load", "class.store", "class.annotate", "class.delete"):
    _row(_name)
_row("cell", Effect.ALLOCATES, fixed(CELL))
_row("load", Effect.RAISES | Effect.READS)
_row("store", Effect.WRITES | Effect.ORDERED)
_row("delete", Effect.RAISES | Effect.WRITES | Effect.ORDERED)
_row("capture", Effect.RAISES | Effect.READS)
_row("capture.store", Effect.WRITES | Effect.ORDERED)
for _name in ("yield", "condition", "continue", "break", "return"):
    _row(_name, Effect.NONE if _name in ("yield", "condition") else Effect.ORDERED)
for _name in ("raise", "reraise"):
    _row(_name, Effect.RAISES | Effect.ORDERED)
