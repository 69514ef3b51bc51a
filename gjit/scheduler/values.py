"""Print values as Python expressions: operators, calls, containers, texts."""

from __future__ import annotations

import ast
from collections.abc import Callable
from types import EllipsisType, NoneType

from gjit.ir.graph import Constant, Graph, Node, Value
from gjit.ops.names import object_named
from gjit.ops.row import table
from gjit.scheduler.bindings import Bindings
from gjit.scheduler.flow import Flow
from gjit.scheduler.folding import Folding, is_atom
from gjit.scheduler.methods import method_name
from gjit.scheduler.naming import Names
from gjit.scheduler.syntax import (
    BINARY,
    COMPARE,
    IN_PLACE,
    LOAD,
    UNARY,
    Tree,
    call,
    has_weak_type,
    load,
    located,
    store,
)
from gjit.source import Span

_LITERALS: frozenset[type] = frozenset({int, float, complex, str, bytes, tuple})
_CONSTANTS = _LITERALS | {bool, NoneType, EllipsisType}


class Values:
    """Prints the values of one function; the other printers build on it."""

    def __init__(self, graph: Graph, flow: Flow, folding: Folding, names: Names, bindings: Bindings):
        self.graph, self.flow, self.folding = graph, flow, folding
        self.names, self.bindings = names, bindings
        self._printed: set[Value] = set()
        self._span = graph.span
        self.printers: dict[str, Callable[[Node], ast.expr]] = {
            "load": lambda node: load(self.variable(node.inputs[0])),
            "capture": lambda node: self.bindings.capture(node.attributes["slot"]),
            "call": self._call,
            "suspend": lambda node: ast.Yield(self.value(node.inputs[0])),
            "suspend.from": lambda node: ast.YieldFrom(self.value(node.inputs[0])),
            "settle": lambda node: call(self.bindings.helper(node.attributes["how"]), *map(self.value, node.inputs)),
            "scripted": lambda node: call(self.bindings.helper("scripted"), self.value(node.inputs[0])),
            "gradient.callable": self._differentiated,
            "invoke": lambda node: self.called(self.bindings.function(node.attributes["function"]), node),
            "library": lambda node: self._known(node.attributes["function"], node),
            "getattr": lambda node: ast.Attribute(self.value(node.inputs[0]), node.attributes["name"], LOAD),
            "getitem": self._subscript,
            "tuple": lambda node: ast.Tuple(self._elements(node), LOAD),
            "list": lambda node: ast.List(self._elements(node), LOAD),
            "set": lambda node: ast.Set(self._elements(node)) if node.inputs else call(self.bindings.builtin("set")),
            "dict": self._dict,
            "slice": lambda node: call(self.bindings.builtin("slice"), *map(self.value, node.inputs)),
            "format": lambda node: ast.JoinedStr([self._format(node)]),
            "join": self._join,
        }

    def _differentiated(self, node: Node) -> ast.expr:
        return call(self.bindings.helper("differentiated"), *map(self.value, node.inputs))

    # Values

    def value(self, value: Value) -> ast.expr:
        """The expression that gives a value at its place in the program."""
        value = self.flow.resolve(value)
        if isinstance(value, Constant):
            return self.bindings.constant(value.value)
        if isinstance(value.producer, Node) and is_atom(value.producer, self.graph):
            return self.bindings.capture(value.producer.attributes["slot"])
        if value not in self.folding.folded or value in self._printed:
            return load(self.variable(value))
        tree = self.node(value.producer)
        if value in self.folding.named:
            name = self.variable(self.folding.named[value].inputs[0])
            tree = self.locate(ast.NamedExpr(store(name), tree), value.producer)
        if value in self.folding.shared:
            self._printed.add(value)
            tree = self.locate(ast.NamedExpr(store(self.variable(value)), tree), value.producer)
        return tree

    def _unusual(self, value: Value, types: frozenset[type] = _CONSTANTS) -> ast.expr:
        """A value at a place where Python warns, when it compiles the text, of constants of these types."""
        value = self.flow.resolve(value)
        if isinstance(value, Constant) and type(value.value) in types:
            return self.bindings.bound(value.value, "constant")
        return self.value(value)

    def variable(self, value: Value) -> str:
        """The Python variable of a value or cell."""
        return self.names.variables[self.flow.resolve(value)]

    def node(self, node: Node) -> ast.expr:
        """The expression of a node with one result."""
        return self.locate(self._node(node), node)

    def locate(self, tree: Tree, node: Node) -> Tree:
        """Give a tree the position of a node; nodes that came from another file stand where they were called."""
        return located(tree, self.span_of(node))

    def span_of(self, node: Node) -> Span | None:
        """The span of a node, or the last one of this file."""
        own = self.graph.span
        if node.span is not None and (own is None or node.span.file == own.file):
            self._span = node.span
        return self._span

    def _node(self, node: Node) -> ast.expr:
        op = node.op
        if op in BINARY:
            left, right = [self.value(value) for value in node.inputs]  # `map` would take C's stack
            return ast.BinOp(left, BINARY[op](), right)
        if op in COMPARE:
            compared = _LITERALS if op in ("operator.is", "operator.is_not") else frozenset()
            left, right = (self._unusual(value, compared) for value in node.inputs)
            return ast.Compare(left, [COMPARE[op]()], [right])
        if op in UNARY:
            return ast.UnaryOp(UNARY[op](), self.value(node.inputs[0]))
        if op in IN_PLACE:
            return self._in_place(node)
        printer = self.printers.get(op)
        return self._known(op, node) if printer is None else printer(node)

    def _in_place(self, node: Node) -> ast.expr:
        left, right = [self.value(value) for value in node.inputs]
        if has_weak_type(node.inputs[0]):
            return ast.BinOp(left, IN_PLACE[node.op](), right)
        return call(self.bindings.bound(object_named(node.op), node.op), left, right)

    # Calls

    def _call(self, node: Node) -> ast.expr:
        return self.called(self.callee(node), node, skip=1)

    def callee(self, node: Node) -> ast.expr:
        """What a `call` node calls."""
        callee = self._unusual(node.inputs[0])
        if self.bindings.environment.calls_natively(node):
            return callee
        return call(self.bindings.helper("scripted"), callee)

    def _known(self, name: str, node: Node) -> ast.expr:
        """A call of a function of the op table: as a method where that is the same."""
        module, _, plain = name.rpartition(".")
        row = table.get(name)
        receiver = self.flow.resolve(node.inputs[0]) if node.inputs and node.label(0) == "" else None
        method = method_name(node, row, receiver)
        if method:
            return self.called(ast.Attribute(self.value(node.inputs[0]), method, LOAD), node, skip=1)
        if module == "builtin":
            return self.called(self.bindings.builtin(plain), node)
        function = object_named(name) if row is None or row.function is None else row.function
        return self.called(self.bindings.bound(function, name), node)

    def called(self, function: ast.expr, node: Node, *, skip: int = 0) -> ast.Call:
        """A call of `function` with the inputs of a node, but for the first `skip`."""
        arguments: list[ast.expr] = []
        keywords: list[ast.keyword] = []
        labels = node.labels or ("",) * len(node.inputs)
        pairs = list(zip(node.inputs, labels, strict=True))[skip:]
        for value, label in pairs:
            if label == "":
                arguments.append(self.value(value))
            elif label == "*":
                arguments.append(ast.Starred(self.value(value), LOAD))
        for value, label in pairs:
            if label not in ("", "*"):
                keywords.append(ast.keyword(None if label == "**" else label[:-1], self.value(value)))
        return ast.Call(function, arguments, keywords)

    # Containers and text

    def _elements(self, node: Node) -> list[ast.expr]:
        return [
            ast.Starred(self.value(value), LOAD) if node.label(index) == "*" else self.value(value)
            for index, value in enumerate(node.inputs)
        ]

    def _dict(self, node: Node) -> ast.expr:
        keys: list[ast.expr | None] = []
        values: list[ast.expr] = []
        is_key = True
        for index, value in enumerate(node.inputs):
            if node.label(index) == "**":
                keys.append(None)
                values.append(self.value(value))
            else:
                (keys if is_key else values).append(self.value(value))
                is_key = not is_key
        return ast.Dict(keys, values)

    def _subscript(self, node: Node) -> ast.expr:
        target = self._unusual(node.inputs[0])
        return ast.Subscript(target, self.index(node.inputs[1]), LOAD)

    def index(self, value: Value) -> ast.expr:
        """An index as it stands between brackets, where slices have their own syntax."""
        value = self.flow.resolve(value)
        if isinstance(value, Constant):
            return self._constant_index(value.value)
        if value in self.folding.folded and value not in self.folding.shared:
            node = value.producer
            if node.op == "slice":
                return self.locate(self._slice([self.index_part(part) for part in node.inputs]), node)
            if node.op == "tuple" and node.inputs and not node.labels:
                return self.locate(ast.Tuple([self.index(element) for element in node.inputs], LOAD), node)
        return self.value(value)

    def index_part(self, value: Value) -> ast.expr | None:
        """A bound of a slice: None where it is left out."""
        if isinstance(value, Constant) and value.value is None:
            return None
        return self.value(value)

    def _constant_index(self, value: object) -> ast.expr:
        if type(value) is slice:
            parts = (value.start, value.stop, value.step)
            return self._slice([None if part is None else self.bindings.constant(part) for part in parts])
        if type(value) is tuple and value:
            return ast.Tuple([self._constant_index(element) for element in value], LOAD)
        return self.bindings.constant(value)

    def _slice(self, parts: list[ast.expr | None]) -> ast.expr:
        return ast.Slice(*parts)

    def _format(self, node: Node) -> ast.FormattedValue:
        conversion = node.attributes.get("conversion", "")
        value = self.value(node.inputs[0])
        spec = self.flow.resolve(node.inputs[1]) if len(node.inputs) > 1 else Constant("")
        if isinstance(spec, Constant):
            text = None if spec.value == "" else ast.JoinedStr([ast.Constant(spec.value)])
        else:
            text = ast.JoinedStr(self._parts([spec]))
        return ast.FormattedValue(value, ord(conversion) if conversion else -1, text)

    def _join(self, node: Node) -> ast.expr:
        return ast.JoinedStr(self._parts(node.inputs))

    def _parts(self, values: list[Value]) -> list[ast.expr]:
        parts: list[ast.expr] = []
        for value in map(self.flow.resolve, values):
            if isinstance(value, Constant) and isinstance(value.value, str):
                parts.append(ast.Constant(value.value))
            elif value in self.folding.folded and value not in self.folding.shared and value.producer.op == "format":
                parts.append(self.locate(self._format(value.producer), value.producer))
            elif value in self.folding.folded and value not in self.folding.shared and value.producer.op == "join":
                parts.extend(self._parts(value.producer.inputs))
            else:
                parts.append(ast.FormattedValue(self.value(value), -1, None))
        return parts
