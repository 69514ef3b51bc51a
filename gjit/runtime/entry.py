"""The generated function that a call enters: counts, checks guards and types, and goes to the plan.

It is made of Python source with the user's signature and globals, so that a guard of a global is one
look-up that the interpreter caches, and the check of an array argument costs about 0.1 us.
"""

from __future__ import annotations

import ast
import inspect
import types
from dataclasses import dataclass, field

import numpy as np

from gjit import settings
from gjit.ir.graph import CaptureKind, CaptureSlot, Parameter, ParameterKind
from gjit.runtime.dynamic import register_generated
from gjit.runtime.plan import Plan
from gjit.runtime.signature import HEAP_TYPE, ArrayKey, DeviceKey, Key, LocalKey
from gjit.scheduler.bindings import read_global
from gjit.scheduler.host_program import compile_host_program

INLINE_PLANS = 4
"""How many signatures are checked one after the other; more are found in a dictionary."""


@dataclass(slots=True)
class _Writer:
    """Source lines for the entry of `function`.

    hidden     names that do not mean the function's globals there
    bindings   the objects that the lines name
    """

    function: types.FunctionType
    parameters: list[Parameter]
    hidden: set[str]
    bindings: dict[str, object] = field(default_factory=dict)
    most_elements: int | None = None

    @property
    def names(self) -> list[str]:
        return [parameter.name for parameter in self.parameters]

    def name(self, hint: str, value: object) -> str:
        name = f"gjit_{hint}_{len(self.bindings)}"
        self.bindings[name] = value
        return name

    def choice(self, key: Key, plan: Plan) -> list[str]:
        """The lines that go to a plan."""
        return [
            f"if {self.checks(key)}:",
            f"    return {self.name('plan', plan.call)}({_forward(self.parameters)})",
        ]

    def checks(self, key: Key) -> str:
        """Whether the arguments have this signature."""
        return " and ".join(self._check(*pair) for pair in zip(self.names, key, strict=True)) or "True"

    def _check(self, name: str, element: object) -> str:
        if isinstance(element, LocalKey):
            return f"type({name}).__flags__ & {HEAP_TYPE}"
        if isinstance(element, DeviceKey):
            return self._device_check(name, element)
        if not isinstance(element, ArrayKey):
            return f"type({name}) is {self.name('type', element)}"
        array = self.name("ndarray", np.ndarray)
        dtype = self.name("dtype", element.dtype)
        size = "" if self.most_elements is None else f" and {name}.size < {self.most_elements}"
        return f"type({name}) is {array} and {name}.dtype is {dtype} and {name}.ndim == {element.rank}{size}"

    def _device_check(self, name: str, element: DeviceKey) -> str:
        tests = [
            f"type({name}) is {self.name('array', element.kind)}",
            f"{name}.dtype == {self.name('dtype', element.dtype)}",
            f"{name}.ndim == {element.rank}",
            f"{name}.device.id == {element.index}",
        ]
        return " and ".join(tests)

    def guard(self, slot: CaptureSlot) -> str:
        """A test that a captured name still is the object."""
        expected = self.name("guard", slot.value)
        if slot.kind is CaptureKind.CELL:
            return f"{self.name('cell', slot.namespace)} is {expected}"  # the cell is a free variable of the entry
        if slot.namespace is self.function.__globals__ and slot.name not in self.hidden:
            return f"{slot.name} is {expected}"
        look_up, namespace = self.name("read_global", read_global), self.name("globals", slot.namespace)
        return f"{look_up}({namespace}, {slot.name!r}) is {expected}"


