"""The reverse of a segment: its nodes backwards, each handing the cotangent of its result to its operands."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from gjit.errors import UnsupportedError
from gjit.ir.builder import Builder
from gjit.ir.graph import Constant, Node, Value
from gjit.ir.types import NONE, PYTHON_NUMBERS, UNKNOWN, ArrayType, ScalarType, TupleType, Type
from gjit.ops.gradients import Gradient, Standing, row_gradient
from gjit.ops.rules_index import index_shape, item_is_view
from gjit.passes.gradient.analysis import written
from gjit.passes.gradient.augment import Augmentation, Segment
from gjit.passes.gradient.kinds import (
    CONTAINERS,
    has_static_shadow,
    is_array,
    is_memory,
    is_number,
    is_numeric,
    is_real,
)
from gjit.passes.gradient.own_ops import MIRRORED, OWN_OPS
from gjit.passes.gradient.records import Record
from gjit.passes.gradient.rules import bind_rule, insert


def reverse_segment(state: Augmentation, segment: Segment, builder: Builder, record: Record) -> None:
    """Append the reverse of a segment where `builder` stands."""
    reverse = Reverse(state, segment, builder, record)
    for node, copy in reversed(segment.nodes):
        builder.span = node.span
        reverse.node(node, copy)


class Reverse:
    """The reverse of one segment."""

    def __init__(self, state: Augmentation, segment: Segment, builder: Builder, record: Record):
        self.state, self.builder, self.record = state, builder, record
        self.cotangents = segment.cotangents
        self._copy: Node
        self._groups: dict[Value, list[tuple[Value, str]]] = {}  # arguments of a variadic parameter of a rule
        self._owned: dict[Value, Value] = {}  # cotangents that are arrays of this reverse alone
        self._saved: dict[tuple[Node, Value], Value] = {}

    def node(self, node: Node, copy: Node) -> None:
        """The reverse of one node; `copy` is the node of the forward."""
        self._copy = copy
        if is_numeric(node):
            self._numeric(node)
        else:
            rule = _RULES.get(node.op)
            if rule is not None:
                rule(self, node)
            elif node.op in OWN_OPS and node.op not in MIRRORED and any(map(self.state.is_active, node.inputs)):
                self._own(node)

    def _own(self, node: Node) -> None:
        """An op of gradients without a reverse: an error where a second derivative would have to pass through it."""
        own = OWN_OPS[node.op]
        moves = [node.inputs[index] for index in (*own.flows, *own.sources) if index not in own.links]
        if any(map(self.state.is_active, moves)):
            raise UnsupportedError(f"there are no second derivatives through `{node.op}`", node.span)

    # Reading the forward

    def primal(self, value: Value) -> Value:
        """The value that an operand or result of the current node had; a copy where it may be written later."""
        if isinstance(value, Constant):
            return Constant(value.value)
        if value in self._groups:
            group = self._groups[value]
            labels = tuple(label for _, label in group)
            return self.builder.add("tuple", [self.primal(each) for each, _ in group], labels=labels)
        found = self.state.value(value)
        if self.state.analysis.written_by(value) is not None:
            found = self._snapshot(value, found)
        return self.record.read(found, value.type)

    def _snapshot(self, value: Value, found: Value) -> Value:
        key = self._copy, value
        if key not in self._saved:
            copy, op = self._copy, "ndarray.copy" if isinstance(value.type, ArrayType) else "gradient.saved"
            node = Node(op, [found], span=copy.span)
            is_result = found in copy.results
            copy.block.insert(node, copy.next if is_result else copy)
            self._saved[key] = node.result
        return self._saved[key]

    def shadow(self, value: Value) -> Value:
        """The shadow of a value, which it has."""
        type_ = value.type
        if is_number(type_):
            dtype = type_.dtype if isinstance(type_, ScalarType) else {"float": "f8", "complex": "c16"}[str(type_)]
            type_ = ArrayType(dtype_of(dtype), 0)
        return self.record.read(self.state.shadow(value), type_ if is_array(type_) else UNKNOWN)

    def has_shadow(self, value: Value) -> bool:
        return value in self.state.shadows

    def cotangent(self, value: Value) -> Value | None:
        """The cotangent of a result: None where nothing depends on it."""
        if self.has_shadow(value):
            return self.shadow(value)
        return self.cotangents.get(value)

    # Adding up

    def add(self, value: Value, cotangent: Value) -> None:
        """Add to the cotangent of an operand."""
        if self.state.is_local(value) and not self.has_shadow(value):
            before = self.cotangents.get(value)
            total = cotangent if before is None else self.builder.add("operator.add", [before, cotangent])
            self.cotangents[value] = total
        elif self.has_shadow(value):
            is_plain = has_static_shadow(value.type)
            op = "operator.iadd" if is_plain else "gradient.accumulate"
            self.builder.add(op, [self.shadow(value), cotangent])

    def keeps_shape(self, value: Value, others: Iterable[Value]) -> bool:
        """Whether an operand surely has the shape of the result: it is an array with axes, and all others have none."""
        is_wide = isinstance(value.type, ArrayType) and bool(value.type.rank)
        return is_wide and all(other is value or has_no_axes(other.type) for other in others)

    def fitted(self, cotangent: Value, value: Value, result: Type) -> Value:
        """A cotangent of the shape of a result, for an operand that may have been broadcast."""
        if self.has_shadow(value) and not has_static_shadow(value.type):
            return cotangent  # `accumulate` fits it
        kept_real = is_real(value.type) and not is_real(result)
        if is_number(value.type) and not kept_real:
            return cotangent if is_number(result) else self.builder.add("numpy.sum", [cotangent])
        if not kept_real and is_scalar_like(value.type) and is_scalar_like(result):
            return cotangent
        like = self.shadow(value) if self.has_shadow(value) else self.primal(value)
        return self.builder.add("gradient.fit", [cotangent, like])

    # Arithmetic

    def _numeric(self, node: Node) -> None:
        gradient = row_gradient(node.op)
        operands = [value for value in node.inputs if self.state.is_active(value)]
        targets = [value for value in written(node) if is_memory(value)]
        if not self.state.is_active(node.result) and not targets:
            return
        if targets and operands and not self.has_shadow(node.result):
            self._refuse(node, gradient)  # what it writes would be missed
        cotangent = self.cotangent(node.result)
        if cotangent is None:
            return
        if gradient is None or gradient.standing is Standing.REFUSED:
            if operands:
                self._refuse(node, gradient)
            return
        if targets:
            cotangent = self._taken(cotangent, node.result)
        if gradient.standing is Standing.RULES and operands:
            self._apply(node, gradient, cotangent)

    def _refuse(self, node: Node, gradient: Gradient | None) -> None:
        reason = f": {gradient.reason}" if gradient is not None and gradient.reason else ""
        raise UnsupportedError(f"`{node.op}` has no gradient{reason}", node.span)

    def _taken(self, shadow: Value, value: Value) -> Value:
        """The cotangent of what was written, which before that write was something else."""
        if not has_static_shadow(value.type):
            return self.builder.add("gradient.take", [shadow])
        taken = self.builder.add("numpy.copy", [shadow])
        self.builder.node("setitem", [shadow, Constant(...), Constant(0)], results=0)
        return taken

    def _apply_all(self, node: Node, gradient: Gradient, cotangent: Value) -> None:
        """One rule for all positional inputs: the last of its parameters takes a tuple of them."""
        named = [p.name for p in gradient.parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        rest = next((p.name for p in gradient.parameters if p.kind is p.VAR_POSITIONAL), "")
        labels = node.labels or ("",) * len(node.inputs)
        positional = [(v, label) for v, label in zip(node.inputs, labels, strict=True) if label in ("", "*")]
        arguments = {name: value for name, (value, _) in zip(named, positional, strict=False)}
        group = positional[len(named) :]
        is_known = all(label == "" for _, label in group)
        if rest:
            arguments[rest] = Value(TupleType(tuple(value.type for value, _ in group) if is_known else None))
            self._groups[arguments[rest]] = group
        arguments.update({label[:-1]: v for v, label in zip(node.inputs, labels, strict=True) if label.endswith("=")})
        parts = self._instance(gradient.rules["*"], node, cotangent, arguments)
        for index, (value, label) in enumerate(positional):
            if self.state.is_active(value):
                place = Constant(slice(index, None) if label == "*" else index)
                part = self.builder.add("getitem", [parts, place])
                if self.state.is_mirrored(node):
                    inputs = [self.shadow(value), part, self.shadow(node.result)]
                    self.builder.add("gradient.accumulate_copied", inputs)
                    continue
                if gradient.broadcasts or (is_real(value.type) and not is_real(node.result.type)):
                    part = self.fitted(part, value, node.result.type)
                self.add(value, part)

    def _apply(self, node: Node, gradient: Gradient, cotangent: Value) -> None:
        if "*" in gradient.rules:
            self._apply_all(node, gradient, cotangent)
            return
        arguments = bind_rule(gradient, node)
        if arguments is None:
            raise UnsupportedError(f"this call of `{node.op}` has no gradient", node.span)
        arguments.pop("out", None)
        mirrored = self.state.is_mirrored(node)
        for name, value in arguments.items():
            rule = gradient.rules.get(name)
            if rule is None or not self.state.is_active(value):
                continue
            part = self._instance(rule, node, cotangent, arguments)
            if mirrored:
                inputs = [self.shadow(value), part, self.shadow(node.result)]
                self.builder.add("gradient.accumulate_copied", inputs)
                continue
            turns_complex = is_real(value.type) and not is_real(node.result.type)
            if turns_complex or (gradient.broadcasts and not self.keeps_shape(value, arguments.values())):
                part = self.fitted(part, value, node.result.type)
            self.add(value, part)

    def _instance(self, rule, node: Node, cotangent: Value, arguments: dict[str, Value]) -> Value:
        graph = self.state.context.rules.graph(rule, node.result.type, arguments)

        names = {graph.parameters[0].name: 0, graph.parameters[1].name: 1}

        def value_of(name: str) -> Value:
            if names.get(name) == 0:
                return cotangent
            return self.primal(node.result if name in names else arguments[name])

        return insert(graph, self.builder, value_of)

    # Items

    def _getitem(self, node: Node) -> None:
        owner, index = node.inputs
        if not self.state.is_active(node.result) or not self.state.is_active(owner):
            return
        if not is_array(owner.type):
            if self.has_shadow(owner) and self.has_shadow(node.result) and not isinstance(owner.type, CONTAINERS):
                inputs = [self.primal(owner), self.shadow(owner), self.primal(index), self.shadow(node.result)]
                self.builder.add("gradient.item_reverse", inputs)
            return
        if self.state.analysis.written_by(owner) is not None and item_is_view(node) and is_array(node.result.type):
            return
        cotangent = self.cotangent(node.result)
        if cotangent is None:
            return
        if not self.has_shadow(owner) and owner not in self.cotangents:
            self.cotangents[owner] = self._owned[owner] = self.builder.add("gradient.zeros", [self.primal(owner)])
        elif not self.has_shadow(owner) and self._owned.get(owner) is not self.cotangents[owner]:
            copy = self.builder.add("numpy.array", [self.cotangents[owner]])
            self.cotangents[owner] = self._owned[owner] = copy
        target = self.shadow(owner) if self.has_shadow(owner) else self.cotangents[owner]
        self._scatter(target, index, cotangent)

    def _scatter(self, target: Value, index: Value, cotangent: Value) -> None:
        where = self.primal(index)
        shape = index_shape(index)
        if shape is not None and shape.is_basic:
            view = self.builder.add("getitem", [target, where])
            total = self.builder.add("operator.iadd", [view, cotangent])
            self.builder.node("setitem", [target, where, total], results=0)
        else:
            self.builder.add("gradient.scatter", [target, where, cotangent])

    def _setitem(self, node: Node) -> None:
        target, index, value = node.inputs
        if not self.state.is_active(target) or not self.has_shadow(target) or isinstance(target.type, CONTAINERS):
            return  # the shadow of a container keeps that of what is stored
        where, shape = self.primal(index), index_shape(index)
        if not has_static_shadow(target.type):
            taken = self.builder.add("gradient.take_item", [self.primal(target), self.shadow(target), where])
        elif shape is not None and shape.is_basic:
            shadow = self.shadow(target)
            view = self.builder.add("getitem", [shadow, where])
            taken = self.builder.add("numpy.copy", [view])
            self.builder.node("setitem", [shadow, where, Constant(0)], results=0)
        else:
            taken = self.builder.add("gradient.take_chosen", [self.shadow(target), where])
        if self.state.is_active(value) and self.has_shadow(value) and not has_static_shadow(target.type):
            self.builder.add("gradient.accumulate", [self.shadow(value), taken])
        elif self.state.is_active(value):
            like = self.shadow(value) if self.has_shadow(value) else self.primal(value)
            dynamic = self.has_shadow(value) and not has_static_shadow(value.type)
            self.add(value, taken if dynamic else self.builder.add("gradient.fit", [taken, like]))

    def _invoke(self, node: Node) -> None:
        callee = self.state.calls[node]
        tape = self.record.read(self.state.tapes[node], UNKNOWN)
        self.builder.add("invoke", [tape], function=callee.reverse)

    def _call(self, node: Node) -> None:
        """What the call gave besides its result runs its reverse."""
        if node in self.state.tapes:
            self.builder.add("call", [self.record.read(self.state.tapes[node], UNKNOWN)])

    # Ops of gradients

    def _accumulate(self, node: Node) -> None:
        shadow, cotangent = node.inputs
        if self.has_shadow(shadow) and self.state.is_active(cotangent):
            inputs = [self.shadow(shadow), self.primal(cotangent)]
            self.add(cotangent, self.builder.add("gradient.unfit", inputs))

    def _copied(self, node: Node) -> None:
        """A copy of its operand."""
        (source,) = node.inputs
        if self.state.is_active(source) and self.state.is_active(node.result):
            cotangent = self.cotangent(node.result)
            if cotangent is not None:
                self.add(source, cotangent)

    def _accumulate_copied(self, node: Node) -> None:
        shadow, cotangent, result = node.inputs
        if self.has_shadow(shadow) and self.state.is_active(cotangent):
            memory = [self.record.read(self.state.value(value), UNKNOWN) for value in (shadow, result)]
            inputs = [self.shadow(shadow), self.primal(cotangent), *memory]
            self.add(cotangent, self.builder.add("gradient.unfit_copied", inputs))

    def _take(self, node: Node) -> None:
        """The value moves from the shadow to the result; what the shadow becomes is zero."""
        source = node.inputs[0]
        if self.has_shadow(source) and self.has_shadow(node.result):
            self.builder.add("gradient.move", [self.shadow(source), self.shadow(node.result)])

    def _take_chosen(self, node: Node) -> None:
        source, index = node.inputs
        if self.has_shadow(source) and self.has_shadow(node.result):
            inputs = [self.shadow(source), self.primal(index), self.shadow(node.result)]
            self.builder.add("gradient.put_chosen", inputs)

    def _take_item(self, node: Node) -> None:
        owner, source, index = node.inputs
        if self.has_shadow(source) and self.has_shadow(node.result):
            inputs = [self.primal(owner), self.shadow(source), self.primal(index), self.shadow(node.result)]
            self.builder.add("gradient.put_item", inputs)

    def _item_reverse(self, node: Node) -> None:
        _, shadow, index, result = node.inputs
        if self.has_shadow(shadow) and self.has_shadow(result):
            memory = [self.record.read(self.state.value(value), UNKNOWN) for value in (shadow, result)]
            inputs = [*memory, self.shadow(shadow), self.primal(index), self.shadow(result)]
            self.builder.add("gradient.item_again", inputs)

    def _scatter_op(self, node: Node) -> None:
        target, index, cotangent = node.inputs
        if self.has_shadow(target) and self.state.is_active(cotangent):
            found = self.builder.add("getitem", [self.shadow(target), self.primal(index)])
            self.add(cotangent, self.builder.add("gradient.fit", [found, self.primal(cotangent)]))

    def _finished(self, node: Node) -> None:
        """The gradient of a container: part by part."""
        gradient = node.inputs[1]
        if self.has_shadow(gradient) and self.has_shadow(node.result):
            self.builder.add("gradient.accumulate", [self.shadow(gradient), self.shadow(node.result)])


_RULES = {
    "getitem": Reverse._getitem,
    "setitem": Reverse._setitem,
    "invoke": Reverse._invoke,
    "call": Reverse._call,
    "gradient.accumulate": Reverse._accumulate,
    "gradient.saved": Reverse._copied,
    "gradient.accumulate_copied": Reverse._accumulate_copied,
    "gradient.take": Reverse._take,
    "gradient.take_chosen": Reverse._take_chosen,
    "gradient.scatter": Reverse._scatter_op,
    "gradient.take_item": Reverse._take_item,
    "gradient.item_reverse": Reverse._item_reverse,
    "gradient.finished": Reverse._finished,
}


def dtype_of(name: object):
    """A dtype from its name, or itself."""
    return np.dtype(name)


def has_no_axes(type_: Type) -> bool:
    """Whether the values are numbers of any kind, None, or arrays without axes."""
    if isinstance(type_, ArrayType):
        return type_.rank == 0
    return isinstance(type_, ScalarType) or type_ in (*PYTHON_NUMBERS, NONE)


def is_scalar_like(type_: Type) -> bool:
    """Whether the values have no axes."""
    return is_number(type_) or (isinstance(type_, ArrayType) and type_.rank == 0)
