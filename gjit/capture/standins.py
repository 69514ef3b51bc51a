"""Stand-ins for what exists outside the traced function: modules, functions, classes, objects, lists and dictionaries.

`stand_in` decides what traced code meets in the place of a live object. Arrays become tracers that load them by
reference; functions of the user become copies that see stand-ins in turn; the rest records what must be recorded.
"""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable

import numpy as np

from gjit.capture.copies import copy_function, is_user_class
from gjit.capture.objects import object_stand_in
from gjit.capture.preserve import captured_objects, preserved
from gjit.capture.recorder import Held, Recorder, StandIn, depends_on_trace, held_of
from gjit.capture.resolve import is_immutable, is_user_code
from gjit.capture.tracers import Tracer, static_value
from gjit.ir.capturable import graph_of, has_graph, is_ignored, receiver_of
from gjit.ir.graph import CaptureKind, Constant, Value
from gjit.ir.graph import ParameterKind as Kind
from gjit.ops import names

Load = Callable[[], Value]

_TRANSPARENT = {"functools", "_functools", "itertools", "operator", "_operator", "copy", "typing", "collections", "contextlib"}
_TRANSPARENT |= {"dataclasses", "enum", "abc", "numbers", "types", "string", "re", "keyword", "builtins"}
_STATIC = {np.issubdtype, np.iscomplexobj, np.isrealobj, np.ndim, np.isscalar, np.can_cast}


def stand_in(recorder: Recorder, thing: object, load: Load) -> object:
    """What traced code meets in the place of `thing`, which the graph reaches by `load`."""
    if issubclass(type(thing), StandIn) or is_immutable(thing) or isinstance(thing, BaseException):
        return thing
    known = recorder.known.get(id(thing))
    if known is not None:
        return known[1]
    copied = recorder.copy(thing) if _is_copied(recorder, thing) else thing
    found = _made(recorder, copied, load)
    if not isinstance(thing, (np.ndarray, tuple)):  # one object is one stand-in, however it is reached
        recorder.known[id(thing)] = thing, found
        recorder.known[id(copied)] = copied, found
    return found


def _is_copied(recorder: Recorder, thing: object) -> bool:
    """Whether running the traced code could change `thing`: examples are computed on a copy then."""
    kind = type(thing)
    if has_graph(thing) or isinstance(thing, (type, types.ModuleType, types.FunctionType, types.MethodType)):
        return False
    return kind in (np.ndarray, list, dict) or is_user_class(recorder, kind) or not callable(thing)


def _made(recorder: Recorder, thing: object, load: Load) -> object:
    held = Held(recorder, thing, load, thing)
    kind = type(thing)
    if has_graph(thing):
        return Compiled(held)
    if kind is types.ModuleType:
        return Module(held)
    if kind is types.FunctionType:
        return copy_function(recorder, thing) if _is_traced(recorder, thing) else Function(held)
    if kind is types.MethodType:
        return _method(recorder, thing, held)
    if isinstance(thing, type):
        return _class(recorder, thing, held)
    if kind is tuple:
        return tuple(stand_in(recorder, part, _item(held, index)) for index, part in enumerate(thing))
    if kind in (list, dict):
        return Items(thing, held) if kind is list else Entries(thing, held)
    if kind is functools.partial:
        return _partial(recorder, thing, held)
    if is_user_class(recorder, kind):
        return object_stand_in(held)
    if callable(thing):
        return Function(held)
    return Tracer(held)


def _is_traced(recorder: Recorder, function: types.FunctionType) -> bool:
    """Whether calls of a Python function are traced through: the user's own, and modules written with gjit."""
    mine = is_user_code(function, recorder.package) or is_user_code(function, "gjit")
    return mine and not is_ignored(function)


def _method(recorder: Recorder, method: types.MethodType, held: Held) -> object:
    receiver, function = method.__self__, method.__func__
    traced = type(function) is types.FunctionType and _is_traced(recorder, function)
    if not traced and not has_graph(function):
        return Function(held)
    this = stand_in(
        recorder, receiver, lambda: recorder.load_object(receiver, type(receiver).__name__, guarded=False)
    )
    return types.MethodType(stand_in(recorder, function, _attribute(held, "__func__")), this)


def _class(recorder: Recorder, thing: type, held: Held) -> object:
    """Exceptions and classes of the user are used as they are: `except` and `class` statements need real classes."""
    plain = issubclass(thing, BaseException) or thing.__module__ in _TRANSPARENT
    if plain or is_user_class(recorder, thing):
        return thing
    return Function(held)


def _partial(recorder: Recorder, thing: functools.partial, held: Held) -> functools.partial:
    def part(value: object, name: str) -> object:
        return stand_in(recorder, value, lambda: recorder.add("getattr", [held.value()], name=name))

    arguments = [stand_in(recorder, value, _attribute_item(held, "args", i)) for i, value in enumerate(thing.args)]
    keywords = {key: stand_in(recorder, v, _attribute_item(held, "keywords", key)) for key, v in thing.keywords.items()}
    return functools.partial(part(thing.func, "func"), *arguments, **keywords)


