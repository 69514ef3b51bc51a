"""Which arrays most likely share memory: views of one array, in one function.

A guess, for decisions that cost only time.
"""

from __future__ import annotations

from collections.abc import Iterable

from gjit.ir.graph import Block, Constant, Node, Value
from gjit.scheduler.flow import CARRIED
from gjit.scheduler.fusible import IN_PLACE

_VIEWS = frozenset({"getitem", "getattr", "unpack"}) | IN_PLACE
_DEPTH = 32


def base_of(value: Value) -> Value:
    """The array that a value is a view of, as far as the graph tells: through indices, loops and in-place operators."""
    for _ in range(_DEPTH):
        maker = value.producer
        if isinstance(maker, Node) and maker.op in _VIEWS:
            value = maker.inputs[0]
            continue
        before = _before_loop(value, maker) if isinstance(maker, Block) else None
        if before is None:
            return value
        value = before
    return value


def _before_loop(value: Value, block: Block) -> Value | None:
    """What a variable of a loop is at first."""
    loop = block.owner
    if not isinstance(loop, Node) or loop.op not in CARRIED:
        return None
    index = block.parameters.index(value) - (loop.op == "for" and block is loop.blocks[0])
    initial = loop.inputs[CARRIED[loop.op] :]
    return initial[index] if 0 <= index < len(initial) else None


def is_likely_disturbed(target: Value, read: Iterable[Value]) -> bool:
    """Whether writing into `target` most likely changes one of the other arrays that are read."""
    base = base_of(target)
    return any(value is not target and not isinstance(value, Constant) and base_of(value) is base for value in read)
