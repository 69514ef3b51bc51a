"""The generated function that a call enters: counts, checks guards and types, and goes to the plan.

It is made of Python source with the user's signature, globals and free variables, so that a guard of a global is one
look-up that the interpreter caches, and the check of an array argument costs about 0.1 us.
"""

from __future__ import annotations

import ast
import types
from dataclasses import dataclass, field

import numpy as np

from gjit import settings
from gjit.ir.graph import CaptureKind, CaptureSlot, Parameter, ParameterKind
from gjit.runtime.signature import ArrayKey, Key
from gjit.scheduler.bindings import read_global

INLINE_PLANS = 4
"""How many signatures are checked one after the other; more are found in a dictionary."""


@dataclass(slots=True)
class _Writer:
    """Source lines, and the objects that they name."""

    bindings: dict[str, object] = field(default_factory=dict)

    def name(self, hint: str, value: object) -> str:
        name = f"gjit_{hint}_{len(self.bindings)}"
        self.bindings[name] = value
        return name


def build_entry(
    function: types.FunctionType,
    parameters: list[Parameter],
    guards: list[CaptureSlot],
    plans: dict[Key, types.FunctionType],
    slow: object,
    count: object,
    overrides: list,
) -> types.FunctionType:
    """The entry of `function` for the plans that exist so far.

    Args:
        parameters: its signature.
        guards: captured names that the plans rely on.
        plans: generated functions by signature, oldest first.
        slow: takes the list of argument values and does everything that the entry does not know.
        count: called once a call; None for a function that is not called by the user.
        overrides: while this list is not empty, every call goes to `slow`; also after a change of `settings.epoch`.
    """
    writer = _Writer()
    names = [parameter.name for parameter in parameters]
    everything = f"{writer.name('slow', slow)}([{', '.join(names)}])"
    lines = [] if count is None else [f"{writer.name('count', count)}()"]
    epoch = f"{writer.name('epoch', settings.epoch)} is not {writer.name('built', settings.epoch.cell_contents)}"
    lines += [f"if {writer.name('overrides', overrides)} or {epoch}:", f"    return {everything}"]
    tests = [_guard(function, slot, writer, names) for slot in guards]
    lines += _guard_lines(tests, everything)
    for key, plan in list(plans.items())[-INLINE_PLANS:][::-1]:
        checks = [_check(name, element, writer) for name, element in zip(names, key, strict=True)]
        lines.append(f"if {' and '.join(checks) or 'True'}:")
        lines.append(f"    return {writer.name('plan', plan)}({_forward(parameters)})")
    lines.append(f"return {everything}")
    return _compile(function, parameters, lines, writer.bindings)


def _guard_lines(tests: list[str], everything: str) -> list[str]:
    if not tests:
        return []
    return [
        "try:",
        f"    gjit_valid = {' and '.join(tests)}",
        "except NameError:",
        "    gjit_valid = False",
        "if not gjit_valid:",
        f"    return {everything}",
    ]


def _guard(function: types.FunctionType, slot: CaptureSlot, writer: _Writer, hidden: list[str]) -> str:
    """A test that a captured name still is the object; a parameter of the same name hides it."""
    expected = writer.name("guard", slot.value)
    visible = slot.namespace is function.__globals__ or slot.namespace in (function.__closure__ or ())
    if visible and slot.name not in hidden:
        return f"{slot.name} is {expected}"
    if slot.kind is CaptureKind.CELL:
        return f"{writer.name('cell', slot.namespace)} is {expected}"  # the cell is a free variable of the entry
    look_up, namespace = writer.name("read_global", read_global), writer.name("globals", slot.namespace)
    return f"{look_up}({namespace}, {slot.name!r}) is {expected}"


def _check(name: str, element: object, writer: _Writer) -> str:
    if not isinstance(element, ArrayKey):
        return f"type({name}) is {writer.name('type', element)}"
    array = writer.name("ndarray", np.ndarray)
    dtype = writer.name("dtype", element.dtype)
    return f"type({name}) is {array} and {name}.dtype is {dtype} and {name}.ndim == {element.rank}"


def _forward(parameters: list[Parameter]) -> str:
    forms = {
        ParameterKind.POSITIONAL_ONLY: "{0}",
        ParameterKind.NORMAL: "{0}",
        ParameterKind.VARIADIC: "*{0}",
        ParameterKind.KEYWORD_ONLY: "{0}={0}",
        ParameterKind.VARIADIC_KEYWORD: "**{0}",
    }
    return ", ".join(forms[parameter.kind].format(parameter.name) for parameter in parameters)


def signature_text(parameters: list[Parameter]) -> str:
    """The parameters as Python writes them; a default stands as `None` and is set on the function afterwards."""
    parts: list[str] = []
    starred = False
    for index, parameter in enumerate(parameters):
        default = "=None" if parameter.has_default else ""
        if parameter.kind is ParameterKind.KEYWORD_ONLY and not starred:
            parts.append("*")
            starred = True
        starred = starred or parameter.kind is ParameterKind.VARIADIC
        spreads = (ParameterKind.VARIADIC, ParameterKind.VARIADIC_KEYWORD)
        stars = parameter.kind.value if parameter.kind in spreads else ""
        parts.append(f"{stars}{parameter.name}{default}")
        following = parameters[index + 1].kind if index + 1 < len(parameters) else None
        if parameter.kind is ParameterKind.POSITIONAL_ONLY and following is not ParameterKind.POSITIONAL_ONLY:
            parts.append("/")
    return ", ".join(parts)


def call_with(function: object, parameters: list[Parameter], values: list[object]) -> object:
    """Call with one value for each parameter."""
    positional: list[object] = []
    keywords: dict[str, object] = {}
    for parameter, value in zip(parameters, values, strict=True):
        match parameter.kind:
            case ParameterKind.VARIADIC:
                positional.extend(value)
            case ParameterKind.KEYWORD_ONLY:
                keywords[parameter.name] = value
            case ParameterKind.VARIADIC_KEYWORD:
                keywords.update(value)
            case _:
                positional.append(value)
    return function(*positional, **keywords)


def _compile(
    function: types.FunctionType, parameters: list[Parameter], lines: list[str], bindings: dict[str, object]
) -> types.FunctionType:
    free = function.__code__.co_freevars
    body = "\n        ".join(lines)
    outer = ", ".join([*free, *bindings])
    text = f"def factory({outer}):\n    def entry({signature_text(parameters)}):\n        {body}\n    return entry\n"
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):  # a traceback shows the user's `def` for this frame
            node.lineno = node.end_lineno = function.__code__.co_firstlineno
    factory = compile(tree, function.__code__.co_filename, "exec").co_consts[0]
    code = next(constant for constant in factory.co_consts if isinstance(constant, types.CodeType))
    code = code.replace(co_name=function.__code__.co_name, co_qualname=function.__code__.co_qualname)
    cells = dict(zip(free, function.__closure__ or (), strict=True))
    closure = tuple(cells[name] if name in cells else _in_cell(bindings[name]) for name in code.co_freevars)
    entry = types.FunctionType(code, function.__globals__, function.__name__, function.__defaults__, closure)
    entry.__kwdefaults__ = function.__kwdefaults__
    entry.__qualname__, entry.__doc__ = function.__qualname__, function.__doc__
    entry.__module__, entry.__annotations__ = function.__module__, function.__annotations__
    return entry


def _in_cell(value: object) -> types.CellType:
    return value if isinstance(value, types.CellType) else types.CellType(value)
