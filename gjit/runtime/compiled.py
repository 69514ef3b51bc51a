"""A function that was captured: its plans by signature, and the entry that a call goes through."""

from __future__ import annotations

import functools
import logging
import threading
import types
from collections import Counter
from collections.abc import Callable

import numpy as np

from gjit import settings
from gjit.capture.program import Program
from gjit.capture.resolve import is_immutable
from gjit.capture.script import capture_function
from gjit.capture.signature import signature_of
from gjit.ir.graph import CaptureKind, CaptureSlot, Graph, Parameter
from gjit.ir.room import with_room
from gjit.passes import pipelines
from gjit.runtime.checking import checker
from gjit.runtime.device import accelerator, adopted, chosen_device, device_named, device_of
from gjit.runtime.dynamic import DynamicCalls
from gjit.runtime.engines import ARRAYS, chosen_engine, engine_named
from gjit.runtime.entry import build_entry, call_with
from gjit.runtime.locks import add_lock
from gjit.runtime.plan import Plan, build_plan, runs_unknown_code
from gjit.runtime.signature import Key, key_of, types_of
from gjit.runtime.statistics import Statistics
from gjit.scheduler.bindings import read_global
from gjit.scheduler.placement import Work, work_of

Loads = frozenset[tuple[int, str]]
Capture = Callable[[Loads, bool], tuple[Graph, Program]]

GUARD_FAILURES = 8
"""How often a captured name may change before it is looked up on each use."""


