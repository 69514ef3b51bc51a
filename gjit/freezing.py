"""Freeze modules: parameters become constants, and what depends on them alone is computed once."""

from __future__ import annotations

import operator
import types
from typing import Any, cast

import numpy as np

from gjit.api import script
from gjit.compiled import CompiledFunction, bind
from gjit.errors import GjitError, UnsupportedError
from gjit.ir.analysis import leaves
from gjit.ir.capturable import HasGraph, graph_of, has_graph, receiver_of
from gjit.ir.clone import clone_block_into, clone_graph
from gjit.ir.constants import is_constant
from gjit.ir.evaluation import captured
from gjit.ir.graph import Block, CaptureKind, CaptureSlot, Constant, Graph, Node, Value
from gjit.module import Module
from gjit.ops import table
from gjit.passes import pipelines
from gjit.passes.only_read import FOLDED_KINDS, is_only_read
from gjit.runtime.binding import Captures, captures_of, used_slots

FOLDED = frozenset(
    {"builtin.type", "builtin.len", "builtin.tuple", "builtin.isinstance", "builtin.bool", "builtin.int"}
)
_MISSING = object()


def freeze(module: Module) -> CompiledFunction:
    """The `forward` of a module as one compiled function, with the module's parts as constants.

    Arrays of the module and of all below it are copied and cannot change any more, nor can attributes: what is
    computed from them alone is computed now, by NumPy itself, branches that they decide are decided, loops over
    submodules are written out, and what is not reached is dropped. The module stays as it is.

    Args:
        module: plain, compiled or loaded; `eval()` it first where training differs.

    Returns:
        A function of the parameters of `forward`, which can be saved and exported as any other.

    Raises:
        UnsupportedError: `forward` writes attributes of the module, or has hooks, or cannot be scripted.
        TypeError: `module` is no module.

    >>> import numpy as np
    >>> class Scale(Module):
    ...     def __init__(self):
    ...         self.weight = np.array([1.0, 2.0])
    ...
    ...     def forward(self, x):
    ...         return x * (self.weight / self.weight.sum())
    >>> freeze(Scale())(np.array([3.0, 3.0]))
    array([1., 2.])
    """
    if not isinstance(module, Module):
        raise TypeError(f"gjit.freeze takes a module, not {type(module).__name__}")
    freezer = _Freezer()
    name = freezer.callee(script(module))
    if name is None:
        raise UnsupportedError(f"the forward of {type(module).__name__} cannot be frozen: it has hooks, or is no graph")
    for graph in freezer.functions.values():
        pipelines.run(graph, "captured")
    freezer.hold_moved()
    return bind(freezer.functions[name], freezer.captures)


class _Freezer:
    """All functions of the frozen program, and what they refer to."""

    def __init__(self) -> None:
        self.functions: dict[str, Graph] = {}
        self.captures: dict[str, dict[str, object]] = {}
        self._names: dict[tuple[int, int], str] = {}
        self._arrays: dict[int, np.ndarray] = {}
        self._kept: list[object] = []

    def callee(self, value: Any) -> str | None:
        """The name of the frozen graph of a module or of a bound method, without its receiver; None for others."""
        if isinstance(value, Module) and not has_graph(value):
            if value._pre_hooks or value._hooks:
                return None
            value = value.forward
        receiver = value.__self__ if isinstance(value, types.MethodType) else receiver_of(value)
        function = value.__func__ if isinstance(value, types.MethodType) else value
        if isinstance(function, types.FunctionType) and isinstance(receiver, Module):
            function = script(function)
        if not has_graph(function) or not (receiver is None or isinstance(receiver, Module)):
            return None
        return self.function(graph_of(cast(HasGraph, function)), _captures(function), receiver)

    def function(self, graph: Graph, captures: Captures, receiver: object) -> str:
        """The name of the frozen copy of a graph for a receiver, made once."""
        key = id(graph), id(receiver)
        if key not in self._names:
            self._kept.extend((graph, receiver))
            name = self._names[key] = self._free(graph.name)
            copy = clone_graph(graph)
            copy.name, copy.functions = name, self.functions
            self.functions[name] = copy
            self.captures[name] = dict(captures.get(graph.name, {}))
            _Body(self, copy, graph.functions, captures).freeze(receiver)
        return self._names[key]

    def hold_moved(self) -> None:
        """What functions refer to that were inlined, their callers refer to now."""
        for name, graph in self.functions.items():
            for slot in used_slots(graph):
                if slot.name not in self.captures[name]:
                    self.captures[name][slot.name] = captured(slot)

    def slot_name(self, base: str) -> str:
        """A name that no slot of the program has, so that functions can be inlined."""
        taken = {slot.name for graph in self.functions.values() for slot in graph.captures}
        name, number = base, 1
        while name in taken:
            name, number = f"{base}_{number}", number + 1
        return name

    def constant(self, array: np.ndarray) -> np.ndarray:
        """A copy that nobody can write; the same array gives the same copy."""
        if id(array) not in self._arrays:
            self._kept.append(array)
            made = self._arrays[id(array)] = array.copy(order="K")
            made.flags.writeable = False
        return self._arrays[id(array)]

    def _free(self, base: str) -> str:
        name, number = base, 1
        while name in self.functions:
            name, number = f"{base}_{number}", number + 1
        return name


