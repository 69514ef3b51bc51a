"""Lowering of assignments: targets of every kind, augmented assignment, deletion."""

from __future__ import annotations

import ast

from gjit.capture.expressions import BINARY, Expressions
from gjit.ir.graph import Value


class Assignments(Expressions):
    """Statements that bind or delete names, attributes and items."""

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
        if self.class_body is not None:
            self._annotate(node)

    def _annotate(self, node: ast.AnnAssign) -> None:
        """Only class bodies evaluate annotations of variables; a plain name keeps its one."""
        annotation = self.annotation(node.annotation)
        if node.simple:
            namespace = self.class_body.namespace
            self.builder.node("class.annotate", [namespace, annotation], results=0, name=node.target.id)

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind any target: a name, an attribute, an item, or a nest of them."""
        with self.at(target):
            match target:
                case ast.Name():
                    self.bind(target.id, value)
                case ast.Attribute():
                    owner = self.expression(target.value)
                    self.builder.node("setattr", [owner, value], results=0, name=target.attr)
                case ast.Subscript():
                    owner = self.expression(target.value)
                    self.builder.node("setitem", [owner, self.expression(target.slice), value], results=0)
                case ast.Tuple() | ast.List():
                    self._unpack(target.elts, value)

    def _unpack(self, targets: list[ast.expr], value: Value) -> None:
        stars = [index for index, target in enumerate(targets) if isinstance(target, ast.Starred)]
        before = stars[0] if stars else len(targets)
        after = len(targets) - before - 1 if stars else 0
        node = self.builder.node("unpack", [value], results=len(targets), before=before, star=bool(stars), after=after)
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
            name = target.attr
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
                self.unbind(target.id)
            case ast.Attribute():
                owner = self.expression(target.value)
                self.builder.node("delattr", [owner], results=0, name=target.attr)
            case ast.Subscript():
                owner = self.expression(target.value)
                self.builder.node("delitem", [owner, self.expression(target.slice)], results=0)
            case ast.Tuple() | ast.List():
                for element in target.elts:
                    self._delete(element)