class Compiled:
    """The plans of one function.

    A plan is immutable, and the entry is one attribute that is replaced by one store, so calls need no lock; making a
    plan takes one.

    Args:
        function: the Python function: its defaults, globals and free variables are used, never its bytecode.
        capture: gives the graph and the program, with some names (or all that hold numbers) to be looked up on each
            use.
        plain: what a call runs under GJIT_DISABLE and is compared with under GJIT_CHECK; the function by default.
        has_plain: false for a graph alone: its plans run under GJIT_DISABLE too, and nothing is compared.
        parameters: the signature, where it is not that of the function (a bound method has one less).
        family: counters and dynamic calls of the function that the user called, for one that it calls in turn.
        engine, device: where the decorator says that it runs.
        is_source: whether the source of `function` is what the graph was captured from; a derivative has none.
    """

    lock: threading.RLock

    def __init__(
        self,
        function: types.FunctionType,
        capture: Capture,
        *,
        plain: Callable | None = None,
        has_plain: bool = True,
        parameters: list[Parameter] | None = None,
        family: Compiled | None = None,
        engine: str | None = None,
        device: str | None = None,
        is_source: bool = True,
    ):
        self.function, self.is_source = function, is_source
        self._chosen = (engine, device) if family is None else family._chosen
        self._plain = plain or function
        self._has_plain = has_plain
        self.statistics = Statistics() if family is None else family.statistics
        self.dynamic = self._dynamic_calls() if family is None else family.dynamic
        self.entry_changed: Callable[[types.FunctionType], None] = lambda entry: None
        self.capture = capture
        self._count = self.statistics.count if family is None else None
        add_lock(self)
        self._captured: tuple[Graph, Program] | None = None
        self._loads: Loads = frozenset()
        self._reads_again = False
        self._failures: Counter[tuple[int, str]] = Counter()
        self._plans: dict[tuple[str, Key], Plan] = {}
        self.parameters = signature_of(function) if parameters is None else parameters
        self.entry = self._build_entry()

    def call(self, *arguments: object, **keywords: object) -> object:
        """A call through whatever the entry is now."""
        return self.entry(*arguments, **keywords)

    @property
    def graph(self) -> Graph:
        """The captured graph, without types."""
        return self.program[0]

    @property
    def program(self) -> tuple[Graph, Program]:
        """The captured graph and program, captured again when a guarded name has changed."""
        return with_room(self._program_now)

    def _program_now(self) -> tuple[Graph, Program]:
        with self.lock:
            if self._captured is not None and self._changed_slots():
                self._forget(self._changed_slots())
            if self._captured is None:
                self._captured = self.capture(self._loads, self._reads_again)
                self.statistics.captures += 1
            return self._captured

    @property
    def plans(self) -> dict[Key, Plan]:
        """The plans so far for the engine that calls run on, by signature."""
        return self._plans_of(self.engine_for([]))

    def _plans_of(self, engine: str) -> dict[Key, Plan]:
        """Those of an engine, and those for arrays that lie on a device, which no choice of an engine changes."""
        return {key: plan for (each, key), plan in self._plans.items() if each == engine or each.endswith(ARRAYS)}

    def engine_for(self, values: list[object], *, lasting: bool = False) -> str:
        """The name of the engine for these arguments: that of the device that one lies on, else the chosen one."""
        there = next((device for device in map(device_of, values) if device is not None), None)
        if there is not None:
            return there.name + ARRAYS
        engine, device = self._chosen
        place = chosen_device(device, lasting=lasting)
        if place == "auto":
            place = self._paying_device(values)
        return chosen_engine(engine, lasting=lasting) if place == "cpu" else device_named(place).name

    def _paying_device(self, values: list[object]) -> str:
        """Where `auto` runs a call: on a GPU if there is one, and it pays for arrays of these sizes."""
        name = accelerator()
        arrays = [value for value in values if type(value) is np.ndarray]
        if name is None or not arrays:
            return "cpu"
        elements = max(array.size for array in arrays)
        size = sum(array.nbytes for array in arrays)
        return name if self._work().pays(elements, size, settings.threads()) else "cpu"

    def _work(self) -> Work:
        return work_of(self.program[1].functions.values())

    def _most_elements(self) -> int | None:
        """The entry itself runs a plan for arrays of less elements than this; None: of all sizes."""
        is_free = chosen_device(self._chosen[1], lasting=True) == "auto" and self._captured is not None
        return self._work().least_elements(settings.threads()) if is_free and accelerator() is not None else None

    def plan_for(self, arguments: tuple, keywords: dict[str, object]) -> Plan:
        """The plan for these arguments, made when it is missing; nothing is run."""
        return self._plan(self.bind(arguments, keywords))

    def bind(self, arguments: tuple, keywords: dict[str, object]) -> list[object]:
        """One value for each parameter, as the interpreter would bind them."""
        binder = build_entry(self.function, self.parameters, [], {}, list, None, [])
        return binder(*arguments, **keywords)

    def _slow(self, values: list[object]) -> object:
        """A call that the entry has no plan for."""
        if settings.get("disable") and self._has_plain:
            return call_with(self._plain, self.parameters, values)
        values = [adopted(value) for value in values]
        plan = self._plan(values)
        if settings.get("check") and self._has_plain:
            return self._checked(plan, values)
        return call_with(plan.call, self.parameters, values)

    def _checked(self, plan: Plan, values: list[object]) -> object:
        """A call that is compared with the plain function before it is made."""
        both = (self._plain, plan.call)
        plain, compiled = (functools.partial(_call_with_each, each, self.parameters) for each in both)
        return checker()(plain, compiled, values, self._plain, self.program[0], self.engine_for(values))

    def _plan(self, values: list[object]) -> Plan:
        return with_room(functools.partial(self._plan_now, values))

    def _plan_now(self, values: list[object]) -> Plan:
        engine = self.engine_for(values)
        key = engine, key_of(values)
        with self.lock:
            graph, program = self.program
            plan = self._plans.get(key)
            if self._epoch is not settings.epoch.cell_contents:
                self._replace_entry()
            if plan is None:
                types, maker = types_of(values), engine_named(engine, self.statistics)
                plan = build_plan(graph.name, program, types, maker, self.dynamic, self.statistics)
                if self._may_miss_a_change(program, plan):
                    # code that is only known when it runs may assign a global that this plan took for a constant
                    self._reads_again, self._captured, self._plans = True, None, {}
                    return self._plan_now(values)
                self._plans[key] = plan
                settings.log(logging.INFO, "%s(%s): %d regions", plan.name, plan.signature, len(plan.regions))
                self.statistics.signatures += 1
                self._replace_entry()
            return plan

    def _build_entry(self) -> types.FunctionType:
        self._epoch = settings.epoch.cell_contents
        plans, guards = self._plans_of(self.engine_for([], lasting=True)) if self._plans else {}, self._guards()
        return build_entry(
            self.function,
            self.parameters,
            guards,
            plans,
            self._slow,
            self._count,
            settings.overrides,
            self._most_elements(),
        )

    def _replace_entry(self) -> None:
        self.entry = self._build_entry()
        self.entry_changed(self.entry)

    def _guards(self) -> list[CaptureSlot]:
        """Each guarded name of the program once."""
        if self._captured is None:
            return []
        slots = {
            (id(slot.namespace), slot.name): slot
            for graph in self._captured[1].functions.values()
            for slot in graph.captures
            if slot.guarded and slot.namespace is not None
        }
        return list(slots.values())

    def _may_miss_a_change(self, program: Program, plan: Plan) -> bool:
        """Whether numbers in the graph could be assigned by code of the plan; a second capture has none, or cannot."""
        if self._reads_again or program.has_host_calls or not runs_unknown_code(plan.graphs):
            return False
        return any(is_immutable(slot.value) for slot in self._guards())

    def _changed_slots(self) -> list[CaptureSlot]:
        return [slot for slot in self._guards() if _current(slot) is not slot.value]

    def _forget(self, changed: list[CaptureSlot]) -> None:
        """Drop what relied on names that have changed; names that keep changing become loads."""
        self.statistics.guard_failures += 1
        names = ", ".join(slot.name for slot in changed)
        settings.log(logging.INFO, "%s: captured again, since %s changed", self.function.__qualname__, names)
        for slot in changed:
            self._failures[id(slot.namespace), slot.name] += 1
        self._loads = frozenset(name for name, count in self._failures.items() if count >= GUARD_FAILURES)
        self._captured = None
        self._plans = {}

    def _dynamic_calls(self) -> DynamicCalls:
        package = (self.function.__module__ or "").partition(".")[0]
        return DynamicCalls(lambda function: scripted(function, self), self.statistics, package)


