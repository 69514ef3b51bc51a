"""Graphs on their way into a file and out of it: their text, and what they may do."""

from __future__ import annotations

import ast
import builtins
import functools
import keyword
import re
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from gjit.errors import ArchiveError, InternalError, excerpt
from gjit.ir.graph import TERMINATORS, Constant, Graph, Node, Parameter, Value
from gjit.ir.lexer import GraphTextError
from gjit.ir.parser import parse_graph
from gjit.ir.printer import called_graphs, print_graph
from gjit.ir.protocols import known_names
from gjit.ir.room import with_room
from gjit.ir.verify import verify_graph
from gjit.ops import table
from gjit.ops.archived import MODULES, is_allowed_attribute, is_allowed_function, is_allowed_member
from gjit.ops.guarded import FORMATS, GUARDED, guarded_import
from gjit.ops.user import PREFIX as USER_PREFIX

_ATTRIBUTE_OPS = frozenset({"getattr", "setattr", "delattr"})
_MODULES = frozenset(MODULES.values())
_FAMILIES = ("", "class", "comprehension", "suspend", "capture")
_STRUCTURE = TERMINATORS | {name for name in table.rows if name.rpartition(".")[0] in _FAMILIES} - {"library"}
_NUMBERED = re.compile(r"_\d+")
_LONGEST_NAME = 1000


def graph_text(graph: Graph) -> str:
    """The text of a graph for an archive, with the built-ins in place of their guarded forms.

    Raises:
        ArchiveError: it does something that a loaded graph may not; the message shows the user's line.
    """
    text = print_graph(graph)
    if any(node.op.startswith("guarded.") for each in _all_graphs(graph) for node in each.all_nodes()):
        graph = parse_graph(text)
        for node in _nodes(graph):
            _unguard(node)
        text = print_graph(graph)
    check_graph(graph)
    return text


def read_graph(text: str, upgrade: Callable[[Graph], None]) -> Graph:
    """The graph of a text from an archive: verified, and with guarded built-ins.

    Args:
        text: what `graph_text` gave, in this version of gjit or an earlier one.
        upgrade: brings the nodes of a graph to the versions of this one.

    Raises:
        ArchiveError: it is no graph, or does something that it may not.
    """
    try:
        graph = with_room(lambda: parse_graph(text))
        for each in _all_graphs(graph):
            upgrade(each)
            with_room(functools.partial(verify_graph, each, table.__contains__))
    except (GraphTextError, InternalError, RecursionError, ValueError, TypeError, OverflowError) as error:
        raise ArchiveError(f"a graph of the archive is damaged: {error}") from None
    check_graph(graph)
    for node in _nodes(graph):
        _guard(node)
    return graph


def ops_of(graph: Graph) -> set[str]:
    """The names of the ops that a graph, and those that it calls, have in an archive."""
    names = {str(node.attributes["function"]) if node.op == "library" else node.op for node in _nodes(graph)}
    return {_PLAIN_OPS.get(name, name) for name in names}


def check_graph(graph: Graph) -> None:
    """Refuse what a loaded graph may not do.

    Raises:
        ArchiveError: with the user's line, where it is known.
    """
    for each in _all_graphs(graph):
        for parameter in each.parameters:
            _check_identifier(parameter.name, None)
        for slot in each.captures:
            _check_identifier(slot.name, None)
    for node in _nodes(graph):
        _check(node)


def _all_graphs(graph: Graph) -> list[Graph]:
    return [called for called, _ in called_graphs(graph)]


def _nodes(graph: Graph) -> Iterator[Node]:
    for each in _all_graphs(graph):
        yield from list(each.all_nodes())


def _check(node: Node) -> None:
    if node.op == "region":
        raise _refusal(node, "a region, which belongs to a plan")
    if node.op == "import":
        _check_import(node)
    name = str(node.attributes["function"]) if node.op == "library" else node.op
    if not _is_allowed_op(name):
        raise _refusal(node, f"{name!r}")
    if len(node.results) != 1 and name not in _STRUCTURE:
        raise _refusal(node, f"{name!r} with {len(node.results)} results")
    if node.op in _ATTRIBUTE_OPS:
        attribute = node.attributes["name"]
        is_guarded = node.op == "getattr" and attribute in FORMATS
        if not is_guarded and not is_allowed_attribute(str(attribute), written=node.op != "getattr"):
            raise _refusal(node, f"the attribute {attribute!r}")
        _check_identifier(attribute, node)
    if node.op == "match":
        for pattern in node.attributes["patterns"]:
            _check_pattern(str(pattern), node)
    if node.op in ("function", "cell", "class") and node.attributes["name"] != "<lambda>":
        _check_identifier(node.attributes["name"], node)
    if node.op.startswith("class."):
        _check_identifier(node.attributes["name"], node)
        if not is_allowed_member(str(node.attributes["name"])):
            raise _refusal(node, f"a class with a {node.attributes['name']!r}")
    for label in node.labels:
        if label.endswith("="):
            _check_identifier(label[:-1], node)
    for value in node.inputs:
        if isinstance(value, Constant):
            check_constant(value.value, node)
    for value in node.attributes.values():
        check_constant(value, node)


