"""Copies of the user's functions that run against stand-ins: the same code, other globals and other cells."""

from __future__ import annotations

import dis
import sys
import types
from collections.abc import Iterator

import numpy as np

from gjit.capture.recorder import Recorder
from gjit.capture.resolve import is_immutable, is_stable_namespace
from gjit.errors import TraceError
from gjit.ir.capturable import has_graph
from gjit.ir.graph import CaptureKind
from gjit.source import Span


def is_user_class(recorder: Recorder, kind: type) -> bool:
    """Whether a class is the user's (or gjit's own), so that its methods are traced through."""
    module = sys.modules.get(kind.__module__)
    if kind.__module__.partition(".")[0] in (recorder.package, "gjit"):
        return True
    return module is not None and not is_stable_namespace(vars(module))


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
    """The stand-in for what a name is bound to. What the trace relies on is guarded; the rest is loaded each time."""
    if is_immutable(thing) or has_graph(thing) or isinstance(thing, (types.FunctionType, type)):
        recorder.guard(name, kind, thing, namespace)
    guarded = not isinstance(thing, np.ndarray)
    return recorder.stand_in(thing, lambda: recorder.load_name(name, kind, thing, namespace, guarded=guarded))


def _defaults(recorder: Recorder, function: types.FunctionType) -> tuple | None:
    if function.__defaults__ is None:
        return None
    return tuple(_default(recorder, thing) for thing in function.__defaults__)


def _keyword_defaults(recorder: Recorder, function: types.FunctionType) -> dict[str, object] | None:
    if function.__kwdefaults__ is None:
        return None
    return {name: _default(recorder, thing) for name, thing in function.__kwdefaults__.items()}


def _default(recorder: Recorder, thing: object) -> object:
    return recorder.stand_in(thing, lambda: recorder.load_object(thing, "default", guarded=False))


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


def _check(function: types.FunctionType) -> None:
    code = function.__code__
    place = Span(code.co_filename, code.co_firstlineno)
    if code.co_flags & (0x80 | 0x100 | 0x200):
        raise TraceError(f"{function.__qualname__} is asynchronous", place, hint="use an ordinary function")
    for inner in _codes(code):
        for instruction in dis.get_instructions(inner):
            if _writes_outside(instruction, code):
                line = instruction.positions.lineno if instruction.positions else code.co_firstlineno
                message = f"{instruction.argval!r} is assigned outside the traced function"
                raise TraceError(message, Span(code.co_filename, line), hint="return the new value instead")


def _writes_outside(instruction: dis.Instruction, code: types.CodeType) -> bool:
    if instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
        return True
    return instruction.opname in ("STORE_DEREF", "DELETE_DEREF") and instruction.argval in code.co_freevars


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)
