"""Names in class bodies: those that belong to the class, and what a private one means there."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from gjit.ir.graph import Block, Graph, Node, Value
from gjit.scheduler.syntax import parts_of

NAMESPACE_USERS = frozenset({"class.load", "class.store", "class.annotate", "class.delete"})
_BINDERS = NAMESPACE_USERS - {"class.load"}
_OWN_SCOPE = (ast.FunctionDef, ast.ClassDef, ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def is_private(name: str) -> bool:
    """Whether a class mangles a name."""
    return name.startswith("__") and not name.endswith("__")


def mangled(name: str, owner: str) -> str:
    """What a name means in the body of the class `owner`.

    >>> mangled("__x", "Point"), mangled("__x__", "Point"), mangled("__x", "")
    ('_Point__x', '__x__', '__x')
    """
    owner = owner.lstrip("_")
    return f"_{owner}{name}" if owner and is_private(name) else name


def mangled_in(node: Node, name: str) -> str:
    """What a name means where a node of the body of a class stands."""
    return mangled(name, class_of(node.inputs[0]).attributes["name"])


def class_of(namespace: Value) -> Node:
    """The class that a namespace, the first parameter of its body, belongs to."""
    return namespace.producer.owner


def classes_in(block: Block) -> list[Node]:
    """The `class` nodes in a block, at any depth."""
    return [node for node in block.all_nodes() if node.op == "class"]


def bound_in(made: Node) -> set[str]:
    """The names that the body of a class binds."""
    return {str(user.attributes["name"]) for user in made.blocks[0].parameters[0].uses if user.op in _BINDERS}


def variables_of(made: Node) -> list[Value]:
    """The cells that a new class, or what its decorators make of it, is stored in."""
    value = made.result
    while len(value.uses) == 1:
        (user,) = value.uses
        if user.op != "call" or user.inputs[1:] != [value]:
            break
        value = user.result
    return [user.inputs[0] for user in value.uses if user.op == "store"]


def printed_in(made: Node) -> Iterator[Value]:
    """The values that the printed body of a class may name itself, rather than a function in it."""
    waiting = [made.blocks[0]]
    while waiting:
        block = waiting.pop()
        yield from block.parameters
        for node in [*block, *([block.terminator] if block.terminator is not None else ())]:
            yield from node.inputs
            yield from node.results
            if node.op == "function":
                yield from node.blocks[0].parameters if node.attributes["name"] == "<lambda>" else ()
            elif node.op != "class":
                waiting.extend(node.blocks)


def assigned_in(body: Iterable[ast.AST]) -> set[str]:
    """The names that statements bind or delete themselves."""
    names: set[str] = set()
    waiting = list(body)
    while waiting:
        tree = waiting.pop()
        match tree:
            case ast.Name(ctx=ast.Store() | ast.Del()):
                names.add(tree.id)
            case ast.FunctionDef() | ast.ClassDef():
                names.add(tree.name)
            case ast.ExceptHandler() | ast.MatchAs() | ast.MatchStar() if tree.name:
                names.add(tree.name)
            case ast.MatchMapping() if tree.rest:
                names.add(tree.rest)
            case ast.alias():
                names.add(tree.asname or tree.name.partition(".")[0])
        waiting.extend(_evaluated(tree) if isinstance(tree, _OWN_SCOPE) else parts_of(tree))
    return names


def _evaluated(tree: ast.AST) -> list[ast.AST]:
    """The parts of a definition that are evaluated where it stands."""
    fields = ("args", "returns", "decorator_list", "bases", "keywords")
    parts = (getattr(tree, field, None) for field in fields)
    return [each for part in parts if part for each in (part if isinstance(part, list) else [part])]


def has_classes(graph: Graph) -> bool:
    """Whether a graph makes classes, in whose bodies private names mean something else."""
    return any(node.op == "class" for node in graph.all_nodes())
