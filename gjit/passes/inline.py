"""Calls of small straight-line functions become the nodes of the function."""

from __future__ import annotations

import numpy as np

from gjit.ir.analysis import adopt_slot
from gjit.ir.clone import clone_block_into
from gjit.ir.graph import Constant, Graph, Node, Value
from gjit.ops.reuse import REUSING
from gjit.passes.callees import bind_arguments

LARGEST = 40
"""Nodes of the largest function that is inlined."""
LARGEST_GRAPH = 20_000
"""Nodes beyond which a graph grows no more."""
_IN_PLACE = frozenset(
    {"operator.iadd", "operator.isub", "operator.imul", "operator.imatmul", "operator.itruediv", "operator.ifloordiv"}
    | {"operator.imod", "operator.ipow", "operator.ilshift", "operator.irshift"}
    | {"operator.iand", "operator.ior", "operator.ixor"}
)
_STATEMENTS = _IN_PLACE | {"setitem", "setattr", "delitem", "delattr", "unpack"}
_LEFT_ALONE = frozenset({"cell", "import", "capture.store", "suspend", "suspend.from"})


def inline(graph: Graph) -> bool:
    """Inline calls, and the calls that come in with them. Nodes keep the places in the source that they had.

    Left alone are functions with control flow, inner functions or variables that are cells, functions of another
    file (a generated function has the lines of one file), calls that use defaults, spreads or variadic parameters,
    and recursion. So are functions that call unknown objects, which may ask who called them, and those that read
    private names of objects, which mean others inside a class.

    NumPy may compute a sum into an operand that has no name, and a parameter or local of the function is a name while
    the function runs: such values get it, behind the name of the function and a dot. What the function returns has no
    name any more; where it would need one, since the function uses it too, the call is left alone.

    >>> from gjit.ir.parser import parse_graph
    >>> graph = parse_graph('''graph f(%x) {
    ...   %0 = invoke(%x) {function='square'}
    ...   return %0
    ... }
    ...
    ... graph square(%y) {
    ...   %0 = operator.mul(%y, %y)
    ...   return %0
    ... }''')
    >>> inline(graph)
    True
    >>> print(graph)
    graph f(%x) {
      %0 = operator.mul(%x, %x)
      return %0
    }
    """
    changed = False
    active: dict[Node, frozenset[str]] = {}
    work = [node for node in graph.all_nodes() if node.op == "invoke"]
    size = sum(1 for _ in graph.all_nodes())
    while work and size < LARGEST_GRAPH:
        node = work.pop()
        name = node.attributes["function"]
        callee = graph.functions.get(name)
        around = active.get(node, frozenset()) | {name}
        if callee is None or callee is graph or name in active.get(node, ()) or not _may_inline(graph, callee):
            continue
        arguments = bind_arguments(node, callee)
        if arguments is None or None in arguments:
            continue
        if _hides_a_name(node, callee, arguments) or _names_what_waits(node, callee):
            continue
        inserted = _inline_call(graph, node, callee, arguments)
        size += len(inserted)
        for inner in inserted:
            if inner.op == "invoke":
                active[inner] = around
                work.append(inner)
        changed = True
    return changed


def _is_private(name: str) -> bool:
    """Whether a name would mean another one in a class, where the call may stand."""
    return name.startswith("__") and not name.endswith("__")


def _may_inline(graph: Graph, callee: Graph) -> bool:
    if callee.block.terminator is None or callee.block.terminator.op != "return":
        return False
    file = graph.span.file if graph.span is not None else None
    for count, node in enumerate(callee.block):
        if count >= LARGEST or node.blocks or node.op in _LEFT_ALONE:
            return False
        if node.op == "call" and not _calls_array_method(node):
            return False
        if node.op in ("getattr", "setattr", "delattr") and _is_private(str(node.attributes["name"])):
            return False
        if node.span is not None and file not in (None, node.span.file):
            return False
    return True