def scripted(
    function: types.FunctionType,
    family: Compiled | None = None,
    *,
    strict: bool = False,
    engine: str | None = None,
    device: str | None = None,
) -> Compiled:
    """Compile the source of a Python function.

    Raises:
        UnsupportedError: it uses something that cannot be scripted (when `family` is given: at once, since the
            caller then runs it in the interpreter).
    """

    def capture(loads: Loads, reads_again: bool) -> tuple[Graph, Program]:
        graph, program = capture_function(
            function, strict=strict, loads=loads, reads_again=reads_again, generator=family is not None
        )
        for each in program.functions.values():
            pipelines.run(each, "captured")
        return graph, program

    compiled = Compiled(function, capture, family=family, engine=engine, device=device)
    if family is not None:
        compiled.program  # noqa: B018 - captures now, so that a refusal is seen before the call
    return compiled


def traced(plain: Callable, graph: Graph, function: types.FunctionType) -> Compiled:
    """Plans for a traced graph; `function` is the Python function in `plain`, a function or an object with one."""
    program = Program(function, (function.__module__ or "").partition(".")[0])
    program.functions = {graph.name: graph, **graph.functions}
    program.owners = {name: function if name == graph.name else None for name in program.functions}
    for each in program.functions.values():
        each.functions = program.functions
        pipelines.run(each, "captured")
    return Compiled(function, lambda loads, reads_again: (graph, program), plain=plain, parameters=graph.parameters)


def _current(slot: CaptureSlot) -> object:
    try:
        if slot.kind is CaptureKind.CELL:
            return slot.namespace.cell_contents
        return read_global(slot.namespace, slot.name)
    except (NameError, ValueError):
        return _MISSING


_MISSING = object()


def _call_with_each(function: Callable, parameters: list[Parameter], *values: object) -> object:
    return call_with(function, parameters, list(values))
