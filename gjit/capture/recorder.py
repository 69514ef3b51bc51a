"""What a trace writes down: nodes, operands, example values, and the assumptions that hold a trace to its inputs."""

from __future__ import annotations

import copy
import sys
import types
import weakref
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import NoReturn

from gjit.capture.resolve import is_immutable
from gjit.errors import TraceError
from gjit.ir.builder import Builder
from gjit.ir.capturable import has_graph
from gjit.ir.graph import CaptureKind, CaptureSlot, Constant, Graph, Value
from gjit.ir.linking import Linker
from gjit.ops import names, table
from gjit.source import Span

_PACKAGE = str(Path(__file__).parent.parent)
_SCRIPT = "put the part that depends on data into a function decorated with `gjit.script`, and call it here"


class Held:
    """What a stand-in stands for: an example of the value, and the graph value, recorded when it is first used.

    example   a live object for which everything that is static (rank, dtype, type) is read
    original  the object of the user's program, where the stand-in is for one that exists outside the trace
    """

    __slots__ = ("recorder", "example", "original", "_load", "_value", "__weakref__")

    def __init__(self, recorder: Recorder, example: object, load: Callable[[], Value], original: object = None):
        self.recorder = recorder
        self.example = example
        self.original = original
        self._load = load
        self._value: Value | None = None

    def value(self) -> Value:
        """The graph value; loading an object of the user's program is recorded here, once."""
        if self._value is None:
            self._value = self._load()
            self.recorder.note(self)
        return self._value

    def move(self, values: dict[Value, Value]) -> None:
        """Follow values that now leave a block as results of its node."""
        self._value = values.get(self._value, self._value)


class StandIn:
    """Base of everything that the traced code meets instead of a value, an object or a function."""

    __slots__ = ()  # each stand-in has room for `_gjit`; those that are lists or dictionaries cannot share a slot
    _gjit: Held

    def __init__(self, held: Held):
        object.__setattr__(self, "_gjit", held)


def held_of(value: object) -> Held | None:
    """What `value` stands for, or None where it is an ordinary object."""
    return object.__getattribute__(value, "_gjit") if issubclass(type(value), StandIn) else None


