"""Compiled derivatives of compiled functions, and of what turns up as a callee while a gradient is computed."""

from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Mapping
from typing import Any

from gjit.capture.program import Program
from gjit.errors import UnsupportedError
from gjit.ir.clone import clone_graph
from gjit.ir.graph import Graph, Parameter, ParameterKind
from gjit.ops.gradient_containers import contents
from gjit.ops.gradient_rows import accumulate, saved, zeros
from gjit.runtime.compiled import Compiled, Loads
from gjit.runtime.derivative_graphs import ENTRIES, Request
from gjit.runtime.dynamic import DynamicCalls, make_differentiated


def derivative_of(inner: Compiled, request: Request, *, family: Compiled | None = None) -> Compiled:
    """The compiled derivative of a compiled function."""
    extra = [Parameter(name) for name in request.extra_parameters([p.name for p in inner.parameters])]
    parameters = [*inner.parameters, *extra]
    if extra:  # what has a default cannot stand before what has none; and calls give everything by position
        parameters = [Parameter(p.name) for p in parameters]

    def capture(loads: Loads, reads_again: bool) -> tuple[Graph, Program]:
        return _entry(inner, request, parameters, *inner.capture(loads, reads_again))

    plain = _named(inner.function, request.mode, bool(extra))
    return Compiled(plain, capture, has_plain=False, parameters=parameters, is_source=False, family=family)


def _entry(
    inner: Compiled, request: Request, parameters: list[Parameter], graph: Graph, program: Program
) -> tuple[Graph, Program]:
    """A program with all graphs of the function, and an entry that differentiates it."""
    graph = clone_graph(graph, functions=True)
    functions = {graph.name: graph, **graph.functions}
    name = _free_name(f"{request.mode}_{graph.name}", functions)
    entry = Graph(name, parameters, functions=functions, span=graph.span)
    ENTRIES[request.mode](entry, graph.name, request)
    functions[name] = entry
    for each in functions.values():
        each.functions = functions
    new = Program(program.root, program.package, program.strict, program.has_host_calls, program.loads)
    new.functions, new.refused, new.kept = functions, program.refused, program.kept
    new.owners = {**program.owners, name: inner.function}
    return entry, new


def _free_name(base: str, taken: Mapping[str, Graph]) -> str:
    name, number = base, 1
    while name in taken:
        name, number = f"{base}_{number}", number + 1
    return name


def _named(function: types.FunctionType, mode: str, has_more: bool) -> Any:
    """A function with the name, globals and defaults of the derivative; its code is never run."""
    name = f"{mode}_{function.__name__}"
    defaults = None if has_more else function.__defaults__
    copy = types.FunctionType(function.__code__, function.__globals__, name, defaults, function.__closure__)
    copy.__kwdefaults__, copy.__module__ = None if has_more else function.__kwdefaults__, function.__module__
    copy.__qualname__, copy.__doc__ = name, f"The {mode} of `{function.__qualname__}`."
    return copy


_HEAP_TYPE = 1 << 9
"""The flag of classes that a program defines."""


