"""What a trace writes down: nodes, their operands, and the places in the user's code that they belong to."""

from __future__ import annotations

import copy
import functools
import sys
import types
import weakref
from collections.abc import Callable, Hashable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, NoReturn

from gjit.capture.examples import Examples, Made
from gjit.capture.held import Held, depends_on_trace, held_of, is_copied_instance, original_class
from gjit.capture.resolve import is_immutable, is_stable_namespace
from gjit.errors import TraceError
from gjit.ir.builder import Builder
from gjit.ir.graph import Block, CaptureKind, CaptureSlot, Constant, Graph, Value
from gjit.ir.linking import Linker
from gjit.ops import names, table
from gjit.source import Span

Load = Callable[[], Value]
Keywords = dict[str, object]

_PACKAGE = Path(__file__).parent.parent
_OWN_PARTS = ("api.py", "compiled.py", "capture", "ir", "module", "ops", "runtime")
_OWN_FILES = tuple(str(_PACKAGE / part) for part in _OWN_PARTS)
"""What stands between a tracer and the user's line; modules of gjit that are programs themselves do not."""

_HEAP_TYPE = 1 << 9  # what `class` statements make; types of extension modules mostly are not
SCRIPT_HINT = "put the part that depends on data into a function decorated with `gjit.script`, and call it here"


