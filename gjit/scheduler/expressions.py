"""Print nodes with blocks as Python expressions, and values as assignment targets."""

from __future__ import annotations

import ast
from collections.abc import Iterable

from gjit.ir.graph import Block, Node, Parameter, ParameterKind, Value
from gjit.scheduler.folding import is_same
from gjit.scheduler.naming import hint_of
from gjit.scheduler.syntax import COMPARE, store
from gjit.scheduler.values import Values


class Expressions(Values):
    """Prints the expressions of one function."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.printers |= {
            "if": self._ternary,
            "and": self._boolean,
            "or": self._boolean,
            "function": self._lambda,
            "comprehension": self._comprehension,
        }

    # Choices

    def _ternary(self, node: Node) -> ast.expr:
        condition = self.value(node.inputs[0])
        then, otherwise = (self.value(block.terminator.inputs[0]) for block in node.blocks)
        return ast.IfExp(condition, then, otherwise)

    def _boolean(self, node: Node) -> ast.expr:
        kind = ast.And if node.op == "and" else ast.Or
        left = _operands(self.value(node.inputs[0]), kind)
        right = _operands(self.value(node.blocks[0].terminator.inputs[0]), kind)
        if isinstance(left[-1], ast.Compare) and isinstance(right[0], ast.Compare) and self._is_chain(node):
            left[-1:], right = [self.locate(_chained(left[-1], right[0]), node)], right[1:]
        values = left + right
        return values[0] if len(values) == 1 else ast.BoolOp(kind(), values)

    def _is_chain(self, node: Node) -> bool:
        """Whether `a < b and b < c` reads one and the same value `b`, which nothing else uses."""
        left, right = node.inputs[0], node.blocks[0].terminator.inputs[0]
        if node.op != "and" or left not in self.folding.folded or right not in self.folding.folded:
            return False
        first, second = _last_compare(left.producer), _first_compare(right.producer)
        if first is None or second is None:
            return False
        middle = self.flow.resolve(first.inputs[1])
        if not is_same(middle, self.flow.resolve(second.inputs[0])):
            return False
        return middle not in self.folding.shared or sum(middle.uses.values()) == 2

    # Functions and comprehensions

    def _lambda(self, node: Node) -> ast.expr:
        arguments = self.arguments(node.attributes["parameters"], node.inputs)
        return ast.Lambda(arguments, self.value(node.blocks[0].terminator.inputs[0]))

    def arguments(self, parameters: Iterable[Parameter], defaults: list[Value] | None = None) -> ast.arguments:
        """The parameter list of a function; with None for the defaults, the function object brings them."""
        result = ast.arguments([], [], None, [], [], None, [])
        given = iter([] if defaults is None else map(self.value, defaults))
        for parameter in parameters:
            argument = ast.arg(parameter.name)
            match parameter.kind:
                case ParameterKind.POSITIONAL_ONLY:
                    result.posonlyargs.append(argument)
                case ParameterKind.NORMAL:
                    result.args.append(argument)
                case ParameterKind.VARIADIC:
                    result.vararg = argument
                case ParameterKind.VARIADIC_KEYWORD:
                    result.kwarg = argument
                case ParameterKind.KEYWORD_ONLY:
                    result.kwonlyargs.append(argument)
            has_default = parameter.has_default and defaults is not None
            if parameter.kind is ParameterKind.KEYWORD_ONLY:
                result.kw_defaults.append(next(given) if has_default else None)
            elif has_default:
                result.defaults.append(next(given))
        return result

    def _comprehension(self, node: Node) -> ast.expr:
        generators: list[ast.comprehension] = []
        block: Block = node.blocks[0]
        generators.append(ast.comprehension(self.target(block.parameters[0]), self.value(node.inputs[0]), [], 0))
        while block.last is not None and block.last.op in ("comprehension.for", "comprehension.if"):
            inner = block.last
            block = inner.blocks[0]
            value = self.value(inner.inputs[0])
            if inner.op == "comprehension.if":
                generators[-1].ifs.append(value)
            else:
                generators.append(ast.comprehension(self.target(block.parameters[0]), value, [], 0))
        element, *values = [self.value(value) for value in block.terminator.inputs]
        match node.attributes["kind"]:
            case "dict":
                return ast.DictComp(element, values[0], generators)
            case "list":
                return ast.ListComp(element, generators)
            case "set":
                return ast.SetComp(element, generators)
        return ast.GeneratorExp(element, generators)

    # Assignment targets

    def target(self, value: Value) -> ast.expr:
        """What a value is assigned to: its variable, or the pattern that takes it apart."""
        node = self.folding.targets.get(value)
        if node is None:
            return store(self.names.variables.get(value) or self.names.unused(hint_of(value) or "_"))
        return self.locate(self.target_of(node), node)

    def target_of(self, node: Node) -> ast.expr:
        """The assignment target that a storing node is printed as."""
        match node.op:
            case "store":
                return store(self.variable(node.inputs[0]))
            case "class.store" | "class.annotate":
                return store(node.attributes["name"])
            case "setitem":
                return ast.Subscript(self.value(node.inputs[0]), self.index(node.inputs[1]), ast.Store())
            case "setattr":
                return ast.Attribute(self.value(node.inputs[0]), node.attributes["name"], ast.Store())
            case "capture.store":
                return store(self.bindings.closure_name(node.attributes["slot"]))
        elements = [self.target(result) for result in node.results]
        if node.attributes["star"]:
            position = node.attributes["before"]
            elements[position] = ast.Starred(elements[position], ast.Store())
        return ast.Tuple(elements, ast.Store())


def _last_compare(node: Node) -> Node | None:
    """The comparison at the end of a chain."""
    while node.op == "and":
        right = node.blocks[0].terminator.inputs[0].producer
        if not isinstance(right, Node):
            return None
        node = right
    return node if node.op in COMPARE else None


def _first_compare(node: Node) -> Node | None:
    """The comparison at the start of a chain."""
    while node.op == "and":
        left = node.inputs[0].producer
        if not isinstance(left, Node):
            return None
        node = left
    return node if node.op in COMPARE else None


def _operands(tree: ast.expr, kind: type[ast.boolop]) -> list[ast.expr]:
    """The operands of `and` or `or`, nested ones included."""
    return list(tree.values) if isinstance(tree, ast.BoolOp) and isinstance(tree.op, kind) else [tree]


def _chained(left: ast.Compare, right: ast.Compare) -> ast.Compare:
    comparators = list(left.comparators)
    if isinstance(comparators[-1], ast.NamedExpr):
        comparators[-1] = comparators[-1].value
    return ast.Compare(left.left, [*left.ops, *right.ops], [*comparators, *right.comparators])