class Recorder:
    """One trace: the graph under construction and everything that must be undone or reported afterwards."""

    def __init__(
        self,
        graph: Graph,
        package: str,
        wrap: Callable[[Held], object],
        stand_in: Callable[[Recorder, object, Callable], object],
    ):
        self.graph = graph
        self.builder = Builder(graph)
        self.linker = Linker(graph.functions, {graph.name})
        self.failure: tuple[BaseException, Span | None] | None = None
        self.known: dict[int, tuple[object, object]] = {}  # stand-ins by the id of the object, which is kept alive
        self.functions: dict[int, tuple[object, types.FunctionType]] = {}  # by id of the copy: copy, original
        self._wrap = wrap
        self._stand_in = stand_in
        self._copies: dict[int, object] = {}
        self.package = package  # of the traced function: its other functions are the user's too
        self.builtins: dict[str, object] = {}  # what copied functions see as `__builtins__`
        self._stored: list[tuple[object, object, Span | None]] = []
        self._assumed: set[tuple[Value, str]] = set()
        self._open_blocks: list[list[weakref.ref[Held]]] = []

    def stand_in(self, thing: object, load: Callable[[], Value]) -> object:
        """What traced code meets in the place of an object of the user's program; `load` records how it is reached."""
        return self._stand_in(self, thing, load)

    # places and errors

    def span(self) -> Span | None:
        """The place in the user's code that is being executed."""
        frame = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
            frame = frame.f_back
        return None if frame is None else _span_of(frame)

    def refuse(self, message: str, hint: str = _SCRIPT) -> NoReturn:
        """Stop the trace at the user's line. The error is raised again should the traced code swallow it."""
        span = self.span()
        error = TraceError(message, span, hint=hint)
        self.failure = self.failure or (error, span)
        raise error

    # operands

    def value_of(self, thing: object, memo: dict[int, Value] | None = None) -> Value:
        """The operand for anything that traced code passes on; containers are built by nodes."""
        held = held_of(thing)
        if held is not None:
            return held.value()
        if is_immutable(thing) or names.name_of(thing) is not None:
            return Constant(thing)
        memo = {} if memo is None else memo
        if id(thing) not in memo:
            memo[id(thing)] = self._built(thing, memo)
        return memo[id(thing)]

    def _built(self, thing: object, memo: dict[int, Value]) -> Value:
        kind = type(thing)
        if kind in (tuple, list, set):
            return self.add(kind.__name__, [self.value_of(element, memo) for element in thing])
        if kind is dict:
            return self.add("dict", [self.value_of(part, memo) for item in thing.items() for part in item])
        if kind is slice:
            return self.add("slice", [self.value_of(part, memo) for part in (thing.start, thing.stop, thing.step)])
        if kind is range:
            return self.add("builtin.range", [Constant(part) for part in (thing.start, thing.stop, thing.step)])
        if isinstance(thing, tuple) and hasattr(kind, "_fields"):
            callee = self.load_object(kind, kind.__name__, guarded=True)
            return self.add("call", [callee, *(self.value_of(element, memo) for element in thing)])
        if kind is types.FunctionType:
            return self._function(thing)
        if kind is types.MethodType and held_of(thing.__self__) is not None:
            return self.add("getattr", [self.value_of(thing.__self__)], name=thing.__name__)
        return self.load_object(thing, getattr(thing, "__name__", kind.__name__), guarded=True)

    def _function(self, function: types.FunctionType) -> Value:
        known = self.functions.get(id(function))
        if known is None and type(function.__globals__) is not dict:
            self.refuse(f"the function {function.__name__!r} is made while tracing and passed to a function outside")
        return self.load_object(function if known is None else known[1], function.__name__, guarded=True)

    def load_object(self, thing: object, name: str, *, guarded: bool) -> Value:
        """A capture of an object that is reached by no name."""
        slots = self.graph.captures
        places = (i for i, slot in enumerate(slots) if slot.kind is CaptureKind.OBJECT and slot.value is thing)
        place = next(places, None)
        if place is None:
            place = len(slots)
            slots.append(CaptureSlot(name, CaptureKind.OBJECT, guarded, thing))
        value = self.add("capture", [], slot=place)
        value.name = name if name.isidentifier() else ""
        return value

    def load_name(self, name: str, kind: CaptureKind, thing: object, namespace: object, *, guarded: bool) -> Value:
        """A capture of what `name` is bound to in `namespace`."""
        slot = self.builder.slot(name, kind, thing, guarded=guarded, namespace=namespace)
        value = self.add("capture", [], slot=slot)
        value.name = name if name.isidentifier() else ""
        return value

    def guard(self, name: str, kind: CaptureKind, thing: object, namespace: object) -> None:
        """Rely on `name` being bound to this very object whenever the graph runs."""
        self.builder.slot(name, kind, thing, guarded=True, namespace=namespace)

    # examples

    def example_of(self, thing: object, made: dict[int, tuple[object, object]] | None = None) -> object:
        """`thing` with examples in the place of stand-ins; `made` collects the containers built for it, by id."""
        held = held_of(thing)
        if held is not None:
            return held.example
        made = {} if made is None else made
        if id(thing) not in made:
            made[id(thing)] = thing, self._example(thing, made)
        return made[id(thing)][1]

    def _example(self, thing: object, made: dict[int, tuple[object, object]]) -> object:
        kind = type(thing)
        if kind in (tuple, list, set):
            return kind(self.example_of(element, made) for element in thing)
        if kind is dict:
            return {self.example_of(key, made): self.example_of(element, made) for key, element in thing.items()}
        if kind is slice:
            return slice(*(self.example_of(part, made) for part in (thing.start, thing.stop, thing.step)))
        if isinstance(thing, tuple) and hasattr(kind, "_fields"):
            return kind(*(self.example_of(element, made) for element in thing))
        if kind is types.MethodType and held_of(thing.__self__) is not None:
            return getattr(self.example_of(thing.__self__), thing.__name__)
        return self.functions[id(thing)][1] if id(thing) in self.functions else thing

    def copy(self, thing: object) -> object:
        """A copy to compute examples with, so that the user's object stays as it is; aliases stay aliases."""
        for compiled in _compiled_parts(thing, set()):
            self._copies[id(compiled)] = compiled
        try:
            found = copy.deepcopy(thing, self._copies)
        except Exception:  # objects that cannot be copied (files, locks, modules) are used themselves
            return thing
        for part in list(self._copies.values()):
            self._copies.setdefault(id(part), part)  # a copy is its own copy
        return found

    def refuse_later_changes(self, thing: object) -> None:
        """Remember a container that was recorded as it is now; `finish` sees whether the traced code changed it."""
        self._stored.append((thing, copy.copy(thing), self.span()))

    def finish(self) -> None:
        """Raise what the traced code swallowed, and what only the end of the trace can tell.

        Raises TraceError.
        """
        if self.failure is not None:
            error, span = self.failure
            if isinstance(error, TraceError):
                raise error
            message = f"{type(error).__name__} was raised and handled while tracing: {error}"
            raise TraceError(message, span, hint=_SCRIPT) from error
        for thing, before, span in self._stored:
            if len(thing) != len(before) or any(new is not old for new, old in zip(thing, before, strict=True)):
                message = "a container was stored in an object and changed afterwards under another name"
                raise TraceError(message, span, hint="change it through the attribute")

    # nodes

    def add(self, op: str, inputs: list[Value], *, labels: tuple[str, ...] = (), **attributes: object) -> Value:
        """Append a node with one result at the user's line."""
        self.builder.span = self.span()
        return self.builder.add(op, inputs, labels=labels, **attributes)

    def effect(self, op: str, inputs: list[Value], **attributes: object) -> None:
        """Append a node without results."""
        self.builder.span = self.span()
        self.builder.node(op, inputs, results=0, **attributes)

    def run(self, function: Callable, *arguments: object, **keywords: object) -> object:
        """Compute an example. An exception is remembered: a handler in the traced code would depend on data."""
        made: dict[int, tuple[object, object]] = {}
        arguments, keywords = self.example_of(arguments, made), self.example_of(keywords, made)
        try:
            found = function(*arguments, **keywords)
        except Exception as error:
            self.failure = self.failure or (error, self.span())
            raise
        if any(_is_changed(self, thing, copied) for thing, copied in made.values()):
            self.refuse("a list or dictionary that was made while tracing is changed by a function outside")
        return found

    def result(self, example: object, value: Value) -> object:
        """The stand-in for the result of a node."""
        if example is None or example is NotImplemented:
            return example
        held = Held(self, example, lambda: value)
        held.value()
        return self._wrap(held)

    def operator(self, name: str, function: Callable, *operands: object) -> object:
        """Record `operator.<name>`."""
        inputs = [self.value_of(operand) for operand in operands]
        return self.result(self.run(function, *operands), self.add(f"operator.{name}", inputs))

    def call(
        self, function: Callable, arguments: tuple, keywords: dict[str, object], callee: Held | None = None
    ) -> object:
        """Record a call of a function that is known by name, or is reached by `callee`."""
        row = table.of_function(function)
        name = names.name_of(function)
        memo: dict[int, Value] = {}
        inputs = [self.value_of(argument, memo) for argument in (*arguments, *keywords.values())]
        labels = ("",) * len(arguments) + tuple(f"{keyword}=" for keyword in keywords)
        example = self.run(function, *arguments, **keywords)
        if row is not None:
            value = self.add(row.name, inputs, labels=labels)
        elif name is not None and name.startswith("numpy."):
            value = self.add("library", inputs, labels=labels, function=name)
        else:
            target = self.value_of(function) if callee is None or name is not None else callee.value()
            value = self.add("call", [target, *inputs], labels=("", *labels))
        return self.result(example, value)

    def call_value(self, function: Callable, callee: Value, arguments: tuple, keywords: dict[str, object]) -> object:
        """Record a call of a graph value, such as a method; `function` computes the example."""
        memo: dict[int, Value] = {}
        inputs = [self.value_of(argument, memo) for argument in (*arguments, *keywords.values())]
        labels = ("",) * (len(arguments) + 1) + tuple(f"{keyword}=" for keyword in keywords)
        example = self.run(function, *arguments, **keywords)
        return self.result(example, self.add("call", [callee, *inputs], labels=labels))

    # assumptions

    def assume(self, key: str, subject: Value, test: Callable[[], Value], message: str) -> None:
        """Make the graph raise TypeError where a static fact of the example does not hold for other inputs."""
        if (subject, key) in self._assumed:
            return
        self._assumed.add((subject, key))
        truth = test()
        node = self.builder.node("if", [truth], results=0)
        with self.builder.at(node.add_block()):
            self.builder.end("yield")
        with self.builder.at(node.add_block()):
            text = f"this trace was recorded where {message}; record another one for these inputs"
            error = self.add("call", [Constant(TypeError), Constant(text)])
            self.builder.end("raise", [error, Constant(None)])

    def assume_equal(self, subject: Value, key: str, found: Callable[[], Value], expected: object, what: str) -> None:
        """Assume that `found`, which is read from `subject`, is or equals an immutable object."""
        if expected == expected:  # NaN equals nothing
            op = "operator.is" if expected is None or isinstance(expected, bool) else "operator.eq"
            test = lambda: self.add(op, [found(), Constant(expected)])  # noqa: E731
            self.assume(key, subject, test, f"{what} is {expected!r}")

    def assume_is(self, subject: Value, expected: Value, message: str) -> None:
        """Assume that a value is one certain object."""
        self.assume(message, subject, lambda: self.add("operator.is", [subject, expected]), message)

    # blocks

    def note(self, held: Held) -> None:
        for block in self._open_blocks:
            block.append(weakref.ref(held))

    def open_block(self) -> None:
        """Remember every value from here on, until `close_block`."""
        self._open_blocks.append([])

    def close_block(self) -> list[Held]:
        """The values since the last `open_block` that the traced code can still reach."""
        return [held for reference in self._open_blocks.pop() if (held := reference()) is not None]


