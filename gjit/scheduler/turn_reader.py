"""Reading a loop: whether it is one over whole arrays, and what its pieces are."""

from __future__ import annotations

from collections.abc import Iterator

from gjit.ir.graph import Block, Graph, Node, Value
from gjit.ir.types import RANGE, UNKNOWN
from gjit.ops.row import Effect, effects_of
from gjit.scheduler.evidence import is_array, is_evidence, may_be_operand
from gjit.scheduler.flow import CARRIED, LOOPS, destinations, passed
from gjit.scheduler.fusible import Form, may_be_alias, operation_of
from gjit.scheduler.movable import is_movable
from gjit.scheduler.turns import Piece, Turns, is_loop_region, is_scalar, storage_of

_FORMS = frozenset({Form.UFUNC, Form.SELECT, Form.CAST, Form.CALL})
_IMPURE = Effect.WRITES | Effect.ORDERED
_MOST_PIECES = 64


def read_turns(loop: Node, graph: Graph | None = None) -> Turns | None:
    """Read a `for` or `while` node; None where it is no loop over whole arrays.

    Args:
        loop: the node.
        graph: that it is part of; without it nothing counts as invariant.
    """
    reader = _Reader(loop, graph)
    try:
        return reader.read()
    except _Other:
        return None


def turns_of(region: Node) -> Turns | None:
    """The loop that a region holds, read; None for other regions."""
    last = region.blocks[0].last
    return read_turns(last) if last is not None and is_loop_region(region) else None


class _Other(Exception):
    """The loop is of another kind."""


