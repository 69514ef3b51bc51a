"""The compiled function: what `script`, `trace` and `bind` give."""

from __future__ import annotations

import contextlib
import copy
import functools
import io
import pickle
import sys
import types
from collections.abc import Callable, Mapping
from typing import Any, Generic, ParamSpec, TypeVar, cast

from gjit.errors import ArchiveError
from gjit.interchange.archive import read_archive, write_archive
from gjit.interchange.archive.container import Target
from gjit.ir.graph import Graph
from gjit.ir.parser import parse_graph
from gjit.module import Module
from gjit.module.archived import ARCHIVED
from gjit.report import Explanation, compile_regions, explain_plan
from gjit.runtime.binding import bind_graph, captures_of
from gjit.runtime.compiled import Compiled
from gjit.runtime.plan import Plan
from gjit.runtime.profile import Profile, profile_call
from gjit.runtime.signature import describe
from gjit.runtime.statistics import Statistics

P = ParamSpec("P")
R = TypeVar("R")


class CompiledFunction(Generic[P, R]):
    """A scripted or traced function: called like the plain one, with the stages of its compilation as attributes.

    It keeps the name, signature, documentation and types of the function. Each instance has a class of its own whose
    `__call__` is the generated entry: a call then costs no look-up in Python code.
    """

    _compiled: Compiled
    __wrapped__: Callable[P, R]
    __qualname__: str

    def __init__(self, compiled: Compiled, function: Callable[P, R]):
        assigned = [name for name in functools.WRAPPER_ASSIGNMENTS if hasattr(function, name)]
        functools.update_wrapper(self, function, assigned, () if isinstance(function, Module) else ("__dict__",))
        for name in ("__name__", "__qualname__"):
            setattr(self, name, getattr(function, name, type(function).__name__))
        self._compiled = compiled

    @staticmethod
    def of(compiled: Compiled, function: Callable[P, R]) -> CompiledFunction[P, R]:
        """A compiled function around its plans."""
        cls = type(CompiledFunction.__name__, (CompiledFunction,), {"__call__": staticmethod(compiled.entry)})
        cls.__module__, cls.__qualname__ = CompiledFunction.__module__, CompiledFunction.__qualname__
        compiled.entry_changed = lambda entry: setattr(cls, "__call__", staticmethod(entry))
        return cls(compiled, function)

    def __call__(self, *arguments: P.args, **keywords: P.kwargs) -> R:
        return cast(R, self._compiled.call(*arguments, **keywords))

    def __get__(self, instance: object, owner: type | None = None) -> Any:
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self) -> str | tuple[Any, ...]:
        """By name where another process finds it by name, as a plain function; else as its graph."""
        is_found = _is_found_by_name(self)
        if self.__module__ == "__main__":
            return _from_main, (self.__qualname__ if is_found else "", *_packed(self))
        return self.__qualname__ if is_found else (_from_text, (str(self.graph), self.captures))

    def __gjit_travel__(self) -> tuple[Any, ...]:
        """As `__reduce__`, for processes that may not have the program."""
        return _from_main, ("", *_packed(self))

    def __copy__(self) -> CompiledFunction[P, R]:
        return self

    def __deepcopy__(self, memo: dict) -> CompiledFunction[P, R]:
        return self if _is_found_by_name(self) else _from_text(str(self.graph), copy.deepcopy(self.captures, memo))

    def __repr__(self) -> str:
        return f"<gjit function {self.__qualname__}>"

    def __gjit_graph__(self) -> Graph:
        return self._compiled.graph

    @property
    def __gjit_function__(self) -> types.FunctionType | None:
        return self._compiled.function if self._compiled.is_source else None

    @property
    def graph(self) -> Graph:
        """The captured graph, without types; `str()` of it is its text.

        Raises:
            UnsupportedError: the function uses something that cannot be scripted.
        """
        return self._compiled.graph

    @property
    def captures(self) -> dict[str, dict[str, object]]:
        """The live objects that the graphs refer to, by graph and name: what `gjit.bind` takes with their text."""
        return captures_of(self._compiled.program[1])

    def graph_for(self, *arguments: P.args, **keywords: P.kwargs) -> Graph:
        """The typed and optimised graph for the signature of these arguments. Nothing is run."""
        return self.plan_for(*arguments, **keywords).graph

    def plan_for(self, *arguments: P.args, **keywords: P.kwargs) -> Plan:
        """The plan for the signature of these arguments: its graph with regions, and its host program."""
        return self._compiled.plan_for(arguments, keywords)

    @property
    def code(self) -> str:
        """The host programs made so far, as Python source, each under its signature."""
        plans = self._compiled.plans
        if not plans:
            return f"# {self.__qualname__} has not been called yet; plan_for(*args).code shows one signature\n"
        return "\n".join(f"# {describe(key)}\n{plan.code}" for key, plan in plans.items())

    @property
    def signatures(self) -> list[str]:
        """The signatures that have a plan."""
        return [describe(key) for key in self._compiled.plans]

    @property
    def statistics(self) -> Statistics:
        """Counters that prove what was done: see `Statistics`."""
        return self._compiled.statistics

    def explain(self, *arguments: P.args, **keywords: P.kwargs) -> Explanation:
        """What runs for these arguments: regions with their lines, and what stays on the host."""
        plan = self.plan_for(*arguments, **keywords)
        return explain_plan(plan, self._compiled.program[1], self._compiled.bind(arguments, keywords))

    def profile(self, *arguments: P.args, **keywords: P.kwargs) -> Profile:
        """Run one call with a clock at each of the user's lines; what it returns is `profile.result`.

        The plan is made first, so that its making is not in the times. Only the calling thread is watched.

        >>> import numpy as np
        >>> from gjit import script
        >>> profile = script(lambda x: np.sqrt(x) + 1.0).profile(np.array([4.0, 9.0]))
        >>> profile.result, len(profile.lines)
        (array([3., 4.]), 1)
        """
        plan = self.plan_for(*arguments, **keywords)
        call = functools.partial(self._compiled.call, *arguments, **keywords)
        return profile_call(call, self.__qualname__, plan.engine, self.statistics.tiled_regions)

    def compile(self, *arguments: P.args, **keywords: P.kwargs) -> CompiledFunction[P, R]:
        """Make the plan for these arguments now, and compile the kernels of its regions. Nothing is run.

        Kernels depend on how arrays lie in memory: regions whose inputs are made on the way, by what has no known
        shape, are compiled when they run. Standard error shows a progress bar if it is a terminal.

        >>> import numpy as np
        >>> from gjit import script
        >>> script(lambda x: np.sqrt(x * x + 1.0)).compile(np.ones(1000)).signatures
        ['float64[1]']
        """
        plan = self.plan_for(*arguments, **keywords)
        compile_regions(plan, self._compiled.bind(arguments, keywords))
        return self

    def save(self, path: Target, extra_files: Mapping[str, str | bytes] | None = None) -> None:
        """Save the function in a file that needs no Python source: see `gjit.save`."""
        write_archive(path, {"": self}, several=False, known=ARCHIVED, extra_files=extra_files)


