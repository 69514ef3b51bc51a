"""What pictures say of a graph: names of values, nodes as one line, colours of regions, lines of the user's code."""

from __future__ import annotations

import html
import itertools
import re
from collections.abc import Mapping

from gjit.ir.constants import display_text
from gjit.ir.graph import Constant, Graph, Node, Value

_LONGEST_TITLE = 46
_COLOURS = ("#cfe6f7", "#fbe3b8", "#cdeedd", "#f7d4e4", "#e2dcf6", "#fff3ad", "#d9ecc0", "#f9d5c4")
_NOT_IN_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def lines_of(node: Node) -> str:
    """The lines of the user's code that a node and what is inside it come from: `line 3`, `lines 3 to 5, 9`, or
    nothing."""
    inner = [each for block in node.blocks for each in block.all_nodes()]
    numbers = sorted({each.span.line for each in inner or [node] if each.span is not None})
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    texts = [f"{run[0]}" if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs]
    noun = "line" if len(numbers) == 1 else "lines"
    return f"{noun} {', '.join(texts)}" if texts else ""


def region_name(node: Node, names: Mapping[Node, str]) -> str:
    """The name of a region: the given one, or one with its number in the graph."""
    return names.get(node) or f"region {node.attributes.get('index', '')}".rstrip()


class Texts:
    """What stands in the boxes of one graph; values have the names of its text."""

    def __init__(self, graph: Graph, regions: Mapping[Node, str]):
        self._regions = regions
        self._names: dict[Value, str] = {}
        self._counts: dict[str, int] = {}
        for value in graph.block.parameters:
            self.name(value)
        for node in graph.all_nodes():
            if node.previous is None and node.block is not None:
                for value in node.block.parameters:
                    self.name(value)
            for value in node.results:
                self.name(value)

    def name(self, value: Value) -> str:
        """The name of a value, or the text of a constant."""
        if isinstance(value, Constant):
            return constant_title(value.value)
        name = self._names.get(value)
        if name is None:
            count = self._counts.get(value.name, 0)
            self._counts[value.name] = count + 1
            name = f"{value.name}.{count}" if count and value.name else f"%{value.name or count}"
            name = self._names[value] = name if name.startswith("%") else "%" + name
        return name

    def describe(self, node: Node) -> tuple[str, str, str]:
        """The title, the note and the tone of the box of a node."""
        tone = "end" if node.is_terminator else "region" if node.op == "region" else "flow" if node.blocks else "node"
        notes = [str(value.type) for value in node.results if str(value.type) != "unknown"]
        lines = lines_of(node)
        return shorten(self.title(node)), " · ".join(filter(None, [shorten(", ".join(notes)), lines])), tone

    def title(self, node: Node) -> str:
        """The node as one line."""
        if node.op in ("getitem", "setitem") and len(node.inputs) > 1:
            return self._item(node)
        inputs = ", ".join(self._input(node, place) for place in range(len(node.inputs)))
        if node.is_terminator:
            return f"{node.op} {inputs}".rstrip()
        given = ", ".join(map(self.name, node.results))
        what = region_name(node, self._regions) if node.op == "region" else self._operation(node)
        return f"{given} = {what}({inputs})" if given else f"{what}({inputs})"

    def _item(self, node: Node) -> str:
        owner, index, *stored = map(self.name, node.inputs)
        item = f"{owner}[{index}]"
        return f"{item} = {stored[0]}" if stored else f"{self.name(node.result)} = {item}"

    def _operation(self, node: Node) -> str:
        named = [node.attributes[key] for key in ("function", "name", "slot") if key in node.attributes]
        op = node.op.partition(".")[2] or node.op
        return f"{op} {named[0]}" if named else op

    def _input(self, node: Node, place: int) -> str:
        return node.label(place) + self.name(node.inputs[place])


def constant_title(value: object) -> str:
    """A constant as it would stand between brackets: slices with colons.

    >>> constant_title((slice(None, -1), None)), constant_title(2.0)
    (':-1, None', '2.0')
    """
    if type(value) is slice:
        ends = ["" if end is None else display_text(end) for end in (value.start, value.stop, value.step)]
        return ":".join(ends if ends[2] else ends[:2])
    if type(value) is tuple and any(type(part) is slice for part in value):
        return ", ".join(map(constant_title, value))
    return display_text(value)


def shorten(text: str, most: int = _LONGEST_TITLE) -> str:
    """The text on one line, cut where it is too long for a box."""
    text = " ".join(text.split())
    return text if len(text) <= most else text[: most - 1] + "…"


def escape(text: str) -> str:
    """The text for XML and HTML: marks escaped, characters that neither may hold replaced."""
    return html.escape(_NOT_IN_XML.sub("\ufffd", text))


def colours_of(graphs: list[Graph]) -> dict[Node, str]:
    """A colour for each region of these graphs."""
    regions = [node for graph in graphs for node in graph.all_nodes() if node.op == "region"]
    return dict(zip(regions, itertools.cycle(_COLOURS)))
