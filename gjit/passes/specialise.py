"""A typed copy of a graph for one signature.

Types flow forward from the arguments; what they decide is resolved: a method of a proven array becomes the node
of its row. The values of arguments are never looked at, and no type is taken from an annotation, so what the copy
says holds for every call with these argument types.
"""

from __future__ import annotations

from gjit.ir.clone import clone_graph
from gjit.ir.deep import Walk, drive
from gjit.ir.graph import Graph
from gjit.ir.types import Type
from gjit.passes.callees import Callees
from gjit.passes.inference import Inference
from gjit.passes.methods import resolve_methods

Returned = dict[tuple[str, tuple[Type, ...]], Type]
"""What called functions return: by their name in `Graph.functions` and the types of their parameters."""

_CHANGING_ATTRIBUTES = frozenset({"shape", "dtype", "strides"})
_CHANGING_METHODS = frozenset({"resize", "setfield", "__setstate__", "__setattr__"})


def specialise(graph: Graph, argument_types: list[Type], functions_types: Returned | None = None) -> Graph:
    """A copy of `graph` in which every value has the type that follows from the argument types.

    Args:
        graph: stays as it is. Its callees are not copied; an `invoke` gets the type that its function returns.
        argument_types: one for each parameter, as `gjit.ir.types.type_of` gives them.
        functions_types: known return types of called functions; what is inferred is added, for the next call.

    >>> import numpy as np
    >>> from gjit.ir.parser import parse_graph
    >>> from gjit.ir.types import INT, ArrayType
    >>> graph = parse_graph('''graph f(%x, %n) {
    ...   %m = getattr(%x) {name="sum"}
    ...   %0 = call(%m)
    ...   %1 = operator.mul(%0, %n)
    ...   return %1
    ... }''')
    >>> print(specialise(graph, [ArrayType(np.dtype("float32"), 2), INT]))
    graph f(%x: array<float32, 2>, %n: int) {
      %0 = numpy.sum(%x) {method=True} : scalar<float32>
      %1 = operator.mul(%0, %n) : scalar<float32>
      return %1
    }
    """
    typed = clone_graph(graph)
    changing = _changes_layouts(graph)
    callees = Callees(graph.functions, lambda name, types: _infer_callee(callees, name, types, changing))
    if functions_types is not None:
        callees.known = functions_types
    drive(Inference(typed, callees, changing).infer(list(argument_types)))
    resolve_methods(typed)
    return typed


def _infer_callee(callees: Callees, name: str, types: tuple[Type, ...], changing: bool) -> Walk:
    copy = clone_graph(callees.functions[name])
    return (yield Inference(copy, callees, changing).infer(list(types)))


def _changes_layouts(graph: Graph) -> bool:
    """Whether the program assigns the shape or dtype of something that may be an array, which then keeps neither."""
    graphs = [graph, *(other for other in graph.functions.values() if other is not graph)]
    return any(_changes_layout(node) for each in graphs for node in each.all_nodes())


def _changes_layout(node) -> bool:
    match node.op:
        case "setattr" | "delattr":
            return node.attributes["name"] in _CHANGING_ATTRIBUTES
        case "getattr":
            return node.attributes["name"] in _CHANGING_METHODS
        case "ndarray.resize" | "builtin.setattr":
            return True
    return False
