"""How the interpreter makes a class: what Python's `class` statement does, step by step."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from gjit.ir.evaluation import UNBOUND, Variable
from gjit.ir.graph import Node


class ClassMaker:
    """A class that is being made: the body fills `namespace`, methods read the class from the variable `cell`."""

    def __init__(self, node: Node, bases: list[object], keywords: dict[str, Any]):
        self.name = str(node.attributes["name"])
        self.uses_cell = bool(node.blocks[0].parameters[1].uses)
        self.bases = tuple(bases)
        self.resolved = types.resolve_bases(self.bases)
        self.metaclass, self.namespace, self.keywords = types.prepare_class(self.name, self.resolved, keywords)
        self.namespace["__module__"], self.namespace["__qualname__"] = __name__, self.name
        self.cell = _ClassVariable("__class__")

    def finish(self) -> object:
        """The class, once its body has run."""
        if self.resolved is not self.bases:
            self.namespace["__orig_bases__"] = self.bases
        if self.uses_cell:
            self.namespace["__classcell__"] = self.cell.holder
        return self.metaclass(self.name, self.resolved, self.namespace, **self.keywords)


class _ClassVariable(Variable):
    """`__class__`: `type` itself fills the cell that it finds in the namespace."""

    __slots__ = ("holder",)

    def __init__(self, name: str):
        self.holder = types.CellType()
        super().__init__(name)

    @property
    def value(self) -> object:
        try:
            return self.holder.cell_contents
        except ValueError:
            return UNBOUND

    @value.setter
    def value(self, value: object) -> None:
        if value is not UNBOUND:
            self.holder.cell_contents = value


def read_name(namespace: Any, name: str, missing: object) -> object:
    """What a name is in the namespace of a class body, or `missing`."""
    try:
        return namespace[name]
    except KeyError:
        return missing


def unbound_name(node: Node) -> NameError:
    """The error of reading a name that the body of a class has not bound."""
    name = str(node.attributes["name"])
    return NameError(f"name {name!r} is not defined", name=name)


def _store(node: Node, namespace: Any, value: object) -> None:
    namespace[node.attributes["name"]] = value


def _annotate(node: Node, namespace: Any, annotation: object) -> None:
    if read_name(namespace, "__annotations__", None) is None:
        namespace["__annotations__"] = {}
    namespace["__annotations__"][node.attributes["name"]] = annotation


def _delete(node: Node, namespace: Any) -> None:
    try:
        del namespace[node.attributes["name"]]
    except KeyError:
        raise unbound_name(node) from None


EVALUATED: dict[str, Callable] = {"class.store": _store, "class.annotate": _annotate, "class.delete": _delete}
"""By op: takes the node, then its arguments."""
