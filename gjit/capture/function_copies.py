"""Copies of the user's functions and classes that run against stand-ins: the same code, other globals and cells."""

from __future__ import annotations

import abc
import dis
import inspect
import types
from collections.abc import Iterator

from gjit.capture.assumptions import rely_on
from gjit.capture.held import ORIGINAL
from gjit.capture.recorder import SCRIPT_HINT, Recorder
from gjit.errors import TraceError
from gjit.ir.capturable import has_graph
from gjit.ir.graph import CaptureKind, Value
from gjit.source import Span


def copy_function(recorder: Recorder, function: types.FunctionType) -> types.FunctionType:
    """The copy of `function` for this trace; each function has one.

    Raises TraceError for writes to globals and to variables of an enclosing function, and for coroutines.
    """
    known = recorder.known.get(id(function))
    if known is not None:
        return known[1]
    _check(function)
    cells = tuple(types.CellType() for _ in function.__closure__ or ())
    copied = types.FunctionType(
        function.__code__, _globals_for(recorder, function.__globals__), function.__name__, None, cells
    )
    recorder.known[id(function)] = function, copied
    recorder.functions[id(copied)] = copied, function
    for name, cell, new in zip(function.__code__.co_freevars, function.__closure__ or (), cells, strict=True):
        _fill(recorder, name, cell, new)
    copied.__defaults__ = _defaults(recorder, function)
    copied.__kwdefaults__ = _keyword_defaults(recorder, function)
    copied.__qualname__, copied.__module__ = function.__qualname__, function.__module__
    copied.__dict__.update(function.__dict__)
    return copied


def _fill(recorder: Recorder, name: str, cell: types.CellType, new: types.CellType) -> None:
    try:
        thing = cell.cell_contents
    except ValueError:  # not assigned yet: reading it raises NameError, as in the function itself
        return
    new.cell_contents = thing if name == "__class__" else _named(recorder, name, CaptureKind.CELL, thing, cell)


def _named(recorder: Recorder, name: str, kind: CaptureKind, thing: object, namespace: object) -> object:
    """The stand-in for what a name is bound to."""

    def load() -> Value:
        return recorder.load_name(name, kind, thing, namespace)

    if not isinstance(thing, types.ModuleType):
        rely_on(recorder, (id(namespace), name), load, thing, name)
    return recorder.stand_in(thing, load)


def _defaults(recorder: Recorder, function: types.FunctionType) -> tuple | None:
    if function.__defaults__ is None:
        return None
    return tuple(_default(recorder, thing) for thing in function.__defaults__)


def _keyword_defaults(recorder: Recorder, function: types.FunctionType) -> dict[str, object] | None:
    if function.__kwdefaults__ is None:
        return None
    return {name: _default(recorder, thing) for name, thing in function.__kwdefaults__.items()}


def _default(recorder: Recorder, thing: object) -> object:
    return recorder.stand_in(thing, lambda: recorder.load_object(thing, "default"))


class _Globals(dict):
    """The globals of copied functions. The interpreter reads globals of a subclass through `__getitem__`."""

    def __init__(self, recorder: Recorder, real: dict[str, object]):
        super().__init__(real)
        self["__builtins__"] = recorder.builtins
        self._recorder, self._real = recorder, real
        self._found: dict[str, object] = {}

    def __getitem__(self, name: str) -> object:
        if name not in self._found:
            thing = self._real[name]
            self._found[name] = _named(self._recorder, name, CaptureKind.GLOBAL, thing, self._real)
        return self._found[name]


def _globals_for(recorder: Recorder, real: dict[str, object]) -> _Globals:
    known = recorder.known.get(id(real))
    if known is None:
        known = recorder.known[id(real)] = real, _Globals(recorder, real)
    return known[1]


