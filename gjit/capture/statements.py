"""Lowering of statements to structured nodes."""

from __future__ import annotations

import ast
from collections.abc import Iterable

import numpy as np

from gjit.capture.expressions import BINARY, Expressions
from gjit.capture.patterns import Pattern
from gjit.capture.scope import bound_names
from gjit.ir.graph import Block, Constant, Node, Value
from gjit.ir.types import CELL

_KEEPS_EXCEPTIONS = (np.errstate, np.printoptions)


class Statements(Expressions):
    """One method per statement of Python's grammar, named after its syntax class."""

    def statements(self, body: Iterable[ast.stmt]) -> None:
        """Lower a suite; what follows a `return` or `break` is dead and left out."""
        for statement in body:
            if self.builder.ended:
                return
            self.statement(statement)

    def statement(self, node: ast.stmt) -> None:
        method = getattr(self, "lower_" + type(node).__name__, None)
        if method is None:
            self.refuse_statement(node)
        with self.at(node):
            method(node)

    def refuse_statement(self, node: ast.stmt) -> None:
        match node:
            case ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith():
                self.refuse(node, "`async` cannot be scripted", "use gjit.fork and gjit.wait, or plain code")
            case ast.ClassDef():
                self.refuse(node, "a class cannot be defined inside a scripted function", "define it at module level")
            case ast.TryStar():
                self.refuse(node, "`except*` cannot be scripted", "use `except`")
        self.refuse(node, f"this statement ({type(node).__name__}) cannot be scripted", "write it as plain statements")

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

    # Assignment

    def lower_Assign(self, node: ast.Assign) -> None:
        if len(node.targets) == 1 and self._assign_in_parallel(node.targets[0], node.value):
            return
        value = self.expression(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _assign_in_parallel(self, target: ast.expr, value: ast.expr) -> bool:
        """`a, b = b, a` needs no tuple: everything on the right is evaluated, then the names are bound in order."""
        plain = isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List)
        if not plain or len(target.elts) != len(value.elts):
            return False
        if any(isinstance(element, ast.Starred) for element in (*target.elts, *value.elts)):
            return False
        values = [self.expression(element) for element in value.elts]
        for element, result in zip(target.elts, values, strict=True):
            self.assign(element, result)
        return True

    def lower_AnnAssign(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.expression(node.value))

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind any target: a name, an attribute, an item, or a nest of them."""
        with self.at(target):
            match target:
                case ast.Name():
                    self.bind(target.id, value)
                case ast.Attribute():
                    owner = self.expression(target.value)
                    self.builder.node("setattr", [owner, value], results=0, name=self.mangled(target.attr))
                case ast.Subscript():
                    owner = self.expression(target.value)
                    self.builder.node("setitem", [owner, self.expression(target.slice), value], results=0)
                case ast.Tuple() | ast.List():
                    self._unpack(target.elts, value)

    def _unpack(self, targets: list[ast.expr], value: Value) -> None:
        stars = [index for index, target in enumerate(targets) if isinstance(target, ast.Starred)]
        before = stars[0] if stars else len(targets)
        after = len(targets) - before - 1 if stars else 0
        node = self.builder.node(
            "unpack", [value], results=len(targets), before=before, star=bool(stars), after=after
        )
        for target, result in zip(targets, node.results, strict=True):
            self.assign(target.value if isinstance(target, ast.Starred) else target, result)

    def lower_AugAssign(self, node: ast.AugAssign) -> None:
        op = "operator.i" + BINARY[type(node.op)]
        target = node.target
        if isinstance(target, ast.Name):
            current = self.read(target)
            self.bind(target.id, self.builder.add(op, [current, self.expression(node.value)]))
            return
        owner = self.expression(target.value)
        if isinstance(target, ast.Attribute):
            name = self.mangled(target.attr)
            current = self.builder.add("getattr", [owner], name=name)
            result = self.builder.add(op, [current, self.expression(node.value)])
            self.builder.node("setattr", [owner, result], results=0, name=name)
            return
        index = self.expression(target.slice)
        current = self.builder.add("getitem", [owner, index])
        result = self.builder.add(op, [current, self.expression(node.value)])
        self.builder.node("setitem", [owner, index, result], results=0)

    def lower_Delete(self, node: ast.Delete) -> None:
        for target in node.targets:
            self._delete(target)

    def _delete(self, target: ast.expr) -> None:
        match target:
            case ast.Name():
                self.builder.node("delete", [self.environment[target.id]], results=0)
            case ast.Attribute():
                owner = self.expression(target.value)
                self.builder.node("delattr", [owner], results=0, name=self.mangled(target.attr))
            case ast.Subscript():
                owner = self.expression(target.value)
                self.builder.node("delitem", [owner, self.expression(target.slice)], results=0)
            case ast.Tuple() | ast.List():
                for element in target.elts:
                    self._delete(element)

    # Branches

    def lower_If(self, node: ast.If) -> None:
        branch = self.builder.node("if", [self.expression(node.test)], results=0)
        bodies = (node.body, node.orelse)
        self.branches(branch, [(branch.add_block(), lambda body=body: self.statements(body)) for body in bodies])

    def branches(self, node: Node, bodies: list, *, falls_through: bool = False) -> None:
        """Lower alternative blocks; what any of them assigned becomes a result of the node.

        `falls_through` says that the code after the node may run although no block ends.
        """
        before = self.environment
        ends: list[tuple[Block, dict[str, Value]]] = []
        for block, lower in bodies:
            with self.inside(block):
                lower()
                if not self.builder.ended:
                    ends.append((block, self.environment))
        if not ends:
            if not falls_through:
                self.builder.end("unreachable")
            return
        names = _merged_names(before, [environment for _, environment in ends])
        for block, environment in ends:
            with self.builder.at(block):
                self.builder.end("yield", [environment[name] for name in names])
        self._give_results(node, names)

    def _give_results(self, node: Node, names: list[str]) -> None:
        node.results = [Value(producer=node, name=name) for name in names]
        self.environment.update(zip(names, node.results, strict=True))

    # Loops

    def lower_For(self, node: ast.For) -> None:
        iterable = self.expression(node.iter)
        names = self._carried_names([node.target, *node.body, *node.orelse])
        loop = self.builder.node("for", [iterable, *(self.environment[name] for name in names)], results=0)
        with self._loop(loop, names, 1) as block:
            self.assign(node.target, block.parameters[0])
            self.statements(node.body)
            if not self.builder.ended:
                self.builder.end("continue", self.carried_values())
        self._loop_else(loop, names, node.orelse)

    def lower_While(self, node: ast.While) -> None:
        names = self._carried_names([node.test, *node.body, *node.orelse])
        loop = self.builder.node("while", [self.environment[name] for name in names], results=0)
        with self._loop(loop, names, 0):
            self.builder.end("condition", [self.expression(node.test), *self.carried_values()])
        with self._loop(loop, names, 0):
            self.statements(node.body)
            if not self.builder.ended:
                self.builder.end("continue", self.carried_values())
        self._loop_else(loop, names, node.orelse)

    def _carried_names(self, parts: list[ast.AST]) -> list[str]:
        """Names that the loop assigns and that have a value before it."""
        assigned = bound_names(parts)
        return [name for name, value in self.environment.items() if name in assigned and value.type is not CELL]

    def _loop(self, loop: Node, names: list[str], extra: int):
        """A context for a block of a loop, whose parameters are the current values of the carried names."""
        return _LoopBlock(self, loop.add_block(extra + len(names)), names, extra)

    def _loop_else(self, loop: Node, names: list[str], body: list[ast.stmt]) -> None:
        block = loop.add_block(len(names))
        with self.inside(block):
            self.environment.update(_named(names, block.parameters))
            self.statements(body)
            if not self.builder.ended:
                self.builder.end("yield", [self.environment[name] for name in names])
        self._give_results(loop, names)

    def carried_values(self) -> list[Value]:
        return [self.environment[name] for name in self.loops[-1]]

    # Exceptions and managers

    def lower_Try(self, node: ast.Try) -> None:
        attempt = self.builder.node("try", results=0)
        for body in (node.body, node.orelse, node.finalbody):
            self._effects_only(attempt.add_block(), body)
        for handler in node.handlers:
            kinds = attempt.add_block()
            with self.inside(kinds):
                self.builder.end("yield", [] if handler.type is None else [self.expression(handler.type)])
            self._handler(attempt.add_block(1), handler)

    def _handler(self, block: Block, handler: ast.ExceptHandler) -> None:
        with self.inside(block):
            if handler.name is not None:
                block.parameters[0].name = handler.name
                self.bind(handler.name, block.parameters[0])
            self.statements(handler.body)
            if not self.builder.ended:
                if handler.name is not None:
                    self.builder.node("store", [self.environment[handler.name], Constant(None)], results=0)
                    self.builder.node("delete", [self.environment[handler.name]], results=0)
                self.builder.end("yield")

    def _effects_only(self, block: Block, body: list[ast.stmt]) -> None:
        with self.inside(block):
            self.statements(body)
            if not self.builder.ended:
                self.builder.end("yield")

    def lower_With(self, node: ast.With) -> None:
        self._manage(node, node.items)

    def _manage(self, node: ast.With, items: list[ast.withitem]) -> None:
        item = items[0]
        manager = self.builder.node("with", [self.expression(item.context_expr)], results=0)
        block = manager.add_block(1)

        def body() -> None:
            if item.optional_vars is not None:
                self.assign(item.optional_vars, block.parameters[0])
            if len(items) > 1:
                self._manage(node, items[1:])
            else:
                self.statements(node.body)

        self.branches(manager, [(block, body)], falls_through=not self.keeps_exceptions(item.context_expr))

    def keeps_exceptions(self, manager: ast.expr) -> bool:
        """Whether a `with` manager is known never to suppress an exception."""
        resolved = self.static(manager.func) if isinstance(manager, ast.Call) else None
        return resolved is not None and resolved.value in _KEEPS_EXCEPTIONS

    # Patterns

    def lower_Match(self, node: ast.Match) -> None:
        subject = self.expression(node.subject)
        patterns: list[Pattern] = []
        values: list[Value] = []
        for case in node.cases:
            patterns.append(Pattern(case.pattern, len(values), self.expression))
            values.extend(patterns[-1].values)
        texts = tuple(pattern.text for pattern in patterns)
        choice = self.builder.node("match", [subject, *values], results=0, patterns=texts)
        bodies = []
        for case, pattern in zip(node.cases, patterns, strict=True):
            self._guard(choice.add_block(len(pattern.names)), case.guard, pattern.names)
            block = choice.add_block(len(pattern.names))
            bodies.append((block, lambda block=block, case=case, names=pattern.names: self._case(block, case, names)))
        bodies.append((choice.add_block(), lambda: None))
        self.branches(choice, bodies)

    def _guard(self, block: Block, guard: ast.expr | None, names: list[str]) -> None:
        with self.inside(block):
            self.environment.update(_named(names, block.parameters))
            self.builder.end("yield", [] if guard is None else [self.expression(guard)])

    def _case(self, block: Block, case: ast.match_case, names: list[str]) -> None:
        for name, value in _named(names, block.parameters).items():
            self.bind(name, value)
        self.statements(case.body)

    # Definitions

    def lower_FunctionDef(self, node: ast.FunctionDef) -> None:
        decorators = [self.expression(decorator) for decorator in node.decorator_list]
        function = self.inner_function(node, node.name)
        for decorator in reversed(decorators):
            function = self.builder.add("call", [decorator, function])
        self.bind(node.name, function)

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


class _LoopBlock:
    """Enters a block of a loop: its carried names, and `break` and `continue` that speak of it."""

    def __init__(self, capture: Statements, block: Block, names: list[str], extra: int):
        self.capture, self.block, self.names, self.extra = capture, block, names, extra
        self.inside = capture.inside(block)

    def __enter__(self) -> Block:
        self.inside.__enter__()
        self.capture.environment.update(_named(self.names, self.block.parameters[self.extra :]))
        self.capture.loops.append(self.names)
        return self.block

    def __exit__(self, *exception: object) -> None:
        self.capture.loops.pop()
        self.inside.__exit__(*exception)


def _named(names: list[str], values: list[Value]) -> dict[str, Value]:
    for name, value in zip(names, values, strict=True):
        value.name = name
    return dict(zip(names, values, strict=True))


def _merged_names(before: dict[str, Value], ends: list[dict[str, Value]]) -> list[str]:
    """Names whose value after the branches is not the one before them, and that every branch leaves bound."""
    common = [name for name in ends[0] if all(name in end for end in ends)]
    return [name for name in common if any(end[name] is not before.get(name) for end in ends)]