def depends_on_trace(thing: object) -> bool:
    """Whether a stand-in for a value is in there: a call with such an argument must be recorded."""
    kind = type(thing)
    if issubclass(kind, StandIn):
        return not getattr(kind, "is_function", False)
    if kind in (tuple, list, set, frozenset) or isinstance(thing, tuple):
        return any(map(depends_on_trace, thing))
    if kind is dict:
        return any(map(depends_on_trace, thing.keys())) or any(map(depends_on_trace, thing.values()))
    if kind is slice:
        return any(map(depends_on_trace, (thing.start, thing.stop, thing.step)))
    return False


def _is_changed(recorder: Recorder, thing: object, copied: object) -> bool:
    """Whether a call wrote to the copy of a container: the traced code would go on with the old contents."""
    if type(thing) not in (list, dict, set):
        return False
    if len(thing) != len(copied):
        return True
    if type(thing) is list:
        return any(_differs(recorder, old, new) for old, new in zip(thing, copied, strict=True))
    return type(thing) is dict and any(_differs(recorder, old, copied.get(key)) for key, old in thing.items())


def _differs(recorder: Recorder, old: object, new: object) -> bool:
    held = held_of(old)
    if held is not None:
        return held.example is not new
    return not isinstance(old, (tuple, list, dict, set, slice)) and old is not new


def _compiled_parts(thing: object, seen: set[int]) -> Iterator[object]:
    """The compiled functions that an object holds: like plain functions they are never copied."""
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if has_graph(thing):
        yield thing
    elif isinstance(thing, (list, tuple)):
        for part in thing:
            yield from _compiled_parts(part, seen)
    else:
        for part in (thing if isinstance(thing, dict) else getattr(thing, "__dict__", {})).values():
            yield from _compiled_parts(part, seen)


def _span_of(frame: types.FrameType) -> Span:
    code = frame.f_code
    position = next(islice(code.co_positions(), frame.f_lasti // 2, None), (None,) * 4)
    line, end_line, column, end_column = position
    line = line or frame.f_lineno
    return Span(code.co_filename, line, column or 0, end_line or line, end_column or 0)
