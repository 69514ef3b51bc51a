"""The tracer: a value that writes down what is done with it.

A tracer answers at once what the inputs of a trace have in common (rank, dtype, type), and writes the assumption into
the graph. Sizes are values. Whatever would need the data itself is refused.
"""

from __future__ import annotations

import dis
import operator
import sys
from collections.abc import Callable, Iterator

import numpy as np

from gjit.capture.assumptions import assume_equal
from gjit.capture.held import Held, StandIn, held_by, held_of
from gjit.capture.resolve import is_immutable

_DATA_METHODS = {"item", "tolist", "tobytes", "tofile", "dump", "dumps"}
_BINARY = "add sub mul matmul truediv floordiv mod pow lshift rshift and or xor"
_COMPARISONS = "eq ne lt le gt ge"


class Tracer(StandIn):
    """Stands for a value of the running program."""

    __slots__ = ("_gjit",)

    @property
    def __class__(self) -> type:
        return type(self._gjit.example)

    def __getattr__(self, name: str) -> object:
        held = held_by(self)
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(f"a traced value has no attribute {name!r}")
        example = getattr(held.example, name)
        if callable(example) and not isinstance(example, type):
            return Method(Held(held.recorder, example, _load_attribute(held, name)))
        if _is_static(held.example, name, example):
            return static_attribute(held, name, example)
        value = _load_attribute(held, name)()
        return held.recorder.result(example, value)

    def __setattr__(self, name: str, thing: object) -> None:
        held = held_by(self)
        held.recorder.effect("setattr", [held.value(), held.recorder.value_of(thing)], name=name)
        held.recorder.run(setattr, self, name, thing)

    def __getitem__(self, index: object) -> object:
        held = held_by(self)
        inputs = [held.value(), held.recorder.value_of(index)]
        example = held.recorder.run(operator.getitem, self, index)
        return held.recorder.result(example, held.recorder.add("getitem", inputs))

    def __setitem__(self, index: object, thing: object) -> None:
        recorder = held_by(self).recorder
        recorder.effect("setitem", [recorder.value_of(part) for part in (self, index, thing)])
        recorder.run(operator.setitem, self, index, thing)

    def __delitem__(self, index: object) -> None:
        recorder = held_by(self).recorder
        recorder.effect("delitem", [recorder.value_of(part) for part in (self, index)])
        recorder.run(operator.delitem, self, index)

    def __call__(self, *arguments: object, **keywords: object) -> object:
        held = held_by(self)
        return held.recorder.call_value(held.example, held.value(), arguments, keywords)

    def __iter__(self) -> Iterator[object]:
        held = held_by(self)
        if isinstance(held.example, (tuple, list)):
            return iter(unpack(held, len(held.example)))
        count = _unpacked_count(sys._getframe(1))
        if count is None:
            what = "a traced range" if isinstance(held.example, range) else f"a traced {_kind(held.example)}"
            held.recorder.refuse(f"iterating over {what}: its length may differ from run to run")
        return iter(unpack(held, count))

    def __reversed__(self) -> Iterator[object]:
        return reversed(list(self))

    def __len__(self) -> int:
        held = held_by(self)
        if not isinstance(held.example, tuple):
            held.recorder.refuse(f"the length of a traced {_kind(held.example)} is needed as a number")
        return static_length(held)

    def __contains__(self, thing: object) -> bool:
        held_by(self).recorder.refuse("`in` asks for the data of a traced value")

    def __enter__(self) -> object:
        kind = _kind(held_by(self).example)
        held_by(self).recorder.refuse(f"`with` of a {kind}, whose block may or may not end early")

    def __exit__(self, *exception: object) -> None:
        """Python looks for it before it enters; `__enter__` refuses."""

    def __bool__(self) -> bool:
        held_by(self).recorder.refuse("the truth of a traced value decides which code runs")

    def __index__(self) -> int:
        held_by(self).recorder.refuse("a traced value is needed as a Python integer")

    def __int__(self) -> int:
        held_by(self).recorder.refuse("a traced value is converted to a Python int")

    def __float__(self) -> float:
        held_by(self).recorder.refuse("a traced value is converted to a Python float")

    def __complex__(self) -> complex:
        held_by(self).recorder.refuse("a traced value is converted to a Python complex")

    def __hash__(self) -> int:
        held = held_by(self)
        if not isinstance(held.example, np.dtype):
            held.recorder.refuse("a traced value is used as a key of a dictionary or set")
        return hash(static_value(held))

    def __str__(self) -> str:
        hint = "print the value itself, or use `gjit.script`"
        held_by(self).recorder.refuse("a traced value is turned into text", hint)

    __repr__ = __str__

    def __format__(self, specification: str) -> str:
        return str(self)

    def __array__(self, *arguments: object, **keywords: object) -> np.ndarray:
        held_by(self).recorder.refuse("a function that is not traced asks for the data of a traced value")

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **keywords: object) -> object:
        recorder = held_by(self).recorder
        if method == "__call__":
            return recorder.call(ufunc, inputs, keywords)
        callee = recorder.add("getattr", [recorder.value_of(ufunc)], name=method)
        return recorder.call_value(getattr(ufunc, method), callee, inputs, keywords)

    def __array_function__(self, function: Callable, types: object, arguments: tuple, keywords: dict) -> object:
        return held_by(self).recorder.call(function, arguments, keywords)

    def __pow__(self, other: object, modulo: object = None) -> object:
        recorder = held_by(self).recorder
        if modulo is not None:
            return recorder.call(pow, (self, other, modulo), {})
        return recorder.operator("pow", operator.pow, self, other)

    def __abs__(self) -> object:
        return held_by(self).recorder.call(abs, (self,), {})

    def __round__(self, *digits: object) -> object:
        return held_by(self).recorder.call(round, (self, *digits), {})

    def __divmod__(self, other: object) -> object:
        return held_by(self).recorder.call(divmod, (self, other), {})

    def __rdivmod__(self, other: object) -> object:
        return held_by(self).recorder.call(divmod, (other, self), {})

    def __copy__(self) -> object:
        return self._copied("__copy__")

    def __deepcopy__(self, memo: dict) -> object:
        return self._copied("__deepcopy__", {})

    def _copied(self, method: str, *arguments: object) -> object:
        held = held_by(self)
        if is_immutable(held.example):
            return self
        return held.recorder.call_value(getattr(held.example, method), _load_attribute(held, method)(), arguments, {})


