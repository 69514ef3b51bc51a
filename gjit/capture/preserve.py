"""Leave no mark: run user code for an example, and put back what it printed, drew and changed."""

from __future__ import annotations

import contextlib
import io
import random
import types
import warnings
from collections.abc import Callable, Iterator

import numpy as np

from gjit.ir.graph import Graph

Restore = Callable[[], None]


@contextlib.contextmanager
def quiet() -> Iterator[io.StringIO]:
    """Output goes to the text that is given, warnings are dropped, the global random generators keep their states."""
    legacy, standard = np.random.get_state(), random.getstate()
    text = io.StringIO()
    try:
        with contextlib.redirect_stdout(text), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield text
    finally:
        np.random.set_state(legacy)
        random.setstate(standard)


@contextlib.contextmanager
def preserved(roots: list[object]) -> Iterator[None]:
    """Put back the contents of every array, list, dictionary, generator and instance that is reachable from `roots`."""
    restores = [restore for thing in list(reachable(roots)) if (restore := _restore(thing)) is not None]
    try:
        yield
    finally:
        for restore in restores:
            restore()


def captured_objects(graph: Graph) -> list[object]:
    """What the capture slots of a graph and of all that it calls hold."""
    graphs = {id(each): each for each in (graph, *graph.functions.values())}
    return [slot.value for each in graphs.values() for slot in each.captures]


def reachable(roots: list[object]) -> Iterator[object]:
    """Every object under `roots`, each once; functions, classes and modules are left out."""
    waiting, seen = list(roots), {}
    while waiting:
        thing = waiting.pop()
        if id(thing) in seen or is_code(thing):
            continue
        seen[id(thing)] = thing
        yield thing
        waiting.extend(_parts(thing))


def is_code(thing: object) -> bool:
    """Functions, classes and modules are not walked: what a graph reaches through them has a slot of its own."""
    kinds = (type, types.ModuleType, types.FunctionType, types.BuiltinFunctionType, np.ufunc)
    return isinstance(thing, kinds) or hasattr(type(thing), "__gjit_graph__")


def _parts(thing: object) -> list[object]:
    if isinstance(thing, dict):
        return list(thing.values())
    if isinstance(thing, (list, tuple)):
        return list(thing)
    return list(getattr(thing, "__dict__", {}).values())


def _restore(thing: object) -> Restore | None:
    """How to put back the contents of one object, or None where it cannot change or is not known."""
    if isinstance(thing, np.ndarray):
        return _restore_array(thing) if thing.flags.writeable else None
    if isinstance(thing, list):
        return lambda saved=list(thing): thing.__setitem__(slice(None), saved)
    if isinstance(thing, dict):
        return lambda saved=dict(thing): _replace(thing, saved)
    if isinstance(thing, np.random.Generator):
        return _restore_generator(thing)
    if isinstance(thing, np.random.RandomState):
        state = thing.get_state()
        return lambda: thing.set_state(state)
    if type(getattr(thing, "__dict__", None)) is dict:
        return lambda saved=dict(thing.__dict__): _replace(thing.__dict__, saved)
    return None


def _restore_array(array: np.ndarray) -> Restore:
    saved = array.copy()
    return lambda: np.copyto(array, saved)


def _restore_generator(generator: np.random.Generator) -> Restore:
    bits, state = generator.bit_generator, generator.bit_generator.state
    return lambda: setattr(bits, "state", state)


def _replace(target: dict, saved: dict) -> None:
    target.clear()
    target.update(saved)
