"""Print comprehensions that need statements, and regions."""

from __future__ import annotations

import ast

import numpy as np

from gjit.ir.graph import Block, Node, Value
from gjit.ir.types import ArrayType
from gjit.scheduler.functions import Functions
from gjit.scheduler.nests import is_nest
from gjit.scheduler.sizes import leaders, outer_extents
from gjit.scheduler.syntax import LOAD, assign, call, load, store


class Definitions(Functions):
    """Prints everything; `regions` are the region nodes in the order of their numbers."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.regions: list[Node] = []
        self.region_names: list[str] = []
        self._collectors: list[tuple[str, str]] = []
        self._statements |= {
            "comprehension": self._comprehension_statement,
            "comprehension.for": self._clause_for,
            "comprehension.if": self._clause_if,
            "region": self._region,
        }
        self.printers["region"] = self._region_expression

    # Comprehensions as loops

    def _comprehension_statement(self, node: Node) -> None:
        kind = node.attributes["kind"]
        if kind == "generator" or any(inner.op == "cell" for inner in node.blocks[0].all_nodes()):
            self._generator(node)
            return
        iterable = self.value(node.inputs[0])
        name = self.names.variables.get(node.result) or self.names.fresh("result")
        empty = {"list": ast.List([], LOAD), "dict": ast.Dict([], [])}.get(kind)
        self.emit(assign(store(name), empty or call(self.bindings.builtin("set"))), node)
        self._loop(node, iterable, (kind, name))

    def _generator(self, node: Node) -> None:
        """A generator function that is made and called here.

        For a generator expression whose clauses need statements, and for variables that belong to one run of a
        comprehension.
        """
        kind = node.attributes["kind"]
        name, argument = self.names.fresh("generator"), self.names.fresh("iterable")
        iterable = self.value(node.inputs[0])
        with self.into([]) as body:
            assigned = self.assigned_outside(node.blocks[0])
            if assigned:
                self.emit(ast.Nonlocal(assigned), node)
            self._loop(node, load(argument), ("generator", ""))
        parameters = ast.arguments([], [ast.arg(argument)], None, [], [], None, [])
        self.emit(ast.FunctionDef(name, parameters, body, [], None), node)
        made = call(load(name), call(self.bindings.builtin("iter"), iterable))
        if kind != "generator":
            made = call(self.bindings.builtin(kind), made)
        self.emit(assign(self.target(node.result), made), node)

    def _loop(self, node: Node, iterable: ast.expr, collector: tuple[str, str]) -> None:
        self._collectors.append(collector)
        clause = node.blocks[0]
        target = self.target(clause.parameters[0])
        statements = self._clause(clause)
        self.emit(ast.For(target, iterable, statements or [ast.Pass()], []), node)
        self._collectors.pop()

    def _clause(self, clause: Block) -> list[ast.stmt]:
        statements = self.block(clause)
        if clause.last is None or clause.last.op not in ("comprehension.for", "comprehension.if"):
            with self.into(statements):
                self._collect(clause.terminator)
        return statements

    def _collect(self, end: Node) -> None:
        kind, name = self._collectors[-1]
        values = [self.value(value) for value in end.inputs]
        match kind:
            case "dict":
                self.emit(assign(ast.Subscript(load(name), values[0], ast.Store()), values[1]), end)
            case "generator":
                self.emit(ast.Expr(ast.Yield(values[0])), end)
            case _:
                method = ast.Attribute(load(name), "append" if kind == "list" else "add", LOAD)
                self.emit(ast.Expr(call(method, *values)), end)

    def _clause_for(self, node: Node) -> None:
        self._loop(node, self.value(node.inputs[0]), self._collectors[-1])

    def _clause_if(self, node: Node) -> None:
        condition = self.value(node.inputs[0])
        statements = self._clause(node.blocks[0])
        self.emit(ast.If(condition, statements or [ast.Pass()], []), node)

    # Regions

    def _region(self, node: Node) -> None:
        """The twin in place for small arrays, else a call of the region."""
        if is_nest(node):
            self._assign_results(node, self._invocation(node))
            return
        least = self.bindings.environment.least_elements(node)
        if least is None:
            self.body.extend(self.block(node.blocks[0]))
            return
        span = self.span_of(node)
        invocation = self._invocation(node)
        test = self._is_small(node, least)
        with self.into([]) as large:
            self._assign_results(node, invocation)
        if test is None:
            self.body.extend(large)
            return
        small = self.block(node.blocks[0])
        self._span = span
        self.emit(ast.If(test, small or [ast.Pass()], large), node)

    def _region_expression(self, node: Node) -> ast.expr:
        """The same as one expression, so that its value gets no name."""
        least = self.bindings.environment.least_elements(node)
        if least is None:
            return self.value(node.blocks[0].terminator.inputs[0])
        span = self.span_of(node)
        invocation = self._invocation(node)
        test = self._is_small(node, least)
        if test is None:
            return invocation
        small = self.value(node.blocks[0].terminator.inputs[0])
        self._span = span
        return ast.IfExp(test, small, invocation)

    def _invocation(self, node: Node) -> ast.Call:
        name = self.names.fresh(f"region_{len(self.regions)}")
        self.regions.append(node)
        self.region_names.append(name)
        return call(load(name), *(self.value(value) for value in node.inputs))

    def twin_body(self, region: Node) -> list[ast.stmt]:
        """The nodes of a region as the body of a function that returns what the region yields."""
        block = region.blocks[0]
        body = self.block(block)
        with self.into(body):
            values = [self.value(value) for value in block.terminator.inputs]
            if values:
                result = values[0] if len(values) == 1 else ast.Tuple(values, LOAD)
                self.emit(ast.Return(result), block.terminator)
        return body

    def parameter_names(self, parameters: list[Value]) -> list[str]:
        """The names of parameters that may be unused."""
        return [self.names.variables.get(value) or self.names.fresh("unused") for value in parameters]

    def _assign_results(self, node: Node, invocation: ast.expr) -> None:
        if not node.results:
            self.emit(ast.Expr(invocation), node)
            return
        targets = [self.target(result) for result in node.results]
        target = targets[0] if len(targets) == 1 else ast.Tuple(targets, ast.Store())
        self.emit(assign(target, invocation), node)

    def _is_small(self, node: Node, least: int) -> ast.expr | None:
        """Whether the leading arrays are too small for the region to pay; None where no input can be an array, or
        the region runs whatever their size is."""
        if least == 0:
            return None
        inputs = [self.flow.resolve(value) for value in _computed_with(node)]
        tests = [self._has_fewer(leader, inputs, least) for leader in leaders(inputs)]
        return ast.BoolOp(ast.And(), tests) if len(tests) > 1 else next(iter(tests), None)

    def _has_fewer(self, leader: Value, inputs: list[Value], least: int) -> ast.expr:
        size: ast.expr = ast.Attribute(self.value(leader), "size", LOAD)
        for value, axis in outer_extents(leader, inputs, self.flow.resolve):
            shape = ast.Attribute(self.value(value), "shape", LOAD)
            size = ast.BinOp(size, ast.Mult(), ast.Subscript(shape, ast.Constant(axis), LOAD))
        small = ast.Compare(size, [ast.Lt()], [ast.Constant(least)])
        if isinstance(leader.type, ArrayType):
            return small
        array = self.bindings.constant(np.ndarray)
        kind = call(self.bindings.builtin("type"), self.value(leader))
        return ast.BoolOp(ast.Or(), [ast.Compare(kind, [ast.IsNot()], [array]), small])


def _computed_with(region: Node) -> list[Value]:
    """The inputs of a region but for arrays that it only stores into: a store may write a small part of a large one."""
    pairs = zip(region.inputs, region.blocks[0].parameters, strict=True)
    return [value for value, parameter in pairs if not _is_only_target(parameter)]


def _is_only_target(parameter: Value) -> bool:
    return bool(parameter.uses) and all(
        user.op == "setitem" and user.inputs[0] is parameter and count == 1 for user, count in parameter.uses.items()
    )
