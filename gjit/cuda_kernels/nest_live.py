"""Which values each piece of a nest reads from those before it."""

from __future__ import annotations

from gjit.cuda_kernels.nest_flow import (
    Advance,
    Begin,
    Bind,
    Branch,
    Compare,
    End,
    Finish,
    Held,
    Item,
    Jump,
    Piece,
    Step,
    Turn,
)
from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import PYTHON_NUMBERS, ScalarType


def results_of(step: Step) -> list[Value]:
    """The values that a step makes."""
    match step:
        case Bind() | Held() | Compare() | Advance():
            return [step.result]
        case Begin():
            return [step.count, step.first]
        case Item():
            return [step.loop.blocks[0].parameters[0]]
    return step.results


def inputs_of(step: Step) -> list[Value]:
    """The values that a step reads."""
    match step:
        case Bind():
            return [step.source]
        case Held():
            return []
        case Compare():
            return [step.left, step.right]
        case Begin():
            return step.loop.inputs[:1]
        case Item():
            return [step.counter, step.loop.inputs[0]]
        case Advance():
            return [step.counter]
    return step.inputs


def jumps_of(end: End | None) -> list[Jump]:
    """Where a piece can go."""
    match end:
        case Jump():
            return [end]
        case Branch():
            return [end.then, end.otherwise]
        case Turn():
            return [end.body, end.after]
    return []


def find_live(pieces: list[Piece]) -> None:
    """Find which values live at the start of each piece."""
    live: dict[Piece, dict[Value, None]] = {piece: {} for piece in pieces}
    changed = True
    while changed:
        changed = False
        for piece in reversed(pieces):
            found = _live_at_start(piece, live)
            if len(found) != len(live[piece]):
                live[piece], changed = found, True
    for piece in pieces:
        piece.live = list(live[piece])


def _live_at_start(piece: Piece, live: dict[Piece, dict[Value, None]]) -> dict[Value, None]:
    found: dict[Value, None] = {}
    for jump in jumps_of(piece.end):
        target = jump.target
        own = set(target.parameters)
        found.update(dict.fromkeys(value for value in live[target] if value not in own))
        pairs = zip(target.parameters, jump.arguments, strict=True)
        found.update(dict.fromkeys(argument for parameter, argument in pairs if parameter in live[target]))
    match piece.end:
        case Branch():
            found[piece.end.condition] = None
        case Turn():
            found.update({piece.end.counter: None, piece.end.count: None})
        case Finish():
            found.update(dict.fromkeys(piece.end.results))
    for step in reversed(piece.steps):
        for value in results_of(step):
            found.pop(value, None)
        found.update(dict.fromkeys(inputs_of(step)))
    return {value: None for value in found if not isinstance(value, Constant)}


def lazy_values(piece: Piece, in_place: frozenset[str]) -> set[Value]:
    """The values that are read once, in the same piece, with nothing written in between.

    Args:
        in_place: the names of the operators that write their left operand.
    """
    roots: dict[Value, Value] = {}
    reads: dict[Value, list[int]] = {}
    for place, step in enumerate(piece.steps):
        if isinstance(step, Bind):
            roots[step.result] = roots.get(step.source, step.source)
            continue
        for value in inputs_of(step):
            reads.setdefault(roots.get(value, value), []).append(place)
    escaping = {value for jump in jumps_of(piece.end) for value in (*jump.arguments, *jump.target.live)}
    escaping |= {root for value, root in roots.items() if value in escaping}
    writes = [place for place, step in enumerate(piece.steps) if _writes(step, in_place)]
    lazy: set[Value] = set()
    for place, step in enumerate(piece.steps):
        for value in step.results if isinstance(step, Node) else ():
            found = reads.get(value, [])
            if value not in escaping and len(found) == 1 and not any(place < each < found[0] for each in writes):
                lazy.add(value)
    return lazy


def _writes(step: Step, in_place: frozenset[str]) -> bool:
    if not isinstance(step, Node):
        return False
    if step.op == "setitem":
        return True
    type_ = step.inputs[0].type if step.inputs else None
    is_number = type_ in PYTHON_NUMBERS or isinstance(type_, ScalarType)
    return step.op.removeprefix("operator.") in in_place and not is_number
