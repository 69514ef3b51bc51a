"""Calls of values: their arguments and the shadows of those, in groups that a runtime helper takes."""

from __future__ import annotations

from gjit.ir.graph import Constant, Node, Value
from gjit.passes.gradient.augment import Augmentation
from gjit.passes.gradient.kinds import CONTAINERS, has_static_shadow


def is_container_method(node: Node) -> bool:
    """Whether a call is one of a method of a list, tuple, set or dict."""
    lookup = node.inputs[0].producer
    return isinstance(lookup, Node) and lookup.op == "getattr" and isinstance(lookup.inputs[0].type, CONTAINERS)


def part_of(state: Augmentation, value: Value) -> Value:
    """The shadow of a part of a container, or of an argument; None for what has none."""
    is_shadowed = state.is_active(value) or has_static_shadow(value.type)
    return state.shadow(value) if is_shadowed else Constant(None)


def call_groups(state: Augmentation, node: Node) -> list[Value]:
    """The positional arguments and their shadows as tuples, and, where there are any, the named ones as dicts."""
    labels = node.labels or ("",) * len(node.inputs)
    given = list(zip(node.inputs, labels, strict=True))[1:]
    positional = [(value, label) for value, label in given if label in ("", "*")]
    named = [(value, label) for value, label in given if label not in ("", "*")]
    builder = state.builder
    marks = tuple(label for _, label in positional)
    groups = [builder.add("tuple", [state.value(value) for value, _ in positional], labels=marks)]
    groups.append(builder.add("tuple", [_shadow(state, *each) for each in positional], labels=marks))
    for of_shadows in (False, True) if named else ():
        inputs: list[Value] = []
        marks = ()
        for value, label in named:
            part = _shadow(state, value, label) if of_shadows else state.value(value)
            inputs += [part] if label == "**" else [Constant(label[:-1]), part]
            marks += ("**",) if label == "**" else ("", "")
        groups.append(builder.add("dict", inputs, labels=marks))
    return groups


def _shadow(state: Augmentation, value: Value, label: str) -> Value:
    part = part_of(state, value)
    if label == "*":
        return state.builder.add("gradient.parts", [state.value(value), part])
    return state.builder.add("gradient.entries", [state.value(value), part]) if label == "**" else part
