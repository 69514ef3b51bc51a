"""How the ops of containers, variables and objects evaluate on live values: what the interpreter runs by itself."""

from __future__ import annotations

import ast
import builtins
import functools
from collections.abc import Callable
from typing import Any

from gjit.ir.graph import CaptureKind, CaptureSlot, Graph, Node, Parameter, ParameterKind
from gjit.ir.structure import bound_names

UNBOUND = object()


class Variable:
    """The live object of a `cell`."""

    __slots__ = ("name", "value")

    def __init__(self, name: str):
        self.name = name
        self.value: object = UNBOUND


def arguments_of(node: Node, inputs: list[object]) -> tuple[list[object], dict[str, object]]:
    """The positional and keyword arguments that the labels make of the inputs; spreads are spread."""
    positional: list[object] = []
    keywords: dict[str, object] = {}
    for index, value in enumerate(inputs):
        match node.label(index):
            case "":
                positional.append(value)
            case "*":
                positional.extend(value)  # type: ignore[arg-type]
            case "**":
                _merge_keywords(keywords, dict(value))  # type: ignore[call-overload]
            case label:
                _merge_keywords(keywords, {label[:-1]: value})
    return positional, keywords


def _merge_keywords(keywords: dict[str, object], more: dict[str, object]) -> None:
    for name, value in more.items():
        if name in keywords:
            raise TypeError(f"got multiple values for keyword argument {name!r}")
        keywords[name] = value


def make_dict(node: Node, inputs: list[object]) -> dict:
    """A dict display: keys and values in turn, `**` spreads between them."""
    made: dict = {}
    values = iter(enumerate(inputs))
    for index, value in values:
        if node.label(index) == "**":
            made.update(value)  # type: ignore[call-overload]
        else:
            made[value] = next(values)[1]
    return made


def _load(node: Node, variable: Variable) -> object:
    if variable.value is UNBOUND:
        raise _unbound(node, variable.name)
    return variable.value


def _store(node: Node, variable: Variable, value: object) -> None:
    variable.value = value


def _delete(node: Node, variable: Variable) -> None:
    if variable.value is UNBOUND:
        raise _unbound(node, variable.name)
    variable.value = UNBOUND


def _unbound(node: Node, name: str) -> NameError:
    """The error of an unbound variable, which differs between its own function and one inside it."""
    cell = node.inputs[0].producer
    owner = node.block
    while owner is not None and owner is not getattr(cell, "block", None):
        if isinstance(owner.owner, Node) and owner.owner.op == "function":
            place = "where it is not associated with a value in enclosing scope"
            return NameError(f"cannot access free variable {name!r} {place}")
        owner = owner.owner.block if isinstance(owner.owner, Node) else None
    return UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")


def _format(node: Node, value: object, spec: str = "") -> str:
    convert: Any = {"": lambda each: each, "s": str, "r": repr, "a": ascii}[str(node.attributes.get("conversion", ""))]
    return format(convert(value), spec)


def _set_item(node: Node, owner: object, index: object, value: object) -> None:
    owner[index] = value  # type: ignore[index]


def _delete_item(node: Node, owner: object, index: object) -> None:
    del owner[index]  # type: ignore[attr-defined]


def _unpack(node: Node, iterable: object) -> tuple:
    attributes = node.attributes
    return _unpacker(attributes["before"], bool(attributes["star"]), attributes["after"])(iterable)


@functools.cache
def _unpacker(before: int, star: bool, after: int) -> Callable:
    """A function that Python's own unpacking makes, so that its errors are Python's."""
    names = [f"a{index}" for index in range(before)] + ["*star"] * star + [f"b{index}" for index in range(after)]
    target = ", ".join(names) + "," if names else "[]"
    given = ", ".join(name.lstrip("*") for name in names) + "," if names else ""
    return _define(f"def unpack(values):\n    {target} = values\n    return ({given})", "unpack")


def _import(node: Node) -> object:
    module, name = str(node.attributes["module"]), str(node.attributes["name"])
    found = __import__(module, None, None, (name,) if name else ("*",), int(node.attributes["level"]))
    if not name:
        return found
    try:
        return getattr(found, name)
    except AttributeError:
        raise ImportError(f"cannot import name {name!r} from {module!r}") from None


EVALUATED: dict[str, Callable] = {
    "cell": lambda node: Variable(str(node.attributes["name"])),
    "load": _load,
    "store": _store,
    "delete": _delete,
    "getattr": lambda node, owner: getattr(owner, str(node.attributes["name"])),
    "setattr": lambda node, owner, value: setattr(owner, str(node.attributes["name"]), value),
    "delattr": lambda node, owner: delattr(owner, str(node.attributes["name"])),
    "getitem": lambda node, owner, index: owner[index],
    "setitem": _set_item,
    "delitem": _delete_item,
    "tuple": lambda node, *elements: elements,
    "list": lambda node, *elements: list(elements),
    "set": lambda node, *elements: set(elements),
    "slice": lambda node, start, stop, step: slice(start, stop, step),
    "unpack": _unpack,
    "format": _format,
    "join": lambda node, *parts: "".join(parts),
    "call": lambda node, callee, *arguments, **keywords: callee(*arguments, **keywords),
    "import": _import,
}
"""By op: takes the node, then its arguments."""


