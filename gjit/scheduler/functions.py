"""Print inner functions and classes."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from contextlib import contextmanager

from gjit.ir.graph import Block, Node, Value
from gjit.scheduler.bindings import read_class_name
from gjit.scheduler.class_names import NAMESPACE_USERS, assigned_in, bound_in, class_of, mangled
from gjit.scheduler.flow import function_of
from gjit.scheduler.lifetimes import release
from gjit.scheduler.loops import ControlFlow
from gjit.scheduler.nests import is_nest
from gjit.scheduler.syntax import LOAD, assign, call, load, store

SCOPE = "gjit_scope"
"""The name of functions that only keep a definition apart; names of what they hold do not show them."""


class Functions(ControlFlow):
    """Definitions inside the function."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self._class_name = ""  # the class whose body, or whose method, is being printed
        self._variables_of_classes: list[str] = []  # what class bodies assign in the function being printed
        self._namespace = ""  # the variable that holds the namespace, where that of a class body is not at hand
        self._statements |= {
            "function": self._function,
            "class": self._class,
            "class.store": self._write,
            "class.annotate": self._annotate,
            "class.delete": self._delete,
        }
        self.printers["class.load"] = self._class_load

    # Functions

    def function_body(self, block: Block, scope: Node | None, parameters: list[Value]) -> list[ast.stmt]:
        """The body of a function: declarations, parameters that move, statements."""
        names = self.assigned_outside(block)
        body: list[ast.stmt] = [ast.Nonlocal(names)] if names else []
        copies = self.names.copies
        body.extend(assign(store(self.variable(p)), load(copies[p])) for p in parameters if p in copies)
        outer, self._variables_of_classes = self._variables_of_classes, []
        first = block.first or block.terminator
        for statement in body:
            self.locate(statement, first)
        self.block(block, body)
        known = {*names, *(self.names.variables.get(parameter) for parameter in parameters)}
        inside = [*map(self.variable, _cells(block, scope)), *self._variables_of_classes]
        body[bool(names) : bool(names)] = [
            self.locate(declaration, first) for declaration in self._declarations(inside, known, body)
        ]
        self._variables_of_classes = outer
        release(body, self.names.temporaries)
        if len(body) > 1 and _is_bare_return(body[-1]):
            body.pop()
        return body

    def _declarations(self, names: list[str], known: set[str], body: list[ast.stmt]) -> list[ast.AnnAssign]:
        """Statements that only say that variables are local, for those that just a function or class inside assigns."""
        assigned = known | assigned_in(body) if names else known
        missing = [name for name in dict.fromkeys(names) if name not in assigned]
        return [ast.AnnAssign(store(name), self.bindings.builtin("object"), None, 1) for name in missing]

    def _function(self, node: Node) -> None:
        arguments = self.arguments(node.attributes["parameters"], node.inputs)
        returns = self._annotated(arguments, node)
        decorators = self._decorators(node)
        span = self.span_of(node)
        block = node.blocks[0]
        with self.bindings.hiding(frozenset()):
            body = self.function_body(block, node, block.parameters)
        self._span = span
        doc = node.attributes.get("doc")
        if doc is not None:
            body.insert(0, self.locate(ast.Expr(ast.Constant(doc)), node))
        name, target = node.attributes["name"], self._target_name(node)
        definition = ast.FunctionDef(name, arguments, body or [ast.Pass()], decorators, returns)
        if decorators or mangled(name, self._class_name) == target:
            self._define(definition, target, node)
            return
        definition.name = target
        self.emit(definition, node)
        self.emit(assign(ast.Attribute(load(target), "__name__", ast.Store()), ast.Constant(name)), node)

    def _annotated(self, arguments: ast.arguments, node: Node) -> ast.expr | None:
        """Print the annotations of parameters; gives that of the result."""
        names = node.attributes.get("annotations", ())
        values = node.inputs[len(node.inputs) - len(names) :]
        trees = dict(zip(names, map(self.value, values), strict=True))
        named = [*arguments.posonlyargs, *arguments.args, arguments.vararg, *arguments.kwonlyargs, arguments.kwarg]
        for argument in named:
            if argument is not None:
                argument.annotation = trees.get(argument.arg)
        return trees.get("return")

    def _decorators(self, node: Node) -> list[ast.expr]:
        calls = reversed(self.folding.decorators.get(node, ()))
        return [self.locate(self.callee(each), each) for each in calls]

    def _target_name(self, node: Node) -> str:
        return self.target(self.folding.made(node)).id

    def _define(self, definition: ast.FunctionDef | ast.ClassDef, target: str, node: Node) -> None:
        """A definition bound to `target`, whatever the variables of its own name hold."""
        if mangled(definition.name, self._class_name) == target:
            self.emit(definition, node)
            return
        scope = self.names.fresh(SCOPE)
        nothing = ast.arguments([], [], None, [], [], None, [])
        give = ast.Return(load(definition.name))
        self.emit(ast.FunctionDef(scope, nothing, [definition, give], [], None), node)
        self.emit(assign(store(target), call(load(scope))), node)

    # Classes

    def _class(self, node: Node) -> None:
        name, names = node.attributes["name"], bound_in(node)
        decorators = self._decorators(node)
        made = self.called(load(name), node)
        span = self.span_of(node)
        target = self._target_name(node)
        own = set() if mangled(name, self._class_name) == target else {name}
        with self._inside(name), self.bindings.hiding(frozenset(names | own)):
            body = self.block(node.blocks[0])
        self._span = span
        variables = sorted(assigned for assigned in assigned_in(body) if mangled(assigned, name) not in names)
        if variables:
            body.insert(0, self.locate(ast.Nonlocal(variables), node))
            self._variables_of_classes.extend(variables)
        self._define(ast.ClassDef(name, made.args, made.keywords, body or [ast.Pass()], decorators), target, node)

    def condition(self, block: Block, hint: str) -> ast.expr:
        """In a class body, the code may go into a function, which does not see the names of the class."""
        if not any(node.op in NAMESPACE_USERS for node in block.all_nodes() if node not in self.folding.absorbed):
            return super().condition(block, hint)
        outer, self._namespace = self._namespace, self._namespace or self.names.fresh("namespace")
        if not outer:
            self.emit(assign(store(self._namespace), call(self.bindings.builtin("locals"))), block.terminator)
        try:
            return super().condition(block, hint)
        finally:
            self._namespace = outer

    @contextmanager
    def _inside(self, name: str) -> Iterator[None]:
        outer = self._class_name, self._namespace
        self._class_name, self._namespace = name, ""
        yield
        self._class_name, self._namespace = outer

    def target_of(self, node: Node) -> ast.expr:
        """As elsewhere; names of a class may have to be stored through its namespace."""
        if node.op == "class.store" and self._namespace and node not in self.folding.absorbed:
            return ast.Subscript(load(self._namespace), ast.Constant(node.attributes["name"]), ast.Store())
        return super().target_of(node)

    def _annotate(self, node: Node) -> None:
        """`name: annotation`, with the value that was just stored there."""
        annotation, target = self.value(node.inputs[1]), self.target_of(node)
        last = self.body[-1] if self.body else None
        value = None
        if isinstance(last, ast.Assign) and _is_name(last.targets, target.id):
            value = last.value
            self.body.pop()
        self.emit(ast.AnnAssign(target, annotation, value, 1), node)

    def _class_load(self, node: Node) -> ast.expr:
        name = node.attributes["name"]
        plain: ast.expr = load(name)
        if self._namespace and not node.blocks:
            return ast.Subscript(load(self._namespace), ast.Constant(name), LOAD)
        if not node.blocks or (self._is_found_natively(node) and not self._namespace):
            return plain
        with self.bindings.hiding(frozenset()):
            otherwise = self.value(node.blocks[0].terminator.inputs[0])
        if isinstance(otherwise, ast.Name) and otherwise.id == name and not self._namespace:
            return plain
        read = self.bindings.bound(read_class_name, "read_class_name")
        nothing = ast.arguments([], [], None, [], [], None, [])
        namespace = load(self._namespace) if self._namespace else call(self.bindings.builtin("locals"))
        return call(read, namespace, ast.Constant(name), ast.Lambda(nothing, otherwise))

    def _is_found_natively(self, node: Node) -> bool:
        """Whether what the namespace does not hold is a global: so Python reads every name that a class binds."""
        otherwise = node.blocks[0].terminator.inputs[0].producer
        is_bound = node.attributes["name"] in bound_in(class_of(node.inputs[0]))
        is_capture = isinstance(otherwise, Node) and otherwise.op == "capture"
        return is_bound and is_capture and self.bindings.is_own_global(otherwise.attributes["slot"])


def _is_name(targets: list[ast.expr], name: str) -> bool:
    return len(targets) == 1 and isinstance(targets[0], ast.Name) and targets[0].id == name


def _cells(block: Block, scope: Node | None) -> list[Value]:
    """The variables of a function itself that are used; those of loop nests are printed with the nests."""
    nodes = [node for node in block.all_nodes() if node.op == "cell" and node.result.uses]
    return [node.result for node in nodes if function_of(node) is scope and not is_nest(node.block.owner)]


def _is_bare_return(statement: ast.stmt) -> bool:
    value = statement.value if isinstance(statement, ast.Return) else None
    return isinstance(value, ast.Constant) and value.value is None
