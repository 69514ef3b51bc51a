"""Shadows of what is no arithmetic: containers, items, attributes, tapes. They mirror the values, with no reverse."""

from __future__ import annotations

from gjit.errors import UnsupportedError
from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import CELL, ArrayType, DictType, ListType, SetType, TupleType
from gjit.ops.rules_index import item_is_view
from gjit.passes.gradient.augment import Augmentation
from gjit.passes.gradient.calls import part_of
from gjit.passes.gradient.kinds import CONTAINERS, has_static_shadow, is_array, is_inert
from gjit.passes.gradient.own_ops import MIRRORED


def shadow_pointers(state: Augmentation, node: Node, copy: Node) -> None:
    """Give the results of a node that is no arithmetic their shadows."""
    rule = _RULES.get(node.op)
    if rule is not None:
        rule(state, node)
    elif any(map(state.is_active, node.results)):
        raise UnsupportedError(f"a gradient cannot pass through `{node.op}`", node.span)


def shadow_or_value(state: Augmentation, value: Value) -> Value:
    """A shadow; for what is inert the value itself, where a container has to stay as long as it is."""
    return state.shadow(value) if state.is_active(value) else state.value(value)


def is_container(value: Value) -> bool:
    """Whether the value is a list, tuple, set or dict."""
    return isinstance(value.type, CONTAINERS)


def _display(state: Augmentation, node: Node) -> None:
    inputs = []
    for index, value in enumerate(node.inputs):
        is_spread = node.label(index).startswith("*")
        is_key = node.op == "dict" and not is_spread and _is_key(node, index)
        inputs.append(state.value(value) if is_key else (shadow_or_value if is_spread else part_of)(state, value))
    state.shadows[node.result] = state.builder.add(node.op, inputs, labels=node.labels)


def _is_key(node: Node, index: int) -> bool:
    plain = [i for i in range(len(node.inputs)) if not node.label(i).startswith("*")]
    return plain.index(index) % 2 == 0


def check_items(state: Augmentation, source: Value, *, are_kept: bool = False) -> None:
    """Make sure, where the items of a value are taken, that they are not copies of what is written afterwards.

    What only a caller may write, it writes after the items were used, unless they are kept.
    """
    rank = source.type.rank if isinstance(source.type, ArrayType) else None
    writer = state.analysis.written_by(source)
    is_written = writer is not None and (are_kept or writer is not state.analysis.graph.block.terminator)
    if not is_container(source) and rank in (None, 1) and is_written:
        state.builder.add("gradient.check_items", [state.value(source)])


def _unpack(state: Augmentation, node: Node) -> None:
    (source,) = node.inputs
    check_items(state, source)
    shadow = state.shadow(source)
    if not (isinstance(source.type, TupleType) and source.type.elements is not None):
        shadow = state.builder.add("gradient.parts", [state.value(source), shadow])
    parts = state.builder.node("unpack", [shadow], results=len(node.results), **node.attributes)
    for value, part in zip(node.results, parts.results, strict=True):
        if state.is_active(value):
            state.shadows[value] = part


def _getitem(state: Augmentation, node: Node) -> None:
    owner, index = node.inputs
    if not state.is_active(node.result):
        return
    builder, shadow = state.builder, state.shadow
    if is_array(owner.type):
        if state.analysis.written_by(owner) is not None and item_is_view(node) and is_array(node.result.type):
            state.shadows[node.result] = builder.add("getitem", [shadow(owner), state.value(index)])
        elif not state.is_local(node.result):
            state.shadows[node.result] = builder.add("gradient.zeros", [state.value(node.result)])
    elif isinstance(owner.type, TupleType | ListType) and isinstance(index, Constant):
        state.shadows[node.result] = builder.add("getitem", [shadow(owner), state.value(index)])
    else:
        inputs = [state.value(owner), shadow(owner), state.value(index), state.value(node.result)]
        state.shadows[node.result] = builder.add("gradient.item", inputs)