def _item(held: Held, key: object) -> Load:
    return lambda: held.recorder.add("getitem", [held.value(), Constant(key)])


def _attribute(held: Held, name: str) -> Load:
    return lambda: held.recorder.add("getattr", [held.value()], name=name)


def _attribute_item(held: Held, name: str, key: object) -> Load:
    return lambda: held.recorder.add("getitem", [_attribute(held, name)(), Constant(key)])


class Module(StandIn):
    """Stands for a module: what is read from it is a stand-in in turn."""

    __slots__ = ("_gjit",)
    is_function = True

    def __getattr__(self, name: str) -> object:
        held = held_of(self)
        thing = getattr(held.original, name)
        scope = vars(held.original)
        recorder = held.recorder

        def load() -> Value:
            if names.name_of(thing) is not None:
                return Constant(thing)
            return recorder.load_name(name, CaptureKind.GLOBAL, thing, scope, guarded=not isinstance(thing, np.ndarray))

        return stand_in(recorder, thing, load)

    def __setattr__(self, name: str, thing: object) -> None:
        held = held_of(self)
        held.recorder.refuse(f"`{held.original.__name__}.{name}` is assigned while tracing", "return the value instead")


class Function(StandIn):
    """Stands for a function or class that is not the user's: of NumPy, the standard library, a package."""

    __slots__ = ("_gjit",)
    is_function = True

    def __call__(self, *arguments: object, **keywords: object) -> object:
        held = held_of(self)
        recorder, function = held.recorder, held.original
        if function in (np.errstate, np.printoptions):
            return Manager(held_of(recorder.call(function, arguments, keywords)))
        if function in _STATIC and depends_on_trace((arguments, keywords)):
            return _static_call(recorder, function, arguments, keywords)
        if _module_of(function) in _TRANSPARENT:
            return function(*arguments, **keywords)
        if depends_on_trace((arguments, keywords)):
            return recorder.call(function, arguments, keywords, held)
        if _is_repeatable(function):
            found = recorder.run(function, *arguments, **keywords)
            if is_immutable(found):
                return found
        return recorder.call(function, arguments, keywords, held)

    def __getattr__(self, name: str) -> object:
        held = held_of(self)
        return stand_in(held.recorder, getattr(held.original, name), _attribute(held, name))

    def __eq__(self, other: object) -> object:
        if type(other) is Tracer:
            return other == held_of(self).original
        held = held_of(other)
        return held_of(self).original == (other if held is None else held.original)

    def __hash__(self) -> int:
        return hash(held_of(self).original)

    def __repr__(self) -> str:
        return repr(held_of(self).original)

    def __or__(self, other: object) -> object:
        held = held_of(other)
        return held_of(self).original | (other if held is None else held.original)


def _static_call(recorder: Recorder, function: Callable, arguments: tuple, keywords: dict) -> object:
    """A question about types, answered while tracing and asked again by the graph."""
    found = recorder.run(function, *arguments, **keywords)
    answer = recorder.call(function, arguments, keywords)
    return static_value(held_of(answer)) if type(answer) is Tracer else found


def _module_of(function: object) -> str:
    return getattr(function, "__module__", None) or ""


def _is_repeatable(function: Callable) -> bool:
    """Whether equal arguments always give equal results: such a call need not be recorded."""
    name = names.name_of(function) or ""
    return name.startswith(("numpy.", "math.", "cmath.")) and not name.startswith("numpy.random.")


class Manager(StandIn):
    """`np.errstate(...)`: what is recorded inside the `with` stands in the block of a `with` node."""

    __slots__ = ("_gjit", "_node", "_outer", "_real")

    def __init__(self, held: Held):
        super().__init__(held)
        self._real = held.example

    def __enter__(self) -> object:
        held = held_of(self)
        builder = held.recorder.builder
        builder.span = held.recorder.span()
        self._node = builder.node("with", [held.value()], results=0)
        self._outer, builder.block = builder.block, self._node.add_block(1)
        held.recorder.open_block()
        return self._real.__enter__()

    def __exit__(self, *exception: object) -> bool | None:
        recorder = held_of(self).recorder
        reachable = recorder.close_block()
        inside = list(dict.fromkeys(held.value() for held in reachable))
        recorder.builder.end("yield", inside)
        self._node.results = [Value(value.type, self._node, value.name) for value in inside]
        moved = dict(zip(inside, self._node.results, strict=True))
        for held in reachable:
            held.move(moved)
        recorder.builder.block = self._outer
        return self._real.__exit__(*exception)


