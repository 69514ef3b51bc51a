"""The public entry points: script, trace, explain, rewrite."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, cast, overload

from gjit import settings
from gjit.capture.script import capture_function
from gjit.capture.trace import python_function, trace_function
from gjit.capture.trace_check import check_trace
from gjit.compiled import CompiledFunction
from gjit.errors import GjitError
from gjit.ir.capturable import has_graph
from gjit.ir.graph import Graph
from gjit.ir.rewrite import rewrite_graph
from gjit.module import Module, set_script
from gjit.module.compiling import compile_module
from gjit.ops.barriers import writes_by_nature
from gjit.report import Explanation
from gjit.runtime.compiled import scripted, traced

P = ParamSpec("P")
R = TypeVar("R")


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