def build_entry(
    function: types.FunctionType,
    parameters: list[Parameter],
    guards: list[CaptureSlot],
    plans: dict[Key, Plan],
    slow: object,
    count: object,
    overrides: list,
    most_elements: int | None = None,
) -> types.FunctionType:
    """The entry of `function` for the plans that exist so far; the newest runs in it, without a call of its own.

    Args:
        parameters: its signature.
        guards: captured names that the plans rely on.
        plans: by signature, oldest first.
        slow: takes the list of argument values and does everything that the entry does not know.
        count: called once a call; None for a function that is not called by the user.
        overrides: while this list is not empty, every call goes to `slow`; also after a change of `settings.epoch`.
        most_elements: calls with arrays of so many elements or more go to `slow`.
    """
    recent = list(plans.items())[-INLINE_PLANS:][::-1]
    inner = recent[0][1] if recent and _runs_inside(function, parameters, recent[0][1]) else None
    writer = _Writer(function, parameters, set(_names(parameters)) if inner is None else _own_names(inner))
    writer.most_elements = most_elements
    everything = f"{writer.name('slow', slow)}([{', '.join(writer.names)}])"
    lines = [] if count is None else [f"{writer.name('count', count)}()"]
    epoch = f"{writer.name('epoch', settings.epoch)} is not {writer.name('built', settings.epoch.cell_contents)}"
    lines += [f"if {writer.name('overrides', overrides)} or {epoch}:", f"    return {everything}"]
    lines += _guard_lines([writer.guard(slot) for slot in guards], everything)
    if inner is None:
        lines += [line for key, plan in recent for line in writer.choice(key, plan)]
        return _named(_compile(writer, [*lines, f"return {everything}"]), function)
    others = [line for key, plan in recent[1:] for line in writer.choice(key, plan)]
    lines.append(f"if not ({writer.checks(recent[0][0])}):")
    lines += [f"    {line}" for line in (*others, f"return {everything}")]
    return _named(_compile_inside(writer, lines, inner), function)


def _names(parameters: list[Parameter]) -> list[str]:
    return [parameter.name for parameter in parameters]


def _runs_inside(function: types.FunctionType, parameters: list[Parameter], plan: Plan) -> bool:
    """Whether the host program of a plan has the entry's own globals, and calls the parameters as the user does."""
    if plan.wrapped is not None:
        return False
    code = plan.function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    count += sum(bool(code.co_flags & flag) for flag in (inspect.CO_VARARGS, inspect.CO_VARKEYWORDS))
    is_known = set(code.co_varnames[:count]) == set(_names(parameters))
    return is_known and plan.function.__globals__ is function.__globals__


def _own_names(plan: Plan) -> set[str]:
    """The names that mean something else in the host program of a plan than they do to its user."""
    code = plan.function.__code__
    return {*code.co_varnames, *code.co_cellvars, *code.co_freevars}


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


def _compile(writer: _Writer, lines: list[str]) -> types.FunctionType:
    """The lines as a function with the user's signature."""
    function = writer.function
    body = "\n        ".join(lines)
    outer = ", ".join(writer.bindings)
    head = f"def entry({signature_text(writer.parameters)})"
    text = f"def factory({outer}):\n    {head}:\n        {body}\n    return entry\n"
    tree = ast.parse(text)
    _place(tree, function.__code__)
    factory = compile(tree, function.__code__.co_filename, "exec").co_consts[0]
    code = next(constant for constant in factory.co_consts if isinstance(constant, types.CodeType))
    code = code.replace(co_name=function.__code__.co_name, co_qualname=function.__code__.co_qualname)
    closure = tuple(_in_cell(writer.bindings[name]) for name in code.co_freevars)
    return types.FunctionType(code, function.__globals__, function.__name__, None, closure)


def _compile_inside(writer: _Writer, lines: list[str], plan: Plan) -> types.FunctionType:
    """The lines, and after them the host program of a plan."""
    tree = ast.parse("def prologue():\n    " + "\n    ".join(lines))
    _place(tree, plan.function.__code__)
    entry = compile_host_program(
        plan.program,
        writer.function.__globals__,
        extra_bindings={**plan.bindings, **writer.bindings},
        qualified_name=writer.function.__code__.co_qualname,
        prologue=tree.body[0].body,
    )
    register_generated(entry.__code__)
    return entry


def _place(tree: ast.AST, code: types.CodeType) -> None:
    """A traceback shows the user's `def` for what is checked."""
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno = node.end_lineno = code.co_firstlineno


def _named(entry: types.FunctionType, function: types.FunctionType) -> types.FunctionType:
    """The entry with all that its user sees of the function."""
    entry.__defaults__, entry.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    entry.__name__, entry.__qualname__, entry.__doc__ = function.__name__, function.__qualname__, function.__doc__
    entry.__module__, entry.__annotations__ = function.__module__, function.__annotations__
    return entry


def _in_cell(value: object) -> types.CellType:
    return value if isinstance(value, types.CellType) else types.CellType(value)