class Recorder(Examples):
    """One trace: the graph under construction, and everything that must be reported when it is finished.

    Args:
        graph: empty; nodes are added to it.
        package: of the traced function: its other functions are the user's too.
        wrap: makes the tracer of a value.
        stand_in: makes the stand-in of an object of the user's program.
    """

    def __init__(
        self,
        graph: Graph,
        package: str,
        wrap: Callable[[Held], object],
        stand_in: Callable[[Recorder, object, Load], object],
    ):
        super().__init__()
        self.graph, self.package = graph, package
        self.builder = Builder(graph)
        self.linker = Linker(graph.functions, {graph.name})
        self.known: dict[int, tuple[object, Any]] = {}  # stand-ins by the id of the object, which is kept alive
        self.builtins: dict[str, object] = {}  # what copied functions see as `__builtins__`
        self._wrap, self._stand_in = wrap, stand_in
        self._start = Block(graph)
        self._failure: tuple[BaseException, Span | None] | None = None
        self._stored: list[tuple[object, object, Span | None]] = []
        self.assumed: set[Hashable] = set()  # keys of the checks that were recorded
        self._open_blocks: list[list[weakref.ref[Held]]] = []
        self._attributes_set = False

    def stand_in(self, thing: object, load: Load) -> object:
        """What traced code meets in the place of an object of the user's program; `load` records how it is reached."""
        return self._stand_in(self, thing, load)

    def is_user_class(self, kind: type) -> bool:
        """Whether a class is the user's (or gjit's own), so that its methods are traced through."""
        if kind.__module__.partition(".")[0] in (self.package, "gjit"):
            return True
        module = sys.modules.get(kind.__module__)
        compiled = not kind.__flags__ & _HEAP_TYPE or kind.__module__.startswith("_cython")
        return module is not None and not compiled and not is_stable_namespace(vars(module))

    # places and errors

    def span(self) -> Span | None:
        """The place in the user's code that is being executed."""
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_OWN_FILES):
            frame = frame.f_back
        return None if frame is None else _span_of(frame)

    def refuse(self, message: str, hint: str = SCRIPT_HINT) -> NoReturn:
        """Stop the trace at the user's line. The error is raised again should the traced code swallow it."""
        span = self.span()
        error = TraceError(message, span, hint=hint)
        self._failure = self._failure or (error, span)
        raise error

    @property
    def refusal(self) -> TraceError | None:
        """The error that stopped the trace."""
        found = self._failure[0] if self._failure is not None else None
        return found if isinstance(found, TraceError) else None

    def stored(self, thing: object, value: Value) -> object:
        """What traced code finds where it stored `thing`: a container is a value of the graph from then on.

        `finish` sees whether the traced code changed the container under another name.
        """
        if type(thing) not in (list, dict, set):
            return thing
        self._stored.append((thing, copy.copy(thing), self.span()))
        return self.result(self.example_of(thing), value)

    def finish(self, result: Value) -> None:
        """Complete the graph.

        Raises TraceError: the traced code has swallowed an exception, or did what only the end of the trace can tell.
        """
        if self._failure is not None:
            error, span = self._failure
            message = f"{type(error).__name__} was raised and handled while tracing: {error}"
            raise self.refusal or TraceError(message, span, hint=SCRIPT_HINT) from None
        for thing, before, span in self._stored:
            if len(thing) != len(before) or any(new is not old for new, old in zip(thing, before, strict=True)):
                message = "a container was stored in an object and changed afterwards under another name"
                raise TraceError(message, span, hint="change it through the attribute")
        first = self.graph.block.first
        for node in list(self._start):
            self.graph.block.insert(self._start.detach(node), first)
        self.builder.end("return", [result])

    # operands

    def value_of(self, thing: object, memo: dict[int, Value] | None = None) -> Value:
        """The operand for anything that traced code passes on; containers are built by nodes."""
        held = held_of(thing)
        if held is not None:
            return held.value()
        if names.name_of(thing) is not None or (not depends_on_trace(thing) and is_immutable(thing)):
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
            return self.add("call", [self.value_of(part, memo) for part in (original_class(kind), *thing)])
        if kind is types.MethodType and held_of(thing.__self__) is not None:
            return self.add("getattr", [self.value_of(thing.__self__)], name=thing.__name__)
        if is_copied_instance(thing):
            return self._instance(thing, memo)
        return self._object(thing)

    def _instance(self, thing: object, memo: dict[int, Value]) -> Value:
        """An object that the traced code made: its class makes one without `__init__`, which was traced already."""
        kind = self.value_of(original_class(type(thing)))
        value = memo[id(thing)] = self.add("call", [self.add("getattr", [kind], name="__new__"), kind])
        for name, part in vars(thing).items():
            self.effect("setattr", [value, self.value_of(part, memo)], name=name)
        return value

    def _object(self, thing: object) -> Value:
        if isinstance(thing, type):
            thing = original_class(thing)
        if type(thing) is types.FunctionType:
            known = self.functions.get(id(thing))
            if known is None and type(thing.__globals__) is not dict:
                self.refuse(f"the function {thing.__name__!r} is made while tracing and passed to a function outside")
            thing = thing if known is None else known[1]
        return self.load_object(thing, getattr(thing, "__name__", type(thing).__name__), guarded=True)

    def load_object(self, thing: object, name: str, *, guarded: bool = False) -> Value:
        """A capture of an object that is reached by no name."""
        slots = self.graph.captures
        places = (i for i, slot in enumerate(slots) if slot.kind is CaptureKind.OBJECT and slot.value is thing)
        place = next(places, None)
        if place is None:
            place = len(slots)
            slots.append(CaptureSlot(name, CaptureKind.OBJECT, guarded, thing))
        return self._captured(place, name)

    def load_name(self, name: str, kind: CaptureKind, thing: object, namespace: object) -> Value:
        """What `name` is bound to in `namespace` when the graph runs."""
        return self._captured(self.builder.slot(name, kind, thing, guarded=False, namespace=namespace), name)

    def _captured(self, slot: int, name: str) -> Value:
        value = self.add("capture", [], slot=slot)
        value.name = name if name.isidentifier() else ""
        return value

    # nodes

    def add(self, op: str, inputs: list[Value], *, labels: tuple[str, ...] = (), **attributes: object) -> Value:
        """Append a node with one result at the user's line."""
        self.builder.span = self.span()
        return self.builder.add(op, inputs, labels=labels, **attributes)

    def effect(self, op: str, inputs: list[Value], **attributes: object) -> None:
        """Append a node without results."""
        self._attributes_set = self._attributes_set or op == "setattr"
        self.builder.span = self.span()
        self.builder.node(op, inputs, results=0, **attributes)

    def run(self, function: Callable, *arguments: object, **keywords: object) -> object:
        """Compute an example. An exception is remembered: a handler in the traced code would depend on data."""
        made: Made = {}
        positional, named = self.example_of(arguments, made), self.example_of(keywords, made)
        try:
            found = function(*positional, **named)
        except Exception as error:
            self._failure = self._failure or (error, self.span())
            raise
        if any(self.is_changed(thing, example) for thing, example in made.values()):
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

    def call(self, function: Callable, arguments: tuple, keywords: Keywords, callee: Held | None = None) -> object:
        """Record a call of a function that is known by name, or is reached by `callee`."""
        inputs, labels = self._arguments(arguments, keywords)
        example = self.run(function, *arguments, **keywords)
        row, name = table.of_function(function), names.name_of(function)
        if row is not None:
            value = self.add(row.name, inputs, labels=labels)
        elif name is not None and name.startswith("numpy."):
            value = self.add("library", inputs, labels=labels, function=name)
        else:
            target = self.value_of(function) if callee is None or name is not None else callee.value()
            value = self.add("call", [target, *inputs], labels=("", *labels))
        return self.result(example, value)

    def call_value(self, function: Callable, callee: Value, arguments: tuple, keywords: Keywords) -> object:
        """Record a call of a graph value, such as a method; `function` computes the example."""
        inputs, labels = self._arguments(arguments, keywords)
        example = self.run(function, *arguments, **keywords)
        return self.result(example, self.add("call", [callee, *inputs], labels=("", *labels)))

    def _arguments(self, arguments: tuple, keywords: Keywords) -> tuple[list[Value], tuple[str, ...]]:
        memo: dict[int, Value] = {}
        inputs = [self.value_of(argument, memo) for argument in (*arguments, *keywords.values())]
        return inputs, ("",) * len(arguments) + tuple(f"{keyword}=" for keyword in keywords)

    # places in the graph

    def early(self) -> AbstractContextManager[Block]:
        """Nodes recorded inside stand at the start of the graph."""
        return self.builder.at(self._start)

    def is_early(self, value: Value) -> bool:
        """Whether a fact about `value` can be checked at the start: it is a parameter, and no attribute was set yet."""
        return value.producer is self.graph.block and not self._attributes_set

    def note(self, held: Held) -> None:
        """Remember a value that was recorded just now, where a block is open."""
        for block in self._open_blocks:
            block.append(weakref.ref(held))

    def open_block(self) -> None:
        """Remember every value from here on, until `close_block`."""
        self._open_blocks.append([])

    def close_block(self) -> list[Held]:
        """The values since the last `open_block` that the traced code can still reach."""
        return [held for reference in self._open_blocks.pop() if (held := reference()) is not None]


@functools.lru_cache(maxsize=256)
def _positions(code: types.CodeType) -> list[tuple[int | None, int | None, int | None, int | None]]:
    return list(code.co_positions())


def _span_of(frame: types.FrameType) -> Span:
    code = frame.f_code
    line, end_line, column, end_column = _positions(code)[frame.f_lasti // 2]
    line = line or frame.f_lineno
    return Span(code.co_filename, line, column or 0, end_line or line, end_column or 0)