class Differentiated:
    """What gradient graphs call in place of a callee that is only known when they run.

    Calling an instance with a callee and its shadow gives a function of `(arguments, shadows)`, and of dicts of named
    ones besides; that returns the result, its shadow, and a function that runs the reverse.
    """

    def __init__(self, dynamic: DynamicCalls):
        self._dynamic = dynamic
        self._made: dict[Any, Compiled] = {}

    def __call__(self, callee: Any, shadow: Any) -> Callable:
        kind = getattr(type(callee), "__gjit_gradient__", "")
        if kind:
            return functools.partial(self._run_custom if kind == "custom" else self._run_again, callee.__wrapped__)
        if isinstance(callee, _Opaque) or _is_own(callee):
            name = callee.name if isinstance(callee, _Opaque) else getattr(callee.args[0], "__qualname__", "a call")
            raise UnsupportedError(f"there are no second derivatives through {name!r}, found when it is called")
        if type(callee) is types.MethodType:
            return functools.partial(self._run, callee.__func__, (callee.__self__,), (shadow,))
        if isinstance(callee, type):
            return functools.partial(self._construct, callee)
        if type(shadow) is types.FunctionType:
            return functools.partial(_run_closure, callee, shadow)
        if type(callee) is types.FunctionType or hasattr(callee, "_compiled"):
            return functools.partial(self._run, callee, (), ())
        if hasattr(callee, "named_parameters") and hasattr(type(callee), "forward"):
            return functools.partial(self._run_module, callee, shadow)
        call = vars(type(callee)).get("__call__")
        if type(call) is types.FunctionType:
            return functools.partial(self._run, call, (callee,), (shadow,))
        return functools.partial(self._run_plain, callee, shadow)

    def _run(
        self,
        function: Any,
        first: tuple,
        first_shadows: tuple,
        arguments: tuple,
        shadows: tuple,
        named: dict | None = None,
        named_shadows: dict | None = None,
    ) -> tuple:
        compiled = self._augmented(function)
        if compiled is None:
            return self._run_plain(
                function, None, (*first, *arguments), (*first_shadows, *shadows), named, named_shadows
            )
        inner = compiled.inner
        values = inner.bind((*first, *arguments), named or {})
        bound = bound_shadows(inner.parameters, (*first_shadows, *shadows), named_shadows or {})
        return compiled.entry(*values, *bound)

    def _run_module(self, module: Any, shadow: Any, *groups: Any) -> tuple:
        """A module without hooks is its `forward`."""
        if module._hooks or module._pre_hooks:
            return self._run(type(module).__call__, (module,), (shadow,), *groups)
        forward = type(module).forward
        return self._run(getattr(forward, "compiled", forward), (module,), (shadow,), *groups)

    def _construct(self, cls: type, arguments: tuple, shadows: tuple, named: Any = None, parts: Any = None) -> tuple:
        """An instance whose `__init__` is differentiated, and the object that is its shadow."""
        init = cls.__init__
        new: Any = cls.__new__
        if init is object.__init__ and new is object.__new__ and cls.__flags__ & _HEAP_TYPE:
            return cls(*arguments, **(named or {})), types.SimpleNamespace(), _nothing
        if type(init) is not types.FunctionType or new is not object.__new__:
            return self._run_plain(cls, None, arguments, shadows, named, parts)
        instance, shadow = cls.__new__(cls), types.SimpleNamespace()
        if self._augmented(init) is None:
            instance.__init__(*arguments, **(named or {}))
            for name, part in _init_shadows(init, shadows, parts or {}).items():
                setattr(shadow, name, part)
            return instance, shadow, _nothing
        _, _, reverse = self._run(init, (instance,), (shadow,), arguments, shadows, named, parts)
        return instance, shadow, reverse

    def _run_custom(
        self, function: Any, arguments: tuple, shadows: tuple, named: Any = None, parts: Any = None
    ) -> tuple:
        """A function that gives its result and its own reverse."""
        if parts and any(part is not None for part in parts.values()):
            raise UnsupportedError(f"the arguments of {function.__qualname__!r} have to be positional for its gradient")
        result, pull = self._dynamic.scripted(function)(*arguments, **(named or {}))
        shadow = zeros(result)

        def reverse() -> None:
            given = self._dynamic.scripted(pull)(shadow)
            given = given if isinstance(given, tuple) else (given,)
            if len(given) != len(arguments):
                raise ValueError(
                    f"{function.__qualname__!r} has {len(arguments)} arguments and {len(given)} cotangents"
                )
            for each, part in zip(shadows, given, strict=True):
                accumulate(each, part)

        return result, shadow, _Opaque(reverse, function.__qualname__)

    def _run_again(
        self, function: Any, arguments: tuple, shadows: tuple, named: Any = None, parts: Any = None
    ) -> tuple:
        """A function of which only the arguments are kept."""
        kept = tuple(map(saved, arguments))
        result = self._dynamic.scripted(function)(*arguments, **(named or {}))
        shadow = zeros(result)

        def reverse() -> None:
            _, again, pull = self(function, None)(kept, shadows, named, parts)
            accumulate(again, shadow)
            pull()

        return result, shadow, _Opaque(reverse, function.__qualname__)

    def _run_plain(
        self, callee: Any, shadow: Any, arguments: tuple, shadows: tuple, named: Any = None, parts: Any = None
    ) -> tuple:
        """A function without a graph: called as it is, where no gradient would have to pass."""
        values = (getattr(callee, "__self__", None), *arguments, *(named or {}).values())
        before = contents(values)
        result = self._dynamic.scripted(callee)(*arguments, **(named or {}))
        found = zeros(result)
        given = [shadow, *shadows, *(parts or {}).values()]
        if (found is not None and any(each is not None for each in given)) or contents(values) != before:
            name = getattr(callee, "__qualname__", type(callee).__qualname__)
            raise UnsupportedError(f"a gradient cannot pass through a call of {name!r}, which has no graph")
        return result, found, _nothing

    def _augmented(self, function: Any) -> Any:
        """The compiled function of arguments and shadows, or None where the function cannot be scripted."""
        if function not in self._made:
            self._made[function] = self._make(function)
        return self._made[function]

    def _make(self, function: Any) -> Any:
        inner = getattr(function, "_compiled", None)
        if inner is None and type(function) is types.FunctionType:
            inner = self._dynamic.compiled_for_gradients(function)
        if inner is None:
            return None
        compiled: Any = derivative_of(inner, Request("augmented", (), True, False), family=inner)
        compiled.inner = inner
        return compiled


