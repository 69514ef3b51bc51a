"""One program: the graph of a function and of every function that it calls."""

from __future__ import annotations

import types
from dataclasses import dataclass, field

from gjit.capture.resolve import Resolved, is_immutable, is_stable_namespace, is_user_code
from gjit.errors import UnsupportedError
from gjit.ir.capturable import is_ignored
from gjit.ir.graph import Graph
from gjit.ir.linking import Linker


@dataclass(frozen=True, slots=True)
class Fallback:
    """A call that stays with the interpreter, and why."""

    function: str
    place: str
    reason: str


class CaptureAgain(Exception):
    """The program makes a host call, which may assign globals: numbers among them must be read each time."""


class CalleeRefused(Exception):
    """A called function cannot be scripted: the program is captured again with a host call in its place."""

    def __init__(self, function: types.FunctionType, error: UnsupportedError):
        super().__init__(str(error))
        self.function, self.error = function, error


@dataclass(slots=True)
class Program:
    """What the captures of one program share.

    root       the function that is scripted
    loads      (namespace id, name) pairs that changed so often that they are looked up each time
    has_host_calls  whether it runs code of the user that is no part of it
    refused    functions that stay with the interpreter, by id, with the reason
    functions  the graphs, by name; `names` tells the name by the id of the function, `owners` the function by name
    """

    root: types.FunctionType | None
    package: str
    strict: bool = False
    has_host_calls: bool = False
    loads: frozenset[tuple[int, str]] = frozenset()
    refused: dict[int, Fallback] = field(default_factory=dict)
    functions: dict[str, Graph] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    owners: dict[str, types.FunctionType | None] = field(default_factory=dict)
    kept: list[object] = field(default_factory=list)  # keeps the ids in `names` alive

    def reserve(self, function: types.FunctionType) -> str:
        """A name for the graph of `function` that no other graph of the program has."""
        name = self._unused(function.__name__ if function.__name__.isidentifier() else "lambda_function")
        self.names[id(function)] = name
        self.owners[name] = function
        self.kept.append(function)
        return name

    def adopt(self, owner: object, graph: Graph) -> str:
        """Copy a graph that was captured elsewhere, and all that it calls, into this program."""
        before = set(self.functions)
        name = Linker(self.functions, set(self.names.values())).adopt(graph)
        self.owners.update((added, None) for added in self.functions.keys() - before)
        self.names[id(owner)] = name
        self.kept.append(owner)
        return name

    def _unused(self, base: str) -> str:
        name, number = base, 1
        while name in self.functions or name in self.names.values():
            name, number = f"{base}_{number}", number + 1
        return name

    def is_scripted(self, function: types.FunctionType) -> bool:
        """Whether calls of `function` become calls of its graph."""
        return id(function) not in self.refused and not is_ignored(function) and is_user_code(function, self.package)

    def is_load(self, resolved: Resolved) -> bool:
        """Whether a name is read each time, although what it holds is immutable."""
        if self.has_host_calls and is_immutable(resolved.value) and not is_stable_namespace(resolved.namespace):
            return True
        return (id(resolved.namespace), resolved.name) in self.loads

    def note_written(self, resolved: Resolved) -> None:
        """A function of the program assigns a variable of the function around it, which others may read."""
        key = id(resolved.namespace), resolved.name
        if key not in self.loads:
            self.loads |= {key}
            raise CaptureAgain

    def note_host_call(self) -> None:
        if not self.has_host_calls:
            self.has_host_calls = True
            raise CaptureAgain

    def refuse(self, function: types.FunctionType, error: UnsupportedError) -> None:
        self.has_host_calls = True
        reason = f"host call: {error.problem}"
        self.refused[id(function)] = Fallback(function.__qualname__, str(error.span or ""), reason)
        self.kept.append(function)
