"""Run a trace and its function side by side: a trace that left something out is an error, not a wrong answer."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from gjit.capture.preserve import captured_objects, is_code, preserved, quiet, reachable
from gjit.errors import TraceError
from gjit.ir.capturable import graph_of, has_graph
from gjit.source import Span

_HINT = "put the part that depends on data into a function decorated with `gjit.script`, and call it here"


@dataclass(slots=True)
class _Outcome:
    """What a call did: its result or its exception, its arguments afterwards, what it printed."""

    result: object
    error: Exception | None
    arguments: tuple
    state: list[object]
    text: str


def check_trace(compiled: Callable, function: Callable, inputs: tuple, *, rtol: float = 0.0, atol: float = 0.0) -> None:
    """Compare a traced function with the plain one: results, arguments and captured arrays afterwards, errors, output.

    Both run on deep copies of `inputs`; printed text, random generators and captured objects are as before afterwards.

    Args:
        compiled: the traced function. Captured objects are found in its graph, where it has one.
        function: the function that was traced.
        inputs: the arguments of the call.
        rtol, atol: how far floating point elements may differ, as in `numpy.isclose`; 0 asks for equal values.

    Raises:
        TraceError: the two differ; the message says where.
    """
    captured = captured_objects(graph_of(compiled)) if has_graph(compiled) else []
    expected = _outcome(function, inputs, captured)
    found = _outcome(compiled, inputs, captured)
    problem = _difference_of_errors(expected.error, found.error) or _difference(expected, found, rtol, atol)
    if problem:
        raise TraceError(f"the trace does not do what the function does: {problem}", _place(function), hint=_HINT)


def _outcome(function: Callable, inputs: tuple, captured: list[object]) -> _Outcome:
    arguments = copy.deepcopy(inputs)
    result, error = None, None
    with preserved(captured), quiet() as text:
        try:
            result = function(*arguments)
        except Exception as raised:
            error = raised
        state = [thing.copy() for thing in reachable(captured) if isinstance(thing, np.ndarray)]
        return _Outcome(copy.deepcopy(result), error, arguments, state, text.getvalue())


def _difference_of_errors(expected: Exception | None, found: Exception | None) -> str:
    if type(expected) is type(found):
        return ""
    if found is None:
        return f"the function raises {expected!r}, the trace does not"
    return f"the trace raises {found!r}" + ("" if expected is None else f" instead of {expected!r}")


def _difference(expected: _Outcome, found: _Outcome, rtol: float, atol: float) -> str:
    comparison = _Comparison(rtol, atol)
    problem = "" if expected.error else comparison.difference(expected.result, found.result, "the result")
    problem = problem or comparison.difference(expected.arguments, found.arguments, "the arguments")
    problem = problem or comparison.difference(expected.state, found.state, "captured arrays")
    if not problem and expected.text != found.text:
        problem = f"the function prints {expected.text!r}, the trace {found.text!r}"
    return problem


class _Comparison:
    """Finds the first difference of two values, as a sentence; objects are compared by their attributes."""

    def __init__(self, rtol: float, atol: float):
        self._rtol, self._atol = rtol, atol
        self._met: dict[tuple[int, int], tuple[object, object]] = {}  # pairs, kept alive: cycles end here

    def difference(self, expected: Any, found: Any, where: str) -> str:
        """The first difference, or an empty text."""
        if type(expected) is not type(found):
            return f"{where}: {type(expected).__name__} became {type(found).__name__}"
        if isinstance(expected, (np.ndarray, np.generic, float, complex)):
            return self._of_arrays(np.asarray(expected), np.asarray(found), where)
        if (id(expected), id(found)) in self._met:
            return ""
        self._met[id(expected), id(found)] = expected, found
        if isinstance(expected, dict):
            if list(expected) != list(found):
                return f"{where}: the keys {list(expected)} became {list(found)}"
            return self._of_elements(list(expected.values()), list(found.values()), where)
        if isinstance(expected, (tuple, list)):
            return self._of_elements(expected, found, where)
        if isinstance(expected, np.random.Generator):
            return self.difference(expected.bit_generator.state, found.bit_generator.state, where)
        if type(getattr(expected, "__dict__", None)) is dict and not is_code(expected):
            return self.difference(vars(expected), vars(found), where)
        equality: object = type(expected).__eq__
        comparable = equality is not object.__eq__
        return f"{where}: {expected!r} became {found!r}" if comparable and expected != found else ""

    def _of_elements(self, expected: Sequence, found: Sequence, where: str) -> str:
        if len(expected) != len(found):
            return f"{where}: {len(expected)} elements became {len(found)}"
        for index, (old, new) in enumerate(zip(expected, found, strict=True)):
            problem = self.difference(old, new, f"{where}[{index}]")
            if problem:
                return problem
        return ""

    def _of_arrays(self, expected: np.ndarray, found: np.ndarray, where: str) -> str:
        if expected.dtype != found.dtype:
            return f"{where}: the dtype {expected.dtype} became {found.dtype}"
        if expected.shape != found.shape:
            return f"{where}: the shape {expected.shape} became {found.shape}"
        equal = np.asarray(expected == found)
        if expected.dtype.kind in "fc":
            equal = np.isclose(found, expected, rtol=self._rtol, atol=self._atol, equal_nan=True)
        if equal.all():
            return ""
        return f"{where}: {int(equal.size - equal.sum())} of {equal.size} elements differ"


def _place(function: Callable) -> Span | None:
    plain = inspect.unwrap(getattr(function, "forward", function))
    code = getattr(getattr(plain, "__func__", plain), "__code__", None)
    return None if code is None else Span(code.co_filename, code.co_firstlineno)
