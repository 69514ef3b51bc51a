"""What GJIT_CHECK does on every call: compare it with the plain function, on copies, before it is made."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterator
from typing import Any

from gjit import settings
from gjit.capture.preserve import captured_objects, preserved
from gjit.errors import InternalError
from gjit.ir.graph import CaptureKind, CaptureSlot, Graph
from gjit.testing.running import Side, difference_text, random_states, restore_random_states, run_side
from gjit.testing.strength import strength_on


def check_call(
    plain: Callable, compiled: Callable, values: list[object], function: Callable, graph: Graph, engine: str
) -> object:
    """Compare both functions on copies of the arguments as `assert_same_as_numpy` does, then make the call.

    Captured objects, names and random generators are put back after each of the two runs, and what they print and warn
    of is not shown. Compiled functions that are called inside are not compared once more.

    Args:
        plain: takes the arguments and runs them as Python does.
        compiled: takes the arguments and runs the host program.
        values: the arguments; only the last call, the real one, changes them.
        function: the user's function, for its name and file.
        graph: what it was captured as: its slots hold the captured objects.
        engine: the name of the one that the call runs on.

    Raises:
        InternalError: the two do not do the same; the message says where they differ.
    """
    try:
        expected = _rehearse(plain, values, graph, disable=True)
        actual = _rehearse(compiled, values, graph, check=False)
    except TypeError as error:  # from copying: what the functions raise is part of what they do
        settings.log(logging.WARNING, "a call of %s is not compared: %s", graph.name, error)
    else:
        text = difference_text(function, expected, actual, True, strength_on(engine).for_arguments(values))
        if text:
            raised = actual.outcomes[-1].exception
            raise InternalError(f"bug in gjit: GJIT_CHECK found a wrong result: {text}") from raised
    with settings.here(check=False):
        return compiled(*values)


def _rehearse(function: Callable, values: list[object], graph: Graph, **knobs: object) -> Side:
    """Run a function on copies of the arguments and leave no mark."""
    before = random_states()
    try:
        with settings.here(**knobs), _names_kept(graph), preserved(captured_objects(graph)):
            return run_side(function, tuple(values), {}, 1)
    finally:
        restore_random_states(before)


@contextlib.contextmanager
def _names_kept(graph: Graph) -> Iterator[None]:
    """Put back what the captured names refer to, in case the program assigns them."""
    graphs = {id(each): each for each in (graph, *graph.functions.values())}
    slots = [slot for each in graphs.values() for slot in each.captures if slot.namespace is not None]
    held = [(slot, _value_of(slot)) for slot in slots]
    try:
        yield
    finally:
        for slot, value in held:
            if value is not _NOTHING and _value_of(slot) is not value:
                _put_back(slot, value)


_NOTHING = object()


def _value_of(slot: CaptureSlot) -> object:
    namespace: Any = slot.namespace
    if slot.kind is not CaptureKind.CELL:
        return namespace.get(slot.name, _NOTHING)
    try:
        return namespace.cell_contents
    except ValueError:
        return _NOTHING


def _put_back(slot: CaptureSlot, value: object) -> None:
    namespace: Any = slot.namespace
    if slot.kind is CaptureKind.CELL:
        namespace.cell_contents = value
    else:
        namespace[slot.name] = value