def _setitem(state: Augmentation, node: Node) -> None:
    target, index, value = node.inputs
    if has_static_shadow(target.type) or not state.is_active(target):
        return
    inputs = [state.value(target), state.shadow(target), state.value(index), state.value(value), part_of(state, value)]
    state.builder.add("gradient.set_item", inputs)


def _getattr(state: Augmentation, node: Node) -> None:
    if not state.is_active(node.result) or not node.result.uses:
        return
    (owner,) = node.inputs
    if isinstance(owner.type, ArrayType):
        name = node.attributes["name"]
        raise UnsupportedError(
            f"a gradient cannot pass through the attribute `{name}` of an array",
            node.span,
            hint="x.reshape(-1)" if name == "flat" else "",
        )
    if isinstance(owner.type, ListType | DictType | SetType | TupleType):
        state.shadows[node.result] = state.builder.add("getattr", [state.shadow(owner)], **node.attributes)
        return
    inputs = [state.value(owner), state.shadow(owner), Constant(node.attributes["name"]), state.value(node.result)]
    state.shadows[node.result] = state.builder.add("gradient.attribute", inputs)


def _setattr(state: Augmentation, node: Node) -> None:
    owner, value = node.inputs
    inputs = [state.shadow(owner), Constant(node.attributes["name"]), part_of(state, value)]
    state.builder.add("gradient.set_attribute", inputs)


def _call(state: Augmentation, node: Node) -> None:
    """A method of a container: the same method of its shadow."""
    lookup = node.inputs[0].producer
    shadows = [part_of(state, v) if state.is_active(v) else _inert_argument(state, lookup, v) for v in node.inputs[1:]]
    result = state.builder.add("call", [state.shadow(node.inputs[0]), *shadows], labels=node.labels)
    if state.is_active(node.result):
        state.shadows[node.result] = result


def _inert_argument(state: Augmentation, lookup: object, value: Value) -> Value:
    """Positions and keys stay; elements without a derivative become None."""
    is_element = isinstance(lookup, Node) and lookup.attributes["name"] == "append"
    return Constant(None) if is_element else state.value(value)


def _zip(state: Augmentation, node: Node) -> None:
    """`zip` and `enumerate` of the shadows of the items."""
    inputs = []
    for index, value in enumerate(node.inputs):
        is_items = node.label(index) == "" and (node.op == "builtin.zip" or index == 0)
        if is_items:
            check_items(state, value)
            inputs.append(state.builder.add("gradient.items", [state.value(value), part_of(state, value)]))
        elif node.op == "builtin.enumerate":
            inputs.append(state.value(value))
    state.shadows[node.result] = state.builder.add(node.op, inputs)


def _collect(state: Augmentation, node: Node) -> None:
    """`list`, `tuple` and `reversed` of the shadows of the items."""
    if not node.inputs or not state.is_active(node.result):
        return
    check_items(state, node.inputs[0], are_kept=True)
    parts = state.builder.add("gradient.parts", [state.value(node.inputs[0]), state.shadow(node.inputs[0])])
    state.shadows[node.result] = state.builder.add(node.op, [parts])


def _joined(state: Augmentation, node: Node) -> None:
    """Operators on lists and tuples."""
    if not state.is_active(node.result):
        return
    inputs = [state.value(v) if is_inert(v.type) and not is_container(v) else state.shadow(v) for v in node.inputs]
    state.shadows[node.result] = state.builder.add(node.op, inputs)


def _cell(state: Augmentation, node: Node) -> None:
    """A variable has a variable for its shadow."""
    cell = state.shadows[node.result] = state.builder.add("cell", name=f"shadow_{node.attributes['name']}")
    cell.type = CELL


def _store(state: Augmentation, node: Node) -> None:
    cell, value = node.inputs
    if state.is_active(cell):
        state.builder.node("store", [state.shadows[cell], part_of(state, value)], results=0)


def _load(state: Augmentation, node: Node) -> None:
    cell = node.inputs[0]
    if state.is_active(cell) and state.is_active(node.result):
        state.shadows[node.result] = state.builder.add("load", [state.shadows[cell]])


