"""What each op of the node catalogue takes: counts, labels and attributes. Ops of the op table take any call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from gjit.ir.graph import Node, Parameter, ParameterKind
from gjit.ir.structure import bound_names

MANY = 1 << 30


@dataclass(frozen=True, slots=True)
class NodeRule:
    """One op: the least and the most inputs, the number of results (None: any), labels, attributes, a last check."""

    least: int = 0
    most: int = 0
    results: int | None = 1
    labels: frozenset[str] = frozenset()
    attributes: dict[str, Callable[[object], bool]] = field(default_factory=dict)
    check: Callable[[Node], str] | None = None


def problem_of(node: Node) -> str:
    """What is wrong with the node taken alone, as the end of a sentence, or an empty text."""
    rule = RULES.get(node.op)
    if rule is None:
        return ""
    if not rule.least <= len(node.inputs) <= rule.most:
        return f"takes {_count(rule.least, rule.most)} inputs, not {len(node.inputs)}"
    if rule.results is not None and len(node.results) != rule.results:
        return f"has {rule.results} results, not {len(node.results)}"
    for label in node.labels:
        if label and label not in rule.labels and not (label.endswith("=") and "=" in rule.labels):
            return f"takes no input labelled {label!r}"
    for name, valid in rule.attributes.items():
        if name not in node.attributes:
            return f"has no attribute {name!r}"
        if not valid(node.attributes[name]):
            return f"has the attribute {name}={node.attributes[name]!r}, which it cannot have"
    return rule.check(node) if rule.check is not None else ""


def valid_label(label: str) -> bool:
    """Whether a label is one of the four kinds: positional, spread, keyword, spread keywords."""
    return label in ("", "*", "**") or (label.endswith("=") and len(label) > 1)


def call_problem(node: Node, parameters: list[Parameter]) -> str:
    """Why a call with these inputs and labels cannot reach a function with these parameters, or an empty text."""
    labels = node.labels or ("",) * len(node.inputs)
    by_position = [p for p in parameters if p.kind in (ParameterKind.POSITIONAL_ONLY, ParameterKind.NORMAL)]
    by_name = {p.name for p in parameters if p.kind in (ParameterKind.NORMAL, ParameterKind.KEYWORD_ONLY)}
    kinds = {p.kind for p in parameters}
    positional = labels.count("")
    keywords = [label[:-1] for label in labels if label.endswith("=")]
    if positional > len(by_position) and ParameterKind.VARIADIC not in kinds:
        return f"gives {positional} positional arguments to a function of {len(by_position)}"
    unknown = [name for name in keywords if name not in by_name]
    if unknown and ParameterKind.VARIADIC_KEYWORD not in kinds:
        return f"gives the argument {unknown[0]!r}, which the function does not have"
    given = {p.name for p in by_position[:positional]}
    twice = [name for name in keywords if name in given & by_name or keywords.count(name) > 1]
    if twice:
        return f"gives the argument {twice[0]!r} twice"
    if "*" in labels or "**" in labels:
        return ""
    required = [p.name for p in parameters if not p.has_default and p.kind in _REQUIRED]
    missing = [name for name in required if name not in given and name not in by_name.intersection(keywords)]
    return f"gives no argument {missing[0]!r}" if missing else ""


_REQUIRED = (ParameterKind.POSITIONAL_ONLY, ParameterKind.NORMAL, ParameterKind.KEYWORD_ONLY)


def _count(least: int, most: int) -> str:
    if least == most:
        return str(least)
    return f"at least {least}" if most == MANY else f"{least} to {most}"


def _text(value: object) -> bool:
    return type(value) is str


def _word(value: object) -> bool:
    return type(value) is str and value != ""


def _number(value: object) -> bool:
    return type(value) is int and value >= 0


def _positions(value: object) -> bool:
    return type(value) is tuple and all(map(_number, value))


def _flag(value: object) -> bool:
    return type(value) is bool


def _one_of(*choices: str) -> Callable[[object], bool]:
    return lambda value: value in choices


def _parameters(value: object) -> bool:
    return type(value) is tuple and all(isinstance(parameter, Parameter) for parameter in value)


def _patterns(value: object) -> bool:
    if type(value) is not tuple or not all(map(_text, value)):
        return False
    try:
        return all(isinstance(bound_names(pattern), list) for pattern in value)
    except (SyntaxError, ValueError):
        return False


def _unpack_results(node: Node) -> str:
    parts: list[Any] = [node.attributes[part] for part in _UNPACK]
    expected = sum(parts)
    return f"has {expected} results, not {len(node.results)}" if len(node.results) != expected else ""


def _function_inputs(node: Node) -> str:
    """Defaults, then annotations."""
    parameters: Any = node.attributes["parameters"]
    defaults = sum(parameter.has_default for parameter in parameters)
    annotations: Any = node.attributes.get("annotations", ())
    if type(annotations) is not tuple or not all(map(_word, annotations)):
        return f"has the attribute annotations={annotations!r}, which it cannot have"
    if len(node.inputs) == defaults + len(annotations):
        return ""
    expected = f"{defaults} defaults" + (f" and {len(annotations)} annotations" if annotations else "")
    return f"takes {expected}, not {len(node.inputs)}"


def _pairs(node: Node) -> str:
    """Keys and values stand in turn, with spreads between the pairs."""
    expects_key = True
    for index in range(len(node.inputs)):
        spread = node.label(index) == "**"
        if spread and not expects_key:
            return "has a key without a value"
        expects_key = expects_key if spread else not expects_key
    return "" if expects_key else "has a key without a value"


def _callee_first(node: Node) -> str:
    return "has a label on its callee" if node.label(0) else ""


_SPREAD = frozenset({"*"})
_CALL = frozenset({"*", "=", "**"})
_ARITHMETIC = (
    *("add", "sub", "mul", "matmul", "truediv", "floordiv", "mod", "pow"),
    *("lshift", "rshift", "and", "or", "xor"),
)
_COMPARISONS = ("eq", "ne", "lt", "le", "gt", "ge", "is", "is_not", "in", "not_in")
_BINARY = (*_ARITHMETIC, *(f"i{name}" for name in _ARITHMETIC), *_COMPARISONS)
_UNPACK: dict[str, Callable[[object], bool]] = {"before": _number, "star": _flag, "after": _number}

RULES: dict[str, NodeRule] = {
    "yield": NodeRule(0, MANY, 0),
    "continue": NodeRule(0, MANY, 0),
    "break": NodeRule(0, MANY, 0),
    "condition": NodeRule(1, MANY, 0),
    "return": NodeRule(1, 1, 0),
    "raise": NodeRule(1, 2, 0),
    "reraise": NodeRule(0, 0, 0),
    "unreachable": NodeRule(0, 0, 0),
    "if": NodeRule(1, 1, None),
    "for": NodeRule(1, MANY, None, check=lambda node: _carried(node, len(node.inputs) - 1)),
    "while": NodeRule(0, MANY, None, check=lambda node: _carried(node, len(node.inputs))),
    "and": NodeRule(1, 1, 1),
    "or": NodeRule(1, 1, 1),
    "try": NodeRule(0, 0, 0),
    "with": NodeRule(1, 1, None),
    "match": NodeRule(1, MANY, None, attributes={"patterns": _patterns}),
    "function": NodeRule(0, MANY, 1, attributes={"name": _text, "parameters": _parameters}, check=_function_inputs),
    "class": NodeRule(0, MANY, 1, _CALL, {"name": _word}),
    "class.load": NodeRule(1, 1, 1, attributes={"name": _word}),
    "class.store": NodeRule(2, 2, 0, attributes={"name": _word}),
    "class.annotate": NodeRule(2, 2, 0, attributes={"name": _word}),
    "class.delete": NodeRule(1, 1, 0, attributes={"name": _word}),
    "comprehension": NodeRule(1, 1, 1, attributes={"kind": _one_of("list", "set", "dict", "generator")}),
    "comprehension.for": NodeRule(1, 1, 0),
    "comprehension.if": NodeRule(1, 1, 0),
    "cell": NodeRule(0, 0, 1, attributes={"name": _word}),
    "load": NodeRule(1, 1, 1),
    "delete": NodeRule(1, 1, 0),
    "store": NodeRule(2, 2, 0),
    "capture": NodeRule(0, 0, 1, attributes={"slot": _number}),
    "capture.store": NodeRule(1, 1, 0, attributes={"slot": _number}),
    "call": NodeRule(1, MANY, 1, _CALL, check=_callee_first),
    "invoke": NodeRule(0, MANY, 1, _CALL, {"function": _word}),
    "differentiate": NodeRule(0, MANY, 1, attributes={"function": _word, "arguments": _positions, "mode": _text}),
    "library": NodeRule(0, MANY, None, _CALL, {"function": _word}),
    "scripted": NodeRule(1, 1, 1),
    "suspend": NodeRule(1, 1, 1),
    "suspend.from": NodeRule(1, 1, 1),
    "import": NodeRule(0, 0, 1, attributes={"module": _text, "name": _text, "level": _number}),
    "getattr": NodeRule(1, 1, 1, attributes={"name": _word}),
    "setattr": NodeRule(2, 2, 0, attributes={"name": _word}),
    "delattr": NodeRule(1, 1, 0, attributes={"name": _word}),
    "getitem": NodeRule(2, 2, 1),
    "setitem": NodeRule(3, 3, 0),
    "delitem": NodeRule(2, 2, 0),
    "tuple": NodeRule(0, MANY, 1, _SPREAD),
    "list": NodeRule(0, MANY, 1, _SPREAD),
    "set": NodeRule(0, MANY, 1, _SPREAD),
    "dict": NodeRule(0, MANY, 1, frozenset({"**"}), check=_pairs),
    "slice": NodeRule(3, 3, 1),
    "unpack": NodeRule(1, 1, None, attributes=_UNPACK, check=_unpack_results),
    "format": NodeRule(2, 2, 1, attributes={"conversion": _one_of("", "s", "r", "a")}),
    "join": NodeRule(0, MANY, 1),
    "region": NodeRule(0, MANY, None),
    "settle": NodeRule(0, MANY, 1, attributes={"how": _word}),
    **{f"operator.{name}": NodeRule(2, 2, 1) for name in _BINARY},
    **{f"operator.{name}": NodeRule(1, 1, 1) for name in ("neg", "pos", "invert", "not")},
}


def _carried(node: Node, carried: int) -> str:
    return f"carries {carried} values, but has {len(node.results)} results" if len(node.results) != carried else ""
