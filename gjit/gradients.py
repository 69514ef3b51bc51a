"""Derivatives of functions: `grad`, `value_and_grad`, `vjp` and what is made of them.

Each gives a compiled function, whose graph holds one `differentiate` node; the node becomes the graphs of the
derivative when the types of a call are known.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from gjit.api import script
from gjit.capture.program import Program
from gjit.compiled import CompiledFunction
from gjit.ir.builder import Builder
from gjit.ir.clone import clone_graph
from gjit.ir.graph import Graph, Parameter
from gjit.runtime.compiled import Compiled, Loads

Argnums = int | tuple[int, ...]


def grad(f: Callable, argnums: Argnums = 0, has_aux: bool = False) -> CompiledFunction:
    """The gradient of a function that returns one real number.

    Args:
        f: a function, scripted or not, or a compiled one.
        argnums: the position of the argument to differentiate by, or a tuple of positions.
        has_aux: `f` returns a pair; its second part is returned beside the gradient.

    Returns:
        A compiled function with the arguments of `f` that gives the gradient: for an array an array of its shape and
        dtype, for a number a number, for a container the same container of gradients, for a module a dict by the names
        of its parameters. Integers and None in containers get None. A tuple for a tuple of positions.

    Raises:
        TypeError: (when called) the argument or the result has no derivative.
        UnsupportedError: (when called) a gradient would have to pass through what has none; the line is shown.

    >>> import numpy as np
    >>> grad(lambda x: np.sum(x**2))(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return _differentiated(f, argnums, has_aux, "grad")


def value_and_grad(f: Callable, argnums: Argnums = 0, has_aux: bool = False) -> CompiledFunction:
    """As `grad`, but the compiled function gives a pair: what `f` returns, and the gradient.

    >>> import numpy as np
    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _differentiated(f, argnums, has_aux, "value_and_grad")


def _differentiated(f: Callable, argnums: Argnums, has_aux: bool, mode: str) -> CompiledFunction:
    """The compiled derivative, one for each function and choice, so that a call inside a function finds its plans."""
    positions = argnums if isinstance(argnums, tuple) else (argnums,)
    if not all(type(position) is int for position in positions) or not positions:
        raise TypeError(f"argnums is an int or a tuple of ints, not {argnums!r}")
    compiled = f if isinstance(f, CompiledFunction) else script(f)
    parameters = compiled._compiled._parameters
    count = len(parameters)
    if not all(-count <= position < count for position in positions):
        raise ValueError(f"argnums is {argnums!r}, but the function takes {count} arguments")
    attributes = {
        "arguments": tuple(position % count for position in positions),
        "single": not isinstance(argnums, tuple),
        "has_aux": has_aux,
        "mode": mode,
    }
    return _compiled(compiled, attributes)


def _compiled(base: CompiledFunction, attributes: dict[str, object]) -> CompiledFunction:
    inner = base._compiled
    extra = [Parameter("cotangent")] if attributes["mode"] == "vjp" else []

    def capture(loads: Loads, reads_again: bool) -> tuple[Graph, Program]:
        return _entry(inner, loads, reads_again, attributes, extra)

    plain = _named(base, str(attributes["mode"]), extra)
    compiled = Compiled(plain, capture, has_plain=False, parameters=[*inner._parameters, *extra], is_source=False)
    return CompiledFunction.of(compiled, plain)


def _entry(
    inner: Compiled, loads: Loads, reads_again: bool, attributes: dict[str, object], extra: list[Parameter]
) -> tuple[Graph, Program]:
    """A program with all graphs of the function, and an entry that differentiates it."""
    graph, program = inner._capture(loads, reads_again)
    graph = clone_graph(graph, functions=True)
    functions = {graph.name: graph, **graph.functions}
    name, number = f"{attributes['mode']}_{graph.name}", 1
    while name in functions:
        name, number = f"{attributes['mode']}_{graph.name}_{number}", number + 1
    entry = Graph(name, [*inner._parameters, *extra], functions=functions, span=graph.span)
    builder = Builder(entry)
    builder.span = graph.span
    result = builder.add("differentiate", entry.block.parameters, function=graph.name, **attributes)
    builder.end("return", [result])
    functions[name] = entry
    for each in functions.values():
        each.functions = functions
    new = Program(program.root, program.package, program.strict, program.has_host_calls, program.loads)
    new.functions, new.refused, new.kept = functions, program.refused, program.kept
    new.owners = {**program.owners, name: inner.function}
    return entry, new


def _named(base: CompiledFunction, mode: str, extra: list[Parameter]) -> Any:
    """A function with the name, globals and defaults of the derivative; only what it carries is used."""
    function = base._compiled.function
    copy = types.FunctionType(
        function.__code__, function.__globals__, f"{mode}_{function.__name__}", function.__defaults__, function.__closure__
    )
    copy.__kwdefaults__, copy.__module__ = function.__kwdefaults__, function.__module__
    copy.__qualname__, copy.__doc__ = copy.__name__, f"{mode} of {function.__qualname__}"
    return copy
