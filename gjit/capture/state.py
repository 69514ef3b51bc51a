"""What lowering a function body needs at every point: the builder, the scope, and what each name is now."""

from __future__ import annotations

import ast
import types
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NoReturn

from gjit.capture.class_body import ClassBody
from gjit.capture.program import Program
from gjit.capture.resolve import (
    Resolved,
    Standing,
    UnboundName,
    is_stable_namespace,
    resolve_attribute,
    resolve_global,
    resolve_name,
)
from gjit.capture.scope import Scope
from gjit.errors import UnsupportedError
from gjit.ir.builder import Builder
from gjit.ir.graph import Block, CaptureKind, Constant, Value
from gjit.ir.types import CELL
from gjit.source import FunctionSource


class CaptureState:
    """Shared by the lowering of expressions and of statements.

    `environment` maps the names that are visible to their value, or to their cell.
    """

    def __init__(
        self,
        program: Program,
        function: types.FunctionType,
        source: FunctionSource,
        builder: Builder,
        scope: Scope,
        environment: dict[str, Value],
    ):
        self.program = program
        self.function = function
        self.source = source
        self.builder = builder
        self.scope = scope
        self.environment = environment
        self.class_body: ClassBody | None = None  # where a class body is lowered
        self.suspends = False  # whether the function is a generator

    def refuse(self, node: ast.AST, message: str, hint: str) -> NoReturn:
        """Stop with an error at the user's line."""
        raise UnsupportedError(message, self.source.span(node), hint=hint)

    @contextmanager
    def at(self, node: ast.AST) -> Iterator[None]:
        """Nodes built inside belong to the source lines of `node`."""
        outer, self.builder.span = self.builder.span, self.source.span(node)
        try:
            yield
        finally:
            self.builder.span = outer

    @contextmanager
    def inside(self, block: Block) -> Iterator[Block]:
        """Build into `block`, with a copy of the environment that is dropped at the end."""
        outer, self.environment = self.environment, dict(self.environment)
        with self.builder.at(block):
            try:
                yield block
            finally:
                self.environment = outer

    def bind(self, name: str, value: Value) -> None:
        """Assign to a local, or to a name of the class whose body this is."""
        if self.is_class_name(name):
            self._bind_in_class(name, value)
            return
        known = self.environment.get(name)
        if known is not None and known.type is CELL:
            self.builder.node("store", [known, value], results=0)
            return
        if name in self.scope.nonlocals:
            resolved = resolve_name(self.function, name)
            slot = self._slot(resolved, guarded=False)
            self.builder.node("capture.store", [value], results=0, slot=slot)
            return
        if not value.name and not isinstance(value, Constant):
            value.name = name
        self.environment[name] = value

    def unbind(self, name: str) -> None:
        """Delete a local, or a name of the class whose body this is."""
        if self.is_class_name(name):
            self.builder.node("class.delete", [self.class_body.namespace], results=0, name=name)
        else:
            self.builder.node("delete", [self.environment[name]], results=0)

    def read(self, node: ast.Name) -> Value:
        """The value of a name where it is read."""
        body = self.class_body
        if body is not None and (node.id in body.bound or not body.is_plain):
            return self._read_in_class(node.id)
        return self._variable(node.id)

    def _variable(self, name: str) -> Value:
        """The value of a local, of a variable around it, or of a global."""
        known = self.environment.get(name)
        if known is None or (self.class_body is not None and name in self.class_body.globals):
            return self.captured(self.lookup(name))
        if known.type is CELL:
            value = self.builder.add("load", [known])
            value.name = name
            return value
        return known

    # Names in a class body

    def seen_inside(self, body: ClassBody | None) -> dict[str, Value]:
        """What functions, comprehensions and classes in the class `body` (if it is one) see of the variables here."""
        return self.environment if body is None else {**self.environment, "__class__": body.cell}

    def is_class_name(self, name: str) -> bool:
        """Whether this is the body of a class that has the name for itself."""
        return self.class_body is not None and name in self.class_body.bound

    def _bind_in_class(self, name: str, value: Value) -> None:
        body = self.class_body
        self.builder.node("class.store", [body.namespace, value], results=0, name=name)
        body.stored(name, always=self.builder.block is body.namespace.producer)

    def _read_in_class(self, name: str) -> Value:
        """A name as class bodies read it: from the namespace, else what is outside of it."""
        body = self.class_body
        found = self.builder.node("class.load", [body.namespace], name=name)
        if name not in body.certain:
            with self.builder.at(found.add_block()):
                value = self._global(name) if name in body.bound else self._variable(name)
                self.builder.end("yield", [value])
        return found.result

    def _global(self, name: str) -> Value:
        return self.captured(self._resolved_or_unbound(name, resolve_global))

    def lookup(self, name: str) -> Resolved:
        """A name that is not a local."""
        is_global = name in (self.scope if self.class_body is None else self.class_body).globals
        return self._resolved_or_unbound(name, resolve_global if is_global else resolve_name)

    def _resolved_or_unbound(self, name: str, resolve: Callable[[types.FunctionType, str], Resolved]) -> Resolved:
        try:
            return resolve(self.function, name)
        except UnboundName:
            kind, namespace = CaptureKind.GLOBAL, self.function.__globals__
            code = self.function.__code__
            if name in code.co_freevars and resolve is resolve_name:
                kind, namespace = CaptureKind.CELL, self.function.__closure__[code.co_freevars.index(name)]
            return Resolved(None, Standing.OBJECT, name, kind, namespace)

    def static(self, node: ast.expr) -> Resolved | None:
        """What a name, or an attribute of a module, is for as long as its guard holds."""
        if isinstance(node, ast.Name):
            if self._may_be_local(node.id):
                return None
            resolved = self.lookup(node.id)
        elif isinstance(node, ast.Attribute):
            module = self.static(node.value)
            if module is None or module.standing is not Standing.MODULE:
                return None
            resolved = resolve_attribute(module, node.attr)
        else:
            return None
        if resolved is None or resolved.standing is Standing.OBJECT or self.is_load(resolved):
            return None
        self.guard(resolved)
        return resolved

    def _may_be_local(self, name: str) -> bool:
        body = self.class_body
        if body is not None and (name in body.bound or not body.is_plain):
            return True
        return (name in self.environment and (body is None or name not in body.globals)) or name in self.scope.bound

    def is_load(self, resolved: Resolved) -> bool:
        return self.program.is_load(resolved)

    def guard(self, resolved: Resolved) -> None:
        """Rely on the name keeping its object; names in NumPy and the standard library are not guarded."""
        if not is_stable_namespace(resolved.namespace):
            self._slot(resolved, guarded=True)

    def captured(self, resolved: Resolved) -> Value:
        """The value of something that is not a local."""
        if resolved.standing in (Standing.CONSTANT, Standing.ROW) and not self.is_load(resolved):
            self.guard(resolved)
            return Constant(resolved.value)
        guarded = resolved.standing is not Standing.OBJECT and not self.is_load(resolved)
        value = self.builder.add("capture", slot=self._slot(resolved, guarded=guarded))
        value.name = resolved.name
        return value

    def _slot(self, resolved: Resolved, *, guarded: bool) -> int:
        return self.builder.slot(
            resolved.name, resolved.kind, resolved.value, guarded=guarded, namespace=resolved.namespace
        )