class _Reader:
    def __init__(self, loop: Node, graph: Graph | None):
        self.graph = graph
        self.turns = Turns(loop)
        self.piece = Piece()
        self.homes: dict[Value, Piece] = {}
        self.inside = {value for block in loop.blocks for value in _values(block)}
        self.has_evidence = False
        self.aliases: dict[Value, Value] = {}

    def read(self) -> Turns:
        turns = self.turns
        if turns.loop.op not in LOOPS:
            raise _Other
        self._find_invariant()
        self._loop(turns.loop)
        if not self.has_evidence or len(turns.pieces) > _MOST_PIECES:
            raise _Other
        self._connect()
        self._check_written()
        if not turns.variables and not turns.written:
            raise _Other
        is_counted = turns.loop.op == "for" and turns.loop.inputs[0].type == RANGE
        turns.has_work |= not is_counted or any(map(is_scalar, turns.loop.results))
        return turns

    def _find_invariant(self) -> None:
        for block in self.turns.loop.blocks if self.graph is not None else ():
            for node in block.all_nodes():
                if node.blocks or node.is_terminator or any(value in self.inside for value in node.inputs):
                    continue
                if is_movable(node, self.graph):
                    self.turns.invariant.append(node)
                    self.inside.difference_update(node.results)

    # Control flow

    def _loop(self, node: Node) -> None:
        turns, first = self.turns, CARRIED[node.op]
        otherwise = node.blocks[-1]
        if any(not is_scalar(value) for value in node.inputs[:first] if value in self.inside) or len(otherwise):
            raise _Other
        lists = [block.parameters[first if block is node.blocks[0] else 0 :] for block in node.blocks]
        for place, (result, initial) in enumerate(zip(node.results, node.inputs[first:], strict=True)):
            others = [values[place] for values in lists]
            if all(map(is_scalar, (result, initial, *others))):
                continue
            if any(map(is_scalar, (result, *others))) or otherwise.terminator.inputs[place] is not others[-1]:
                raise _Other
            self._join_names(others[0], [*others[1:], result])
            if node is turns.loop:
                turns.initial[others[0]] = initial
            else:
                self._move(others[0], initial)
        turns.has_work |= node is not turns.loop
        self._end_piece(node)
        if node.op == "while":
            self._condition(node.blocks[0])
        self._block(node.blocks[-2])

    def _join_names(self, variable: Value, others: list[Value]) -> None:
        self.turns.variables[variable] = None
        self.turns.names.update(dict.fromkeys(others, variable))

    def _condition(self, block: Block) -> None:
        """It hands on its arrays as they are."""
        for node in block:
            self._scalar_node(node)
        pairs = zip(passed(block.terminator), block.parameters, strict=True)
        changed = any(value is not parameter for value, parameter in pairs if not is_scalar(parameter))
        if changed or not is_scalar(block.terminator.inputs[0]):
            raise _Other

    def _block(self, block: Block) -> None:
        for node in block:
            if node in self.turns.invariant:
                continue
            if all(map(is_scalar, node.results)) and not self._holds_arrays(node):
                self._scalar_node(node)
            elif not node.blocks:
                self._array_node(node)
            elif node.op in LOOPS:
                self._loop(node)
            elif node.op == "if" and is_scalar(node.inputs[0]):
                self._if(node)
            else:
                raise _Other
        self._end_block(block.terminator)

    def _if(self, node: Node) -> None:
        self._end_piece(node)
        self.turns.has_work = True
        self.turns.variables.update((result, None) for result in node.results if not is_scalar(result))
        for block in node.blocks:
            self._block(block)

    def _end_block(self, end: Node) -> None:
        if end.op not in ("yield", "continue", "break"):
            raise _Other
        for targets in destinations(end):
            for target, value in zip(targets, passed(end), strict=True):
                if not is_scalar(target):
                    self._move(target, value)
                elif not is_scalar(value):
                    raise _Other
        self._end_piece(end)

    def _end_piece(self, place: Node) -> None:
        piece = self.piece
        if piece.nodes or piece.moves:
            self.turns.pieces.append(piece)
            self.turns.ends[place] = piece
            self.piece = Piece()

    def _move(self, target: Value, value: Value) -> None:
        target = self.turns.variable(target)
        if self.turns.variable(storage_of(value)) is target:
            return
        if not may_be_operand(value):
            raise _Other
        self._check_known([value])
        if storage_of(value) in self.aliases:
            raise _Other
        self.piece.moves.append((target, value))
        self._note_number(value)

    # Nodes

    def _holds_arrays(self, node: Node) -> bool:
        """Whether the blocks of a node compute arrays, or leave towards a place that takes some."""
        inner = [each for block in node.blocks for each in block.all_nodes()]
        ends = [each for each in inner if each.is_terminator]
        passed_on = [value for end in ends for value in end.inputs]
        passed_on += [target for end in ends for targets in destinations(end) for target in targets]
        return not all(map(is_scalar, [*passed_on, *(value for each in inner for value in each.results)]))

    def _scalar_node(self, node: Node) -> None:
        """Nothing that anyone could observe, and nothing that depends on arrays of the loop."""
        for inner in (node, *(each for block in node.blocks for each in block.all_nodes())):
            if inner in self.turns.invariant:
                continue
            if inner.is_terminator:
                self._check_scalars(inner.inputs)
                if inner.op not in ("yield", "continue", "break", "condition"):
                    raise _Other
                continue
            if inner.op not in (*LOOPS, "if", "and", "or") and (inner.blocks or effects_of(inner) & _IMPURE):
                raise _Other
            self._check_scalars([*inner.inputs, *inner.results])
        self.turns.has_work = True

    def _check_scalars(self, values: list[Value]) -> None:
        if any(value in self.inside and not is_scalar(value) for value in values):
            raise _Other

    def _array_node(self, node: Node) -> None:
        operation = operation_of(node)
        if operation is None or operation.form not in _FORMS or not all(map(may_be_operand, operation.operands)):
            raise _Other
        if not (is_array(node.result) or node.result.type == UNKNOWN):
            raise _Other
        self._check_known(node.inputs)
        self.has_evidence |= is_evidence(node, operation)
        if may_be_alias(operation, node):
            self.aliases[node.result] = operation.operands[0]
        self.piece.nodes.append(node)
        self.homes[node.result] = self.piece
        for value in node.inputs:
            self._note_number(value)

    def _check_known(self, values: list[Value]) -> None:
        """Arrays of the loop are results of its operations, or variables."""
        for value in values:
            if value in self.inside and not is_scalar(value):
                value = self.turns.variable(storage_of(value))
                if value in self.inside and value not in self.homes and value not in self.turns.variables:
                    raise _Other

    def _note_number(self, value: Value) -> None:
        if value in self.inside and is_scalar(value) and value not in self.piece.numbers:
            self.piece.numbers.append(value)
            self.turns.has_work = True

    # Arrays from piece to piece

    def _connect(self) -> None:
        """A value that another piece reads is a variable from its own piece on."""
        for piece in self.turns.pieces:
            read = [value for node in piece.nodes for value in node.inputs] + [value for _, value in piece.moves]
            for value in map(storage_of, read):
                home = self.homes.get(value)
                if home is not None and home is not piece and value not in self.turns.variables:
                    self.turns.variables[value] = None
                    home.moves.append((value, value))

    def _check_written(self) -> None:
        """What is written in place is one array throughout, that nothing else in the loop is another name of."""
        turns = self.turns
        for piece in turns.pieces:
            for node in piece.nodes:
                operation = operation_of(node)
                if operation is not None and operation.out is not None:
                    self._check_seen(operation.out)
                    target = turns.variable(storage_of(operation.out))
                    if self.homes.get(target) is not piece or target in turns.variables:
                        turns.written[target] = None
        for target in turns.written:
            if target in self.homes or not self._is_alone(target):
                raise _Other

    def _check_seen(self, written: Value) -> None:
        """What may be a part of an array, or the array itself, has values of its own only while that is not written."""
        target = self.turns.variable(storage_of(written))
        for alias, source in self.aliases.items():
            if target is alias or target is self.turns.variable(storage_of(source)):
                raise _Other

    def _is_alone(self, target: Value) -> bool:
        """Whether a variable is always the array that it is at first, under no other name."""
        turns = self.turns
        moves = [move for piece in turns.pieces for move in piece.moves] + list(turns.initial.items())
        initial = turns.initial.get(target, target)
        if initial is target and target in turns.variables:
            return False
        for name, value in moves:
            source = turns.variable(storage_of(value))
            if name is not target and source in (target, initial):
                return False
            if name is target and source is not initial:
                return False
        return initial is target or not any(
            _is_within(user, turns.loop) for user in initial.uses if user is not turns.loop
        )


def _is_within(node: Node, loop: Node) -> bool:
    owner = node.block.owner
    while isinstance(owner, Node):
        if owner is loop:
            return True
        owner = owner.block.owner
    return False


def _values(block: Block) -> Iterator[Value]:
    """Everything that is defined in a block."""
    yield from block.parameters
    for node in block.all_nodes():
        yield from node.results
        for inner in node.blocks:
            yield from inner.parameters
