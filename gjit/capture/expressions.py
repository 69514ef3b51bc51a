"""Lowering of expressions: each method takes a syntax node and gives the value in the graph.

Python's order of evaluation is the order of the nodes.
"""

from __future__ import annotations

import ast

from gjit.capture.calls import Calls
from gjit.capture.names import target_names
from gjit.ir.graph import Constant, Node, Value

BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.MatMult: "matmul",
    ast.Div: "truediv",
    ast.FloorDiv: "floordiv",
    ast.Mod: "mod",
    ast.Pow: "pow",
    ast.LShift: "lshift",
    ast.RShift: "rshift",
    ast.BitAnd: "and",
    ast.BitOr: "or",
    ast.BitXor: "xor",
}
UNARY = {ast.USub: "neg", ast.UAdd: "pos", ast.Invert: "invert", ast.Not: "not"}
COMPARISONS = {
    ast.Eq: "eq",
    ast.NotEq: "ne",
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Is: "is",
    ast.IsNot: "is_not",
    ast.In: "in",
    ast.NotIn: "not_in",
}
COMPREHENSIONS = {ast.ListComp: "list", ast.SetComp: "set", ast.DictComp: "dict", ast.GeneratorExp: "generator"}


class Expressions(Calls):
    """One method per expression of Python's grammar, named after its syntax class."""

    def expression(self, node: ast.expr) -> Value:
        """The value of any expression."""
        method = getattr(self, "lower_" + type(node).__name__, None)
        if method is None:
            self.refuse_expression(node)
        with self.at(node):
            return method(node)

    def refuse_expression(self, node: ast.expr) -> None:
        if isinstance(node, ast.Await):
            self.refuse(node, "`await` cannot be scripted", "use gjit.fork and gjit.wait, or a plain call")
        self.refuse(node, f"this expression ({type(node).__name__}) cannot be scripted", "write it as plain statements")

    def lower_Constant(self, node: ast.Constant) -> Value:
        return Constant(node.value)

    def lower_Name(self, node: ast.Name) -> Value:
        return self.read(node)

    def lower_BinOp(self, node: ast.BinOp) -> Value:
        left, right = self.expression(node.left), self.expression(node.right)
        return self.builder.add("operator." + BINARY[type(node.op)], [left, right])

    def lower_UnaryOp(self, node: ast.UnaryOp) -> Value:
        negative = isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant)
        if negative and type(node.operand.value) in (int, float):
            return Constant(-node.operand.value)
        return self.builder.add("operator." + UNARY[type(node.op)], [self.expression(node.operand)])

    def lower_BoolOp(self, node: ast.BoolOp) -> Value:
        op = "and" if isinstance(node.op, ast.And) else "or"
        result = self.expression(node.values[0])
        return self._short_circuit(op, result, [lambda part=part: self.expression(part) for part in node.values[1:]])

    def _short_circuit(self, op: str, left: Value, rights: list) -> Value:
        """`left op right op ...`, nested to the right: each operand is tested once."""
        if not rights:
            return left
        result = self.builder.node(op, [left])
        with self.inside(result.add_block()):
            self.builder.end("yield", [self._short_circuit(op, rights[0](), rights[1:])])
        return result.result

    def lower_Compare(self, node: ast.Compare) -> Value:
        return self._comparison(self.expression(node.left), list(zip(node.ops, node.comparators, strict=True)))

    def _comparison(self, left: Value, rest: list[tuple[ast.cmpop, ast.expr]]) -> Value:
        """`left < middle < right` compares, and goes on inside an `and`; the middle is evaluated once."""
        operator, operand = rest[0]
        right = self.expression(operand)
        result = self.builder.add("operator." + COMPARISONS[type(operator)], [left, right])
        if len(rest) == 1:
            return result
        return self._short_circuit("and", result, [lambda: self._comparison(right, rest[1:])])

    def lower_IfExp(self, node: ast.IfExp) -> Value:
        result = self.builder.node("if", [self.expression(node.test)])
        for branch in (node.body, node.orelse):
            with self.inside(result.add_block()):
                self.builder.end("yield", [self.expression(branch)])
        return result.result

    def lower_NamedExpr(self, node: ast.NamedExpr) -> Value:
        value = self.expression(node.value)
        self.bind(node.target.id, value)
        return value

    def lower_Attribute(self, node: ast.Attribute) -> Value:
        resolved = self.static(node)
        if resolved is not None:
            return self.captured(resolved)
        return self.builder.add("getattr", [self.expression(node.value)], name=node.attr)

    def lower_Subscript(self, node: ast.Subscript) -> Value:
        owner = self.expression(node.value)
        return self.builder.add("getitem", [owner, self.expression(node.slice)])

    def lower_Slice(self, node: ast.Slice) -> Value:
        bounds = (node.lower, node.upper, node.step)
        parts = [Constant(None) if part is None else self.expression(part) for part in bounds]
        if all(isinstance(part, Constant) for part in parts):
            return Constant(slice(*(part.value for part in parts)))
        return self.builder.add("slice", parts)

    def lower_Tuple(self, node: ast.Tuple) -> Value:
        display = self._display("tuple", node.elts)
        if all(isinstance(value, Constant) for value in display.inputs) and not display.labels:
            values = tuple(value.value for value in display.inputs)
            display.remove()
            return Constant(values)
        return display.result

    def lower_List(self, node: ast.List) -> Value:
        return self._display("list", node.elts).result

    def lower_Set(self, node: ast.Set) -> Value:
        return self._display("set", node.elts).result

    def _display(self, op: str, elements: list[ast.expr]) -> Node:
        labels = tuple("*" if isinstance(element, ast.Starred) else "" for element in elements)
        plain = [element.value if isinstance(element, ast.Starred) else element for element in elements]
        return self.builder.node(op, [self.expression(element) for element in plain], labels=labels)

    def lower_Dict(self, node: ast.Dict) -> Value:
        inputs, labels = [], []
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                inputs.append(self.expression(value))
                labels.append("**")
            else:
                inputs.extend((self.expression(key), self.expression(value)))
                labels.extend(("", ""))
        return self.builder.add("dict", inputs, labels=tuple(labels))

    def lower_JoinedStr(self, node: ast.JoinedStr) -> Value:
        parts = [self.expression(part) for part in node.values]
        if not parts:
            return Constant("")
        if len(parts) == 1 and isinstance(parts[0], Constant):
            return parts[0]
        return self.builder.add("join", parts)

    def lower_FormattedValue(self, node: ast.FormattedValue) -> Value:
        value = self.expression(node.value)
        spec = Constant("") if node.format_spec is None else self.expression(node.format_spec)
        conversion = "" if node.conversion == -1 else chr(node.conversion)
        return self.builder.add("format", [value, spec], conversion=conversion)

    def lower_Yield(self, node: ast.Yield) -> Value:
        self.suspends = True
        return self.builder.add("suspend", [Constant(None) if node.value is None else self.expression(node.value)])

    def lower_YieldFrom(self, node: ast.YieldFrom) -> Value:
        self.suspends = True
        return self.builder.add("suspend.from", [self.expression(node.value)])

    def lower_Lambda(self, node: ast.Lambda) -> Value:
        return self.inner_function(node, "<lambda>")

    def lower_ListComp(self, node: ast.ListComp) -> Value:
        return self._comprehension(node)

    lower_SetComp = lower_DictComp = lower_GeneratorExp = lower_ListComp

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> Value:
        if any(generator.is_async for generator in node.generators):
            self.refuse(node, "asynchronous comprehensions cannot be scripted", "use a plain `for`")
        first = self.expression(node.generators[0].iter)
        result = self.builder.node("comprehension", [first], kind=COMPREHENSIONS[type(node)])
        body, self.class_body = self.class_body, None  # the names of a class are not seen inside
        outer, self.environment = self.environment, self.seen_inside(body)
        self._clause(result, node, 0)
        self.class_body, self.environment = body, outer
        return result.result

    def _clause(self, owner: Node, node: ast.expr, index: int) -> None:
        """The block of one `for`: its conditions, then the next `for` or the element."""
        generator = node.generators[index]
        with self.inside(owner.add_block(1)) as block:
            for name in target_names(generator.target):
                self.environment.pop(name, None)  # the target hides a cell of that name
            self.assign(generator.target, block.parameters[0])
            self._conditions(node, index, list(generator.ifs))

    def _conditions(self, node: ast.expr, index: int, conditions: list[ast.expr]) -> None:
        if conditions:
            test = self.builder.node("comprehension.if", [self.expression(conditions[0])], results=0)
            with self.inside(test.add_block()):
                self._conditions(node, index, conditions[1:])
            self.builder.end("yield")
        elif index + 1 < len(node.generators):
            iterable = self.expression(node.generators[index + 1].iter)
            inner = self.builder.node("comprehension.for", [iterable], results=0)
            self._clause(inner, node, index + 1)
            self.builder.end("yield")
        elif isinstance(node, ast.DictComp):
            self.builder.end("yield", [self.expression(node.key), self.expression(node.value)])
        else:
            self.builder.end("yield", [self.expression(node.elt)])
