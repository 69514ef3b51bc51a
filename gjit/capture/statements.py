"""Lowering of the statements that neither branch nor bind a target, and of definitions."""

from __future__ import annotations

import ast

from gjit.capture.control import Control
from gjit.capture.private_names import written_name
from gjit.ir.graph import Constant, Value


class Statements(Control):
    """One method per statement of Python's grammar, named after its syntax class."""

    def lower_Pass(self, node: ast.Pass) -> None:
        pass

    def lower_Nonlocal(self, node: ast.Nonlocal) -> None:
        pass

    def lower_Global(self, node: ast.Global) -> None:
        written = {name for name in node.names if name in self.written_globals}
        if written:
            self.refuse(node, f"the global {min(written)!r} is assigned", "return the value, or keep it in an object")

    def lower_Expr(self, node: ast.Expr) -> None:
        if not isinstance(node.value, ast.Constant):
            self.expression(node.value)

    def lower_Return(self, node: ast.Return) -> None:
        value = Constant(None) if node.value is None else self.expression(node.value)
        self.builder.end("return", [value])

    def lower_Raise(self, node: ast.Raise) -> None:
        if node.exc is None:
            self.builder.end("reraise")
            return
        inputs = [self.expression(part) for part in (node.exc, node.cause) if part is not None]
        self.builder.end("raise", inputs)

    def lower_Assert(self, node: ast.Assert) -> None:
        failed = self.builder.add("operator.not", [self.expression(node.test)])
        check = self.builder.node("if", [failed], results=0)
        with self.inside(check.add_block()):
            message = [] if node.msg is None else [self.expression(node.msg)]
            self.builder.end("raise", [self.builder.add("call", [Constant(AssertionError), *message])])
        with self.inside(check.add_block()):
            self.builder.end("yield")

    def lower_Break(self, node: ast.Break) -> None:
        self.builder.end("break", self.carried_values())

    def lower_Continue(self, node: ast.Continue) -> None:
        self.builder.end("continue", self.carried_values())

    # Definitions

    def lower_FunctionDef(self, node: ast.FunctionDef) -> None:
        decorators = [self.expression(decorator) for decorator in node.decorator_list]
        self._bind_decorated(node, decorators, self.inner_function(node, written_name(node)))

    def lower_ClassDef(self, node: ast.ClassDef) -> None:
        decorators = [self.expression(decorator) for decorator in node.decorator_list]
        self._bind_decorated(node, decorators, self.inner_class(node))

    def _bind_decorated(self, node: ast.FunctionDef | ast.ClassDef, decorators: list[Value], made: Value) -> None:
        for place, decorator in reversed(list(zip(node.decorator_list, decorators, strict=True))):
            with self.at(place):
                made = self.builder.add("call", [decorator, made])
        self.bind(node.name, made)

    def lower_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            module = self.builder.add("import", module=alias.name, name="", level=0)
            top = alias.name.partition(".")[0]
            if alias.asname is None and top != alias.name:  # `import a.b` loads both and binds `a`
                module = self.builder.add("import", module=top, name="", level=0)
            self.bind(alias.asname or top, module)

    def lower_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.refuse(node, "`import *` cannot be scripted", "import the names that you use")
            value = self.builder.add("import", module=node.module or "", name=alias.name, level=node.level)
            self.bind(alias.asname or alias.name, value)
