"""What lowering the body of a `class` statement needs: its names live in a namespace, not in variables."""

from __future__ import annotations

import ast
import enum
import typing
from dataclasses import dataclass, field

from gjit.capture.names import class_names, declared, walk_scope
from gjit.capture.resolve import is_user_class
from gjit.ir.graph import Constant, Graph, Node, Value


@dataclass(slots=True)
class ClassBody:
    """The body of one class.

    namespace  the value of the namespace that the body fills
    cell       `__class__`, which methods see
    bound      the names that the body binds: reading one never finds a local of the function around
    globals    the names that it declares `global`
    is_plain   whether the namespace is a dictionary, so that it holds nothing but what the body put there
    certain    names that are bound for certain where the lowering is now
    """

    namespace: Value
    cell: Value
    bound: frozenset[str]
    globals: frozenset[str]
    is_plain: bool
    certain: set[str] = field(default_factory=set)
    _fleeting: frozenset[str] = frozenset()

    @classmethod
    def of(cls, node: ast.ClassDef, made: Node, graph: Graph) -> ClassBody:
        """The body of the `class` node `made`."""
        namespace, cell = made.blocks[0].parameters
        bound = frozenset(class_names(node))
        fleeting, hidden = frozenset(_deleted(node)), frozenset(declared(node.body, ast.Global))
        return cls(namespace, cell, bound, hidden, is_plain(made, graph), _fleeting=fleeting)

    def stored(self, name: str, *, always: bool) -> None:
        """Note that a name was bound; `always` says that this statement surely runs."""
        if always and self.is_plain and name not in self._fleeting:
            self.certain.add(name)


def _deleted(node: ast.ClassDef) -> set[str]:
    found = {inner.id for inner in walk_scope(node.body) if isinstance(inner, ast.Name) and _is_deleted(inner)}
    return found | {
        inner.name for inner in walk_scope(node.body) if isinstance(inner, ast.ExceptHandler) and inner.name
    }


def _is_deleted(node: ast.Name) -> bool:
    return isinstance(node.ctx, ast.Del)


def is_plain(made: Node, graph: Graph) -> bool:
    """Whether the namespace of a class that is made is surely a dictionary that nobody fills but the body."""
    labels = made.labels or ("",) * len(made.inputs)
    pairs = list(zip(made.inputs, labels, strict=True))
    if any(label.startswith("*") for _, label in pairs):
        return False
    return all(_has_usual_namespace(value, graph) for value, label in pairs if label in ("", "metaclass="))


def _has_usual_namespace(value: Value, graph: Graph) -> bool:
    if isinstance(value, Constant):
        return _is_usual(value.value)
    made = value.producer
    if not isinstance(made, Node):
        return False
    if made.op == "class":
        return is_plain(made, graph)
    if made.op == "getitem":  # `Generic[T]`
        return _has_usual_namespace(made.inputs[0], graph)
    if made.op == "capture":
        slot = graph.captures[made.attributes["slot"]]
        return slot.guarded and _is_usual(slot.value)
    return False


def _is_usual(thing: object) -> bool:
    """Whether a base, or a metaclass, makes its namespace as `type` or `enum` does."""
    if not isinstance(thing, type):
        return thing in _CLASS_MAKERS
    kind = thing if issubclass(thing, type) else type(thing)
    maker = next(each for each in kind.__mro__ if "__prepare__" in vars(each))
    return maker in (type, enum.EnumType) and not _is_own_alias(thing)


def _is_own_alias(thing: type) -> bool:
    """Whether `thing[...]` is what the user's code makes of it."""
    found = next((each for each in thing.__mro__ if "__class_getitem__" in vars(each)), None)
    return found is not None and is_user_class(found)


_CLASS_MAKERS = (typing.NamedTuple, typing.TypedDict)
