"""Loads of a variable that was just set become the value itself."""

from __future__ import annotations

from gjit.ir.graph import Block, Graph, Node, Value
from gjit.ops import Effect, effects_of


def forward_cells(graph: Graph) -> bool:
    """Within each block, give a load the value of the last store or load before it.

    Blocks in between that set the variable end that, and so does code that may call an inner function which
    shares it. A variable that nobody loads any more goes.

    >>> from gjit.ir.parser import parse_graph
    >>> graph = parse_graph('''graph f(%x) {
    ...   %c = cell() {name='c'}
    ...   store(%c, %x)
    ...   %0 = load(%c)
    ...   return %0
    ... }''')
    >>> forward_cells(graph)
    True
    >>> print(graph)
    graph f(%x) {
      return %x
    }
    """
    changed = False
    shared = _shared_cells(graph)
    blocks = [graph.block, *(block for node in graph.all_nodes() for block in node.blocks)]
    for block in blocks:
        changed |= _forward_in(block, shared)
    return _drop_unread(graph) or changed


def _shared_cells(graph: Graph) -> set[Value]:
    """Cells that code outside the straight run of the program may touch: in functions and generators."""
    shared: set[Value] = set()
    for node in graph.all_nodes():
        if node.op in ("function", "comprehension"):
            for inner in node.blocks[0].all_nodes():
                if inner.op in ("load", "store", "delete"):
                    shared.add(inner.inputs[0])
    return shared


def _forward_in(block: Block, shared: set[Value]) -> bool:
    own: dict[Value, Value] = {}
    open_: dict[Value, Value] = {}  # of shared cells: forgotten wherever other code may run
    changed = False
    for node in block:
        if node.op not in ("store", "delete", "load"):
            _forget(own, open_, node)
            continue
        cell = node.inputs[0]
        known = open_ if cell in shared else own
        if node.op == "load" and cell in known:
            node.replace_with([known[cell]])
            changed = True
        elif node.op == "delete":
            known.pop(cell, None)
        elif node.op == "store" and _is_class(node.inputs[1]):
            known.pop(cell, None)  # a class gets its name from the variable that it is stored in alone
        else:
            known[cell] = node.inputs[1] if node.op == "store" else node.result
    return changed


def _is_class(value: Value) -> bool:
    """Whether a value is what a `class` statement makes, decorators included."""
    made = value.producer
    while isinstance(made, Node) and made.op == "call" and len(made.inputs) == 2:
        made = made.inputs[1].producer
    return isinstance(made, Node) and made.op == "class"


def _forget(own: dict[Value, Value], open_: dict[Value, Value], node: Node) -> None:
    if node.blocks or effects_of(node) & Effect.ORDERED:
        open_.clear()
    if node.blocks and own:
        for inner in (inner for nested in node.blocks for inner in nested.all_nodes()):
            if inner.op in ("store", "delete"):
                own.pop(inner.inputs[0], None)


def _drop_unread(graph: Graph) -> bool:
    """Remove variables that are only set: nothing can tell whether they are."""
    changed = False
    for node in list(graph.all_nodes()):
        if node.op == "cell" and all(user.op == "store" for user in node.result.uses):
            for store in list(node.result.uses):
                store.remove()
            node.remove()
            changed = True
    return changed
