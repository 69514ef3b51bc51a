"""The public entry points: script, trace, compiled functions, rewrite, explain."""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, cast, overload

from gjit import settings
from gjit.capture.script import capture_function
from gjit.capture.trace import python_function, trace_function
from gjit.capture.trace_check import check_trace
from gjit.errors import GjitError
from gjit.ir.capturable import has_graph
from gjit.ir.graph import Graph
from gjit.ir.parser import parse_graph
from gjit.ir.rewrite import rewrite_graph
from gjit.module import Module, set_script
from gjit.module.compiling import compile_module
from gjit.ops.barriers import writes_by_nature
from gjit.report import Explanation, explain_plan
from gjit.runtime.binding import bind_graph, captures_of
from gjit.runtime.compiled import Compiled, scripted, traced
from gjit.runtime.plan import Plan
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
        """By name where the name leads here, as a plain function; else as the graph and what it refers to."""
        return self.__qualname__ if _is_found_by_name(self) else (_from_text, (str(self.graph), self.captures))

    def __repr__(self) -> str:
        return f"<gjit function {self.__qualname__}>"

    def __gjit_graph__(self) -> Graph:
        return self._compiled.graph

    @property
    def __gjit_function__(self) -> types.FunctionType:
        return self._compiled.function

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
        return explain_plan(self.plan_for(*arguments, **keywords), self._compiled.program[1])

    def compile(self, *arguments: P.args, **keywords: P.kwargs) -> CompiledFunction[P, R]:
        """Make the plan for these arguments now. Nothing is run."""
        self.plan_for(*arguments, **keywords)
        return self


@overload
def script(
    fn: Callable[P, R],
    /,
    *,
    device: str | None = ...,
    engine: str | None = ...,
    strict: bool = ...,
    fast_math: bool = ...,
) -> CompiledFunction[P, R]: ...
@overload
def script(
    fn: None = None,
    /,
    *,
    device: str | None = ...,
    engine: str | None = ...,
    strict: bool = ...,
    fast_math: bool = ...,
) -> Callable[[Callable[P, R]], CompiledFunction[P, R]]: ...


def script(
    fn: Any = None,
    /,
    *,
    device: str | None = None,
    engine: str | None = None,
    strict: bool = False,
    fast_math: bool = False,
) -> Any:
    """Compile an ordinary NumPy function from its source.

    The compiled function does what the plain one does: values, dtypes, mutated arguments, exceptions, printed text. It
    is captured when it is first called (or when `.graph` is read).

    Args:
        fn: a function, lambda, method or class; or a `Module`, which gives a compiled copy of it and of its submodules
            that shares its parameters. Without it, a decorator comes back.
        device: `auto` or `cpu`; a `with gjit.config(device=...)` around the call goes before it.
        engine: `auto`, `numpy` or `native`, in the same way.
        strict: make a called function that cannot be scripted an error, instead of a call of the interpreter.
        fast_math: allow results that differ in the last bits. The NumPy engine has no use for it.

    Raises:
        UnsupportedError: at the first call, for Python that cannot be scripted; the message shows the line.
        TypeError: `fn` is not a Python function or class.

    >>> import numpy as np
    >>> hypotenuse = script(lambda a, b: np.sqrt(a * a + b * b))
    >>> hypotenuse(np.array([3.0, 5.0]), np.array([4.0, 12.0]))
    array([ 5., 13.])
    """
    for name, value in (("device", device), ("engine", engine)):
        if value is not None:
            settings.checked(name, value)
    again = functools.partial(script, device=device, engine=engine, strict=strict, fast_math=fast_math)
    if fn is None:
        return again
    if isinstance(fn, type):
        return _script_class(fn, again)
    if isinstance(fn, Module):
        return compile_module(fn, again)
    if isinstance(fn, types.MethodType):
        return types.MethodType(again(fn.__func__), fn.__self__)
    if has_graph(fn):
        return fn
    if type(fn) is not types.FunctionType:
        raise TypeError(f"gjit.script takes a Python function, method or class, not {type(fn).__name__}: {fn!r}")
    return CompiledFunction.of(scripted(fn, strict=strict, engine=engine, device=device), fn)


def _script_class(cls: type, script_function: Callable[[Any], Any]) -> type:
    """Script the methods of a class, in place, and return it."""
    for name, member in list(vars(cls).items()):
        compiled = _script_member(member, script_function)
        if compiled is not member:
            setattr(cls, name, compiled)
    return cls


