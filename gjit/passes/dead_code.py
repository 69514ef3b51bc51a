"""Remove what nobody can see: nodes without effects whose results are unused, and values carried for nothing."""

from __future__ import annotations

from gjit.ir.graph import Graph, Node
from gjit.passes.liveness import Liveness


def dead_code(graph: Graph) -> bool:
    """Keep what has effects and what that needs; remove the rest, unused results of control flow included.

    An operation that may raise or warn is an effect, as is an iteration over an object that may run user code.

    >>> from gjit.ir.parser import parse_graph
    >>> graph = parse_graph('''graph f(%n: int) {
    ...   %0 = operator.mul(2, %n) : int
    ...   %1 = operator.truediv(1, %n) : float
    ...   return %n
    ... }''')
    >>> dead_code(graph)
    True
    >>> print(graph)
    graph f(%n: int) {
      %0 = operator.truediv(1, %n) : float
      return %n
    }
    """
    liveness = Liveness(graph)
    changed = _remove_dead(graph, liveness)
    for node in liveness.controls:
        if node in liveness.nodes:
            changed |= _trim(node, liveness)
    return changed


def _remove_dead(graph: Graph, liveness: Liveness) -> bool:
    dead, stack = [], [graph.block]
    while stack:
        for node in stack.pop():
            if node in liveness.nodes:
                stack.extend(node.blocks)
            else:
                dead.append(node)
    for node in dead:
        node.remove()
    return bool(dead)


def _trim(node: Node, liveness: Liveness) -> bool:
    """Drop the results and carried values of a control node that are not live."""
    groups = liveness.groups[node]
    kept = [index for index, group in enumerate(groups) if group in liveness.live_groups]
    if len(kept) == len(groups):
        return False
    node.results = [node.results[index] for index in kept]
    dead = [group for group in groups if group not in liveness.live_groups]
    dropped: dict[Node, set[int]] = {}
    for user, position in (feed for group in dead for feed in group.feeds):
        dropped.setdefault(user, set()).add(position)
    for user, positions in dropped.items():
        user.set_inputs([value for index, value in enumerate(user.inputs) if index not in positions])
    members = {value for group in dead for value in group.members}
    for block in node.blocks:
        block.parameters = [value for value in block.parameters if value not in members]
    return True