def bind(
    graph: Graph, captures: Mapping[str, Mapping[str, object]] | None = None, *, device: str | None = None
) -> CompiledFunction:
    """Run a graph without its Python function, for instance one that was parsed from text.

    Args:
        graph: the entry; the graphs that it calls come with it.
        captures: the objects that they refer to, by graph and name, as `CompiledFunction.captures` gives them.
        device: where it runs, as in `script`.

    Raises:
        GjitError: an object that a graph refers to is missing.

    >>> from gjit import parse_graph, script
    >>> f = script(lambda x, k=2: x * k + 1)
    >>> g = bind(parse_graph(str(f.graph)), f.captures)
    >>> g(5)
    11
    """
    compiled, stub = bind_graph(graph, captures or {}, device=device)
    return CompiledFunction.of(compiled, stub)


def _is_found_by_name(function: CompiledFunction) -> bool:
    return _found(function.__module__, function.__qualname__) is function


class _Importable(pickle.Pickler):
    """Refuses what a process that runs another program cannot find."""

    def reducer_override(self, value: object) -> Any:
        if isinstance(value, type | types.FunctionType) and value.__module__ == "__main__":
            raise pickle.PicklingError(f"{value!r} is not importable")
        return NotImplemented


def _packed(function: CompiledFunction) -> tuple[bytes, str, dict[str, dict[str, object]]]:
    """What a process takes that cannot import the program: text and captures, or an archive, where classes and
    functions of the program come along."""
    text, captures = str(function.graph), function.captures
    try:
        _Importable(io.BytesIO(), pickle.HIGHEST_PROTOCOL).dump(captures)
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError):
        file = io.BytesIO()
        with contextlib.suppress(ArchiveError):
            function.save(file)
            return file.getvalue(), "", {}
    return b"", text, captures


def _from_main(name: str, archive: bytes, text: str, captures: dict[str, dict[str, object]]) -> CompiledFunction:
    """The function of this name in the program that runs, where it is the same; else made of what came along."""
    made = read_archive(io.BytesIO(archive), known=ARCHIVED, make_function=bind) if archive else None
    made = _from_text(text, captures) if made is None else made
    own = _found("__main__", name) if name else None
    return own if isinstance(own, CompiledFunction) and str(own.graph) == str(made.graph) else made


def _found(module: str, name: str) -> Any:
    found: Any = sys.modules.get(module)
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def _from_text(text: str, captures: dict[str, dict[str, object]]) -> CompiledFunction:
    return bind(parse_graph(text), captures)