def copy_class(recorder: Recorder, kind: type) -> type:
    """A subclass of the user's class whose methods are copies: traced code makes its instances from it.

    Classes that watch how they are made (a metaclass, `__init_subclass__`) are used as they are.
    """
    watched = any("__init_subclass__" in vars(parent) for parent in kind.__mro__[:-1])
    if type(kind) not in (type, abc.ABCMeta) or watched or has_graph(kind):
        return kind
    members: dict[str, object] = {ORIGINAL: kind, "__module__": kind.__module__, "__qualname__": kind.__qualname__}
    for parent in reversed(kind.__mro__[:-1]):
        if recorder.is_user_class(parent):
            members.update((name, copy) for name, part in vars(parent).items() if (copy := _member(recorder, part)))
    if "__eq__" in members:  # a class body that defines it loses the inherited hash
        members.setdefault("__hash__", kind.__hash__)
    if "__slots__" in vars(kind):
        members["__slots__"] = ()
    return _watching(recorder, kind)(kind.__name__, (kind,), members)


def _watching(recorder: Recorder, kind: type) -> type:
    """A metaclass that sees what traced code reads from the copy of `kind`."""

    def read(copied: type, name: str) -> object:
        found = type.__getattribute__(copied, name)
        if name.startswith("__") or isinstance(found, (types.FunctionType, types.MethodType)):
            return found
        load = lambda: recorder.add("getattr", [recorder.value_of(kind)], name=name)  # noqa: E731
        rely_on(recorder, (kind, name), load, found, f"`{kind.__name__}.{name}`")
        return recorder.stand_in(found, load)

    return type("Watching", (type(kind),), {"__getattribute__": read})


def _member(recorder: Recorder, part: object) -> object:
    """The copy of what a class body defines, or None for what needs none."""
    match part:
        case types.FunctionType():
            return copy_function(recorder, part) if not part.__code__.co_filename.startswith("<") else None
        case staticmethod() | classmethod():
            inner = _member(recorder, part.__func__)
            return None if inner is None else type(part)(inner)
        case property():
            return property(*(part_ and _member(recorder, part_) for part_ in (part.fget, part.fset, part.fdel)))
    return None


def _check(function: types.FunctionType) -> None:
    """Refuse what would run without the tracers knowing of it."""
    code = function.__code__
    if code.co_flags & (inspect.CO_COROUTINE | inspect.CO_ITERABLE_COROUTINE | inspect.CO_ASYNC_GENERATOR):
        place = Span(code.co_filename, code.co_firstlineno)
        raise TraceError(f"{function.__qualname__} is asynchronous", place, hint="use an ordinary function")
    for inner in _codes(code):
        before: list[dis.Instruction] = []
        for instruction in dis.get_instructions(inner):
            problem, hint = _problem(instruction, before, code)
            if problem:
                raise TraceError(problem, _place(instruction, code), hint=hint)
            before.append(instruction)


def _place(instruction: dis.Instruction, code: types.CodeType) -> Span:
    found = instruction.positions
    if found is None or found.lineno is None:
        return Span(code.co_filename, code.co_firstlineno)
    return Span(code.co_filename, found.lineno, found.col_offset or 0, found.end_lineno or 0, found.end_col_offset or 0)


def _problem(instruction: dis.Instruction, before: list[dis.Instruction], code: types.CodeType) -> tuple[str, str]:
    """What is wrong with an instruction, and what to write instead; empty texts where nothing is."""
    name = instruction.opname
    is_outside = name in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in code.co_freevars
    if is_outside or name in ("STORE_GLOBAL", "DELETE_GLOBAL"):
        return f"{instruction.argval!r} is assigned outside the traced function", "return the new value instead"
    if name in ("MATCH_SEQUENCE", "MATCH_MAPPING"):
        return "`match` looks into a traced value", SCRIPT_HINT
    if name == "IS_OP" and _are_locals(before):
        return "`is` asks whether two traced values are one object", SCRIPT_HINT
    return "", ""


def _are_locals(before: list[dis.Instruction]) -> bool:
    """Whether the operands of the next instruction are two local variables, which may hold traced values."""
    *_, first, second = ("", "", *(instruction.opname for instruction in before[-2:]))
    both = second.count("LOAD_FAST") == 2  # one instruction may load two
    return both or (first.endswith("LOAD_FAST") and second.endswith("LOAD_FAST"))


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)