class Method(StandIn):
    """A bound method of a traced value, read and not called yet."""

    __slots__ = ("_gjit",)

    def __init__(self, held: Held):
        super().__init__(held)
        held.value()  # Python reads the method before it evaluates the arguments

    def __call__(self, *arguments: object, **keywords: object) -> object:
        held = held_by(self)
        name, owner = held.example.__name__, getattr(held.example, "__self__", None)
        if name in _DATA_METHODS and isinstance(owner, (np.ndarray, np.generic)):
            held.recorder.refuse(f"`.{name}()` takes data out of a traced array")
        return held.recorder.call_value(held.example, held.value(), arguments, keywords)


def static_attribute(held: Held, name: str, example: object) -> object:
    """An attribute that inputs of a trace share; the graph checks that they do."""
    load = _load_attribute(held, name)
    _assume(held, f".{name}", load, example, f"`.{name}`")
    return held.recorder.stand_in(example, load)


def static_value(held: Held) -> object:
    """The value itself, where it is one that decides types (a dtype); the graph checks it."""
    _assume(held, "itself", held.value, held.example, "the value")
    return held.example


def static_length(held: Held) -> int:
    """The number of elements of a traced tuple, such as a shape; the graph checks it."""
    found = lambda: held.recorder.add("builtin.len", [held.value()])  # noqa: E731
    _assume(held, "len", found, len(held.example), "the length")
    return len(held.example)


def _assume(held: Held, fact: str, found: Callable, expected: object, what: str) -> None:
    value = held.value()
    assume_equal(held.recorder, (value, fact), found, expected, what, early=held.recorder.is_early(value))


def unpack(held: Held, count: int) -> list[object]:
    """The elements of a traced value that must have `count` of them: another number raises ValueError, as in Python."""
    recorder = held.recorder
    examples = recorder.run(list, held.example)
    if len(examples) != count:
        problem = "too many" if len(examples) > count else "not enough"
        raise ValueError(f"{problem} values to unpack (expected {count})")
    recorder.builder.span = recorder.span()
    node = recorder.builder.node("unpack", [held.value()], results=count, before=count, star=False, after=0)
    return [recorder.result(example, value) for example, value in zip(examples, node.results, strict=True)]


def _load_attribute(held: Held, name: str) -> Callable:
    return lambda: held.recorder.add("getattr", [held.value()], name=name)


def _is_static(owner: object, name: str, example: object) -> bool:
    if isinstance(owner, np.dtype):
        return is_immutable(example) or isinstance(example, type)
    return name == "ndim" and isinstance(owner, (np.ndarray, np.generic))


def _unpacked_count(frame) -> int | None:
    """How many names the running instruction of `frame` unpacks to, or None where it does something else."""
    code = frame.f_code.co_code
    if frame.f_lasti < 0 or dis.opname[code[frame.f_lasti]] != "UNPACK_SEQUENCE":
        return None
    return code[frame.f_lasti + 1]


def _kind(example: object) -> str:
    return "array" if isinstance(example, np.ndarray) else type(example).__name__


def _add_operators() -> None:
    """Give the tracer every binary, reflected, in-place and unary operator and comparison."""
    for name in _BINARY.split():
        plain = getattr(operator, name + "_" if name in ("and", "or") else name)
        _define(f"__r{name}__", lambda self, other, name=name, plain=plain: _record(name, plain, other, self))
        _define(f"__i{name}__", _forward(f"i{name}", getattr(operator, f"i{name}")))
        if name != "pow":
            _define(f"__{name}__", _forward(name, plain))
    for name in _COMPARISONS.split():
        _define(f"__{name}__", _comparison(name, getattr(operator, name)))
    for name in ("neg", "pos", "invert"):
        function = getattr(operator, name)
        _define(f"__{name}__", lambda self, name=name, function=function: _record(name, function, self))


def _define(name: str, method: Callable) -> None:
    method.__name__ = name
    setattr(Tracer, name, method)


def _record(name: str, function: Callable, *operands: object) -> object:
    held = next(held for operand in operands if (held := held_of(operand)) is not None)
    return held.recorder.operator(name, function, *operands)


def _forward(name: str, function: Callable) -> Callable:
    return lambda self, other: _record(name, function, self, other)


def _comparison(name: str, function: Callable) -> Callable:
    def compare(self: Tracer, other: object) -> object:
        if isinstance(held_by(self).example, np.dtype) and name in ("eq", "ne"):
            held = held_of(other)
            expected = static_value(held) if type(other) is Tracer else other if held is None else held.example
            return function(static_value(held_by(self)), expected)
        return _record(name, function, self, other)

    return compare


_add_operators()
