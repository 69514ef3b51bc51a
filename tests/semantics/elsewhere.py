"""Run a program from its printed graph in another process, which never imports the module that it was written in.

The parent sends the text of the graph, the captured objects and the arguments, all by value in one message; the worker
parses the text, binds it, calls it and sends back what the calls did. The same calls of the plain function are made
here, on like copies. Started as a program, this file is the worker.
"""

from __future__ import annotations

import atexit
import importlib.abc
import io
import os
import pickle
import select
import struct
import subprocess
import sys
import traceback
import types
from collections.abc import Callable
from typing import Any, BinaryIO

import cloudpickle
import cloudpickle.cloudpickle as classes
import numpy as np

import gjit
from gjit.testing.comparison import Comparison
from gjit.testing.running import Outcome, random_states, restore_random_states, run
from gjit.testing.strength import strength_of

REFUSED = ("tests", "examples", "conftest")
"""Packages that the worker must not import: what comes from them travels by value."""

SECONDS = 120.0
"""How long the worker may take for one case."""

Report = dict[str, Any]


class CannotTravel(Exception):
    """Something in the case has no copy in another process."""


# What travels


class Pickler(cloudpickle.Pickler):
    """By value: user code, arrays with their strides and the memory that they share, compiled functions as source.

    In a report, classes that came from the parent are referred to, and compiled functions are only named.
    """

    def __init__(self, buffer: io.BytesIO, *, in_report: bool):
        super().__init__(buffer)
        self.in_report = in_report

    def reducer_override(self, obj: object) -> object:
        if type(obj) is np.ndarray and not obj.dtype.hasobject and obj.base is not None:
            return _reduce_view(obj)
        if isinstance(obj, types.CodeType):
            return _reduce_code(obj)
        if isinstance(obj, gjit.CompiledFunction):
            return (str, (repr(obj),)) if self.in_report else (gjit.script, (obj.__wrapped__,))
        if self.in_report and isinstance(obj, type) and obj in classes._DYNAMIC_CLASS_TRACKER_BY_CLASS:
            return classes._lookup_class_or_track, (classes._DYNAMIC_CLASS_TRACKER_BY_CLASS[obj], None)
        return super().reducer_override(obj)


class Copier(Pickler):
    """For copies in this process: code stays the same object."""

    def __init__(self, buffer: io.BytesIO, *, in_report: bool):
        super().__init__(buffer, in_report=in_report)
        self.kept: list[object] = []

    def persistent_id(self, obj: object) -> int | None:
        is_compiled = isinstance(obj, gjit.CompiledFunction) and not self.in_report
        if not is_compiled and not isinstance(obj, (types.FunctionType, types.ModuleType, type)):
            return None
        self.kept.append(obj)
        return len(self.kept) - 1


class Unpickler(pickle.Unpickler):
    def __init__(self, buffer: io.BytesIO, kept: list[object]):
        super().__init__(buffer)
        self.persistent_load = kept.__getitem__


def copied(thing: object, *, in_report: bool = False) -> Any:
    """A copy in this process, as like as possible to what arrives in the worker (or comes back in a report)."""
    buffer = io.BytesIO()
    copier = Copier(buffer, in_report=in_report)
    copier.dump(thing)
    return Unpickler(io.BytesIO(buffer.getvalue()), copier.kept).load()


def _reduce_code(code: types.CodeType) -> tuple:
    """With its file, which cloudpickle leaves out: the worker reads the source of what it scripts from there."""
    build, arguments = classes._code_reduce(code)
    return build, tuple(code.co_filename if argument == "<dynamic-code>" else argument for argument in arguments)


def _reduce_view(array: np.ndarray) -> object:
    owner: Any = array
    while type(owner.base) is np.ndarray:
        owner = owner.base
    if owner is array or not owner.flags.forc or owner.dtype.hasobject:
        return NotImplemented
    offset = array.__array_interface__["data"][0] - owner.__array_interface__["data"][0]
    arguments = (array.shape, array.dtype, owner, offset, array.strides)
    return np.ndarray, arguments, bool(array.flags.writeable), None, None, np.ndarray.setflags


def dumps(thing: object, *, in_report: bool = False) -> bytes:
    """`thing` by value; in a report, compiled functions are only named.

    Raises:
        CannotTravel: it holds what cannot be pickled.
    """
    buffer = io.BytesIO()
    try:
        Pickler(buffer, in_report=in_report).dump(thing)
    except (pickle.PicklingError, TypeError, AttributeError, ValueError) as error:
        raise CannotTravel(f"{type(error).__name__}: {error}") from error
    return buffer.getvalue()


def by_value(*modules: types.ModuleType) -> None:
    """Let everything from these modules, and from the packages that the worker refuses, travel by value."""
    for module in (*modules, *(sys.modules[name] for name in REFUSED if name in sys.modules)):
        cloudpickle.register_pickle_by_value(module)


# What a series of calls did


def report(function: Callable, argument_sets: list[tuple[tuple, dict]], calls: int, file: str | None) -> Report:
    """What the calls did and left behind; exceptions as class, text and line."""
    outcomes = []
    for args, kwargs in argument_sets:
        outcomes.append([_portable(run(function, args, kwargs), file) for _ in range(calls)])
    return {"outcomes": outcomes, "arguments": argument_sets, "states": random_states()}


