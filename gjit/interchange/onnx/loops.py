"""A loop whose number of turns depends on the inputs, or is large: a Loop of the model.

What a turn gives is `(go on, carried values, left by break, left by return, returned value)`. The body is written again
until the values that it carries have the types that it gives, and all boxes that it writes are carried too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gjit.interchange.onnx.boxes import Box, State
from gjit.interchange.onnx.branches import left, value_of
from gjit.interchange.onnx.joining import MISSING, flat, joined_type, output_of, rebuilt
from gjit.interchange.onnx.values import Cell, Tensor, Unwritable

Turn = Callable[[Tensor, list[Any]], tuple]
ATTEMPTS = 12


@dataclass(slots=True)
class Loop:
    """What is known so far of a loop.

    start    the carried values before it
    objects  which of their leaves stay the object that they are
    boxes    the boxes that it writes
    """

    walk: Any
    start: list[Any]
    turn: Turn
    objects: list[bool] = field(default_factory=list)
    boxes: list[Box] = field(default_factory=list)
    nodes: list[Any] = field(default_factory=list)
    index: Any = None
    parameters: list[Tensor] = field(default_factory=list)
    leaf: tuple = ()
    after: dict[Box, State] = field(default_factory=dict)
    log: list[Any] = field(default_factory=list)

    def settle(self) -> None:
        """Write the body until nothing changes any more."""
        self.objects = [isinstance(leaf, Tensor) and leaf.is_array for leaf in flat(self.start)]
        first: list[Any] = []
        for _ in range(ATTEMPTS):
            self._write()
            if self._finds_boxes():
                continue
            first = first or self.log
            if not self._types_changed():
                break
        else:
            raise Unwritable("the types of what a loop carries do not settle")
        if [kind for _, kind in first] != [kind for _, kind in self.log]:
            raise Unwritable(
                "a value has another dtype in the first turn of a loop than later: give it its dtype before"
            )

    def _write(self) -> None:
        walk, builder = self.walk, self.walk.builder
        mark = len(walk.shown)
        with walk.boxes.journal() as journal, builder.inner() as self.nodes:
            self.index = builder.array(builder.fresh("turn"), np.int64, 0, "python")
            self.parameters = []
            leaves = [
                leaf if same else self._parameter(builder.tensor(leaf))
                for leaf, same in zip(flat(self.start), self.objects, strict=True)
            ]
            carried = rebuilt(self.start, leaves)
            for box in self.boxes:
                self._enter(box)
            self.leaf = self.turn(self.index, carried)
        self.after = left(walk, journal)
        self.log = walk.shown[mark:]
        del walk.shown[mark:]

    def _parameter(self, like: Tensor) -> Tensor:
        builder = self.walk.builder
        made = Tensor(builder.fresh("carried"), like.dtype, like.rank, like.kind, builder.depth)
        made.frozen = "an array that a loop carries"
        self.parameters.append(made)
        return made

    def _enter(self, box: Box) -> None:
        value = value_of(box, self.walk.boxes.state(box))
        leaves = [self._parameter(self.walk.builder.tensor(leaf)) for leaf in flat(value)]
        made = rebuilt(value, leaves)
        self.walk.boxes.set_state(box, (made.name, None) if isinstance(box, Tensor) else (made, True))

    def _finds_boxes(self) -> bool:
        """Whether the body writes boxes that were not known to be carried."""
        new = [box for box in self.after if box not in self.boxes]
        for box in new:
            if isinstance(box, Cell) and not box.is_bound:
                raise Unwritable(f"the variable {box.name!r} has no value before the loop: give it one")
        self.boxes += new
        return bool(new)

    def _types_changed(self) -> bool:
        given, came = flat(list(self.leaf[1])), flat(self.start)
        if len(given) != len(came) or not _same_rest(self.start, list(self.leaf[1])):
            raise Unwritable("a loop carries a value that has another structure after a turn")
        changed = False
        for number, (before, after) in enumerate(zip(came, given, strict=True)):
            if self.objects[number]:
                changed |= before is not after
                self.objects[number] = before is after
            else:
                came[number] = self._converted(before, after)
                changed |= came[number] is not before
        self.start = rebuilt(self.start, came)
        return changed

    def _converted(self, before: Any, after: Any) -> Any:
        builder = self.walk.builder
        like, now = joined_type(builder, before, after), builder.tensor(before)
        if (like.dtype, like.kind, like.rank) == (now.dtype, now.kind, now.rank):
            return before
        return Tensor(builder.cast(now, like.dtype), like.dtype, like.rank, like.kind, builder.depth)

    def emit(self, length: Any, condition: Any) -> tuple[list[Any], Any, Any, Any]:
        """Write the Loop: the carried values after it, whether it was left by break or return, the returned value."""
        builder = self.walk.builder
        go_on, carried, broke, returned, value = self.leaf
        inside = [leaf for leaf, same in zip(flat(list(carried)), self.objects, strict=True) if not same]
        before = [leaf for leaf, same in zip(flat(self.start), self.objects, strict=True) if not same]
        for box in self.boxes:
            inside += flat(value_of(box, self.after[box]))
            before += flat(value_of(box, self.walk.boxes.state(box)))
        extra = [] if broke is False else [broke]
        extra += [] if returned is False else [returned, *flat(value)]
        likes = [*self.parameters, *(builder.tensor(each) for each in extra)]
        outputs = self._node(length, condition, go_on, [*before, *[MISSING] * len(extra)], [*inside, *extra], likes)
        return self._results(outputs, broke, returned, value)

    def _node(self, length: Any, condition: Any, go_on: Any, before: list, inside: list, likes: list) -> list[Tensor]:
        builder = self.walk.builder
        starts = [output_of(builder, value, like) for value, like in zip(before, likes, strict=True)]
        with builder.inner() as more:
            condition_name = builder.emit("Identity", builder.cast(go_on, bool))
            names = [output_of(builder, value, like) for value, like in zip(inside, likes, strict=True)]
        unused = [builder.fresh("left") for _ in range(len(likes) - len(self.parameters))]
        parameters = [*(each.name for each in self.parameters), *unused]
        inputs = [builder.described(str(self.index.name), np.dtype(np.int64), 0, [])]
        inputs += [builder.described(builder.fresh("went_on"), np.dtype(bool), 0, [])]
        inputs += [builder.described(name, like.dtype, like.rank) for name, like in zip(parameters, likes, strict=True)]
        outputs = [builder.described(condition_name, np.dtype(bool), 0, [])]
        outputs += [builder.described(name, like.dtype, like.rank) for name, like in zip(names, likes, strict=True)]
        body = builder.block("body", [*self.nodes, *more], inputs, outputs)
        made = [builder.fresh("after") for _ in likes]
        given = [
            "" if length is None else builder.integer(length),
            "" if condition is None else builder.cast(condition, bool),
        ]
        builder.nodes.append(builder.helper.make_node("Loop", [*given, *starts], made, body=body))
        return [
            Tensor(name, like.dtype, like.rank, like.kind, builder.depth)
            for name, like in zip(made, likes, strict=True)
        ]

    def _results(self, outputs: list[Tensor], broke: Any, returned: Any, value: Any) -> tuple[list, Any, Any, Any]:
        rest = list(outputs)
        leaves = [leaf if same else rest.pop(0) for leaf, same in zip(flat(self.start), self.objects, strict=True)]
        carried = rebuilt(self.start, leaves)
        for box in self.boxes:
            made = rebuilt(value_of(box, self.walk.boxes.state(box)), rest)
            self.walk.boxes.set_state(box, (made.name, None) if isinstance(box, Tensor) else (made, True))
        broke = broke if broke is False else rest.pop(0)
        if returned is not False:
            returned = rest.pop(0)
            value = rebuilt(value, rest)
        return carried, broke, returned, value


def _same_rest(one: Any, other: Any) -> bool:
    """Whether two structures differ in nothing but numbers and tensors."""
    if type(one) in (tuple, list):
        return type(one) is type(other) and len(one) == len(other) and all(map(_same_rest, one, other))
    if type(one) is dict:
        return type(other) is dict and list(one) == list(other) and all(_same_rest(one[key], other[key]) for key in one)
    return one is other or bool(flat(one) and flat(other)) or (type(one) is type(other) and one == other)