def _check_import(node: Node) -> None:
    module, name, level = (node.attributes[key] for key in ("module", "name", "level"))
    if module not in _MODULES or level:
        raise _refusal(node, f"an import of {module!r}")
    try:
        guarded_import(module, name)
    except AttributeError:
        return  # the program raises as Python does
    except ArchiveError:
        raise _refusal(node, f"'{module}.{name}'") from None


def _is_allowed_op(name: str) -> bool:
    if name in _STRUCTURE or name.startswith(("operator.", "guarded.", USER_PREFIX)):
        return name in _STRUCTURE or name in table
    return is_allowed_function(name)


def check_constant(value: object, node: Node | None = None) -> None:
    """Functions and classes that stand as constants are called in the end.

    Raises:
        ArchiveError: one of them is not on the list.
    """
    if isinstance(value, tuple):
        for element in value:
            check_constant(element, node)
    elif isinstance(value, slice):
        check_constant((value.start, value.stop, value.step), node)
    elif isinstance(value, Parameter):
        _check_identifier(value.name, node)
    elif callable(value) and not isinstance(value, np.generic):
        name = known_names.name_of(value) or repr(value)
        is_scalar_class = isinstance(value, type) and issubclass(value, np.generic)
        if not (is_scalar_class or name.startswith(("guarded.", USER_PREFIX)) or is_allowed_function(name)):
            raise _refusal(node, f"{name!r}")


def _check_identifier(name: object, node: Node | None) -> None:
    """Names become names of generated Python."""
    if not isinstance(name, str) or len(name) > _LONGEST_NAME or not name.isidentifier() or keyword.iskeyword(name):
        raise _refusal(node, f"the name {name!r}")


def _check_pattern(text: str, node: Node) -> None:
    """The text of a pattern is one pattern and nothing else, and reads no attribute that a graph may not."""
    try:
        tree = ast.parse(f"match _:\n case {text}: pass")
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        raise _refusal(node, f"the pattern {text!r}") from None
    (statement, *others) = tree.body
    if others or not isinstance(statement, ast.Match) or len(statement.cases) != 1:
        raise _refusal(node, f"the pattern {text!r}")
    case = statement.cases[0]
    if case.guard is not None or len(case.body) != 1 or not isinstance(case.body[0], ast.Pass):
        raise _refusal(node, f"the pattern {text!r}")
    for each in ast.walk(case.pattern):
        if isinstance(each, ast.Attribute) or (isinstance(each, ast.Name) and not _NUMBERED.fullmatch(each.id)):
            raise _refusal(node, f"the pattern {text!r}")
        for name in getattr(each, "kwd_attrs", ()):
            if not is_allowed_attribute(name):
                raise _refusal(node, f"the attribute {name!r}")


def _refusal(node: Node | None, what: str) -> ArchiveError:
    place = f"\n{excerpt(node.span)}" if node is not None and node.span is not None else ""
    return ArchiveError(f"an archive cannot hold {what}: what is loaded may compute, and reach nothing else{place}")


def _guard(node: Node) -> None:
    """Names that are made when the program runs are checked then."""
    prefix, _, name = node.op.partition(".")
    if prefix == "builtin" and name in GUARDED:
        node.op = f"guarded.{name}"
    elif node.op == "import":
        node.op = "guarded.import"
        node.set_inputs([Constant(node.attributes["module"]), Constant(node.attributes["name"])])
        node.attributes.clear()
    elif node.op == "getattr" and node.attributes["name"] in FORMATS:
        node.op = f"guarded.{node.attributes.pop('name')}"
    elif any(isinstance(value, Constant) for value in node.inputs):
        node.set_inputs([_swapped(value, _GUARDED_FORMS) for value in node.inputs])


def _unguard(node: Node) -> None:
    prefix, _, name = node.op.partition(".")
    if prefix == "guarded" and name in FORMATS:
        node.op, node.attributes["name"] = "getattr", name
    elif node.op == "guarded.import":
        module, member = (value.value for value in node.inputs)  # type: ignore[attr-defined]
        node.op = "import"
        node.set_inputs([])
        node.attributes.update(module=module, name=member, level=0)
    elif prefix == "guarded":
        node.op = f"builtin.{name}"
    elif any(isinstance(value, Constant) for value in node.inputs):
        node.set_inputs([_swapped(value, _PLAIN_FORMS) for value in node.inputs])


def _swapped(value: Value, forms: Mapping[int, object]) -> Value:
    """A built-in that is passed on as a value, in its other form."""
    form = forms.get(id(value.value)) if isinstance(value, Constant) else None
    return value if form is None else Constant(form)


_PLAIN_OPS = {
    **{f"guarded.{name}": f"builtin.{name}" for name in GUARDED},
    **{f"guarded.{name}": "getattr" for name in FORMATS},
    "guarded.import": "import",
}
_GUARDED_FORMS = {id(getattr(builtins, name)): table[f"guarded.{name}"].function for name in GUARDED}
_PLAIN_FORMS = {id(table[f"guarded.{name}"].function): getattr(builtins, name) for name in GUARDED}