def _portable(outcome: Outcome, file: str | None) -> dict[str, object]:
    error = outcome.exception
    raised = None
    if error is not None:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == file]
        raised = type(error), outcome.describe(), lines[-1] if lines else None
    return {"value": outcome.value, "raised": raised, "warnings": outcome.warnings, "printed": outcome.printed}


# The parent


class Worker:
    """The other process: started when it is first needed, and again after it died."""

    def __init__(self) -> None:
        self.process: subprocess.Popen | None = None

    def ask(self, message: bytes) -> bytes:
        """Send a message and wait for its answer.

        Raises:
            RuntimeError: the worker died or did not answer in time.
        """
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        _write(process.stdin, message)
        if not select.select([process.stdout], [], [], SECONDS)[0]:
            self.stop()
            raise RuntimeError(f"the worker did not answer within {SECONDS:.0f} seconds")
        answer = _read(process.stdout)
        if answer is None:
            self.stop()
            raise RuntimeError("the worker died")
        return answer

    def stop(self) -> None:
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process = None

    def _running(self) -> subprocess.Popen:
        if self.process is None or self.process.poll() is not None:
            root = os.path.dirname(os.path.dirname(gjit.__file__))
            self.process = subprocess.Popen(
                [sys.executable, "-P", __file__],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env={**os.environ, "PYTHONPATH": root},
            )
            atexit.register(self.stop)
        return self.process


WORKER = Worker()


def differences(
    compiled: gjit.CompiledFunction,
    plain: Callable,
    argument_sets: list[tuple[tuple, dict]],
    *,
    calls: int = 1,
    check_warnings: bool = True,
    host_calls: int | None = None,
    modules: tuple[types.ModuleType, ...] = (),
) -> list[str]:
    """How the program differs from the plain function when it runs elsewhere, from its text.

    Args:
        compiled: gives the text of the graph and the captured objects.
        plain: called here, on copies of the same arguments.
        argument_sets: positional and keyword arguments of each call; they are not changed.
        host_calls: how many calls of library code the worker may count; None is any number.
        modules: modules outside the tests whose functions and classes must travel by value.

    Raises:
        CannotTravel: something has no copy in another process.
        RuntimeError: the worker failed.
    """
    by_value(*modules)
    file = getattr(getattr(plain, "__code__", None), "co_filename", None)
    request = request_for(compiled, argument_sets, calls, file)
    message = dumps(request)
    expected = copied(report(plain, copied(argument_sets), calls, file), in_report=True)
    restore_random_states(request["states"])
    actual = answer_to(message)
    given = [value for args, kwargs in argument_sets for value in (*args, *kwargs.values())]
    strength = strength_of(None).for_arguments(given)
    comparison = Comparison(strength)
    if not check_warnings or not strength.warnings:
        _drop_warnings(expected, actual)
    counted = actual.pop("host_calls")
    comparison.compare(expected, actual, "elsewhere")
    if host_calls is not None and counted != host_calls:
        comparison.report("host calls", f"expected {host_calls}, got {counted}")
    return comparison.reasons()


def request_for(
    compiled: gjit.CompiledFunction, argument_sets: list[tuple[tuple, dict]], calls: int, file: str | None
) -> Report:
    """What the worker needs: the text of the graph, what it refers to, the arguments, and the state of this process."""
    return {
        "text": str(compiled.graph),
        "captures": compiled.captures,
        "argument_sets": argument_sets,
        "calls": calls,
        "file": file,
        "states": random_states(),
        "floating_errors": np.geterr(),
    }


def answer_to(message: bytes) -> Report:
    """What the worker found.

    Raises:
        RuntimeError: it failed.
    """
    found = pickle.loads(WORKER.ask(message))
    if "failure" in found:
        raise RuntimeError(f"the worker failed:\n{found['failure']}")
    return found


def _drop_warnings(*reports: Report) -> None:
    for each in reports:
        for outcomes in each["outcomes"]:
            for outcome in outcomes:
                outcome["warnings"] = []


# The worker


class Refusal(importlib.abc.MetaPathFinder):
    """Makes the import of the user's modules an error."""

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:
        if name.partition(".")[0] in REFUSED:
            raise ImportError(f"the worker does not import {name}: the program must come from its text")


def answer(message: bytes) -> bytes:
    """Run one request from its text."""
    try:
        request = pickle.loads(message)
        function = gjit.bind(gjit.parse_graph(request["text"]), request["captures"])
        restore_random_states(request["states"])
        with np.errstate(**request["floating_errors"]):
            found = report(function, request["argument_sets"], request["calls"], request["file"])
        found["host_calls"] = function.statistics.host_calls
        imported = [name for name in sys.modules if name.partition(".")[0] in REFUSED]
        return dumps({"failure": f"it imported {imported}"} if imported else found, in_report=True)
    except Exception:
        return dumps({"failure": traceback.format_exc()})


def _write(stream: BinaryIO, message: bytes) -> None:
    stream.write(struct.pack("<q", len(message)) + message)
    stream.flush()


def _read(stream: BinaryIO) -> bytes | None:
    header = stream.read(8)
    return stream.read(*struct.unpack("<q", header)) if len(header) == 8 else None


def main() -> None:
    """Answer requests until the parent closes the pipe; what programs print by other ways goes to standard error."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    sys.meta_path.insert(0, Refusal())
    while (message := _read(sys.stdin.buffer)) is not None:
        _write(replies, answer(message))


if __name__ == "__main__":
    main()