class _Body:
    """One graph: which of its values are known, and what becomes of their uses."""

    def __init__(self, freezer: _Freezer, graph: Graph, functions: dict[str, Graph], captures: Captures):
        self.freezer, self.graph = freezer, graph
        self.functions, self.captures = functions, captures
        self.known: dict[Value, Any] = {}
        self.done: list[Node] = []

    def freeze(self, receiver: object) -> None:
        if receiver is not None:
            self.known[self.graph.block.parameters.pop(0)] = receiver
            self.graph.parameters.pop(0)
        self.block(self.graph.block)
        for node in reversed(self.done):
            if node.block is not None and not any(result.uses for result in node.results):
                node.remove()

    def block(self, block: Block) -> None:
        node = block.first
        while node is not None:
            before, following = node.previous, node.next
            if self.unrolled(node):
                node = block.first if before is None else before.next
                continue
            self.node(node)
            node = following
        if block.terminator is not None:
            self.use(block.terminator)

    def value(self, operand: Value) -> Any:
        return operand.value if isinstance(operand, Constant) else self.known.get(operand, _MISSING)

    def node(self, node: Node) -> None:
        given = [self.value(operand) for operand in node.inputs]
        if node.op in ("setattr", "delattr") and isinstance(given[0], Module):
            raise UnsupportedError("a module that writes its attributes cannot be frozen", node.span)
        found = self.result(node, given)
        if found is not _MISSING:
            self.known[node.result] = found
            self.done.append(node)
            return
        if node.op == "if" and given[0] is not _MISSING and not isinstance(given[0], np.ndarray):
            node.set_input(0, Constant(bool(given[0])))
        elif node.op in ("call", "invoke"):
            self.call(node, given)
        self.use(node)
        for number, inner in enumerate(node.blocks):
            if node.op != "if" or not isinstance(node.inputs[0], Constant) or number == (not node.inputs[0].value):
                self.block(inner)

    def result(self, node: Node, given: list[Any]) -> Any:
        """What a node gives, where that is known now."""
        if node.op == "capture":
            slot = self.graph.captures[node.attributes["slot"]]
            held = self.captures.get(self._original(), {}).get(slot.name, slot.value)
            return held if slot.guarded or (slot.kind is CaptureKind.OBJECT and isinstance(held, Module)) else _MISSING
        if len(node.results) != 1 or node.blocks or any(value is _MISSING for value in given):
            return _MISSING
        try:
            with np.errstate(all="raise"):
                found = self._evaluated(node, given)
        except Exception:  # it raises, or warns, when the program runs
            return _MISSING
        is_new = isinstance(found, np.ndarray) and node.op != "getattr"
        return _MISSING if is_new and not is_only_read(node.result) else found

    def _original(self) -> str:
        return next((name for name, graph in self.functions.items() if graph.name == self.graph.name), self.graph.name)

    def _evaluated(self, node: Node, given: list[Any]) -> Any:
        match node.op:
            case "getattr" if isinstance(given[0], Module | list | tuple | dict | np.ndarray | types.MethodType):
                name = str(node.attributes["name"])
                is_computed = isinstance(getattr(type(given[0]), name, None), property)
                return _MISSING if is_computed else self._held(getattr(given[0], name))
            case "getitem" if isinstance(given[0], Module | list | tuple | dict | np.ndarray):
                return self._held(operator.getitem(cast(Any, given[0]), given[1]))
            case "call" if any(given[0] is each for each in (tuple, len, type)) and not node.labels:
                return given[0](*given[1:])
            case "call" if _is_method_of_array(given[0]):
                return self._method(node, given)
        row = table.get(node.op)
        if row is None or row.function is None or (row.kind not in FOLDED_KINDS and node.op not in FOLDED):
            return _MISSING
        if any(map(_is_spread, node.labels)) or any(isinstance(each, Module) for each in given):
            return (
                _MISSING
                if node.op not in ("operator.is", "operator.is_not", "builtin.type", "builtin.len")
                else (row.function(*given))
            )
        keywords = {label[:-1]: each for label, each in zip(node.labels, given, strict=False) if label}
        positional = [each for number, each in enumerate(given) if not node.label(number)]
        return self._held(row.function(*positional, **keywords))

    def _method(self, node: Node, given: list[Any]) -> Any:
        """What a method of a known array gives, where it only computes."""
        row = table.of_method(given[0].__name__)
        if row is None or row.kind not in FOLDED_KINDS or row.writes or any(map(_is_spread, node.labels)):
            return _MISSING
        keywords = {label[:-1]: each for label, each in zip(node.labels, given, strict=False) if label}
        positional = [each for number, each in enumerate(given) if not node.label(number)]
        return self._held(given[0](*positional[1:], **keywords))

    def _held(self, value: Any) -> Any:
        return self.freezer.constant(value) if type(value) is np.ndarray else value

    def call(self, node: Node, given: list[Any]) -> None:
        """A call of a module, or of a function with one as its first argument, goes to a frozen graph."""
        if node.op == "call":
            name = None if given[0] is _MISSING else self.freezer.callee(given[0])
            inputs, labels = node.inputs[1:], node.labels[1:]
        else:
            called = self.functions[str(node.attributes["function"])]
            takes = bool(given) and isinstance(given[0], Module) and not node.label(0)
            name = self.freezer.function(called, self.captures, given[0] if takes else None)
            inputs, labels = (node.inputs[1:], node.labels[1:]) if takes else (node.inputs, node.labels)
        if name is not None:
            node.op, node.attributes = "invoke", {"function": name}
            node.set_inputs(inputs)
            node.labels = labels

    def use(self, node: Node) -> None:
        """Known operands become constants, or captures of them."""
        for number, operand in enumerate(node.inputs):
            if operand in self.known and isinstance(self.known[operand], _BOUND):
                assert isinstance(operand.producer, Node)
                self.use(operand.producer)  # a method is looked up where it is called
            elif operand in self.known:
                node.set_input(number, self.made(self.known[operand], node, operand.name))

    def made(self, value: Any, node: Node, hint: str) -> Value:
        if is_constant(value) and not isinstance(value, np.ndarray):
            return Constant(value)
        slot = CaptureSlot(self.freezer.slot_name(hint or "frozen"), CaptureKind.OBJECT, guarded=False, value=value)
        self.graph.captures.append(slot)
        self.freezer.captures[self.graph.name][slot.name] = value
        made = Node("capture", attributes={"slot": len(self.graph.captures) - 1}, span=node.span)
        block = node.block
        assert block is not None
        block.insert(made, None if node is block.terminator else node)
        made.result.name = hint
        return made.result

    def unrolled(self, node: Node) -> bool:
        """Write a loop over known submodules out, turn by turn."""
        items = self.value(node.inputs[0]) if node.op == "for" else _MISSING
        if not isinstance(items, Module | list | tuple) or not any(isinstance(each, Module) for each in items):  # type: ignore[union-attr]
            return False
        body, otherwise = node.blocks
        if [end.op for end in leaves(body)] != ["continue"] or [end.op for end in leaves(otherwise)] != ["yield"]:
            return False
        carried = list(node.inputs[1:])
        for item in items:  # type: ignore[union-attr]
            place = Value()
            self.known[place] = item
            carried = _copied(body, [place, *carried], node)
        node.replace_with(_copied(otherwise, carried, node))
        return True


_BOUND = (types.BuiltinMethodType, types.MethodType, types.MethodWrapperType)


def _is_method_of_array(value: Any) -> bool:
    return isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, np.ndarray)


def _is_spread(label: str) -> bool:
    return label.startswith("*")


def _copied(block: Block, arguments: list[Value], node: Node) -> list[Value]:
    """The block's nodes for these arguments, before a node; what its terminator passes on."""
    mapping = dict(zip(block.parameters, arguments, strict=True))
    target, end = node.block, block.terminator
    assert target is not None
    assert end is not None
    clone_block_into(block, mapping, target, before=node, terminator=False)
    return [Constant(each.value) if isinstance(each, Constant) else mapping.get(each, each) for each in end.inputs]


def _captures(function: Any) -> Captures:
    method = getattr(function, "_method", function)
    compiled = getattr(method, "compiled", method)
    if not isinstance(compiled, CompiledFunction):
        raise GjitError(f"{function!r} has no program")
    return captures_of(compiled._compiled.program[1])
