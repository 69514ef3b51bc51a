"""A branch that depends on the inputs: two blocks of the model, and one value for what either gives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from gjit.interchange.onnx.boxes import Box, State
from gjit.interchange.onnx.joining import Join, output_of
from gjit.interchange.onnx.values import Tensor


def branches(walk: Any, condition: Tensor, runs: tuple[Callable[[], Any], Callable[[], Any]]) -> Any:
    """An If whose blocks hold what each function writes; the value of either."""
    builder = walk.builder
    name = builder.cast(condition, bool)
    sides = [_side(walk, run) for run in runs]
    join = Join(builder)
    result = join.value(sides[0][1], sides[1][1])
    states = {}
    for box in {**sides[0][2], **sides[1][2]}:
        pair = [side[2].get(box, walk.boxes.state(box)) for side in sides]
        states[box] = _joined_state(join, box, pair[0], pair[1])
    blocks = [_block(builder, join, side[0], number) for number, side in enumerate(sides)]
    if join.types:
        made = [each.name for each in join.types]
        node = builder.helper.make_node("If", [name], made, then_branch=blocks[0], else_branch=blocks[1])
        builder.nodes.append(node)
    for box, state in states.items():
        walk.boxes.set_state(box, state)
    return result


def _side(walk: Any, run: Callable[[], Any]) -> tuple[list, Any, dict[Box, State]]:
    """The nodes that a function writes, what it gives, and the states that boxes from outside have after it."""
    with walk.boxes.journal() as journal, walk.builder.inner() as nodes:
        result = run()
    return nodes, result, left(walk, journal)


def left(walk: Any, journal: dict[Box, State]) -> dict[Box, State]:
    """The states of the boxes of a journal, which get those back that they had before."""
    after = {box: walk.boxes.state(box) for box in journal}
    for box, state in journal.items():
        walk.boxes.restore(box, state)
    return after


def value_of(box: Box, state: State) -> Any:
    """The value that a state of a box stands for."""
    if not isinstance(box, Tensor):
        return state[0]
    return Tensor(state[0], box.dtype, box.rank, box.kind, box.depth, constant=state[1])


def _joined_state(join: Join, box: Box, one: State, other: State) -> State:
    if not isinstance(box, Tensor) and not (one[1] and other[1]):
        return None, False
    value = join.value(value_of(box, one), value_of(box, other))
    return (value.name, value.constant) if isinstance(box, Tensor) else (value, True)


def _block(builder: Any, join: Join, nodes: list, number: int) -> Any:
    with builder.inner() as more:
        names = [output_of(builder, pair[number], like) for pair, like in zip(join.pairs, join.types, strict=True)]
    described = [builder.described(name, like.dtype, like.rank) for name, like in zip(names, join.types, strict=True)]
    return builder.block("branch", [*nodes, *more], [], described)