def _calls_array_method(node: Node) -> bool:
    lookup = node.inputs[0].producer
    return isinstance(lookup, Node) and lookup.op == "getattr" and hasattr(np.ndarray, str(lookup.attributes["name"]))


def _hides_a_name(node: Node, callee: Graph, arguments: list[Value]) -> bool:
    """Whether the call gives an operand that NumPy may compute into, but that needs a variable when it is inlined."""
    if node.result.name or not any(user.op in REUSING for user in node.result.uses):
        return False
    returned, changed = callee.block.terminator.inputs[0], False
    while isinstance(returned.producer, Node) and returned.producer.op in _IN_PLACE:
        returned, changed = returned.producer.inputs[0], True
    if returned in callee.block.parameters and _has_name(arguments[callee.block.parameters.index(returned)]):
        return False
    return not isinstance(returned, Constant) and (changed or sum(returned.uses.values()) > 1)


def _names_what_waits(node: Node, callee: Graph) -> bool:
    """Whether the callee has statements, and the call stands in the right operand of an operator whose left operand
    has no name: statements between the two would give it one."""
    if not any(_is_statement(inner) for inner in callee.block):
        return False
    waiting, seen = [node.result], {node.result}
    while waiting:
        value = waiting.pop()
        for user in value.uses if _is_inside_expression(value) else ():
            if user.op in REUSING and user.inputs[1] is value and not _has_name(user.inputs[0]):
                return True
            following = _expression_around(user)
            if following is not None and following not in seen:
                seen.add(following)
                waiting.append(following)
    return False


def _expression_around(user: Node) -> Value | None:
    """The value of the expression that a node, or the block that it ends, is a part of."""
    node: Node | Graph | None = user
    if user.op == "yield":
        node = user.block.owner
        while isinstance(node, Node) and node.op in ("comprehension.for", "comprehension.if"):
            node = node.block.owner
        if not isinstance(node, Node) or node.op not in ("if", "and", "or", "comprehension"):
            return None
    return node.result if isinstance(node, Node) and len(node.results) == 1 else None


def _is_inside_expression(value: Value) -> bool:
    """Whether a value is no variable of the user's function: those of inlined ones come in with an expression."""
    return not value.name or "." in value.name


def _is_statement(node: Node) -> bool:
    return node.op in _STATEMENTS or not any(result.uses for result in node.results)


def _has_name(value: Value) -> bool:
    """Whether something else holds the value while the function runs; numbers need no name."""
    if value.name or isinstance(value, Constant) or not isinstance(value.producer, Node):
        return True
    return value.producer.op in ("load", "capture")


def _inline_call(graph: Graph, node: Node, callee: Graph, arguments: list[Value]) -> list[Node]:
    returned = callee.block.terminator.inputs[0]
    for value, parameter in zip(arguments, callee.block.parameters, strict=True):
        if not _has_name(value) and any(user is not callee.block.terminator for user in parameter.uses):
            value.name = f"{callee.name}.{parameter.name}"
    mapping: dict[Value, Value] = dict(zip(callee.block.parameters, arguments, strict=True))
    inserted = _insert_copies(node, callee, mapping)
    for current in inserted:
        if current.op == "capture":
            current.attributes["slot"] = adopt_slot(graph, callee.captures[current.attributes["slot"]])
        for result in current.results:
            if result.name and "." not in result.name:
                result.name = f"{callee.name}.{result.name}"
    fresh = Constant(returned.value) if isinstance(returned, Constant) else mapping[returned]
    is_changed = isinstance(returned.producer, Node) and returned.producer.op in _IN_PLACE
    if isinstance(returned.producer, Node) and not is_changed and (node.result.name or len(returned.uses) == 1):
        fresh.name = node.result.name
    node.replace_with([fresh])
    return inserted


def _insert_copies(node: Node, callee: Graph, mapping: dict[Value, Value]) -> list[Node]:
    block, before = node.block, node.previous
    clone_block_into(callee.block, mapping, block, before=node, terminator=False)
    inserted = []
    current = block.first if before is None else before.next
    while current is not node:
        inserted.append(current)
        current = current.next
    return inserted