def _script_member(member: Any, script_function: Callable[[Any], Any]) -> Any:
    match member:
        case types.FunctionType() if member.__code__.co_filename != "<string>":
            return script_function(member)
        case staticmethod():
            return staticmethod(_script_member(member.__func__, script_function))
        case classmethod():
            return classmethod(_script_member(member.__func__, script_function))
        case property():
            parts = (member.fget, member.fset, member.fdel)
            fget, fset, fdel = (_script_member(part, script_function) for part in parts)
            return property(fget, fset, fdel, member.__doc__)
    return member


def trace(
    fn_or_module: Callable,
    example_inputs: Any,
    *,
    check: bool = True,
    check_inputs: Sequence[Any] | None = None,
    rtol: float = 0.0,
    atol: float = 0.0,
) -> CompiledFunction:
    """Compile a function or module by running it once on examples and recording what it does.

    Args:
        fn_or_module: a function, a bound method, or a `Module`, whose `forward` is traced.
        example_inputs: an array, or a tuple with one example for each parameter. Examples are copied.
        check: run the graph against the function on copies of the examples and of `check_inputs`.
        check_inputs: further examples, each like `example_inputs`.
        rtol, atol: how far values may differ in the check; not at all by default.

    Raises:
        TraceError: the function asked for data while it was traced, or the check found a difference.

    >>> import numpy as np
    >>> f = trace(lambda x: abs(2 * x), np.array([1.0, -2.0]))
    >>> f(np.array([3, -4, 5]))
    array([ 6,  8, 10])
    """
    examples = _as_inputs(example_inputs)
    graph = trace_function(fn_or_module, examples)
    function: Any = python_function(fn_or_module)
    compiled = traced(fn_or_module, graph, getattr(function, "__func__", function))
    result = CompiledFunction.of(compiled, fn_or_module)
    if check:
        for inputs in (examples, *map(_as_inputs, check_inputs or ())):
            check_trace(result, fn_or_module, inputs, rtol=rtol, atol=atol)
    return result


def _as_inputs(inputs: Any) -> tuple:
    return inputs if type(inputs) is tuple else (inputs,)


def bind(graph: Graph, captures: Mapping[str, Mapping[str, object]] | None = None) -> CompiledFunction:
    """Run a graph without its Python function, for instance one that was parsed from text.

    Args:
        graph: the entry; the graphs that it calls come with it.
        captures: the objects that they refer to, by graph and name, as `CompiledFunction.captures` gives them.

    Raises:
        GjitError: an object that a graph refers to is missing.

    >>> from gjit import parse_graph
    >>> f = script(lambda x, k=2: x * k + 1)
    >>> g = bind(parse_graph(str(f.graph)), f.captures)
    >>> g(5)
    11
    """
    compiled, stub = bind_graph(graph, captures or {})
    return CompiledFunction.of(compiled, stub)


def _is_found_by_name(function: CompiledFunction) -> bool:
    found: Any = sys.modules.get(function.__module__)
    for name in function.__qualname__.split("."):
        found = getattr(found, name, None)
    return found is function


def _from_text(text: str, captures: dict[str, dict[str, object]]) -> CompiledFunction:
    return bind(parse_graph(text), captures)


def explain(fn: CompiledFunction, *arguments: object, **keywords: object) -> Explanation:
    """What a compiled function runs for these arguments: regions, fallbacks with line and reason. Nothing is run.

    >>> import numpy as np
    >>> f = script(lambda x: np.sqrt(x * x + 1.0))
    >>> print(explain(f, np.ones(3)).regions)
    1
    """
    if not isinstance(fn, CompiledFunction):
        raise TypeError(f"gjit.explain takes a compiled function, not {type(fn).__name__}; script or trace it first")
    return fn.explain(*arguments, **keywords)


def rewrite(graph: Graph, pattern: Callable, replacement: Callable) -> int:
    """Replace every match of one function's graph by another's, in place.

    Args:
        graph: changed in place.
        pattern: an ordinary function whose parameters stand for any value; its body is what is looked for.
        replacement: a function with the same parameters; its body takes the place.

    Returns:
        How many matches were replaced.

    Raises:
        GjitError: the two functions do not take the same number of parameters.

    >>> import numpy as np
    >>> f = script(lambda x: np.log(1.0 + x))
    >>> rewrite(f.graph, lambda a: np.log(1.0 + a), lambda a: np.log1p(a))
    1
    """
    graphs = [capture_function(cast(types.FunctionType, function))[0] for function in (pattern, replacement)]
    if len(graphs[0].parameters) != len(graphs[1].parameters):
        raise GjitError("the pattern and the replacement take different numbers of parameters")
    return rewrite_graph(graph, *graphs, is_barrier=writes_by_nature)


set_script(script)