def captured(slot: CaptureSlot) -> object:
    """The object of a capture slot: as it was captured where it is guarded, else looked up now."""
    if slot.guarded or slot.namespace is None or slot.kind is CaptureKind.OBJECT:
        return slot.value
    if slot.kind is CaptureKind.CELL:
        return slot.namespace.cell_contents  # type: ignore[attr-defined]
    if slot.name in slot.namespace:  # type: ignore[operator]
        return slot.namespace[slot.name]  # type: ignore[index]
    try:
        return getattr(builtins, slot.name)
    except AttributeError:
        raise NameError(f"name {slot.name!r} is not defined") from None


def store_captured(slot: CaptureSlot, value: object) -> None:
    """A `nonlocal` write."""
    slot.value = value
    if slot.namespace is not None:
        slot.namespace.cell_contents = value  # type: ignore[attr-defined]


def inner_function(node: Node, inputs: list[object], body: Callable) -> Callable:
    """The Python function of a `function` node: `inputs` are its defaults and annotations."""
    attributes: Any = node.attributes
    names = attributes.get("annotations", ())
    split = len(inputs) - len(names)
    function = python_function(attributes["name"], attributes["parameters"], inputs[:split], body)
    function.__annotations__ = dict(zip(names, inputs[split:], strict=True))
    function.__doc__ = attributes.get("doc")
    return function


def python_function(name: str, parameters: tuple[Parameter, ...], defaults: list[object], body: Callable) -> Any:
    """A Python function with these parameters that calls `body` with one argument for each of them.

    `defaults` belong to the parameters that have one, positional ones first.
    """
    positional = [p for p in parameters if p.has_default and p.kind is not ParameterKind.KEYWORD_ONLY]
    keyword_only = [p for p in parameters if p.has_default and p.kind is ParameterKind.KEYWORD_ONLY]
    function = _define(f"def {_signature(parameters)}: return body({_names(parameters)})", "function", body=body)
    function.__defaults__ = tuple(defaults[: len(positional)]) or None
    named = zip((parameter.name for parameter in keyword_only), defaults[len(positional) :], strict=True)
    function.__kwdefaults__ = dict(named) or None
    function.__name__ = function.__qualname__ = name
    return function


def _names(parameters: tuple[Parameter, ...]) -> str:
    return ", ".join(parameter.name for parameter in parameters)


def _signature(parameters: tuple[Parameter, ...]) -> str:
    parts, last = [], None
    for parameter in parameters:
        if last is ParameterKind.POSITIONAL_ONLY and parameter.kind is not last:
            parts.append("/")
        if parameter.kind is ParameterKind.KEYWORD_ONLY and last not in (parameter.kind, ParameterKind.VARIADIC):
            parts.append("*")
        stars = parameter.kind.value if parameter.kind.value.startswith("*") else ""
        parts.append(f"{stars}{parameter.name}{'=None' if parameter.has_default else ''}")
        last = parameter.kind
    if last is ParameterKind.POSITIONAL_ONLY:
        parts.append("/")
    return f"function({', '.join(parts)})"


@functools.cache
def group_handler(count: int) -> Callable:
    """A function that raises an exception and handles it by so many `except*` clauses.

    It takes the exception, functions that give the classes to match, and functions that handle what matches.
    """
    clauses = [f" except* types[{index}]() as part: bodies[{index}](part)" for index in range(count)]
    lines = ["def handle(error, types, bodies):", " try: raise error", *clauses]
    return _define("\n".join(lines), "handle")


def match_pattern(pattern: str, subject: object, inputs: list[object]) -> tuple | None:
    """What the names of a `case` pattern are bound to, in their order; None where it does not match."""
    return _matcher(pattern)(subject, _Inputs(inputs))


class _Inputs:
    """`_0`, `_1`, ... as attributes: only a dotted name is a value in a pattern."""

    def __init__(self, inputs: list[object]):
        self.__dict__.update((f"_{index}", value) for index, value in enumerate(inputs))


@functools.lru_cache(maxsize=256)
def _matcher(pattern: str) -> Callable:
    tree = ast.parse(f"def match(subject, inputs):\n match subject:\n  case {pattern}:\n   return ()")
    case = tree.body[0].body[0].cases[0]
    case.pattern = _ValuesFromInputs().visit(case.pattern)
    names = bound_names(pattern)
    case.body = ast.parse(f"def f(): return ({', '.join(names)}{',' * bool(names)})").body[0].body
    return _define(ast.unparse(ast.fix_missing_locations(tree)), "match")


class _ValuesFromInputs(ast.NodeTransformer):
    def visit_MatchAs(self, node: ast.MatchAs) -> ast.AST:
        self.generic_visit(node)
        if node.pattern is None and node.name is not None and _is_input(node.name):
            return ast.MatchValue(_input(node.name))
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return _input(node.id) if _is_input(node.id) else node


def _is_input(name: str) -> bool:
    return name.startswith("_") and name[1:].isdigit()


def _input(name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name("inputs", ast.Load()), name, ast.Load())


def _define(text: str, name: str, **names: object) -> Callable:
    namespace: dict[str, object] = dict(names)
    exec(compile(text, "<gjit interpreter>", "exec"), namespace)
    return namespace[name]  # type: ignore[return-value]


def graph_function(graph: Graph, body: Callable) -> Callable:
    """A Python function with the graph's parameters; their defaults are not part of a graph and must be passed."""
    required = tuple(Parameter(parameter.name, parameter.kind) for parameter in graph.parameters)
    return python_function(graph.name, required, [], body)