class Compiled(StandIn):
    """Stands for something that has a graph: its calls are calls of that graph, with its control flow."""

    __slots__ = ("_gjit",)
    is_function = True

    def __call__(self, *arguments: object, **keywords: object) -> object:
        held = held_of(self)
        recorder, callee = held.recorder, held.original
        graph = graph_of(callee)
        placed, labels = _placed(callee, graph.parameters, (*_receiver(recorder, callee), *arguments), keywords)
        memo: dict[int, Value] = {}
        inputs = [recorder.value_of(argument, memo) for argument in placed]
        with preserved(captured_objects(graph)):
            example = recorder.run(callee, *arguments, **keywords)
        value = recorder.add("invoke", inputs, labels=labels, function=recorder.linker.adopt(graph))
        if example is None:
            recorder.assume_is(value, Constant(None), f"{graph.name} returns None")
        return recorder.result(example, value)

    def __getattr__(self, name: str) -> object:
        held = held_of(self)
        return stand_in(held.recorder, getattr(held.original, name), _attribute(held, name))


def _receiver(recorder: Recorder, callee: object) -> tuple:
    this = receiver_of(callee)
    if this is None:
        return ()
    name = type(this).__name__
    return (stand_in(recorder, this, lambda: recorder.load_object(this, name, guarded=False)),)


def _placed(callee: object, parameters: list, arguments: tuple, keywords: dict) -> tuple[list, tuple[str, ...]]:
    """Every argument in the order of the parameters, defaults filled in, with the labels of an `invoke`."""
    kinds = {
        Kind.POSITIONAL_ONLY: inspect.Parameter.POSITIONAL_ONLY,
        Kind.NORMAL: inspect.Parameter.POSITIONAL_OR_KEYWORD,
        Kind.VARIADIC: inspect.Parameter.VAR_POSITIONAL,
        Kind.KEYWORD_ONLY: inspect.Parameter.KEYWORD_ONLY,
        Kind.VARIADIC_KEYWORD: inspect.Parameter.VAR_KEYWORD,
    }
    defaults = {parameter.name: parameter.default for parameter in inspect.signature(callee).parameters.values()}
    signature = inspect.Signature(
        inspect.Parameter(p.name, kinds[p.kind], default=defaults[p.name] if p.has_default else inspect.Parameter.empty)
        for p in parameters
    )
    bound = signature.bind(*arguments, **keywords)
    bound.apply_defaults()
    placed = [*bound.args, *bound.kwargs.values()]
    return placed, ("",) * len(bound.args) + tuple(f"{name}=" for name in bound.kwargs)


class Items(list, StandIn):
    """Stands for a list of the user's program: elements are stand-ins, and are loaded from the list itself."""

    def __init__(self, thing: list, held: Held):
        list.__init__(self, thing)
        StandIn.__init__(self, held)

    def __getitem__(self, index: object) -> object:
        held = held_of(self)
        if isinstance(index, slice) and not depends_on_trace(index):
            return [self[i] for i in range(*index.indices(len(self)))]
        if depends_on_trace(index):
            example = held.recorder.run(list.__getitem__, held.original, index)
            value = held.recorder.add("getitem", [held.value(), held.recorder.value_of(index)])
            return held.recorder.result(held.recorder.copy(example), value)
        return stand_in(held.recorder, held.original[index], _item(held, index))

    def __iter__(self):
        return (self[index] for index in range(len(self)))

    def __reversed__(self):
        return (self[index] for index in reversed(range(len(self))))

    def __add__(self, other: object) -> list:
        return list(self) + list(other)

    def __radd__(self, other: object) -> list:
        return list(other) + list(self)

    def __mul__(self, count: int) -> list:
        return list(self) * count


class Entries(dict, StandIn):
    """Stands for a dictionary of the user's program: values are stand-ins, loaded from the dictionary itself."""

    def __init__(self, thing: dict, held: Held):
        dict.__init__(self, thing)
        StandIn.__init__(self, held)

    def __getitem__(self, key: object) -> object:
        held = held_of(self)
        return stand_in(held.recorder, held.original[key], _item(held, key))

    def __iter__(self):
        return dict.__iter__(self)

    def get(self, key: object, default: object = None) -> object:
        return self[key] if dict.__contains__(self, key) else default

    def values(self) -> list:
        return [self[key] for key in self]

    def items(self) -> list:
        return [(key, self[key]) for key in self]


def _refuse_changes(kind: type, base: str, methods: str) -> None:
    def refusal(name: str) -> Callable:
        def refuse(self: StandIn, *arguments: object, **keywords: object) -> None:
            held_of(self).recorder.refuse(f"`{name}` changes a {base} that lives outside the traced function")

        return refuse

    for name in methods.split():
        setattr(kind, name, refusal(name))


_refuse_changes(Items, "list", "append extend insert pop remove clear sort reverse __setitem__ __delitem__ __iadd__ __imul__")
_refuse_changes(Entries, "dictionary", "update pop popitem clear setdefault __setitem__ __delitem__ __ior__")
