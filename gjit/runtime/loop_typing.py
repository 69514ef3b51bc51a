"""What is known of the values of a loop over arrays once its inputs are there.

A variable has one dtype, shape and memory order through all turns. Where the first turn changes them (`z = 0`, then
`z = z * z + c`), that turn is taken out of the loop, if the loop has one piece.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from gjit.ir.graph import Constant, Node, Value
from gjit.runtime.layout import contiguous_strides
from gjit.runtime.region_items import Item, Step, Unsupported, item_of
from gjit.runtime.region_values import Typing
from gjit.scheduler.turns import Piece, Turns, storage_of

Move = tuple[Value, Item]
"""A variable, and what it becomes."""


@dataclass(slots=True)
class TypedPiece:
    """The steps of a piece, and its moves."""

    place: int
    steps: list[Step]
    moves: list[Move]


class _Changed(Exception):
    """A variable is something else after a turn."""


@dataclass(slots=True)
class Sources:
    """What stands behind values that a loop takes from outside.

    inputs   the inputs of the region, by its parameters
    samples  one value of each number of the loop
    """

    inputs: dict[Value, object] = field(default_factory=dict)
    samples: dict[Value, object] = field(default_factory=dict)


class LoopTyping(Typing):
    """Reads the pieces that run, once each.

    variables  the item of each variable within the loop: for one that is written in place, the array that it is
    first      the turn that is taken out of the loop, or None
    pieces     those of the loop
    """

    def __init__(self, turns: Turns, sources: Sources, places: list[int], *, is_wide: bool = False):
        self.items: dict[Value, Item] = {}
        self.steps: list[Step] = []
        self.turns = turns
        self._sources = sources
        self._target = None
        self._is_wide = is_wide
        self.variables: dict[Value, Item] = {}
        self.first: TypedPiece | None = None
        pieces = [(place, turns.pieces[place]) for place in places]
        for variable in (*turns.variables, *turns.written):
            self._begin(variable)
        try:
            self.pieces = [self._piece(*each) for each in pieces]
        except _Changed:
            self._take_out(*pieces[0], len(turns.pieces) == 1)
            self.pieces = self._settled(pieces)
        if any(item.dtype is None for item in self.variables.values()):
            raise Unsupported

    def item(self, value: Value) -> Item:
        """The item of an operand: of a variable, of what comes from outside, or of what a step has made."""
        value = self.turns.variable(value)
        if value in self.variables:
            return self.variables[value]
        if value not in self.items and not isinstance(value, Constant):
            for known in (self._sources.inputs, self._sources.samples):
                if value in known:
                    self.items[value] = item_of(known[value])
        if value not in self.items and not isinstance(value, Constant):
            raise Unsupported
        return super().item(value)

    def outside(self, value: Value) -> Item:
        """The item of a value that the loop begins with."""
        return super().item(value) if isinstance(value, Constant) else self.item(value)

    def value_of(self, item: Item) -> Value:
        """The graph value that an item describes, in the first turn or in the loop."""
        for step in self.first.steps if self.first is not None else ():
            if step.result is item:
                return step.node.result
        return super().value_of(item)

    def is_number(self, item: Item) -> bool:
        """Whether an item is a number that differs from turn to turn."""
        return any(self.items.get(value) is item for value in self._sources.samples)

    def _begin(self, variable: Value) -> None:
        initial = self.turns.initial.get(variable)
        if variable in self.turns.written:
            self.variables[variable] = self.outside(variable if initial is None else initial)
        elif initial is not None:
            self.variables[variable] = _fresh_like(self.outside(initial))

    def _piece(self, place: int, piece: Piece) -> TypedPiece:
        before = len(self.steps)
        for node in piece.nodes:
            self._read(node)
        moves = [(target, self._moved(value, piece)) for target, value in piece.moves]
        for target, item in moves:
            known = self.variables.get(target)
            if known is None:
                self.variables[target] = _fresh_like(item)
            elif not _is_alike(known, item):
                raise _Changed
        return TypedPiece(place, self.steps[before:], moves)

    def _settled(self, pieces: list[tuple[int, Piece]]) -> list[TypedPiece]:
        try:
            return [self._piece(*each) for each in pieces]
        except _Changed:
            raise Unsupported from None

    def _moved(self, value: Value, piece: Piece) -> Item:
        """What a variable becomes; a result of this very piece, not the variable that keeps it for others."""
        if storage_of(value).producer in piece.nodes:
            return self.items[value]
        return self.item(value)

    def _take_out(self, place: int, piece: Piece, is_alone: bool) -> None:
        """Read the first turn with what the variables are at first, then begin again with what they are after it."""
        if not is_alone:
            raise Unsupported
        initial = {variable: self.outside(value) for variable, value in self.turns.initial.items()}
        self.steps.clear()
        self.variables.update(initial)
        before = len(self.steps)
        for node in piece.nodes:
            self._read(node)
        moves = [(target, self._moved(value, piece)) for target, value in piece.moves]
        self.first = TypedPiece(place, self.steps[before:], moves)
        self.variables.update((target, _fresh_like(item)) for target, item in moves)

    def _read(self, node: Node) -> None:
        self.items.pop(node.result, None)
        super()._read(node)


def _fresh_like(item: Item) -> Item:
    """A variable that begins as such an array, and whose later ones are new arrays of this order."""
    if item.dtype is None or item.weak is not None:
        return Item(item.dtype, weak=item.weak)
    strides = contiguous_strides(item.shape, item.dtype.itemsize, item.order)
    return Item(item.dtype, item.shape, item.order, strides, is_array=item.is_array)


def _is_alike(left: Item, right: Item) -> bool:
    return (left.dtype, left.shape, left.order, left.weak) == (right.dtype, right.shape, right.order, right.weak)