def bound_shadows(parameters: list[Parameter], shadows: tuple, named: dict) -> list:
    """The shadow of each parameter, None for a default."""
    signature = inspect.Signature([inspect.Parameter(p.name, _KINDS[p.kind]) for p in parameters])
    found = signature.bind_partial(*shadows, **named).arguments
    return [found.get(p.name) for p in parameters]


_KINDS = {
    ParameterKind.POSITIONAL_ONLY: inspect.Parameter.POSITIONAL_ONLY,
    ParameterKind.NORMAL: inspect.Parameter.POSITIONAL_OR_KEYWORD,
    ParameterKind.VARIADIC: inspect.Parameter.VAR_POSITIONAL,
    ParameterKind.KEYWORD_ONLY: inspect.Parameter.KEYWORD_ONLY,
    ParameterKind.VARIADIC_KEYWORD: inspect.Parameter.VAR_KEYWORD,
}


def _is_own(callee: Any) -> bool:
    """Whether a callee is what an instance of `Differentiated` gave."""
    if type(callee) is not functools.partial:
        return False
    return callee.func is _run_closure or isinstance(getattr(callee.func, "__self__", None), Differentiated)


def _run_closure(
    function: Callable, augmented: Callable, arguments: tuple, shadows: tuple, named: Any = None, parts: Any = None
) -> tuple:
    """An inner function of the differentiated one; its twin takes shadows."""
    signature = inspect.signature(function)
    bound = signature.bind(*arguments, **(named or {}))
    bound.apply_defaults()
    given = signature.bind(*shadows, **(parts or {})).arguments
    return augmented(*bound.arguments.values(), *(given.get(name) for name in bound.arguments))


def _init_shadows(init: Callable, shadows: tuple, named: dict) -> dict:
    """What a generated `__init__` stores under the names of its parameters."""
    signature = inspect.signature(init)
    return dict(list(signature.bind(None, *shadows, **named).arguments.items())[1:])


class _Opaque:
    """The reverse of a call that is not a graph."""

    def __init__(self, run: Callable[[], None], name: str):
        self.run, self.name = run, name

    def __call__(self) -> None:
        self.run()


def _nothing() -> None:
    """The reverse of what has no gradient."""


make_differentiated[:] = [Differentiated]
