"""Graphs without their Python function: what they refer to is given from outside."""

from __future__ import annotations

import builtins
import sys
import types
from collections.abc import Mapping

from gjit.capture.program import Program
from gjit.errors import GjitError
from gjit.ir.evaluation import captured
from gjit.ir.graph import CaptureKind, CaptureSlot, Graph
from gjit.runtime.compiled import Compiled
from gjit.runtime.entry import signature_text

DEFAULTS, KEYWORD_DEFAULTS, QUALIFIED_NAME, MODULE = "__defaults__", "__kwdefaults__", "__qualname__", "__module__"
UNBOUND = "__unbound__"
Captures = dict[str, dict[str, object]]


def captures_of(program: Program) -> Captures:
    """What the graphs of a program refer to: by graph, then by the name of the slot.

    What a function has besides its graph stands under the names of its attributes: defaults, and the names that
    messages show. The names of slots that hold nothing now stand together under `__unbound__`.
    """
    found: Captures = {}
    for name, graph in program.functions.items():
        slots = used_slots(graph)
        unbound = tuple(slot.name for slot in slots if _is_unbound(slot))
        found[name] = {slot.name: slot.value for slot in slots if slot.name not in unbound}
        if unbound:
            found[name][UNBOUND] = unbound
        owner = program.owners.get(name)
        for attribute in (DEFAULTS, KEYWORD_DEFAULTS, QUALIFIED_NAME, MODULE):
            value = getattr(owner, attribute, None)
            if value is not None:
                found[name][attribute] = value
    return found


def _is_unbound(slot: CaptureSlot) -> bool:
    """Whether a name that is looked up each time means nothing yet."""
    if slot.guarded or slot.kind is CaptureKind.OBJECT or slot.namespace is None:
        return False
    try:
        captured(slot)
    except (NameError, ValueError):
        return True
    return False


def used_slots(graph: Graph) -> list[CaptureSlot]:
    """The slots whose object the graph reads; others are names that only had to be guarded."""
    used = {node.attributes["slot"] for node in graph.all_nodes() if node.op in ("capture", "capture.store")}
    return [graph.captures[index] for index in sorted(used)]


def bind_graph(
    graph: Graph, captures: Mapping[str, Mapping[str, object]], *, device: str | None = None
) -> tuple[Compiled, types.FunctionType]:
    """Plans for a graph that was parsed from text, and a plain function with its signature (which cannot be run).

    Raises:
        GjitError: something that the graph refers to is missing.
    """
    functions = {graph.name: graph, **graph.functions}
    program = Program(None, "")
    program.functions = functions
    for name, each in functions.items():
        each.functions = functions
        program.owners[name] = _owner(each, captures.get(name, {}))
    owner = program.owners[graph.name]
    assert owner is not None
    return Compiled(owner, lambda loads, reads_again: (graph, program), has_plain=False, device=device), owner


def _owner(graph: Graph, values: Mapping[str, object]) -> types.FunctionType:
    """A function in whose globals the captured objects are; slots are filled and refer to it."""
    module = str(values.get(MODULE))
    namespace: dict[str, object] = {"__builtins__": builtins, "__name__": module if module in sys.modules else "gjit"}
    unbound = values.get(UNBOUND, ())
    used = {id(slot) for slot in used_slots(graph)}
    for slot in graph.captures:
        if slot.name in unbound:  # type: ignore[operator]
            slot.namespace = types.CellType() if slot.kind is CaptureKind.CELL else namespace
            continue
        if slot.name not in values:
            if id(slot) not in used:
                continue
            raise GjitError(f"the graph {graph.name!r} refers to {slot.name!r}, which the captures do not hold")
        slot.value = values[slot.name]
        if slot.kind is CaptureKind.CELL:
            slot.namespace = types.CellType(slot.value)
        elif slot.kind is CaptureKind.GLOBAL:
            namespace[slot.name] = slot.value
            slot.namespace = namespace
    owner = _stub(graph, namespace, str(values.get(QUALIFIED_NAME, graph.name)))
    owner.__module__ = str(values.get(MODULE, owner.__module__))
    owner.__defaults__ = values.get(DEFAULTS)  # type: ignore[assignment]
    owner.__kwdefaults__ = values.get(KEYWORD_DEFAULTS)  # type: ignore[assignment]
    return owner


def _stub(graph: Graph, namespace: dict[str, object], qualified_name: str) -> types.FunctionType:
    text = f"def stub({signature_text(graph.parameters)}): raise RuntimeError('a graph has no plain function')"
    file = graph.span.file if graph.span else "<gjit>"
    code = next(c for c in compile(text, file, "exec").co_consts if isinstance(c, types.CodeType))
    name = qualified_name.rpartition(".")[2]
    return types.FunctionType(code.replace(co_name=name, co_qualname=qualified_name), namespace, name)
