"""What stays on the host, and why: loops, calls, operations that no region takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from gjit.capture.program import Fallback, Program
from gjit.ir.graph import Graph, Node
from gjit.ir.types import UNKNOWN, ArrayType
from gjit.ops.row import Kind, table
from gjit.report.regions import region_names, short_name
from gjit.runtime.engines import engine_named
from gjit.runtime.plan import Plan
from gjit.scheduler.bindings import is_known_callee
from gjit.scheduler.fusible import operation_of
from gjit.scheduler.movable import is_basic_index
from gjit.scheduler.nests import obstacle

_LOOPS = ("for", "while")
_COMPREHENSIONS = ("comprehension", "comprehension.for")
_ARRAY_KINDS = frozenset({Kind.ELEMENTWISE, Kind.REDUCTION, Kind.SHAPE, Kind.INDEX, Kind.LINALG, Kind.OPERATOR})


@dataclass(frozen=True, slots=True)
class HostReport:
    """One thing that the host program does itself.

    kind       `loop`, `call` or `operation`
    function   the graph that it is in
    what       the loop's head or the name of the callee or op
    place      its line in the user's code
    source     the text of that line
    reason     why it is in no region
    """

    kind: str
    function: str
    what: str
    place: str
    source: str
    reason: str


def host_reports(plan: Plan, program: Program) -> list[HostReport]:
    """The loops, calls and array operations of a plan that stay on the host; each line, op and reason once."""
    names = region_names(plan)
    refused = {each.function.rpartition(".")[2]: each for each in program.refused.values()}
    found: dict[HostReport, None] = {}
    for function, graph in plan.graphs.items():
        inside = {inner for node in graph.all_nodes() if node.op == "region" for inner in _nodes_of(node)}
        nests = plan.graphs if engine_named(plan.engine).make_nest is not None else None
        for node in graph.all_nodes():
            if node not in inside:
                reports = list(_reports(function, node, names, refused))
                if nests is not None and node.op in _LOOPS:
                    reports = [replace(each, reason=f"{each.reason}; {_kept(node, nests, graph)}") for each in reports]
                found.update(dict.fromkeys(reports))
    return list(found)


def _nodes_of(region: Node) -> Iterator[Node]:
    """What a region holds: everything in a loop."""
    return region.blocks[0].all_nodes()


def _kept(loop: Node, functions: dict[str, Graph], graph: Graph) -> str:
    """What keeps a loop from being a nest of native code."""
    found = obstacle(loop, functions, graph)
    if found is None:
        return "it is part of a larger loop"
    place = "" if found.node is loop or found.node.span is None else f" (line {found.node.span.line})"
    return f"no loop nest: {found.reason}{place}"


def _reports(
    function: str, node: Node, names: Mapping[Node, str], refused: Mapping[str, Fallback]
) -> Iterator[HostReport]:
    kind, what, reason = _loop(node, names) or _call(node) or _operation(node) or ("", "", "")
    if kind == "call" and what in refused:
        reason = refused[what].reason
    if kind:
        place = "" if node.span is None else f"line {node.span.line}"
        source = "" if node.span is None else node.span.text().strip()
        yield HostReport(kind, function, what, place, source, reason)


_Found = tuple[str, str, str] | None


def _loop(node: Node, names: Mapping[Node, str]) -> _Found:
    if node.op in _COMPREHENSIONS:
        return "loop", str(node.attributes.get("kind", "comprehension")), "a comprehension runs in Python, item by item"
    if node.op not in _LOOPS:
        return None
    inner = [each for block in node.blocks for each in block.all_nodes()]
    regions = [each for each in inner if each.op == "region"]
    called = [names[each] for each in regions if each in names]
    if called:
        return "loop", node.op, f"its rounds run in Python and call {', '.join(called)}"
    if regions:
        why = "one pass over its regions would gain nothing"
    elif any(isinstance(value.type, ArrayType) for each in inner for value in each.results):
        why = "its body has no operations that form a region"
    else:
        why = "its body has no work on arrays"
    return "loop", node.op, f"its rounds run in Python: {why}"


def _call(node: Node) -> _Found:
    match node.op:
        case "library":
            return "call", str(node.attributes["function"]), "library op: runs as one call of NumPy"
        case "call" if not is_known_callee(node):
            named = node.inputs[0].name
            producer = node.inputs[0].producer
            if not named and isinstance(producer, Node):
                named = str(producer.attributes.get("name", ""))
            return "call", named or "a value", "its callee is only known when it runs"
    return None


def _is_view(node: Node) -> bool:
    """Whether a node is `array[2:]` or the like, which touches no element."""
    return node.op == "getitem" and is_basic_index(node.inputs[1])


def _operation(node: Node) -> _Found:
    """An operation on arrays, or on what may be arrays."""
    row = table.get(node.op)
    if row is None or row.kind not in _ARRAY_KINDS or _is_view(node):
        return None
    types = [value.type for value in (*node.inputs, *node.results)]
    operation = operation_of(node)
    name = short_name(node)
    if any(isinstance(type_, ArrayType) for type_ in types):
        if operation is None:
            return "operation", name, "no kernel of a region does this: runs as one call of NumPy"
        if all(type_ != UNKNOWN for type_ in types):
            return "operation", name, "its neighbours and it form no region that would pay"
    if operation is not None and any(type_ == UNKNOWN for type_ in types):
        return "operation", name, "the types of its operands are only known when it runs"
    return None
