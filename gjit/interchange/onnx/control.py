"""Control flow: what is decided when the model is written is followed, the rest becomes If and Loop.

A branch that leaves its function or loop takes all that follows into its block, so a model needs no jumps.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from gjit.interchange.onnx import calls
from gjit.interchange.onnx.branches import branches
from gjit.interchange.onnx.joining import MISSING
from gjit.interchange.onnx.loops import Loop
from gjit.interchange.onnx.rules import RULES
from gjit.interchange.onnx.structures import sequence_of
from gjit.interchange.onnx.values import Sequence, Tensor, Unwritable
from gjit.ir.graph import Block, Graph, Node

UNROLLED_TURNS = 8
"""Loops over a known range of up to so many turns are written out."""

LEAVING = frozenset({"return", "break", "continue"})


def ways_of(outer: Any, **ways: Any) -> Any:
    return type(outer)(outer, **ways)


def decided(walk: Any, value: Any) -> Any:
    """A truth value: a bool where it is known, else a tensor."""
    if isinstance(value, Tensor):
        return bool(value.constant) if value.constant is not None else RULES["builtin.bool"](walk.builder, value)
    if isinstance(value, Sequence):
        raise Unwritable("whether a sequence is empty has no form in a model")
    return bool(value)


def leaves(block: Block) -> bool:
    """Whether control may leave through the block, other than to what follows it."""
    inner = 0
    for node in block.all_nodes():
        if node.op == "return" or (node.op in LEAVING and not _in_loop(node, block)):
            inner += 1
    return inner > 0


def _in_loop(node: Node, outer: Block) -> bool:
    """Whether the loop that a terminator speaks of stands inside of a block."""
    block = node.block
    while block is not None and block is not outer:
        owner = block.owner
        if isinstance(owner, Node) and owner.op in ("for", "while", "function"):
            return True
        block = owner.block if isinstance(owner, Node) else None
    return False


def run_if(walk: Any, graph: Graph, node: Node, values: dict, ways: Any, then: Any) -> Any:
    condition = decided(walk, walk.value(node.inputs[0], values))
    if not isinstance(condition, Tensor):
        return walk.block(graph, node.blocks[0 if condition else 1], values, ways_of(ways, **{"yield": then}))
    if any(leaves(block) for block in node.blocks):
        inner = ways_of(ways, **{"yield": then})
        return branches(walk, condition, _runs(walk, graph, node, values, inner))
    inner = ways_of(ways, **{"yield": lambda results: results})
    return then(branches(walk, condition, _runs(walk, graph, node, values, inner)))


def _runs(walk: Any, graph: Graph, node: Node, values: dict, ways: Any) -> tuple[Callable, Callable]:
    one, other = node.blocks
    return (lambda: walk.block(graph, one, values, ways)), (lambda: walk.block(graph, other, values, ways))


def run_logical(walk: Any, graph: Graph, node: Node, values: dict, ways: Any, then: Any) -> Any:
    """`and`, `or`: the operand that Python gives."""
    left = walk.value(node.inputs[0], values)
    condition = decided(walk, left)
    inner = ways_of(ways, **{"yield": lambda results: results})

    def right() -> Any:
        return walk.block(graph, node.blocks[0], values, inner)

    if not isinstance(condition, Tensor):
        return then(right() if condition == (node.op == "and") else [left])
    runs = (right, lambda: [left]) if node.op == "and" else (lambda: [left], right)
    return then(branches(walk, condition, runs))


def run_for(walk: Any, graph: Graph, node: Node, values: dict, ways: Any, then: Any) -> Any:
    iterable = walk.value(node.inputs[0], values)
    initial = [walk.value(each, values) for each in node.inputs[1:]]
    body, otherwise = node.blocks
    known = isinstance(iterable, range) and len(iterable) <= UNROLLED_TURNS
    sequence = None if known else sequence_of(walk, iterable)
    if sequence is None:
        return _unrolled(walk, graph, node, calls.known_items(walk, iterable), initial, values, ways, then)

    def turn(index: Tensor, carried: list[Any]) -> tuple:
        values.update(zip(body.parameters, [sequence.item(index), *carried], strict=True))
        inner = ways_of(ways, **_turn_ways(lambda going: (True, tuple(going), False, False, MISSING), carried))
        return walk.block(graph, body, values, inner)

    loop = Loop(walk, initial, turn)
    loop.settle()
    finals = loop.emit(sequence.length, None)
    return _after(walk, graph, otherwise, values, ways, then, finals)


def _turn_ways(go_on: Any, carried: list[Any]) -> dict[str, Any]:
    """How a turn of a loop ends."""
    return {
        "continue": go_on,
        "break": lambda left: (False, tuple(left), True, False, MISSING),
        "return": lambda returned: (False, tuple(carried), True, True, returned[0]),
    }


def run_while(walk: Any, graph: Graph, node: Node, values: dict, ways: Any, then: Any) -> Any:
    test, body, otherwise = node.blocks

    def condition(carried: list[Any]) -> tuple[Any, list[Any]]:
        values.update(zip(test.parameters, carried, strict=True))
        truth, *passed = walk.block(graph, test, values, ways_of(ways, condition=lambda given: given))
        return decided(walk, truth), passed

    def going(carried: list[Any]) -> tuple:
        truth, passed = condition(carried)
        return truth, tuple(passed), False, False, MISSING

    def turn(index: Tensor, carried: list[Any]) -> tuple:
        values.update(zip(body.parameters, carried, strict=True))
        return walk.block(graph, body, values, ways_of(ways, **_turn_ways(going, carried)))

    first, initial = condition([walk.value(each, values) for each in node.inputs])
    if first is False:
        values.update(zip(otherwise.parameters, initial, strict=True))
        return walk.block(graph, otherwise, values, ways_of(ways, **{"yield": then}))
    loop = Loop(walk, initial, turn)
    loop.settle()
    finals = loop.emit(None, first)
    return _after(walk, graph, otherwise, values, ways, then, finals)


def _after(walk: Any, graph: Graph, otherwise: Block, values: dict, ways: Any, then: Any, finals: tuple) -> Any:
    """What follows a loop: its `else` where it was not left, the return of the function where it was left so."""
    carried, broke, returned, value = finals
    values.update(zip(otherwise.parameters, carried, strict=True))

    def rest() -> Any:
        if broke is False or not (len(otherwise) or leaves(otherwise)):
            return walk.block(graph, otherwise, values, ways_of(ways, **{"yield": then}))
        if leaves(otherwise):
            inner = ways_of(ways, **{"yield": then})
            return branches(walk, broke, (lambda: then(carried), lambda: walk.block(graph, otherwise, values, inner)))
        inner = ways_of(ways, **{"yield": lambda results: results})
        runs = (lambda: list(carried)), (lambda: walk.block(graph, otherwise, values, inner))
        return then(branches(walk, broke, runs))

    if returned is False:
        return rest()
    return branches(walk, returned, (lambda: ways.go("return", [value]), rest))


def _unrolled(
    walk: Any, graph: Graph, node: Node, items: list[Any], initial: list[Any], values: dict, ways: Any, then: Any
) -> Any:
    """Turn after turn; one that may leave on the way takes the others into its blocks."""
    body, otherwise = node.blocks
    nested = any(
        each.op in LEAVING and each is not body.terminator for each in body.all_nodes() if not _in_loop(each, body)
    )
    nested = (
        nested
        or body.terminator is None
        or body.terminator.op != "continue"
        or any(each.op == "return" for each in body.all_nodes())
    )

    def run(number: int, carried: list[Any]) -> Any:
        while number < len(items):
            values.update(zip(body.parameters, [items[number], *carried], strict=True))
            if nested:
                rest = {"continue": lambda going, number=number: run(number + 1, going), "break": then}
                return walk.block(graph, body, values, ways_of(ways, **rest))
            carried = walk.block(graph, body, values, ways_of(ways, **{"continue": lambda going: going}))
            number += 1
        values.update(zip(otherwise.parameters, carried, strict=True))
        return walk.block(graph, otherwise, values, ways_of(ways, **{"yield": then}))

    return run(0, initial)


def run_with(walk: Any, graph: Graph, node: Node, values: dict, ways: Any, then: Any) -> Any:
    manager = walk.value(node.inputs[0], values)
    if not isinstance(manager, np.errstate):
        raise Unwritable("only `with numpy.errstate(...)` has a form in a model, which gives no warnings")
    (body,) = node.blocks
    values.update(zip(body.parameters, [manager], strict=True))
    return walk.block(graph, body, values, ways_of(ways, **{"yield": then}))


def run_comprehension(walk: Any, graph: Graph, node: Node, values: dict, ways: Any, then: Any) -> Any:
    found: list[Any] = []
    inner = ways_of(ways, **{"yield": lambda element: found.append(element) if element else None})
    _clauses(walk, graph, node, values, inner)
    match node.attributes["kind"]:
        case "dict":
            made: Any = dict(found)
        case "set":
            made = {element for (element,) in found}
        case _:
            made = [element for (element,) in found]
    walk.lists[id(made)] = walk.builder.depth
    walk.kept.append(made)
    return then([made])


def _clauses(walk: Any, graph: Graph, node: Node, values: dict, ways: Any) -> None:
    (clause,) = node.blocks
    for item in calls.known_items(walk, walk.value(node.inputs[0], values)):
        values.update(zip(clause.parameters, [item], strict=True))
        walk.block(graph, clause, values, ways)


def run_clause_for(walk: Any, graph: Graph, node: Node, values: dict, ways: Any, then: Any) -> Any:
    _clauses(walk, graph, node, values, ways)
    return then([])


def run_clause_if(walk: Any, graph: Graph, node: Node, values: dict, ways: Any, then: Any) -> Any:
    condition = decided(walk, walk.value(node.inputs[0], values))
    if isinstance(condition, Tensor):
        raise Unwritable("the number of elements depends on the inputs: use a mask")
    if condition:
        walk.block(graph, node.blocks[0], values, ways)
    return then([])


CONTROL = {
    "if": run_if,
    "and": run_logical,
    "or": run_logical,
    "for": run_for,
    "while": run_while,
    "with": run_with,
    "comprehension": run_comprehension,
    "comprehension.for": run_clause_for,
    "comprehension.if": run_clause_if,
}
"""By op: takes the walk, the graph, the node, the values so far, the ways out, and what follows."""