def _delete(state: Augmentation, node: Node) -> None:
    if state.is_active(node.inputs[0]):
        state.builder.node("delete", [state.shadows[node.inputs[0]]], results=0)


def _capture(state: Augmentation, node: Node) -> None:
    """What is outside of the function has no gradient, and must not get one."""
    is_shadowed = has_static_shadow(node.result.type)
    inputs = [state.value(node.result)]
    state.shadows[node.result] = state.builder.add("gradient.outside", inputs) if is_shadowed else Constant(None)


def _capture_store(state: Augmentation, node: Node) -> None:
    raise UnsupportedError("a gradient cannot pass through a variable of an outer function", node.span)


def _push(state: Augmentation, node: Node) -> None:
    tape, number, *values = node.inputs
    inputs = [state.shadow(tape), state.value(number), *(part_of(state, value) for value in values)]
    state.builder.add("gradient.push", inputs)


def _pop(state: Augmentation, node: Node) -> None:
    state.shadows[node.result] = state.builder.add("gradient.pop", [state.shadow(node.inputs[0])])


def _same(state: Augmentation, node: Node) -> None:
    state.shadows[node.result] = state.shadow(node.inputs[0])


def _mirror(state: Augmentation, node: Node) -> None:
    """The same op on shadows of shadows."""
    shadowed = MIRRORED[node.op]
    inputs = [part_of(state, v) if i in shadowed else state.value(v) for i, v in enumerate(node.inputs)]
    state.shadows[node.result] = state.builder.add(node.op, inputs)


def _callable(state: Augmentation, node: Node) -> None:
    """What is called has a derivative of its own, found when it is called."""
    state.shadows[node.result] = Constant(None)


def _fresh(state: Augmentation, node: Node) -> None:
    if state.is_active(node.result):
        state.shadows[node.result] = state.builder.add("gradient.zeros", [state.value(node.result)])


def _nothing(state: Augmentation, node: Node) -> None:
    """What only writes numbers, or gives none."""


_RULES = {
    "tuple": _display,
    "list": _display,
    "dict": _display,
    "unpack": _unpack,
    "getitem": _getitem,
    "setitem": _setitem,
    "getattr": _getattr,
    "setattr": _setattr,
    "builtin.zip": _zip,
    "builtin.enumerate": _zip,
    "builtin.list": _collect,
    "builtin.tuple": _collect,
    "builtin.reversed": _collect,
    "operator.add": _joined,
    "operator.iadd": _joined,
    "operator.mul": _joined,
    "operator.imul": _joined,
    "call": _call,
    "cell": _cell,
    "store": _store,
    "load": _load,
    "delete": _delete,
    "capture": _capture,
    "capture.store": _capture_store,
    "scripted": _same,
    "gradient.callable": _callable,
    "gradient.push": _push,
    "gradient.pop": _pop,
    "gradient.assume": _same,
    "gradient.array": _same,
    "gradient.zeros": _fresh,
    "gradient.saved": _fresh,
    "gradient.take": _fresh,
    "gradient.leaf": _fresh,
    "gradient.outside": _fresh,
    "gradient.check_store": _nothing,
    "gradient.check_items": _nothing,
    "gradient.one": _fresh,
    "gradient.null": _fresh,
    "gradient.unit": _fresh,
    "gradient.finished": _fresh,
    "gradient.cotangent": _same,
    "gradient.take_chosen": _fresh,
    "gradient.take_item": _fresh,
    **dict.fromkeys(MIRRORED, _mirror),
    "gradient.accumulate": _nothing,
    "gradient.accumulate_copied": _nothing,
    "gradient.scatter": _nothing,
    "gradient.put_chosen": _nothing,
    "gradient.move": _nothing,
    "gradient.item_reverse": _nothing,
    "gradient.put_item": _nothing,
    "gradient.item_again": _nothing,
    "builtin.print": _nothing,
    "builtin.len": _nothing,
    "builtin.isinstance": _nothing,
    "builtin.range": _nothing,
}
